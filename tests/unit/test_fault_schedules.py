"""Recruitments with everything that goes wrong at once: everybody is paid once, and both books agree.

A schedule is drawn from a seed: one study or two, with a test on the way, or people who wait to be called;
people who come, finish, decline, go silent and come back, also when others have their place by then, begin
again, end early for flashes that failed, or that they did not look at, return their place, or withdraw, or
are excused; a panel that answers 400, 401, 403, 404, 408, 429, 500, 502, 503, or not at all,
or forgets a place for ever; a token that is deleted; programs that are killed at any step, two at once,
with clocks that differ by minutes; restores, moves and take-overs between stores; a person at the panel who
pauses, starts, approves and rejects by hand; debts that are closed; weeks in which nobody looks; strangers.
In dollars and in pounds, with VAT and without. In the end, everything can be closed, forgotten and deleted.

`SUITE_SCHEDULES=1000` runs so many of them, `SUITE_FIRST_SEED=7000000` others.
"""

import sys

import pytest

from tests.switches import number

from .field_study import Counts, FieldStudy

SCHEDULES = number("SUITE_SCHEDULES", 320)
FIRST = number("SUITE_FIRST_SEED", 0)
GROUPS = 16
_MORE = pytest.mark.slow("as many schedules again as in the first group, three seconds of each two minutes")


@pytest.mark.parametrize("group", [0, *(pytest.param(group, marks=_MORE) for group in range(1, GROUPS))])
def test_whatever_goes_wrong_everybody_is_paid_once_and_everything_has_an_end(group):
    total = Counts()
    for seed in range(FIRST + group, FIRST + SCHEDULES, GROUPS):
        total.add(_played(seed).counts)
    sys.stdout.write(f"\n{total}\n")


def _played(seed):
    """Return what a schedule of a seed leads to; an AssertionError of it names the seed."""
    field_study = FieldStudy(seed)
    try:
        field_study.play()
        field_study.check()
        field_study.close_all()
        field_study.forget()
        field_study.check_forgotten()
        field_study.delete_all()
    except Exception as error:
        raise AssertionError(f"schedule {seed}: {error}") from error
    return field_study
