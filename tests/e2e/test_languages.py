"""Studies in other languages, on a phone: played to their end, accessible, and with no English left."""

import re

import pytest

from backend.administration.catalogues import catalogue

from .conftest import eventually
from .test_accessibility import violations

PHONE = {"width": 390, "height": 780}
LATIN = re.compile(r"[A-Za-zÀ-ÿ]{2,}")
SHOWN = """() => {
  const hidden = new Set(["SCRIPT", "STYLE", "NOSCRIPT"]);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [document.title];
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (hidden.has(parent.tagName) || parent.closest("[lang]:not(html), .code, .link, kbd")) continue;
    texts.push(walker.currentNode.textContent);
  }
  for (const name of ["aria-label", "title", "alt", "placeholder"]) {
    for (const element of document.querySelectorAll(`[${name}]`)) texts.push(element.getAttribute(name));
  }
  return texts;
}"""
"""What a page shows or tells a screen reader, but for the completion code, links, keys, other languages."""
PUBLISHED = {"StyleGAN", "ProGAN", "BEGAN", "WGAN", "GP", "CelebA", "FFHQ", "Zhou", "et", "al", "HYPE"}
DECLARED = {"US", "gan", *PUBLISHED}
"""The currency, the study's model, and the names and the source of published scores."""


def english_left(page):
    return sorted(
        word for text in page.evaluate(SHOWN) for word in LATIN.findall(text) if word not in DECLARED
    )


@pytest.fixture
def phone(browser, site):
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True, device_scale_factor=2)
    yield context.new_page()
    context.close()


class Watched:
    """A phone on which each screen is checked as it comes."""

    def __init__(self, page, language):
        self.page, self.language = page, language
        self.direction = "rtl" if language == "ar" else "ltr"

    def check(self, screen):
        self.page.wait_for_selector(f"body[data-screen={screen}]")
        if screen == "question":
            self.page.wait_for_selector(".choices button:enabled")
        found = self.page.evaluate("[document.documentElement.lang, document.documentElement.dir]")
        width = self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert found == [self.language, self.direction]
        assert width[0] <= width[1], f"{screen} is wider than the phone"
        assert english_left(self.page) == []
        assert violations(self.page) == []

    def play(self, answers):
        """Play from the consent to the end; tap the answers."""
        self.check("consent")
        self.page.tap("main .primary")
        self.check("instructions")
        self.page.tap("main .primary")
        for at in range(answers):
            self.check("question")
            self.page.tap(f".choices button:nth-child({at % 2 + 1})")
            self.check("feedback")
            self.page.wait_for_selector("body:not([data-screen=feedback])")
        self.check("done")


@pytest.mark.core
@pytest.mark.parametrize(
    "language", [pytest.param("ja", marks=pytest.mark.slow("plays the study once more")), "ar"]
)
def test_a_study_is_played_to_its_end_on_a_phone_with_no_english_left(phone, site, language):
    pay = {"base_usd_cents": 100, "bonus_usd_cents": 2, "keep_days": 30}
    site.create("faces", images=4, feedback_ms=2500, language=language, debrief=True, **pay)
    phone.goto(f"{site.url}/s/faces")

    watched = Watched(phone, language)
    watched.play(4)
    phone.wait_for_selector(".gallery")
    watched.check("done")
    session, _, responses = site.stored("faces")

    assert len(responses) == 4
    assert session.device["shown_language"] == language
    assert phone.title() == catalogue(language)["title.study"]


REASONS = {"ja": "手|文字", "ar": "اليدان|النص"}
FOLLOW_UP_ENDS = ".points button, .follow-up .on button:not(.primary), .follow-up button.primary"


@pytest.mark.parametrize("language", ["ja", "ar"])
def test_what_is_asked_after_an_answer_leaves_no_english_either(phone, site, language):
    asked = {"confidence": "5", "reasons": REASONS[language], "comment": "optional", "mark": "click"}
    site.create("faces", images=2, feedback_ms=0, language=language, **asked)
    phone.goto(f"{site.url}/s/faces")
    watched = Watched(phone, language)
    headings = []
    phone.tap("main .primary")
    watched.check("instructions")
    phone.tap("main .primary")
    watched.check("question")
    phone.tap(".choices button:nth-child(1)")  # fake, to which all follow-ups belong
    for _ in range(3):
        phone.wait_for_selector(FOLLOW_UP_ENDS)
        watched.check("followup")
        headings.append(phone.inner_text("h1"))
        phone.locator(FOLLOW_UP_ENDS).first.tap()
        phone.wait_for_function("was => document.querySelector('h1').innerText !== was", arg=headings[-1])

    texts = catalogue(language)
    assert set(headings) == {texts[f"followup.{key}"] for key in ("confidence", "where", "why")}
    eventually(phone, lambda: len(site.stored("faces")[2]), 1)  # the answer is on its way
    assert site.stored("faces")[2][0].response == "fake"


@pytest.mark.parametrize("language", ["ja", "ar"])
def test_withdrawing_leaves_no_english_either(phone, site, language):
    site.create("faces", images=2, feedback_ms=2500, language=language)
    phone.goto(f"{site.url}/s/faces")
    watched = Watched(phone, language)
    watched.play(2)
    phone.tap(".withdrawal summary")
    phone.goto(f"{site.url}{phone.get_attribute('.withdrawal a', 'href')}")

    watched.check("withdraw")
    phone.tap(".actions button")
    watched.check("done")
    phone.reload()
    watched.check("done")

    assert phone.inner_text("h1") == catalogue(language)["withdraw.done"]


@pytest.mark.parametrize("language", ["ja", "ar"])
def test_a_browser_s_language_is_taken_where_evaluators_choose_and_another_one_can_be(
    browser, site, language
):
    site.create("faces", images=2, feedback_ms=2500, language="choose")
    context = browser.new_context(locale="de-AT", viewport=PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{site.url}/s/faces")
    page.wait_for_selector("body[data-screen=consent]")
    first = [page.inner_text("h1"), page.get_attribute("html", "lang"), page.inner_text("main .primary")]

    page.tap(f".languages button[lang={language}]")
    page.wait_for_selector(f"html[lang={language}]")
    watched = Watched(page, language)
    watched.check("consent")
    consent = page.inner_text("main")
    page.reload()
    watched.play(2)
    session, *_ = site.stored("faces")
    context.close()

    german = catalogue("de")
    assert first == [german["title.study"], "de", german["consent.agree"]]
    assert catalogue(language)["consent.text"].partition("\n")[0] in consent
    assert session.device["shown_language"] == language


def test_answers_go_by_the_keys_of_the_language_and_by_f_j_and_r(player, site):
    site.create("faces", images=8, language="ar", feedback_ms=0)
    player.begin("faces")
    # On an Arabic keyboard the key of F types ب, that of J types ت, and that of R types ق.
    pressed = [("م", "KeyL"), ("ح", "KeyP"), ("f", "KeyF"), ("j", "KeyJ"), ("r", "KeyR")]
    pressed += [("ب", "KeyF"), ("ت", "KeyJ"), ("ق", "KeyR")]
    for key, code in pressed:
        player.wait("question")
        typed = f'{{key: "{key}", code: "{code}", bubbles: true}}'
        press = f"""for (const name of ["keydown", "keyup"])
          document.body.dispatchEvent(new KeyboardEvent(name, {typed}))"""
        player.act_and_move_on(lambda press=press: player.page.evaluate(press))
    player.wait("done")

    _, _, responses = site.stored("faces")
    given = [response.response for response in sorted(responses, key=lambda each: each.trial_index)]
    assert given == ["fake", "real", "fake", "real", "real", "fake", "real", "real"]


def test_markup_in_a_text_of_the_researcher_is_shown_as_text(player, site):
    texts = {"answer.fake": "<img src=x onerror=alert(1)>", "picture.to_judge": '"><script>alert(1)</script>'}
    site.create("faces", images=2, texts=texts)
    player.begin("faces")
    player.wait("question")

    assert texts["answer.fake"] in player.page.inner_text(".choices")
    assert player.page.get_attribute("canvas", "aria-label") == texts["picture.to_judge"]
    assert player.page.query_selector("main img, main script") is None


def test_before_the_study_is_known_the_browser_s_language_is_spoken(browser, site):
    context = browser.new_context(locale="fr-CA")
    page = context.new_page()
    page.goto(f"{site.url}/s/nothing")
    page.wait_for_selector("body[data-screen=error]")

    assert page.inner_text("h1") == catalogue("fr")["refused.unknown_study"]
    assert page.get_attribute("html", "lang") == "fr"
    context.close()


def test_a_study_in_english_stays_so_in_a_browser_of_another_language(browser, site):
    site.create("faces", images=2)
    context = browser.new_context(locale="ar-EG")
    page = context.new_page()
    page.goto(f"{site.url}/s/faces")
    page.wait_for_selector("body[data-screen=consent]")

    assert page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == ["en", "ltr"]
    assert page.query_selector(".languages") is None
    context.close()


@pytest.mark.parametrize("language", ["de", "ar"])
def test_a_page_whose_modules_are_lost_says_so_in_the_browser_s_language(browser, site, language):
    site.create("faces", images=2)
    context = browser.new_context(locale=language)
    page = context.new_page()
    page.route("**/main.js", lambda route: route.abort())
    page.goto(f"{site.url}/s/faces")
    page.wait_for_selector("body[data-screen=error]")

    assert page.inner_text("h1") == catalogue(language)["page.not_loaded"]
    context.close()


def test_controls_of_a_phone_are_as_high_as_a_finger(phone, site):
    site.create("faces", images=2, language="choose")
    phone.goto(f"{site.url}/s/faces")
    phone.wait_for_selector("body[data-screen=consent] nav button")

    low = phone.evaluate(
        "[...document.querySelectorAll('button, a.button, summary')]"
        ".filter((each) => each.getBoundingClientRect().height < 44).map((each) => each.textContent)"
    )

    assert low == []


@pytest.mark.parametrize("name", ["%E0%A4%A", "%FF", "no%20such", "%2e%2e%2fx", "a%00b"])
def test_any_address_of_a_study_ends_in_words(phone, site, name):
    phone.goto(f"{site.url}/s/{name}")

    phone.wait_for_selector("body[data-screen=error] h1, h1:text-is('Not found')")
