"""Practice, attention checks by pictures and by instructions, played in Chromium to the end."""

from datetime import UTC, datetime

import numpy as np
import pytest
from PIL import Image

from backend.administration.create import StudySpec, create
from backend.responses.study_data import study_rows

from .test_accessibility import HOLDS_FEEDBACK, look, violations_in_looks

INSTRUCTION = ".verdict.asked:not(:empty)"
KEY = {"real": "r", "fake": "f"}


@pytest.fixture
def with_checks(site, tmp_path):
    """Create a study with practice and checks from folders; warm pictures are real, as in `folders`."""

    def made(name, method="infinity", **settings):
        rng = np.random.default_rng(5)
        for role in ("practice", "checks"):
            for side, tint in (("real", (160, 90, 40)), ("fake", (40, 90, 160))):
                folder = tmp_path / name / role / side
                folder.mkdir(parents=True)
                for i in range(4):
                    pixels = (rng.integers(0, 90, (64, 64, 3)) + tint).clip(0, 255).astype("uint8")
                    Image.fromarray(pixels).save(folder / f"{i}.png")
        counts = {"practice_images": 2, "instructed_checks": 2, "shortest_answer_ms": 0}
        settings = {"size_px": 64, "masks": "phase", "panel": site.record, **counts, **settings}
        order = StudySpec(
            name,
            "study",
            method,
            site.folders / "real",
            (("gan", site.folders / "gan"),),
            settings,
            practice=tmp_path / name / "practice",
            checks=tmp_path / name / "checks",
        )
        return create(site.store, site.data, order, datetime.now(UTC))

    return made


def asked(page):
    """Return the answer that an instruction on the page asks for; None without one."""
    if page.locator(INSTRUCTION).count() == 0:
        return None
    text = page.inner_text(INSTRUCTION)
    return next(answer for answer in KEY if f"“{answer.capitalize()}”" in text)


def answer_all(player, until, found=None):
    """Answer rightly until one of these screens comes; return the instructions and progress texts seen."""
    found = [] if found is None else found
    while player.wait("question", *until) == "question":
        instruction = asked(player.page)
        found.append((instruction, player.page.inner_text("#progress"), player.page.inner_text("#earned")))
        player.answer(KEY[instruction or player.see()])
    return found


@pytest.mark.core
def test_a_session_with_practice_and_both_kinds_of_checks_is_played_to_its_end(player, site, with_checks):
    study = with_checks("faces", images=6, picture_checks=2, bonus_usd_cents=5, base_usd_cents=100)

    player.visit("faces")
    player.wait("consent")
    offer = player.page.inner_text("main")
    player.press("consent")
    player.wait("instructions")
    told = player.page.inner_text("main")
    player.press("instructions")
    practice = answer_all(player, ["instructions"])
    heading = player.heading()
    player.press("instructions")
    seen = answer_all(player, ["done"])

    assert "2 pictures at the start, which do not count" in offer
    assert "10 pictures" in offer
    assert "Practice answers do not count, and right ones are not paid." in told
    assert practice == [
        (None, "Practice: 1 of 2", "$1.00 earned"),
        (None, "Practice: 2 of 2", "$1.00 earned"),
    ]
    assert heading == "Now it counts"
    assert [text for _, text, _ in seen] == [f"Picture {i} of 10" for i in range(1, 11)]
    assert [text for *_, text in seen] == [f"${1 + 0.05 * i:.2f} earned" for i in range(10)]
    assert sorted(instruction for instruction, *_ in seen if instruction) == ["fake", "real"]
    assert "10 of 10" in player.page.inner_text("main")
    rows = list(study_rows(site.store, study))
    kinds = [row["trial_kind"] for row in rows]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "practice": 2,
        "test": 6,
        "check": 2,
        "instructed": 2,
    }
    assert all(row["truth"] == row["response"] for row in rows)


def test_an_interrupted_practice_goes_on_and_then_it_counts(player, site, with_checks):
    with_checks("faces", images=4, picture_checks=0)
    player.begin("faces")
    player.answer(KEY[player.see()] if player.wait("question") else "f")

    player.page.reload()
    player.press("instructions")

    player.wait("question")
    assert player.page.inner_text("#progress") == "Practice: 2 of 2"
    answer_all(player, ["instructions"])
    assert player.heading() == "Now it counts"
    player.page.reload()
    player.wait("instructions")
    assert "Practice first" not in player.page.inner_text("main")
    player.press("instructions")
    answer_all(player, ["done"])


def test_flashes_are_practised_and_an_instruction_follows_its_flash(player, site, with_checks):
    study = with_checks(
        "flashes",
        "time",
        images=4,
        blocks=2,
        spare_images=100,
        picture_checks=0,
        full_screen=False,
        mask_count=0,
        countdown_from=1,
        countdown_ms=100,
        feedback_ms=50,
    )
    player.visit("flashes")
    player.press("consent")
    player.press("instructions")
    player.wait("instructions")
    assert player.heading() == "Ready to practise?"
    player.press("instructions")
    player.wait_past("instructions")
    answers = []
    while player.wait("question", "instructions") == "question":
        player.answer("f")
    assert player.heading() == "Now it counts"
    player.press("instructions")
    for end in ("break", "done"):
        player.start_flashes()
        while player.wait("question", end) == "question":
            instruction = asked(player.page)
            answers.append(instruction)
            player.answer(KEY[instruction or "real"])
        if end == "break":
            assert "Part 1 of 2 is done" in player.page.inner_text("main")
            player.press("break")

    rows = list(study_rows(site.store, study))
    assert sorted(filter(None, answers)) == ["fake", "real"]
    assert [row["exposure_ms"] for row in rows if row["trial_kind"] == "practice"] == [500, 500]
    assert all(row["response"] == row["truth"] for row in rows if row["trial_kind"] == "instructed")
    assert all("staircase_mismatch" not in row["flags"] for row in rows)


def test_the_screens_of_practice_and_of_an_instruction_are_accessible(player, site, with_checks):
    with_checks("faces", images=2, picture_checks=0, feedback_ms=20)
    page, found, widths = player.page, {}, (360, 1280)
    page.add_init_script(HOLDS_FEEDBACK)

    def check(screen, width):
        """Look at a picture in the window to which it was fitted."""
        found[screen, width] = violations_in_looks(page, [(width, "light"), (width, "dark")])

    def answer(key, next_width, name=None):
        page.keyboard.press(key)
        player.wait("feedback")
        if name:
            assert page.inner_text(".verdict") == "✓ Right: that was the answer asked for"
            found[name, "all"] = violations_in_looks(page)
        look(page, next_width, "light")
        page.evaluate("endFeedback()")
        player.wait_past("feedback")

    player.visit("faces")
    player.press("consent")
    player.wait("instructions")
    found["before practice", "all"] = violations_in_looks(page)
    look(page, widths[0], "light")
    player.press("instructions")
    for width, after in zip(widths, reversed(widths), strict=True):
        player.wait("question")
        check("practice", width)
        answer(KEY[asked(page) or player.see()], after)
    player.wait("instructions")
    found["now it counts", "all"] = violations_in_looks(page)
    look(page, widths[0], "light")
    player.press("instructions")
    instructions = 0
    while player.wait("question", "done") == "question":
        instruction = asked(page)
        if instruction:
            check("instruction", widths[instructions])
            assert page.get_attribute(INSTRUCTION, "role") == "status"
            instructions += 1
            answer(KEY[instruction], widths[-1], "feedback")
        else:
            answer("f", widths[min(instructions, 1)])

    for_all = ("before practice", "now it counts", "feedback")
    by_width = [(screen, width) for screen in ("practice", "instruction") for width in widths]
    assert found == {key: {} for key in [(screen, "all") for screen in for_all] + by_width}
