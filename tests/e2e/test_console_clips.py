"""Clips in the console: bad files are named by the check, and a study is made without them."""

import re

import pytest

from tests.unit.stimuli.clips.made_clips import moving, write_sides, write_video

from .test_console_new import choose, go_to_pictures, player, site  # noqa: F401

pytest.importorskip("av", reason="clips are prepared with PyAV")


def test_the_console_makes_a_study_of_the_clips_that_can_be_used(player, site, tmp_path):  # noqa: F811
    page = player.page
    real, models = write_sides(tmp_path, 6, 6)
    moving(1, 1)[0].save(real / "still.png")
    (real / "still.png").rename(real / "still.mp4")
    whole = write_video(models["sora"] / "cut.mkv", moving(9, 48)).read_bytes()
    (models["sora"] / "cut.mkv").write_bytes(whole[: len(whole) * 6 // 10])

    go_to_pictures(page, site, "clips")
    for heading, folder in (("Real pictures", real), ("Pictures of models", models["sora"])):
        button = page.locator(f"button:visible:has-text('Choose a folder: {heading}')")
        choose(page, button.first.click, folder)
    page.locator(".slot:has-text('On the server')").nth(1).wait_for()
    page.click("text=Continue to the check")
    page.wait_for_selector(".refused")
    refused = page.inner_text(".refused")
    page.click("text=Do this and check again")
    page.wait_for_selector("text=Do not leave files out")
    page.click("text=Continue to the settings")
    page.get_by_label("Pictures that an evaluator judges").first.fill("4")
    page.wait_for_selector("#setting-images-error:empty", state="attached")
    settings = page.url
    page.get_by_role("button", name="Preview", exact=True).click()
    page.wait_for_selector("body[data-screen=consent]", timeout=60_000)
    for screen in ("consent", "instructions"):
        page.wait_for_selector(f"body[data-screen={screen}] main .primary")
        page.keyboard.press("Enter")
    page.wait_for_selector("body[data-screen=question]")
    page.goto(settings)
    page.wait_for_selector(".settings-and-plan")
    page.click("text=Make the study")
    page.wait_for_url("**/console/studies/clips")
    page.click("nav.parts >> text=Settings")
    page.wait_for_selector("text=Clips that an evaluator judges")
    settings = page.inner_text("main")
    page.click("nav.parts >> text=Scores")
    page.wait_for_selector("text=one row each, as CSV")
    scores = page.inner_text("main")

    assert "still.mp4" in refused
    assert "a still picture" in refused
    assert "cut.mkv" in refused
    assert "it states that it ends at" in refused
    assert not re.search(r"\bpictures?\b", settings + scores, re.IGNORECASE)
    assert not re.search(r"Metrics|Demo|Distances|2AFC|JND", scores)
    assert site.store.study("clips").medium == "clip"
    assert len([*site.store.stimuli("clips")]) == 12
