"""Words in the console: no names of settings, codes, commands, verbs, statuses, or paths of the server."""

import re

import pytest
from playwright.sync_api import expect

from backend.administration.catalogues import catalogue
from backend.administration.setting_forms import PROTOCOLS
from backend.experiment.settings import documented_settings
from tests.e2e.test_console_study import run, sign_in, worker

NAMES = "|".join(name for name in documented_settings() if "_" in name)
RAW = re.compile(
    rf"\b(?:{NAMES})\b|least-seen|hype-2019|weighted-75|jpeg:|\bopenhype [a-z]|--[a-z]|\.toml\b"
    r"|\b(?:GET|POST|PUT) /|/api/|\bHTTP\b|\bstatus \d{3}\b|(?<![\w:/.])/(?:tmp|home|root|var|usr|work|opt)/"
    r"|[A-Z]:\\|keys\.json|PROLIFIC_TOKEN|undefined|\[object"
)
SHOWN = """() => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  const inAttributes = [...document.querySelectorAll("main [aria-label], main [placeholder], main [title]")]
    .flatMap((each) => ["aria-label", "placeholder", "title"].map((name) => each.getAttribute(name) ?? ""));
  const options = [...document.querySelectorAll("option, textarea")].map(({ textContent }) => textContent);
  return [document.body.innerText, ...inAttributes, ...options].join("\\n");
}"""
PARTS = (
    "",
    "/scores",
    "/scores?simulated",
    "/recruit",
    "/pay",
    "/sessions",
    "/submissions",
    "/runs",
    "/settings",
)


def draft(page, id, **body):
    return page.evaluate(
        """([id, data]) => fetch(`/api/drafts/${id}`, {
          method: "POST", body: JSON.stringify(data),
          headers: {"Content-Type": "application/json", "X-Openhype-Member": "owner"}
        }).then(({status}) => status)""",
        [id, body],
    )


def words(page, site, path, selector="main > :not(h1):not(.loading-page)"):
    page.goto(f"{site.url}/console{path}")
    page.wait_for_selector(selector)
    page.wait_for_load_state("networkidle")
    return page.evaluate(SHOWN)


def raw_words(text):
    return sorted({match[0] for match in RAW.finditer(text)})


@pytest.fixture
def desk(player, site):
    site.create("faces", images=10, evaluators=4)
    return player


@pytest.mark.core
def test_no_screen_has_names_of_the_api_the_command_line_or_the_server(desk, site):
    page, found = desk.page, {}
    run(site, 2)
    with worker(site):
        sign_in(page, site, "/console/studies/faces")
        page.click("button:text-is('Simulate')")
        page.wait_for_selector("text=Done: 10 simulated evaluators took part.", timeout=60000)
    page.evaluate(
        "fetch('/api/members/nobody/remove', {method: 'POST', body: '{}', headers: "
        "{'Content-Type': 'application/json', 'X-Openhype-Member': 'owner'}})"
    )
    draft(page, "one", name="two-faces", method="infinity")

    screens = ["", "/new", "/new/one", "/new/one/pictures", "/new/one/settings", "/people", "/audit"]
    for path in [*screens, *(f"/studies/faces{part}" for part in PARTS)]:
        text = words(page, site, path)
        ways = page.locator("details:has(summary:text-is('Let others in'))").all_inner_texts()
        for way in ways:  # how whoever runs the server starts it
            text = text.replace(way, "")
        found[path] = raw_words(text)

    assert {path: each for path, each in found.items() if each} == {}
    audit = words(page, site, "/audit", "tbody tr")
    rows = page.locator("tbody tr").all_inner_texts()
    assert not re.search(r"\b[2-5]\d\d\b", re.sub(r"\d{1,2} \w{3} \d{4}, [\d:]+", "", audit))
    assert any("Have simulated evaluators take part (faces)" in row for row in rows)
    assert any("Remove a member (nobody)" in row and row.endswith(("refused", "failed")) for row in rows)


@pytest.mark.parametrize("method", [*PROTOCOLS])
def test_the_settings_of_every_method_are_called_by_words(desk, site, method):
    page = desk.page
    sign_in(page, site, "/console/people")
    kind = {"kind": "qualification"} if method == "qualification" else {"method": method}
    draft(page, "one", name="two-faces", **kind)

    text = words(page, site, "/new/one/settings", ".plan-facts dd, .plan > .error:not(:empty)")

    assert raw_words(text) == []
    assert page.locator("main code").all_inner_texts() in ([], ["{code}"])
    assert "German" in text
    assert "Amazon Mechanical Turk" in text


@pytest.mark.core
def test_the_consent_text_is_read_and_changed_where_the_study_is_made_in_its_language(desk, site):
    page, stored = desk.page, {}
    sign_in(page, site, "/console/people")
    draft(page, "one", name="two-faces", method="infinity")
    consent = page.get_by_label("Consent text", exact=True)

    def settings():
        page.wait_for_selector("text=Saved on the server")
        return page.evaluate("fetch('/api/drafts/one').then((r) => r.json()).then(({body}) => body.settings)")

    words(page, site, "/new/one/settings", ".plan-facts dd")
    english = consent.input_value()
    page.get_by_label("Language", exact=True).select_option(label="German")
    expect(consent).to_have_value(catalogue("de")["consent.text"])
    stored["german"] = settings()
    consent.fill("Mein Text")
    stored["own"] = settings()
    page.get_by_label("Language", exact=True).select_option(label="French")
    page.wait_for_load_state("networkidle")

    assert english == site.store.study("faces").protocol.consent.consent_text
    assert stored == {"german": {"language": "de"}, "own": {"language": "de", "consent_text": "Mein Text"}}
    assert consent.input_value() == "Mein Text"


@pytest.mark.core
def test_what_the_server_refuses_has_the_words_of_its_fields(desk, site):
    page = desk.page
    sign_in(page, site, "/console/people")
    draft(page, "one", name="two-faces", method="infinity")
    words(page, site, "/new/one/settings", ".plan-facts dd")

    page.get_by_label("How pictures are chosen").select_option(label="those with the fewest answers")
    page.get_by_label("Share chosen at random").fill("0")
    page.wait_for_selector(
        "#setting-random_sampling_share-error:not(:empty), #setting-sampling-error:not(:empty)"
    )
    told = page.inner_text("form .error:not(:empty)")

    assert told == (
        "With “How pictures are chosen” (those with the fewest answers), “Share chosen at random” must be "
        "above 0, such as 0.5: scores use the random share alone."
    )


@pytest.mark.core
def test_a_study_is_duplicated_as_a_draft_that_says_what_it_lacks(desk, site):
    page = desk.page
    sign_in(page, site, "/console/studies/faces")

    page.click("text=Duplicate study")
    page.click("text=the draft")
    page.wait_for_selector("#name")

    assert page.input_value("#name") == "faces-2"
