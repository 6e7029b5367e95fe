"""The catalogues: complete, alike in placeholders, all used; what a researcher may write in their place."""

import dataclasses
import re
from pathlib import Path

import pytest

from backend.administration import catalogues
from backend.administration.catalogues import (
    catalogue,
    catalogue_of,
    in_its_language,
    placeholders,
    untranslated,
)
from backend.experiment import protocol as protocols
from backend.experiment.groups.language import LanguageSettings
from backend.experiment.judgments import METHODS, method_named, real_or_fake
from backend.experiment.languages import LANGUAGES, texts_for_page
from backend.experiment.settings import from_json, with_settings
from backend.foundation.errors import InvalidInput
from backend.web import assets
from tests.node import evaluate

FRONTEND = Path(__file__).resolve().parents[3] / "frontend"
TEXTS = FRONTEND / "texts"
FIRST = FRONTEND / "task" / "first.js"
MODULES = {*FRONTEND.rglob("*.js")} - {*TEXTS.glob("*_??.js")}
ENGLISH = catalogue("en")
OTHERS = sorted(set(LANGUAGES) - {"en"})
PAGES = {"index.html": "page.needs_script_help", "wait.html": "page.needs_script_here"}
PAGES["withdraw.html"] = PAGES["wait.html"]
BESIDE_SCRIPTS = ("page.needs_script", "page.needs_script_help", "page.needs_script_here")
"""Keys of the texts that HTML files contain."""
PARTS = ("text", "more")
LATIN = re.compile(r"[A-Za-zÀ-ÿ]{2,}")
NAMES = {
    "JavaScript",
    "Firefox",
    "Chrome",
    "Edge",
    "Safari",
    "FreeSync",
    "Sync",
    "Zhou",
    "et",
    "al",
    "HYPE",
    "Ctrl",
    "Mac",
}
"""Latin words that every language writes as they are."""


def protocol(**settings):
    return with_settings(real_or_fake.INFINITY, settings)


def in_language(**settings):
    return in_its_language(protocol(**settings), settings)


@pytest.mark.parametrize("part", PARTS)
def test_a_file_is_there_for_each_language_and_for_no_other(part):
    assert {path.stem.removeprefix(f"{part}_") for path in TEXTS.glob(f"{part}_*.js")} == set(LANGUAGES)


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("part", PARTS)
def test_a_text_is_in_the_same_file_in_every_language(part, language):
    assert keys_of_file(part, language) == keys_of_file(part, "en")


def test_texts_that_few_visits_need_are_shown_only_by_modules_that_have_them_loaded():
    loaded_with_them = ("clip_fitness", "confidence", "debrief_end", "mark", "question_rules")
    having = {path for path in MODULES if '/more_en.js"' in path.read_text("utf-8")} - {FIRST}
    having |= {FRONTEND / "task" / f"{name}.js" for name in loaded_with_them}
    others = MODULES - having

    assert used_keys(others, keys_of_file("more", "en")) == set()
    assert used_keys(having, keys_of_file("more", "en")) == set(keys_of_file("more", "en"))


def test_the_page_and_the_server_have_the_same_languages():
    source = (TEXTS / "languages.js").read_text("utf-8").replace("export ", "")

    assert list(evaluate(f"{source}; LANGUAGES")) == list(LANGUAGES)


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_is_there_in_every_language(language):
    assert list(catalogue(language)) == list(ENGLISH)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_key_stands_twice_and_no_text_is_empty(language):
    keys = [key for part in PARTS for key in keys_of_file(part, language)]

    assert len(keys) == len(set(keys)) == len(catalogue(language))
    assert [key for key, text in catalogue(language).items() if not text and key != "between.sentences"] == []


@pytest.mark.parametrize("language", OTHERS)
def test_placeholders_are_those_of_the_english_text(language):
    found = {key: placeholders(text) for key, text in catalogue(language).items()}

    assert found == {key: placeholders(text) for key, text in ENGLISH.items()}


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_texts_of_its_own(language):
    same = [
        key for key, text in catalogue(language).items() if text == ENGLISH[key] and len(text.split()) > 2
    ]

    assert same == []


def test_the_texts_of_clips_are_there_for_each_language_and_for_no_other():
    assert {path.stem.removeprefix("clip_") for path in TEXTS.glob("clip_*.js")} == set(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_of_clips_replace_those_of_pictures_with_the_same_placeholders(language):
    of_clips, of_pictures = of_clips_in(language), catalogue(language)
    own = {key: text for key, text in of_clips_in("en").items() if key.startswith("clip.")}

    found = {key: placeholders(text) for key, text in of_clips.items()}
    assert found == {key: placeholders((of_pictures | own)[key]) for key in of_clips}
    assert of_clips.keys() >= own.keys()
    assert [key for key, text in of_clips.items() if not text or text == of_pictures.get(key)] == []


@pytest.mark.parametrize(
    ("language", "word"),
    [("en", "picture"), ("de", r"\bBild(er|ern|es)?\b"), ("fr", r"images?\b(?! par image)"),
     ("es", "[Ii]m[aá]gen"),
     ("pt", "[Ii]mage[mn]"), ("ja", "画像|枚"), ("zh", "图片|张"), ("ar", "صور")],
)  # fmt: skip
def test_a_study_of_clips_names_no_picture_before_its_end(language, word):
    """Only the published scores, which are of pictures, and what clips do not have."""
    of_others = ("closer.", "same_or_different.", "consent.text.closer", "consent.text.same", "title.closer",
                 "offer.picture_count_side", "display.", "debrief.note", "followup.where",
                 "block.")  # fmt: skip
    texts = catalogue(language) | of_clips_in(language)

    found = {
        key: text for key, text in texts.items() if re.search(word, text) and not key.startswith(of_others)
    }

    assert {key: text for key, text in found.items() if key != "clip.no_decoder"} == {}


@pytest.mark.parametrize("language", ["ja", "zh", "ar"])
def test_languages_of_other_scripts_contain_no_english(language):
    of_clips = of_clips_in(language)
    texts = {key: re.sub(r"\{\w+\}", "", text) for key, text in (catalogue(language) | of_clips).items()}

    assert {key: words for key, text in texts.items() if (words := set(LATIN.findall(text)) - NAMES)} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_answer_key_means_the_other_answer(language):
    fake, real = (
        catalogue(language)["answer.fake_key"].lower(),
        catalogue(language)["answer.real_key"].lower(),
    )

    assert len(fake) == len(real) == 1
    assert fake not in {real, "j", "r"}
    assert real != "f"


def test_no_group_of_texts_is_called_like_a_language():
    assert {key.partition(".")[0] for key in ENGLISH} & set(LANGUAGES) == set()


def test_every_key_is_used_and_every_key_used_is_there():
    modules = MODULES - {FIRST}
    quoted, used = quoted_keys(modules), used_keys(modules, ENGLISH)

    groups = {key.partition(".")[0] for key in ENGLISH}
    missing = {key for key in quoted if key.partition(".")[0] in groups and not key.endswith(".js")}
    stored = {
        key for key in ENGLISH if key.startswith(("title.", "consent.text"))
    }  # `study_texts.js` finds them
    assert set(ENGLISH) - used - {*BESIDE_SCRIPTS, *first_keys(), *stored} == set()
    assert missing - set(ENGLISH) == set()


def quoted_keys(modules):
    return set(re.findall(r'"([a-z_]+(?:\.[a-z_]+)+)"', code_of(modules)))


def used_keys(modules, keys):
    """Return those of `keys` that modules have as they are, or build by a template."""
    quoted = quoted_keys(modules)
    patterns = [
        re.escape(found).replace(re.escape("${"), "${").replace(re.escape("}"), "}")
        for found in re.findall(r"`([a-z_]+\.[^`]*\$\{[^`]*)`", code_of(modules))
    ]
    built = [re.compile(re.sub(r"\$\{[^}]*\}", r"\\w+", pattern)) for pattern in patterns]
    return {key for key in keys if key in quoted or any(each.fullmatch(key) for each in built)}


def code_of(modules):
    return "".join(path.read_text("utf-8") for path in modules)


def of_clips_in(language):
    return {key: catalogue_of(language, "clip")[key] for key in keys_of_file("clip", language)}


def keys_of_file(part, language):
    source = (TEXTS / f"{part}_{language}.js").read_text("utf-8")
    return re.findall(r'^  "([^"]+)": ', source, re.M)


def first_keys():
    """The keys of the texts in the script that runs without modules, by each use of its table `texts`."""
    return set(re.findall(r'\btexts\["(.*?)"\]', FIRST.read_text("utf-8")))


def test_the_script_that_runs_without_modules_is_served_with_its_texts_in_every_language():
    served, source = assets.served(FIRST).decode(), FIRST.read_text("utf-8")
    table = re.search(r"var TEXTS = (\{.*\});", served)[1]

    assert evaluate(f"({table})") == {
        language: {key: catalogue(language)[key] for key in first_keys()} for language in LANGUAGES
    }
    assert {"page.loading", "page.too_old", "page.not_loaded"} < first_keys()
    code = served.replace(table, "").replace("../texts/", "")
    assert re.findall(r"\btexts\b(?!\[\").*", code) == ["texts = TEXTS[language];"]  # no other use
    assert not {"\u2028", "\u2029"} & {*served}  # ends of lines in scripts of 2009, not in JSON
    assert served.count("\n") == source.count("\n")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_say_in_every_language_that_they_need_javascript(page, language):
    source = (FRONTEND / page).read_text("utf-8")
    section = re.search(rf'<section lang="{language}" dir="(\w+)">(.*?)</section>', source)

    assert section[1] == ("rtl" if language == "ar" else "ltr")
    assert re.sub(r"<[^>]+>", "", section[2]) == (
        catalogue(language)["page.needs_script"] + catalogue(language)[PAGES[page]]
    )


def test_the_default_consent_text_is_that_of_the_catalogue():
    assert ENGLISH["consent.text"] == real_or_fake.INFINITY.consent.consent_text


@pytest.mark.parametrize("method", METHODS)
def test_the_default_title_of_every_method_is_in_the_catalogue(method):
    titles = {text for key, text in ENGLISH.items() if key.startswith("title.")}

    assert method_named(method).protocol.consent.title in titles
    assert real_or_fake.QUALIFICATION.consent.title in titles


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_study_is_stored_with_title_and_consent_text_in_its_language(language):
    made = in_language(language=language).consent

    assert (made.title, made.consent_text) == (
        catalogue(language)["title.study"],
        catalogue(language)["consent.text"],
    )


def test_a_title_and_a_consent_text_of_the_researcher_stay():
    made = in_language(language="ja", title="顔", consent_text="同意書").consent

    assert (made.title, made.consent_text) == ("顔", "同意書")


def test_a_study_whose_evaluators_choose_keeps_the_english_defaults():
    assert in_language(language="choose").consent == real_or_fake.INFINITY.consent


def test_a_changed_language_takes_title_and_consent_text_along():
    before = in_language(language="de")
    after = in_its_language(with_settings(before, {"language": "fr"}), {"language": "fr"}, before)

    assert after.consent.title == catalogue("fr")["title.study"]
    assert after.consent.consent_text == catalogue("fr")["consent.text"]


def test_an_own_consent_text_is_what_is_stored_and_goes_with_its_table():
    before = in_language(texts={"consent.text": "Yes?"})
    after = in_its_language(with_settings(before, {"texts": {}}), {"texts": {}}, before)

    assert before.consent.consent_text == "Yes?"
    assert after.consent.consent_text == real_or_fake.INFINITY.consent.consent_text


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"answer.fak": "AI"}, r"texts: no text is called 'answer\.fak'; did you mean `answer\.fake`\?"),
        (
            {"de": {"nothing.like_it": "x"}},
            r"texts\.de: no text is called 'nothing\.like_it'; frontend/texts/text_en",
        ),
        ({"nl": {"answer.fake": "Nep"}}, r"texts: no text is called 'nl\.answer\.fake'"),
        (
            {"picture.progress": "Picture {n}"},
            r"'picture\.progress' must contain \{total\}, not 'Picture \{n\}'",
        ),
        (
            {"picture.progress": "{n} {total} {of}"},
            r"must not contain \{of\}; it may contain \{n\}, \{total\}",
        ),
        ({"answer.fake": "{n} fake"}, r"'answer\.fake' must not contain \{n\}; it has no placeholders"),
        ({"answer.fake_key": "J"}, r"one letter or digit, and not J or R, which means the other answer"),
        ({"answer.real_key": "f"}, r"and not F, which means the other answer in every language, not 'f'"),
        ({"answer.real_key": "real"}, r"must be one letter or digit"),
        ({"answer.real_key": "X", "answer.fake_key": "x"}, r"must differ, and in English both are 'x'"),
        ({"de": {"answer.fake_key": "E"}}, r"must differ, and in German both are 'e'"),
    ],
)
def test_texts_that_the_page_cannot_use_are_refused(texts, message):
    with pytest.raises(InvalidInput, match=message):
        in_language(texts=texts)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], r"texts must be a table of keys and texts, not \[\]"),
        ({"answer.fake": 3}, r"the text 'answer\.fake' must be text, not 3"),
        ({"answer.fake": " "}, r"the text 'answer\.fake' must be text, not ' '"),
        ({"answer.fake": None}, r"must be text, not None"),
        ({"de": "Fake"}, r"texts\.de must be a table of keys and texts, not 'Fake'"),
        ({"answer.fake": "\ud800"}, r"must be text that can be written as UTF-8"),
        ({"answer.fake": "x" * 20_001}, r"must have at most 20,000 characters, not 20,001"),
        ("answer.fake", r"texts must be TOML, lines such as"),
    ],
)
def test_texts_that_are_none_are_refused(texts, message):
    with pytest.raises(InvalidInput, match=message):
        protocol(texts=texts)


def test_a_text_and_a_setting_that_say_the_same_are_refused():
    with pytest.raises(InvalidInput, match=r"title and the text 'title\.study' are the same text"):
        in_language(title="Faces", texts={"title.study": "Cars"})


@pytest.mark.parametrize("texts", [{"answer": {"fake": "AI"}}, {"answer.fake": "AI"}, '"answer.fake" = "AI"'])
def test_keys_may_be_tables_or_contain_dots_and_a_file_says_the_same(texts):
    assert protocol(texts=texts).language.texts == (("", "answer.fake", "AI"),)


def test_a_text_of_the_language_comes_before_one_of_every_language():
    own = protocol(texts={"answer.fake": "AI", "de": {"answer.fake": "KI"}}).language.texts

    assert texts_for_page("de", own) == {"de": {"answer.fake": "KI"}}
    assert texts_for_page("en", own) == {"en": {"answer.fake": "AI"}}
    assert texts_for_page("choose", own) == {
        language: {"answer.fake": "KI" if language == "de" else "AI"} for language in LANGUAGES
    }
    assert texts_for_page("choose", ()) == {}


def test_own_texts_survive_being_stored():
    made = in_language(language="choose", texts={"answer.fake": "<b>AI</b>", "ja": {"answer.fake": "AI製"}})

    assert from_json(protocols.to_json(made)) == made


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("nl", r"language must be en \(English\), .*ar \(Arabic\), or choose, not 'nl'$"),
        ("German", r"not 'German'; did you mean `de`\?"),
        ("pt-BR", r"not 'pt-BR'; did you mean `pt`\?"),
        ("zh_CN", r"did you mean `zh`\?"),
        ("chose", r"did you mean `choose`\?"),
        ("", r"not ''"),
        ("<b>", r"not '<b>'"),
    ],
)
def test_a_language_that_is_not_there_is_refused(language, message):
    with pytest.raises(InvalidInput, match=message):
        protocol(language=language)


def test_texts_that_do_not_follow_the_choice_of_a_language_are_named():
    own = dataclasses.replace(
        protocol(language="choose", consent_text="Agree?"),
        language=LanguageSettings("choose", (("", "answer.fake", "AI"),)),
    )

    assert [note.partition(" ")[0] for note in untranslated(own)] == ["consent_text", "own"]
    assert list(untranslated(protocol(language="choose"))) == []
    assert list(untranslated(protocol(language="ja", consent_text="同意"))) == []


def test_catalogues_are_read_once():
    assert catalogues.catalogue("en") is catalogues.catalogue("en")
