"""The page of a competition in a browser: accessible, without script, on a desk and on a phone."""

import itertools
from datetime import UTC, datetime

import pytest

from backend.competitions import pages
from backend.competitions.badge import badge
from backend.competitions.protocol_hash import COVERS

from .test_accessibility import AXE, RULES, look

MODELS = [("diffusion@40k", "ann", 52.3), ("a-model-with-a-rather-long-name@120000", None, 44.1)]
NOW = datetime(2026, 11, 24, tzinfo=UTC)


def competition(**changes):
    day = "2026-11-02T10:00:00.000Z"
    rows = [
        {
            "ranks": [1, 2], "model": model, "submitter": by, "score": score, "ci": [score - 2, score + 2],
            "evaluators": 30, "submitted_at": day if by else None, "joined_at": None, "judged_from": day,
            "judged_until": day, "tries": 3 if by else None, "cost_usd_cents": 6123,
            "look": 2 if by else None,
        }
        for model, by, score in MODELS
    ]  # fmt: skip
    looks = {
        "looks": [10, 20, 30], "aim": "apart", "digest": "ab" * 32,
        "ends_when": "all pairs of models differ significantly",
    }  # fmt: skip
    return {
        "looks": looks,
        "study": "faces", "title": "Faces <img src=x> 2026", "about": "Faces.\n\n<b>256 px</b>", "since": day,
        "method": "infinity", "method_title": "HYPE-infinity", "score": "Share of pictures judged wrong",
        "unit": "percent", "level": 0.95, "opens_at": None, "closes_at": day, "embargo_until": None,
        "is_under_embargo": False, "limit": {"count": 5, "days": 7}, "counts": "best", "is_open_to_all": True,
        "changes": [{"at": day, "terms": ["limit"]}], "evaluators_wanted": 30, "currency": "USD",
        "protocol": {"sha256": "de14c5d8" * 8, "covers": COVERS}, "models": rows, "made_at": day, **changes,
    }  # fmt: skip


@pytest.mark.core
def test_the_page_is_accessible_and_fits(page):
    hidden = competition(
        is_under_embargo=True, embargo_until="2027-01-01T00:00:00.000Z", models=[], looks=None
    )
    for data in (competition(), hidden):
        page.set_content(pages.competition_page(data, NOW, "https://study.example"))
        assert page.locator("a:text-is('Console')").get_attribute("href") == "/console"
        page.add_script_tag(path=AXE)
        for width, scheme in itertools.product((1280, 390), ("light", "dark")):
            look(page, width, scheme)

            found = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)

            assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.locator("img, script:not([src]), b").count() <= 1  # axe alone


@pytest.mark.core
def test_a_badge_is_an_image_with_a_name_and_no_markup_of_others(browser):
    data = competition()
    page = browser.new_page()
    page.set_content(f"<main>{badge(data, data['models'][0])}</main>")

    shown = page.locator("svg")

    assert shown.get_attribute("role") == "img"
    assert shown.get_attribute("aria-label").endswith("52.3%, rank 1 to 2")
    assert "Faces <img src=x> 2026: diffusion@40k" in shown.text_content()
    assert page.locator("img").count() == 0
    widths = page.evaluate("""[...document.querySelectorAll("svg text")].map(
        (text) => [text.getBBox().x + text.getBBox().width, text.nextElementSibling?.getAttribute("x")])""")
    assert all(after is None or end < float(after) for end, after in widths)
    page.close()
