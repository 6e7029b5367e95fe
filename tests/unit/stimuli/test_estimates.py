"""Long work is announced once, from the pace of what has been done, and short work not at all."""

import pytest

from backend.stimuli.estimates import announced, duration


def told(seconds_each, total, **options):
    """Return what is said while `total` items of `seconds_each` are worked on, and the items."""
    said, now = [], [0.0]

    def work():
        for i in range(total):
            now[0] += seconds_each
            yield i

    items = announced(work(), total, said.append, "it will take {}", clock=lambda: now[0], **options)
    return said, list(items)


@pytest.mark.parametrize(
    ("seconds_each", "total", "expected"),
    [
        (4, 64, ["it will take about 4 minutes"]),
        (0.5, 60, ["it will take about 30 seconds"]),
        (0.5, 59, []),
        (100, 200, ["it will take about 5.6 hours"]),
        (0.01, 64, []),
    ],
)
def test_what_takes_long_is_said_once_and_every_item_comes_through(seconds_each, total, expected):
    said, items = told(seconds_each, total)

    assert said == expected
    assert items == list(range(total))


def test_nothing_is_said_before_as_many_are_done_as_are_worked_on_at_a_time():
    # two processes finish their first at once, after 8 s: the first alone would give twice the time
    moments = iter([0.0, 8.0, 8.0, 16.0, 16.0])
    said = []

    list(announced(range(4), 4, said.append, "{}", first=2, long_s=10, clock=lambda: next(moments)))

    assert said == ["about 20 seconds"]  # 4 of 8 s by two at a time are 16 s


def test_nobody_needs_to_listen():
    assert list(announced(range(3), 3, None, "{}")) == [0, 1, 2]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (3, "about 10 seconds"),
        (89, "about 90 seconds"),
        (90, "about 2 minutes"),
        (5399, "about 90 minutes"),
        (5400, "about 1.5 hours"),
    ],
)
def test_times_are_rough(seconds, text):
    assert duration(seconds) == text
