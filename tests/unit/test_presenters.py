"""How the benchmark of presenters judges what was on show."""

import pytest

from bench.presenters import Trial, changes, flash_seen
from tests.e2e.trace import Mark

FRAME_MS = 1000 / 60
TRIAL = Trial("picture", ("a", "b", "c", "d"), exposure_ms=50)


def shown(*steps):
    """Return changes of what is on show: each name with its refreshes."""
    found, at = [(float("-inf"), "blank")], 1000.0
    for name, frames in steps:
        found.append((at, name))
        at += frames * FRAME_MS
    return [*found, (at, "blank")]


def mark(name, presented_ms):
    return Mark(f"openhype:{name}", 0, presented_ms, in_worker=False)


def test_of_what_one_frame_presented_only_the_last_was_seen():
    found = changes([mark("picture", 10), mark("blank", 26), mark("a", 26), mark("b", None)], {})

    assert found[1:] == [(10, "picture"), (26, "a")]


def test_a_picture_that_was_drawn_again_at_once_was_never_gone():
    found = changes([mark("picture", 10), mark("blank", 26), mark("picture", 26), mark("a", 60)], {})

    assert found[1:] == [(10, "picture"), (60, "a")]


def test_marks_are_translated():
    assert changes([mark("1:0", 10)], {"1:0": "picture"})[1:] == [(10, "picture")]


@pytest.mark.parametrize("masks", [(2, 2, 1, 2), (2, 2, 2, 2)])
def test_a_flash_as_planned_is_exact_and_whole(masks):
    seen = flash_seen(shown(("picture", 3), *zip("abcd", masks, strict=True)), TRIAL, FRAME_MS)

    assert (seen.is_exact, seen.is_whole) == (True, True)


@pytest.mark.parametrize(
    "steps",
    [
        [("picture", 3), ("blank", 1), ("a", 2), ("b", 2), ("c", 1), ("d", 2)],
        [("picture", 3), ("a", 2), ("c", 2), ("b", 1), ("d", 2)],
        [("picture", 3), ("a", 3), ("b", 2), ("c", 1), ("d", 2)],
        [("picture", 3), ("a", 2), ("b", 2), ("c", 2)],
    ],
    ids=["a blank", "out of order", "too long", "one missing"],
)
def test_masks_that_are_not_as_ordered_leave_the_picture_exact_alone(steps):
    seen = flash_seen(shown(*steps), TRIAL, FRAME_MS)

    assert (seen.is_exact, seen.is_whole) == (True, False)


@pytest.mark.parametrize(
    "steps",
    [
        [("a", 2)],
        [("picture", 2), ("a", 2), ("b", 2), ("c", 2), ("d", 2)],
        [("picture", 3), ("blank", 1), ("picture", 1), ("a", 2)],
    ],
    ids=["never seen", "too short", "seen twice"],
)
def test_a_picture_that_did_not_stand_once_for_its_time_is_not_exact(steps):
    assert not flash_seen(shown(*steps), TRIAL, FRAME_MS).is_exact
