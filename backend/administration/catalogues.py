"""The catalogues of the texts that evaluators see, for checks and defaults.

`text_LANGUAGE.js` in `frontend/texts/` has those of every visit, `more_LANGUAGE.js` those that few need,
`clip_LANGUAGE.js` those that speak of clips in place of pictures.

A study in one language is stored with its title and consent text in this language, so that the store has
what evaluators agreed to. Where evaluators choose, the page shows both in their language instead.
"""

import json
import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from backend.experiment.languages import CHOOSE, LANGUAGES, own_texts
from backend.experiment.protocol import Protocol
from backend.experiment.records import CLIPS, PICTURES
from backend.experiment.setting_errors import invalid_setting
from backend.experiment.settings import value_of
from backend.foundation.errors import InvalidInput, brief, under
from backend.foundation.suggestions import did_you_mean

_FOLDER = Path(__file__).resolve().parents[2] / "frontend" / "texts"
_STORED = {"title": "title.", "consent_text": "consent.text"}
"""Settings that are also texts of the catalogue, with the beginning of their keys."""
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_ANSWER_KEYS = {"answer.fake_key": "jr", "answer.real_key": "f"}
"""Texts that name a key of the keyboard, and the keys that mean the other answer in every language."""


@cache
def catalogue(language: str) -> dict[str, str]:
    """Return all texts of a language by key."""
    return _of_file(f"text_{language}.js") | _of_file(f"more_{language}.js")


@cache
def catalogue_of(language: str, medium: str) -> dict[str, str]:
    """Return all texts of a language by key, as studies of a medium show them."""
    return catalogue(language) | (_of_file(f"clip_{language}.js") if medium == CLIPS else {})


def _of_file(name: str) -> dict[str, str]:
    source = (_FOLDER / name).read_text("utf-8")
    start, end = source.index("texts = ") + len("texts = "), source.rindex("}")
    return json.loads(source[start:end].rstrip().removesuffix(",") + "}")


def placeholders(text: str) -> set[str]:
    """Return the names that stand in braces."""
    return set(_PLACEHOLDER.findall(text))


def in_its_language(
    protocol: Protocol,
    given: Collection[str],
    before: Protocol | None = None,
    medium: str = PICTURES,
) -> Protocol:
    """Return a protocol whose title and consent text are in its language, if the researcher wrote neither.

    Args:
        given: names of the settings that the researcher gave.
        before: the protocol that a study had, whose own texts are replaced as well.
        medium: of the study, which title and consent text speak of.

    Raises:
        InvalidInput: an own text whose key is unknown, that lacks or adds a placeholder, or that says what
            a setting says too.
    """
    _check_texts(protocol)
    language = protocol.language.language
    if language == CHOOSE:
        return protocol
    own = own_texts(protocol.language.texts, language)
    changes = {}
    for setting, beginning in _STORED.items():
        stored = value_of(protocol, setting)
        for key in (key for key in catalogue("en") if key.startswith(beginning)):
            is_ours = stored in _all_versions(key, before)
            if key in own and setting in given and stored != own[key]:
                raise invalid_setting(
                    f"{setting} and the text {key!r} are the same text; give one of them", setting
                )
            if is_ours and setting not in given:
                changes[setting] = own.get(key) or catalogue_of(language, medium)[key]
    return protocol.changed(**changes)


def untranslated(protocol: Protocol) -> Iterator[str]:
    """Yield notes on texts that are shown in one language though evaluators choose theirs."""
    if protocol.language.language != CHOOSE:
        return
    for setting, beginning in _STORED.items():
        keys = [key for key in catalogue("en") if key.startswith(beginning)]
        if not any(value_of(protocol, setting) in _all_versions(key, None) for key in keys):
            yield (
                f"{setting} is shown in every language as it is, except where the texts of the study have "
                f"`{keys[0]}` in the language, as in the table [texts.de]"
            )
    if everywhere := [key for language, key, _ in protocol.language.texts if not language]:
        yield f"own texts without a language are shown in every language: {', '.join(everywhere)}"


def _all_versions(key: str, before: Protocol | None) -> set[str]:
    ours = {catalogue_of(language, medium)[key] for language in LANGUAGES for medium in (PICTURES, CLIPS)}
    theirs = before.language.texts if before else ()
    return ours | {text for _, own_key, text in theirs if own_key == key}


def _check_texts(protocol: Protocol) -> None:
    english = catalogue("en")
    for language, key, text in protocol.language.texts:
        where = f"texts.{language}" if language else "texts"
        with under("settings", "texts", *filter(None, [language]), key):
            if key not in english:
                hint = did_you_mean(key, english, "; frontend/texts/text_en.js and more_en.js have them all")
                raise InvalidInput(f"{where}: no text is called {key!r}{hint}")
            _check_placeholders(where, key, text, placeholders(english[key]))
            if key in _ANSWER_KEYS:
                _check_answer_key(where, key, text)
    for language in LANGUAGES:
        _check_answer_keys_differ(language, own_texts(protocol.language.texts, language))


def _check_placeholders(where: str, key: str, text: str, wanted: set[str]) -> None:
    own = placeholders(text)
    missing, unknown = sorted(wanted - own), sorted(own - wanted)
    if missing:
        raise InvalidInput(f"{where}: the text {key!r} must contain {_in_braces(missing)}, not {brief(text)}")
    if unknown:
        known = f"it may contain {_in_braces(sorted(wanted))}" if wanted else "it has no placeholders"
        raise InvalidInput(f"{where}: the text {key!r} must not contain {_in_braces(unknown)}; {known}")


def _check_answer_key(where: str, key: str, text: str) -> None:
    if len(text) != 1 or text.isspace() or text.lower() in _ANSWER_KEYS[key]:
        others = " or ".join(_ANSWER_KEYS[key].upper())
        raise InvalidInput(
            f"{where}: the text {key!r} must be one letter or digit, and not {others}, which means the other "
            f"answer in every language, not {text!r}"
        )


def _check_answer_keys_differ(language: str, own: dict[str, str]) -> None:
    fake, real = ({**catalogue(language), **own}[key].lower() for key in _ANSWER_KEYS)
    if fake == real:
        at_fault = [keys for key in _ANSWER_KEYS if key in own for keys in ((language, key), (key,))]
        with under("settings", "texts"):
            raise InvalidInput(
                f"texts: the keys for both answers must differ, and in {LANGUAGES[language]} both are "
                f"{fake!r}",
                keys=at_fault[0] if at_fault else (),
                also=at_fault[1:],
            )


def _in_braces(names: list[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)
