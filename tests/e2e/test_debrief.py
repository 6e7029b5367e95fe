"""The end that tells how one did, in a real browser: before others, beside others, and with the pictures."""

import pytest

from backend.task.picture_names import PictureNames

from .test_accessibility import violations


def played(player, images, wrong):
    """Play a session, the first `wrong` answers not right; return the screens' faults of accessibility."""
    player.press("consent")
    player.press("instructions")
    for i in range(images):
        player.wait("question")
        truth = player.see()[0]
        player.answer(truth if i >= wrong else {"r": "f", "f": "r"}[truth])
    player.wait("done")
    return violations(player.page)


@pytest.mark.core
def test_one_sees_the_own_result_beside_others_and_what_the_pictures_were(player, site):
    site.create(
        "faces", images=8, spare_images=0, feedback_ms=20, debrief="true", repeat_visits="true",
        bonus_usd_cents=0, panel="link",
    )  # fmt: skip
    player.visit("faces")
    found = played(player, 8, wrong=2)
    player.page.emulate_media(color_scheme="dark")
    found += violations(player.page)
    alone = player.page.inner_text("main")
    rows = player.page.locator(".scores tbody tr").all_inner_texts()

    assert found == []
    assert "No other session has judged this model yet" in alone
    assert any("You, just now" in row and "25.0%" in row for row in rows)
    assert any("StyleGAN (truncated)" in row and "50.7%" in row for row in rows)
    shown = player.page.locator(".gallery > ul > li")
    assert shown.count() == 2
    truths = site.truths("faces")
    for i in range(2):
        session, name = shown.nth(i).locator("img").get_attribute("src").split("/")[-2:]
        name = PictureNames(site.data.keys().hashing).opened(session, name)
        text = shown.nth(i).inner_text()
        assert text.startswith({"real": "Real", "fake": "Computer-generated"}[truths[name]])
    assert player.page.locator(".gallery details li").count() == 6

    player.press("done")
    played(player, 8, wrong=4)

    assert "One other session with this model was wrong about 25%" in player.page.inner_text("main")
    assert "Other sessions (1)" in player.page.inner_text(".scores")


def test_the_way_back_to_a_panel_stands_before_the_result(player, site):
    site.create(
        "faces", images=2, spare_images=0, feedback_ms=20, debrief="true",
        redirect_url="https://panel.example/?cc={code}", panel="prolific",
    )  # fmt: skip
    player.visit("faces", "?PROLIFIC_PID=p1&STUDY_ID=s&SESSION_ID=x")
    played(player, 2, wrong=1)

    player.page.wait_for_selector(".scores")
    back = player.page.locator("a.button.primary")
    assert player.heading() == "All done. Thank you!"
    assert back.get_attribute("href").startswith("https://panel.example/?cc=")
    assert back.bounding_box()["y"] < player.page.locator(".scores").bounding_box()["y"]


def test_the_end_fits_a_phone(player, site):
    site.create(
        "faces", images=4, spare_images=0, feedback_ms=20, debrief="true", panel="link", bonus_usd_cents=0
    )
    player.page.set_viewport_size({"width": 360, "height": 740})
    player.visit("faces")
    found = played(player, 4, wrong=2)

    width = player.page.evaluate("document.documentElement.scrollWidth")
    assert (found, width) == ([], 360)
