"""What fields mean stands below them, in structs, typed dictionaries and dataclasses alike."""

from dataclasses import dataclass
from typing import TypedDict

from msgspec import Struct

from backend.web.field_meanings import meanings_by_record


@dataclass(frozen=True)
class Entry:
    at: str
    """UTC."""
    by: str


class Line(TypedDict):
    entries: list[Entry]
    """The latest
    first."""


class LongLine(Line):
    total: int | None
    """Null if it is not known."""


class Asked(Struct):
    lines: dict[str, LongLine] = {}


def test_each_record_in_a_type_has_the_meanings_of_its_own_fields_and_of_those_it_inherits():
    found = meanings_by_record([Asked, int])

    assert found == {
        Asked: {},
        LongLine: {"entries": "The latest first", "total": "Null if it is not known"},
        Entry: {"at": "UTC"},
    }
