"""Frozen dataclasses that take a quarter of the time to define.

The standard library compiles six functions for each of them, half a millisecond in Python 3.11: with a
hundred of them, an eighth of the start of a function on AWS. Here `__init__` alone is compiled, and
the other methods are functions of the values. `fields`, `replace`, `asdict` and mypy see a dataclass.
"""

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: Literal[True]) -> Callable[[type], type]:
        """Return a decorator that does what `dataclasses.dataclass(frozen=True)` does."""
        return _with_methods


Fields = tuple[dataclasses.Field[Any], ...]


def _with_methods(cls: type) -> type:
    defined = {*vars(cls)}
    is_derived = any(map(dataclasses.is_dataclass, cls.__bases__))
    dataclasses.dataclass(init=False, repr=False, eq=False, frozen=is_derived)(cls)
    cls.__dataclass_params__.frozen = True  # type: ignore[attr-defined]  # others may derive from it
    fields = dataclasses.fields(cls)
    methods = {
        "__init__": _init_of(cls, fields),
        "__repr__": _repr_of(fields),
        "__eq__": _eq_of([each.name for each in fields if each.compare]),
        "__hash__": _hash_of([each.name for each in fields if each.compare and each.hash is not False]),
        "__setattr__": _refuse_to_assign,
        "__delattr__": _refuse_to_delete,
    }
    for name in methods.keys() - defined:
        setattr(cls, name, methods[name])
    return cls


def _init_of(cls: type, fields: Fields) -> Callable[..., None]:
    """Return `__init__`; arguments without a default come first, those by keyword alone last."""
    names: dict[str, Any] = {"set_": object.__setattr__, "MISSING": dataclasses.MISSING}
    places = [_parameter(each, names) for each in fields if each.init and not each.kw_only]
    by_name = [_parameter(each, names) for each in fields if each.init and each.kw_only]
    parameters = ", ".join(["self", *places, *(["*"] if by_name else []), *by_name])
    lines = [_assignment(each, names) for each in fields]
    lines.append("self.__post_init__()" if hasattr(cls, "__post_init__") else "pass")
    exec(f"def __init__({parameters}):\n " + "\n ".join(lines), names)
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {each.name: each.type for each in fields if each.init} | {"return": None}
    return init


def _parameter(each: dataclasses.Field[Any], names: dict[str, Any]) -> str:
    """Return a parameter of `__init__`; its default is put into `names`."""
    if each.default_factory is not dataclasses.MISSING:
        return f"{each.name}=MISSING"
    if each.default is dataclasses.MISSING:
        return each.name
    names[f"default_{each.name}"] = each.default
    return f"{each.name}=default_{each.name}"


def _assignment(each: dataclasses.Field[Any], names: dict[str, Any]) -> str:
    """Return the line of `__init__` that assigns a field."""
    name = each.name
    if each.default_factory is dataclasses.MISSING:
        return f"set_(self, {name!r}, {name})" if each.init else "pass"
    names[f"make_{name}"] = each.default_factory
    given = f"{name} if {name} is not MISSING else " if each.init else ""
    return f"set_(self, {name!r}, {given}make_{name}())"


def _eq_of(names: list[str]) -> Callable[[Any, Any], Any]:
    values = _values_of(names)

    def is_equal(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return is_equal


def _hash_of(names: list[str]) -> Callable[[Any], int]:
    values = _values_of(names)
    return lambda self: hash(values(self))


def _values_of(names: list[str]) -> Callable[[Any], Any]:
    return attrgetter(*names) if names else lambda record: ()


def _repr_of(fields: Fields) -> Callable[[Any], str]:
    def shown(self: Any) -> str:
        values = (f"{each.name}={getattr(self, each.name)!r}" for each in fields if each.repr)
        return f"{self.__class__.__qualname__}({', '.join(values)})"

    return shown


def _refuse_to_assign(self: Any, name: str, value: Any) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
