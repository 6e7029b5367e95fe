"""Two people at one computer: each goes on where they stood, to a code of their own, whatever is judged."""

from contextlib import ExitStack

import pytest

from backend.experiment import panel as records

from .conftest import Player
from .test_closer import triplets  # noqa: F401
from .test_engines import skip_without
from .test_tournaments import made as tournament

QUICK = {"images": 4, "feedback_ms": 20, "evaluators": 9, "panel": records.SONA}


@pytest.fixture
def make(site, tmp_path, request):
    """Return a function that makes the study `faces`, of a judgment or with what is asked besides."""

    def made(what):
        if what == "tournament":
            return tournament(site, tmp_path, "faces", **QUICK)
        if what == "2afc":
            site.record = records.SONA
            return request.getfixturevalue("triplets")("faces", 4, feedback_ms=20, evaluators=9)
        asked = {"confidence": "3", "confidence_when": "with"} if what == "confidence" else {}
        return site.create("faces", **QUICK, **asked)

    return made


@pytest.fixture
def one_browser(request):
    """Return a function that opens pages of one browser, by its engine."""
    with ExitStack() as stack:

        def opener(engine):
            if engine == "Chromium":
                return request.getfixturevalue("context").new_page
            skip_without(engine)
            from tests.engines.firefox import firefox

            browser = stack.enter_context(firefox(1100, 800))
            return stack.enter_context(browser.fresh())

        yield opener


def come(player, who, is_new=True):
    player.visit("faces", f"?sona_id={who}")
    if is_new:
        player.press("consent")
    while player.wait("instructions", "question", "done") == "instructions":
        player.page.keyboard.press("Enter")
        player.page.wait_for_timeout(400)  # the next screen may have the same name


def judge(player, count=99, keys=("f", "j")):
    """Answer so many trials, or all, each by one or several keys; return the code if that is the end."""
    for i in range(count):
        if player.wait("question", "done") == "done":
            return player.page.inner_text("#code")
        player.act_and_move_on(lambda i=i: [player.page.keyboard.press(key) for key in keys[i % 2]])
    return None


CASES = [
    *(("Chromium", what) for what in ("confidence", "2afc", "tournament")),
    pytest.param("Firefox", "infinity", marks=pytest.mark.slow("starts Firefox")),
]


@pytest.mark.parametrize(("engine", "what"), CASES)
def test_both_finish_with_a_code_of_their_own(one_browser, make, site, engine, what):
    make(what)
    keys = ("f2", "j3") if what == "confidence" else ("f", "j")
    player = Player(one_browser(engine)(), site)
    come(player, "41")
    judge(player, 2, keys)
    come(player, "42")
    second = judge(player, keys=keys)
    come(player, "41", is_new=False)
    first = judge(player, keys=keys)
    player.page.click("summary")
    leave = player.page.get_attribute(".withdrawal a", "href")
    player.page.goto(f"{site.url}{leave}")
    player.wait("withdraw")
    player.page.click("button:has-text('Delete my answers')")
    player.wait("done")
    withdrawn = player.heading()
    player.visit("faces", "?sona_id=42")
    player.wait("done")

    assert player.faults == []
    assert withdrawn == "Your answers are deleted"
    assert len({first, second, None}) == 3
    assert player.page.inner_text("#code") == second
    ((session, cursor),) = site.store.sessions("faces")
    assert (session.panel["sona_id"], cursor.state) == ("42", "finished")
    assert session.completion_code == second
