"""Frozen dataclasses of our own do what those of the standard library do."""

import ast
import copy
import dataclasses
import inspect
import json
import pickle
import subprocess
import sys
from dataclasses import KW_ONLY, field
from pathlib import Path

import pytest

from backend.foundation import frozen

ROOT = Path(__file__).resolve().parents[3]


def made_by(dataclass):
    """Return two classes that are made by a decorator: a record, and one that inherits from it."""

    @dataclass(frozen=True)
    class Point:
        x: int
        tags: list = field(default_factory=list, hash=False)
        note: str = field(default="", compare=False, repr=False)
        seen: set = field(default_factory=set, init=False, compare=False)
        count: int = field(default=0, init=False)
        _: KW_ONLY
        scale: float = 1.5

        def __post_init__(self):
            if self.x < 0:
                raise ValueError("x is negative")

    @dataclass(frozen=True)
    class Place(Point):
        name: str = "here"

    return Point, Place


def parameters_of(made):
    parameters = inspect.signature(made).parameters.values()
    return [(each.name, each.kind, each.annotation) for each in parameters]


@dataclasses.dataclass(frozen=True)
class Standard:
    x: int
    y: str = "b"


@frozen.dataclass(frozen=True)
class Stored:
    x: int
    y: str = "b"


CLASSES = list(zip(made_by(frozen.dataclass), made_by(dataclasses.dataclass), strict=True))


@pytest.mark.parametrize(("ours", "theirs"), CLASSES)
@pytest.mark.parametrize(
    ("values", "named"), [((1,), {}), ((1, [2]), {"scale": 2.0}), ((1, [], "seen"), {}), ((), {"x": 4})]
)
def test_records_are_made_shown_and_taken_apart_as_by_the_standard_library(ours, theirs, values, named):
    record, expected = ours(*values, **named), theirs(*values, **named)

    assert repr(record) == repr(expected)
    assert dataclasses.asdict(record) == dataclasses.asdict(expected)
    assert vars(record) == vars(expected)
    assert parameters_of(ours) == parameters_of(theirs)
    assert ours.__match_args__ == theirs.__match_args__
    assert [each.name for each in dataclasses.fields(ours)] == [
        each.name for each in dataclasses.fields(theirs)
    ]
    assert hash(record) == hash(expected)
    assert dataclasses.asdict(dataclasses.replace(record, x=9)) == dataclasses.asdict(
        dataclasses.replace(expected, x=9)
    )


@pytest.mark.parametrize("classes", [made_by(frozen.dataclass), made_by(dataclasses.dataclass)])
def test_records_of_one_class_are_equal_by_what_is_compared(classes):
    point, place = classes

    assert point(1, note="a") == point(1, note="b")
    assert point(1) != point(2)
    assert point(1) != point(1, scale=1.0)
    assert place(1) != point(1)
    assert hash(point(1, [1])) == hash(point(1, [2]))
    assert point(1).tags is not point(1).tags


@pytest.mark.parametrize("classes", [made_by(frozen.dataclass), made_by(dataclasses.dataclass)])
def test_what_is_wrong_is_refused_alike(classes):
    point, place = classes

    with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required positional argument: 'x'"):
        point()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        point(1, z=2)
    with pytest.raises(TypeError, match="takes from 2 to 5 positional arguments but 6 were given"):
        place(1, [], "", "here", 2.0)
    with pytest.raises(ValueError, match="x is negative"):
        dataclasses.replace(place(1), x=-1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        point(1).x = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del point(1).x


def test_a_record_is_copied_and_sent_to_other_processes():
    record = Stored(1)

    assert copy.deepcopy(record) == pickle.loads(pickle.dumps(record)) == record


def test_a_method_of_the_class_itself_stays():
    @frozen.dataclass(frozen=True)
    class Quiet:
        secret: str

        def __repr__(self):
            return "Quiet()"

    assert repr(Quiet("x")) == "Quiet()"


@pytest.mark.parametrize("base", [Standard, Stored])
@pytest.mark.parametrize("dataclass", [frozen.dataclass, dataclasses.dataclass])
def test_the_two_kinds_inherit_from_each_other(base, dataclass):
    @dataclass(frozen=True)
    class Derived(base):
        z: int = 3

    record = Derived(1, z=4)

    assert repr(record).endswith("Derived(x=1, y='b', z=4)")
    assert record == Derived(1, "b", 4) != Derived(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="z"):
        record.z = 5
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        dataclasses.dataclass(type("Open", (Derived,), {}))


def test_what_a_function_on_aws_imports_has_frozen_dataclasses_of_our_own():
    asked = "import json, sys; from backend import handlers; print(json.dumps([*sys.modules]))"
    printed = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    modules = [name for name in json.loads(printed) if name.startswith("backend.")]
    paths = [path for name in modules if (path := ROOT / f"{name.replace('.', '/')}.py").exists()]

    assert len(paths) > 100
    assert [path for path in paths if _is_made_by_the_standard_library(path.read_text("utf-8"))] == []


def _is_made_by_the_standard_library(source):
    """Return whether a module has a frozen dataclass, and takes the decorator from the standard library."""
    return "@dataclass(frozen=True)" in source and any(
        isinstance(node, ast.ImportFrom)
        and node.module == "dataclasses"
        and any(alias.name == "dataclass" for alias in node.names)
        for node in ast.walk(ast.parse(source))
    )
