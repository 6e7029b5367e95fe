"""Recruitments with everything that goes wrong at once: everybody is paid once, and both books agree.

A schedule is drawn from a seed: people of every kind, who come, finish, decline, go silent, return their
place, withdraw; a panel that answers 400, 401, 403, 404, 408, 429, 500, 502, 503, or not at all; a token
that is deleted; programs that are killed at any step; a person at the panel who pauses, starts, approves
and rejects by hand; weeks in which nobody looks; strangers. In dollars and in pounds, with VAT and without.

`SUITE_SCHEDULES=1000` runs more of them, and prints what they went through; `SUITE_FIRST_SEED=7000000` runs
others.
"""

import re
import sys

import pytest

from tests.switches import number

from .field_study import Counts, FieldStudy

SCHEDULES = number("SUITE_SCHEDULES", 60)
FIRST = number("SUITE_FIRST_SEED", 0)
GROUPS = 6


_MORE = pytest.mark.slow("ten schedules beside those of the first group")


@pytest.mark.parametrize("group", [0, *(pytest.param(group, marks=_MORE) for group in range(1, GROUPS))])
def test_whatever_goes_wrong_everybody_is_paid_once_and_both_books_agree(group):
    total = Counts()
    for seed in range(FIRST + group, FIRST + SCHEDULES, GROUPS):
        field_study = FieldStudy(seed)
        try:
            field_study.play()
            field_study.check()
        except AssertionError as error:
            raise AssertionError(f"schedule {seed}: {error}") from error
        total.add(field_study.counts)
    sys.stdout.write(f"\n{total}\n")


@pytest.mark.parametrize("group", [0, *(pytest.param(group, marks=_MORE) for group in range(1, GROUPS))])
def test_once_everything_is_closed_and_old_no_id_of_the_panel_is_left(group):
    for seed in range(FIRST + group, FIRST + SCHEDULES // 2, GROUPS):
        field_study = FieldStudy(seed)
        field_study.play()
        field_study.close_debts()

        field_study.forget()

        stored = repr(vars(field_study.store))
        words = set(re.findall(r"[0-9a-z]+", stored))  # names of pictures may have an id within
        left = [id for id in field_study.ids() if id in words]
        assert not left, f"schedule {seed}: {left[0]} is in {stored[: stored.index(left[0])][-200:]}"
