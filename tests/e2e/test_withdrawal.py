"""Withdrawing in the browser: the link is given, the page asks once, and everything of it is kind."""

import pytest

from backend.administration.delete import delete
from backend.foundation.timestamps import utc_now
from tests.e2e.test_accessibility import LOOKS, look, violations, violations_in_looks


def link(player):
    player.page.click("summary")
    return player.page.get_attribute(".withdrawal a", "href")


def play(player, site, **settings):
    site.create("faces", images=2, feedback_ms=50, **settings)
    player.visit("faces")
    player.press("consent")
    player.press("instructions")
    for key in "fr":
        player.answer(key)
    player.wait("done")


@pytest.mark.core
def test_an_evaluator_withdraws_at_the_end_and_is_told_so_ever_after(player, site):
    play(player, site)
    session, _, responses = site.stored("faces")
    assert len(responses) == 2
    href = link(player)

    player.page.goto(f"{site.url}{href}")
    player.wait("withdraw")
    asked = player.page.inner_text("main")
    player.page.keyboard.press("Enter")
    player.page.keyboard.press(" ")
    kept = len(site.store.responses(session.id))
    player.page.click("text=Delete my answers")
    player.wait("done")

    assert "all of your 2 answers" in asked
    assert kept == 2
    assert player.heading() == "Your answers are deleted"
    assert list(site.store.sessions("faces")) == []
    player.page.reload()
    player.wait("done")
    assert player.heading() == "Your answers are deleted"
    player.visit("faces")
    player.wait("error")
    assert player.heading() == "You have withdrawn"


def test_the_link_of_a_deleted_study_says_that_nothing_is_left(player, site):
    play(player, site, bonus_usd_cents=0)
    href = link(player)
    delete(site.store, site.data, site.store.study("faces"), utc_now())

    player.page.goto(f"{site.url}{href}")
    player.wait("done")

    assert player.heading() == "No answers of yours are kept"
    assert violations(player.page) == []


def test_who_keeps_the_answers_loses_none(player, site):
    play(player, site)
    href = link(player)

    player.page.goto(f"{site.url}{href}")
    player.page.click("text=Keep them")
    player.wait("done")

    assert player.heading() == "Nothing was deleted"
    assert player.answers_stored("faces") == 2


def test_withdrawing_in_another_tab_ends_the_task_kindly(player, site):
    site.create("faces", images=4, feedback_ms=50)
    player.visit("faces")
    player.press("consent")
    player.wait("instructions")
    href = link(player)
    player.page.click("main .primary")  # Enter would close the note, which has the focus
    player.answer("f")
    other = player.page.context.new_page()
    other.goto(f"{site.url}{href}")
    assert "Your session is still open" in other.inner_text("main:has(button)")
    other.click("text=Delete my answers")
    other.wait_for_selector("h1:text-is('Your answers are deleted')")

    player.wait("question")
    player.page.keyboard.press("f")
    player.wait("error")

    assert player.heading() == "You have withdrawn"
    assert list(site.store.sessions("faces")) == []


def test_the_secret_of_the_link_is_sent_in_no_address(player, site):
    play(player, site)
    href = link(player)
    secret = href.partition("#")[2]
    asked = []
    player.page.on("request", lambda request: asked.append(request.url.partition("#")[0]))

    player.page.goto(f"{site.url}{href}")
    player.page.click("text=Delete my answers")
    player.wait("done")

    assert len(secret) == 64
    assert len(asked) > 3
    assert not any(secret in url for url in asked)


def test_a_link_that_is_not_whole_deletes_nothing(player, site):
    play(player, site)
    session, _, _ = site.stored("faces")

    for fragment in ("", "#", "#" + "0" * 64):
        player.page.goto("about:blank")  # from one fragment to another, nothing is loaded
        player.page.goto(f"{site.url}/w/{session.id}{fragment}")
        player.wait("error")

        assert player.heading() == "This link does not work"
        assert player.answers_stored("faces") == 2


def test_the_link_is_there_in_a_break(player, site):
    site.create("glimpse", "time", images=2, blocks=2, spare_images=100, countdown_ms=60, full_screen="false")
    player.visit("glimpse")
    player.press("consent")
    player.press("instructions")
    player.start_flashes()
    player.play_flashes()
    player.wait("break")

    assert link(player).startswith("/w/")


def test_a_paused_study_says_so_before_anything_else(player, site):
    from backend.studies.pausing import set_paused

    site.create("faces", images=2)
    set_paused(site.store, "faces", True, "2026-01-01T00:00:00.000Z")

    player.visit("faces")
    player.wait("error")

    assert player.heading() == "The study is paused"


@pytest.mark.core
def test_withdrawing_is_accessible(player, site):
    page, found, wider = player.page, {}, set()
    play(player, site, keep_days=30)
    href = link(player)
    found["note"] = violations_in_looks(page)
    page.goto(f"{site.url}{href}")
    player.wait("withdraw")
    found["asked"] = violations_in_looks(page)
    page.click("text=Delete my answers")
    player.wait("done")
    found["done"] = violations_in_looks(page)
    for each in LOOKS:
        look(page, *each)
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        wider.add(page.evaluate(overflow))

    assert found == {"note": {}, "asked": {}, "done": {}}
    assert wider == {0}


def test_what_was_agreed_to_is_shown_behind_the_link_in_the_language_of_the_session_and_is_all_that_prints(
    player, site
):
    words = "Ihre Antworten bleiben hier.\n\nFragen beantwortet das Labor."
    play(player, site, consent_text=words, language="de")
    href = link(player)

    player.page.goto(f"{site.url}{href}")
    player.wait("withdraw")
    player.page.evaluate("window.print = () => (window.printed = true)")
    player.page.click("details.agreed summary")
    shown = player.page.inner_text("details.agreed")
    assert "Ihre Antworten bleiben hier." in shown
    assert "Fragen beantwortet das Labor." in shown
    player.page.click("details.agreed button")
    assert player.page.evaluate("window.printed")
    assert violations(player.page) == []
    player.page.emulate_media(media="print")
    printed = player.page.inner_text("body")
    assert "Fragen beantwortet das Labor." in printed
    assert "löschen" not in printed
