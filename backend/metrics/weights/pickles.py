"""Reads a pickle as data, with an interpreter of only those instructions that arrays and tensors need.

Python's unpickler imports and calls what a file names, so that a file can run any program. Here a global is
only a name (`Global`), and an instruction to call one looks that name up in a table of ours. Nothing is
imported, no attribute is looked up, and memory is bounded by the size of the file.
"""

import pickletools
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Any, Protocol, cast

from backend.foundation.errors import brief

_MOST_INSTRUCTIONS = 500_000
"""A state dict of a network with a thousand tensors has about 30,000."""
_MOST_LISTED = 1_000_000
"""Entries of lists that calls may copy in all."""
_MARK = object()
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_VALUES = {
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "BINFLOAT", "SHORT_BINSTRING", "BINSTRING",
    "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8",
    "BYTEARRAY8",
}  # fmt: skip
"""Instructions that push their argument."""
_EMPTY: Mapping[str, Callable[[], Any]] = {"EMPTY_TUPLE": tuple, "EMPTY_LIST": list, "EMPTY_DICT": dict}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_GET = {"GET", "BINGET", "LONG_BINGET"}
_PUT = {"PUT", "BINPUT", "LONG_BINPUT"}


class BadPickle(Exception):
    """The pickle is broken, or is not only data; the message says how, without the file's name."""


class Source(Protocol):
    """What pickles are read from: bytes in memory or a file, of which `read` returns at most what is left."""

    def read(self, size: int, /) -> bytes: ...
    def readline(self) -> bytes: ...
    def tell(self) -> int: ...


@dataclass(frozen=True)
class Global:
    """The name of a class or function in a pickle, such as `torch.FloatStorage`."""

    name: str


class Built:
    """An object of a pickle that gets its state after it was made."""

    def build(self, state: Any) -> None:
        """Take the state."""
        raise BadPickle("it gives a state to an object that has none")


Calls = Mapping[str, Callable[..., Any]]
"""By the name of a global, or `PACKAGE.*` for all of a package: what makes the object in its place; raises
BadPickle for invalid arguments."""


def read_pickle(
    source: Source, calls: Calls, persistent: Callable[[Any], Any] | None = None, most_text: int = 1 << 20
) -> Any:
    """Return the value of the pickle at the source's position, which is then after it.

    Args:
        calls: what a pickle may call.
        persistent: returns the object that a persistent id stands for.
        most_text: characters of texts that calls may copy in all.

    Raises:
        BadPickle: it is truncated or broken, calls anything else, or needs another instruction.
    """
    machine = _Machine(calls, persistent, most_text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escape sequences in broken texts
            for count, (instruction, argument, _) in enumerate(pickletools.genops(cast(IO[bytes], source))):
                if instruction.name == "STOP":
                    return machine.result()
                if count >= _MOST_INSTRUCTIONS:
                    raise BadPickle(f"it has more than {_MOST_INSTRUCTIONS:,} instructions")
                machine.run(instruction.name, argument)
    except (ValueError, IndexError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise BadPickle(f"it is no valid pickle ({brief(str(error))})") from None
    raise BadPickle("it is no valid pickle (it has no end)")


class _Machine:
    """The stack and the memo of a pickle."""

    def __init__(self, calls: Calls, persistent: Callable[[Any], Any] | None, most_text: int) -> None:
        self._calls, self._persistent, self._most_text = calls, persistent, most_text
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._listed = self._text = 0

    def result(self) -> Any:
        if len(self._stack) != 1 or self._stack[0] is _MARK:
            raise BadPickle("it is no valid pickle (it ends with more than one value, or none)")
        return self._stack[0]

    def run(self, name: str, argument: Any) -> None:
        stack = self._stack
        if name in _VALUES:
            stack.append(argument)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            stack.append(_EMPTY[name]())
        elif name in _TUPLES:
            stack.append(tuple(self._pop_many(_TUPLES[name])))
        elif name in _GET:
            stack.append(self._memo[int(argument)])
        elif name in _PUT:
            self._memo[int(argument)] = self._top()
        elif name not in ("PROTO", "FRAME"):
            if (operation := _OPERATIONS.get(name)) is None:
                raise BadPickle(f"it has the instruction {name}, which data of weights do not need")
            operation(self, argument)

    def _top(self) -> Any:
        if self._stack[-1] is _MARK:
            raise BadPickle("it is no valid pickle (a mark stands where a value must be)")
        return self._stack[-1]

    def _pop(self) -> Any:
        value = self._top()
        del self._stack[-1]
        return value

    def _pop_many(self, count: int) -> list[Any]:
        return [self._pop() for _ in range(count)][::-1]

    def _pop_to_mark(self) -> list[Any]:
        found = []
        while self._stack[-1] is not _MARK:
            found.append(self._stack.pop())
        self._stack.pop()
        return found[::-1]

    def _mark(self, _: None) -> None:
        self._stack.append(_MARK)

    def _memoize(self, _: None) -> None:
        self._memo[len(self._memo)] = self._top()

    def _tuple(self, _: None) -> None:
        self._stack.append(tuple(self._pop_to_mark()))

    def _append(self, _: None) -> None:
        self._extend([self._pop()])

    def _appends(self, _: None) -> None:
        self._extend(self._pop_to_mark())

    def _extend(self, values: list[Any]) -> None:
        found = self._top()
        if type(found) is not list:
            raise BadPickle("it appends to what is no list")
        found.extend(values)

    def _set_item(self, _: None) -> None:
        self._update(self._pop_many(2))

    def _set_items(self, _: None) -> None:
        self._update(self._pop_to_mark())

    def _update(self, values: list[Any]) -> None:
        found = self._top()
        if type(found) is not dict or len(values) % 2:
            raise BadPickle("it sets items of what is no dictionary")
        found.update(entries(zip(values[::2], values[1::2], strict=True)))

    def _global(self, argument: str) -> None:
        self._stack.append(Global(argument.replace(" ", ".")))

    def _stack_global(self, _: None) -> None:
        module, name = self._pop_many(2)
        self._stack.append(Global(f"{module}.{name}"))

    def _reduce(self, _: None) -> None:
        what, arguments = self._pop_many(2)
        if type(what) is not Global or type(arguments) is not tuple:
            raise BadPickle("it calls what is no name of a function")
        call = self._calls.get(what.name) or self._calls.get(f"{what.name.partition('.')[0]}.*")
        if call is None:
            raise BadPickle(f"it would call {brief(what.name)}, which is refused")
        self._charge(arguments)
        self._stack.append(call(*arguments))

    def _charge(self, arguments: tuple[Any, ...]) -> None:
        """Bound what calls copy, since a short file can call often with one long argument."""
        self._listed += sum(len(each) for each in arguments if isinstance(each, list | tuple))
        self._text += sum(len(each) for each in arguments if isinstance(each, str))
        if self._listed > _MOST_LISTED or self._text > self._most_text:
            raise BadPickle("it would make more objects than a file of weights has")

    def _build(self, _: None) -> None:
        state, what = self._pop(), self._top()
        if isinstance(what, Built):
            what.build(state)
        elif type(what) is not dict:  # the state of an OrderedDict is metadata of a state dict
            raise BadPickle("it gives a state to an object that has none")

    def _persistent_id(self, _: None) -> None:
        if self._persistent is None:
            raise BadPickle("it refers to data outside of it")
        self._stack.append(self._persistent(self._pop()))


_OPERATIONS: Mapping[str, Callable[[_Machine, Any], None]] = {
    "MARK": _Machine._mark,
    "MEMOIZE": _Machine._memoize,
    "TUPLE": _Machine._tuple,
    "APPEND": _Machine._append,
    "APPENDS": _Machine._appends,
    "SETITEM": _Machine._set_item,
    "SETITEMS": _Machine._set_items,
    "GLOBAL": _Machine._global,
    "STACK_GLOBAL": _Machine._stack_global,
    "REDUCE": _Machine._reduce,
    "NEWOBJ": _Machine._reduce,
    "BUILD": _Machine._build,
    "BINPERSID": _Machine._persistent_id,
}


def entries(pairs: Any = ()) -> dict[Any, Any]:
    """Return a dictionary of pairs, whose keys must be texts or integers; also in place of an OrderedDict.

    Raises:
        BadPickle: they are no such pairs.
    """
    found = {}
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str | int):
            raise BadPickle("a dictionary in it has a key that is neither a text nor an integer")
        found[pair[0]] = pair[1]
    return found
