"""The third answer “not sure” in a browser: by keyboard and pointer, in pairs, on a phone, in Arabic."""

import pytest

from backend.responses.study_data import study_rows

from .test_accessibility import violations
from .test_pairs import BOXES


@pytest.mark.core
def test_a_session_with_practice_by_keyboard_and_pointer_is_stored_paid_and_told_at_the_end(player, site):
    study = site.create(
        "doubt", images=4, practice_images=2, not_sure="true", feedback_ms=300, bonus_usd_cents=3
    )
    page = player.page
    player.visit("doubt")
    player.press("consent")
    player.wait("instructions")
    assert "If you are not sure, press G: that counts as half a right answer." in page.inner_text("main")
    player.press("instructions")

    player.wait("question")
    assert page.inner_text(".choices").split() == ["Fake", "F", "Real", "J", "Not", "sure", "G"]
    assert page.get_attribute(".choices .below", "aria-keyshortcuts") == "g"
    assert violations(page) == []
    truth = player.see()
    page.keyboard.press("g")
    page.wait_for_selector("body[data-screen=feedback]")
    assert page.inner_text(".verdict") == f"It was {truth}"
    assert page.get_attribute(".verdict", "class").split() == ["verdict"]
    player.wait_past("feedback")
    player.answer("g")
    player.press("instructions")

    player.answer("g")
    player.wait("question")
    player.act_and_move_on(lambda: page.click(".choices .below"))
    player.wait("question")
    player.answer({"real": "j", "fake": "f"}[player.see()])
    player.answer("g")
    player.wait("done")

    rows = [row for row in study_rows(site.store, study) if row["trial_kind"] == "test"]
    assert [row["response"] == "not_sure" for row in rows] == [True, True, False, True]
    shown = page.inner_text("main")
    assert "1 of 4" in shown
    assert "Answers “not sure”\n3" in shown
    assert "$0.08" in shown  # 3 + 3 * 1.5 = 7.5 cents, rounded up


def test_a_study_without_it_has_two_answers_and_its_key_does_nothing(player, site):
    site.create("plain", images=2)
    player.begin("plain")
    player.wait("question")
    assert "not sure" not in player.page.inner_text("main").lower()
    player.page.keyboard.press("g")
    player.answer("f")
    player.answer("j")
    player.wait("done")

    assert [response.response for response in site.stored("plain")[2]] == ["fake", "real"]


@pytest.mark.parametrize("method", ["infinity", "pair"])
@pytest.mark.parametrize("window", [(1280, 800), (360, 640), (844, 390)])
@pytest.mark.parametrize("language", ["fr", "ar"])
def test_its_button_stands_below_the_others_in_every_window(player, site, method, window, language):
    site.create("doubt", method, images=2, not_sure="true", language=language)
    page = player.page
    page.set_viewport_size({"width": window[0], "height": window[1]})
    player.begin("doubt")
    player.wait("question")

    boxes = page.evaluate(BOXES)

    first, second, third = boxes["buttons"]
    assert not boxes["window"]["overflows"]
    assert not boxes["window"]["scrolls"] or window[1] < 500
    assert third["y"] >= max(each["y"] + each["height"] for each in (first, second))
    assert third["height"] >= 44
    assert abs(third["x"] - min(first["x"], second["x"])) < 1
    assert abs(third["right"] - max(first["right"], second["right"])) < 1
    assert boxes["stage"]["bottom"] <= first["y"]


def test_a_flashed_pair_is_answered_not_sure(player, site):
    site.create("flashed", "pair", images=2, not_sure="true", exposures_ms="200", countdown_from=0)
    player.visit("flashed")
    player.press("consent")
    player.press("instructions")
    player.start_flashes()
    while player.wait("question", "done") == "question":
        player.answer("g")

    assert {response.response for response in site.stored("flashed")[2]} == {"not_sure"}
