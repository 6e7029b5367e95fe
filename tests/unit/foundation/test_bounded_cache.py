"""A cache of limited size: what is kept, and what is dropped first."""

from backend.foundation.bounded_cache import Recent


def kept(recent, keys):
    return [key for key in keys if recent.get(key) is not None]


def test_the_oldest_is_dropped_first():
    recent = Recent(2)

    for key in "abac":
        recent.put(key, key)

    assert kept(recent, "abc") == ["a", "c"]


def test_as_much_is_kept_as_weighs_no_more_than_the_limit():
    recent = Recent(10, weight=len)

    for key, value in (("a", "4444"), ("b", "4444"), ("a", "22"), ("c", "4444"), ("d", "1")):
        recent.put(key, value)

    assert kept(recent, "abcd") == ["a", "c", "d"]


def test_what_was_dropped_weighs_nothing():
    recent = Recent(10, weight=len)
    recent.put("a", "7777777")

    recent.drop("a")
    recent.put("b", "7777777")
    recent.put("c", "333")

    assert kept(recent, "abc") == ["b", "c"]


def test_a_value_heavier_than_the_limit_is_kept_alone():
    recent = Recent(10, weight=len)

    recent.put("a", "1")
    recent.put("b", "x" * 11)

    assert kept(recent, "ab") == ["b"]
