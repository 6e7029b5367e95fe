"""Every refusal that an evaluator can meet is told in plain words, and leads on."""

import re
from pathlib import Path

import pytest

from backend.experiment.panel import BUILT_IN, PanelRecord

ROOT = Path(__file__).resolve().parents[3]
PLACES = [
    "task",
    "experiment",
    "studies",
    "stores",
    "panels",
    "web/session_rate_limit.py",
    "foundation/errors.py",
]
CODE = re.compile(r'(?:\bcode=|\n    code = |^    "[a-z_]+": \()"([a-z_]+)"', re.MULTILINE)
BY_THE_PAGE = {
    "stale_lease": "the page leads back to the other tab",
    "answer_conflict": "as a stale lease: the picture was judged in the other tab",
    "wrong_token": "the page begins anew; the waiting page says so",
    "unknown_session": "as a wrong token; the withdrawal page says that nothing is left",
    "unknown_wait": "as a wrong token",
    "wrong_link": "the withdrawal page says what its link lacks",
    "no_retainer": "the waiting page says so",
    "consent_changed": "the page says so, and loads again",
    "unfit_display": "the page has measured the display before, and says what helps",
    "unanswered_question": "the page asks for it before it sends",
    "stale": "the server tries again",
    "busy": "the page tries again, and says so",
    "too_many": "the page tries again, and says so",
    "unavailable": "the page tries again, and says so",
    "store_failed": "the page tries again, and says so",
    "store_locked": "the page tries again, and says so",
    "no_debrief": "the end is shown without one",
    "not_finished": "the end is shown without a debrief",
    **dict.fromkeys(
        ["already_judged", "closed", "invalid_answer", "out_of_order", "questions_first",
         "not_mistimed", "unknown_question", "wrong_stimulus", "wrong_time", "invalid", "not_json",
         "not_found", "not_allowed", "conflict", "error", "simulated"],
        "no page of ours asks for it: it offers to load again, or to stop and to write",
    ),
    **dict.fromkeys(
        ["no_table", "no_token", "changed", "panel_refused", "panel_token_refused", "not_at_panel",
         "panel_unsure", "panel_unreached", "wrong_signature"],
        "told to researchers or panels only",
    ),
}  # fmt: skip
"""What a page does about a refusal without a page of its own."""


def codes():
    """Return every code of a refusal in the code that evaluators reach."""
    files = [
        file
        for name in PLACES
        for path in [ROOT / "backend" / name]
        for file in ([path] if path.suffix else path.rglob("*.py"))
    ]
    found = {code for file in files for code in CODE.findall(file.read_text("utf-8"))}
    return found | {"already_started", "already_finished", "returned", "lapsed"}


def explained():
    """Return the codes that the task page explains."""
    (listed,) = re.findall(
        r"PLAIN = \[(.*?)\]", (ROOT / "frontend/task/refusals.js").read_text("utf-8"), re.DOTALL
    )
    return set(re.findall(r'"([a-z_]+)"', listed))


def test_every_refusal_is_explained_or_answered_by_the_page():
    told = explained()

    assert codes() - told - BY_THE_PAGE.keys() == set()
    assert told <= codes(), "no such refusal"
    assert not told & BY_THE_PAGE.keys()


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "pt", "ja", "zh", "ar"])
def test_every_explanation_has_a_title_and_what_to_do(language):
    catalogue = (ROOT / f"frontend/texts/text_{language}.js").read_text("utf-8")

    for code in explained() | {"consent_changed"}:
        assert f'"refused.{code}": "' in catalogue
        assert f'"refused.{code}_help": "' in catalogue


def test_panels_have_a_way_back_where_an_address_is_known():
    sona = PanelRecord("sona", redirect="https://lab.sona-systems.com/credit.aspx?id={sona_id}")

    assert BUILT_IN["prolific"].home == "https://app.prolific.com/submissions"
    assert sona.home == "https://lab.sona-systems.com/"
    assert PanelRecord("own", early_redirect="https://panel.example?x=1").home == "https://panel.example/"
    assert BUILT_IN["link"].home is None
