"""A TOML file as a researcher wrote it, with the line of each entry, so that errors point to the line.

`tomllib` reads the data but tells no lines; `_Scanner` finds them in text that `tomllib` accepted.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backend.foundation.errors import Conflict, InvalidInput, Key, Keys, NotFound, OpenhypeError, brief, under
from backend.foundation.names import clean
from backend.foundation.suggestions import did_you_mean
from backend.foundation.text_files import read_text

_MOVED = ("panel", "texts")
_EXPECTED = {
    str: "a text in quotes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True)
class StudyFile:
    """The data of a TOML file, and where each entry stands."""

    path: Path
    data: Mapping[str, Any]
    lines: Mapping[tuple[Key, ...], int] = field(default_factory=dict)
    """Lines (from 1) by the keys that lead to an entry, such as `("questions", 0, "name")`."""

    def where(self, *keys: Key) -> str:
        """Return `study.toml line 17` for an entry; for one that is not there, where its table begins."""
        for end in range(len(keys), 0, -1):
            if keys[:end] in self.lines:
                return f"{self.path} line {self.lines[keys[:end]]}"
        return str(self.path)

    def value(self, *keys: Key) -> Any:
        entry: Any = self.data
        for key in keys:
            entry = entry[key]
        return entry

    def error(self, keys: tuple[Key, ...], problem: str) -> InvalidInput:
        return InvalidInput(f"{self.where(*keys)}: {problem}", keys=keys)

    @contextmanager
    def at(self, *keys: Key) -> Iterator[None]:
        """Name the file and the line in errors raised by the checks within, which are of the entry `keys`.

        Keys that an error carries already lead on from `keys`.
        """
        try:
            with under(*keys):
                yield
        except (InvalidInput, NotFound, Conflict) as error:
            kind = next(kind for kind in (InvalidInput, NotFound, Conflict) if isinstance(error, kind))
            given = self.given(error)
            raise kind(f"{self.where(*given)}: {error}", code=error.code, keys=given) from None

    def given(self, error: OpenhypeError) -> Keys:
        """Return the keys of the entry that an error is about: of those at fault, one that is there.

        `panel` and `texts` are settings that may be entries of their own.
        """
        for keys in (error.keys, *error.also):
            is_moved = len(keys) > 1 and keys[0] == "settings" and keys[1] in _MOVED
            for each in (keys, keys[1:]) if is_moved else (keys,):
                there = self._there(each)
                if there and (there[0] != "settings" or len(there) > 1):
                    return there
        return error.keys

    def _there(self, keys: Keys) -> Keys:
        """Return the longest beginning of keys that is there, as it is written there.

        A key with dots may be written as tables within tables, and a name with blanks around it.
        """
        for end in range(len(keys), 0, -1):
            if keys[:end] in self.lines:
                return keys[:end]
            plain = _plain(keys[:end])
            if (line := next((each for each in self.lines if _plain(each) == plain), None)) is not None:
                return line
        return ()

    def entries(
        self,
        keys: tuple[Key, ...],
        known: Mapping[str, type | tuple[type, ...]],
        needed: tuple[str, ...] = (),
    ) -> dict[str, Any]:
        """Return the entries of a table, `()` for the file itself, after checking their names and types.

        Args:
            known: the type of each entry, of `_EXPECTED`, or several; whole numbers are numbers as well.
            needed: names of the entries that must be there.

        Raises:
            InvalidInput: names file, line and entry; also where `keys` do not lead to a table.
        """
        table = self.value(*keys)
        if not isinstance(table, dict):
            raise self.error(keys, f"{name_of(keys)} must be a table, not {written(table)}")
        for name, value in table.items():
            if name not in known:
                hint = did_you_mean(
                    name, known, f"; {name_of(keys) or 'a study'} may have {', '.join(known)}"
                )
                raise self.error((*keys, name), f"no entry is called {written(name)}{hint}")
            if not any(is_of(value, kind) for kind in _kinds(known[name])):
                problem = f"{name} must be {_expected(known[name])}, not {written(value)}"
                raise self.error((*keys, name), problem)
        for name in needed:
            if name not in table:
                place = name_of(keys) or "the file"
                lack = self.error(keys, f"{place} lacks the entry {name}, {_expected(known[name])}")
                raise InvalidInput(str(lack), code="missing_entry", keys=(*keys, name))
        return dict(table)

    def tables(self, name: str) -> int:
        """Return the number of tables `[[name]]`, 0 if there is none.

        Raises:
            InvalidInput: the entry is something else.
        """
        entries = self.data.get(name, [])
        if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
            raise self.error((name,), f"{name} must be tables, each begun by [[{name}]]")
        return len(entries)


@dataclass(frozen=True)
class PostedStudy(StudyFile):
    """The same data in the body of a request, in which entries have no lines: errors name the entry."""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "PostedStudy":
        return cls(Path("order"), data, dict.fromkeys(_keys_of(data), 0))

    def where(self, *keys: Key) -> str:
        """Return the table in which an entry stands, such as `questions 2`; "" for the order itself."""
        return name_of(keys[:-1])

    def error(self, keys: tuple[Key, ...], problem: str) -> InvalidInput:
        where = self.where(*keys)
        return InvalidInput(f"{where}: {problem}" if where else problem, keys=keys)

    def given(self, error: OpenhypeError) -> Keys:
        """Return the keys of the entry that an error is about: a setting rather than pictures sent before."""
        settings = [keys for keys in (error.keys, *error.also) if keys[:1] == ("settings",)]
        if not settings or settings[0] == error.keys:
            return super().given(error)
        return next((keys for keys in settings if keys in self.lines), settings[0])

    @contextmanager
    def at(self, *keys: Key) -> Iterator[None]:
        """Leave the messages of errors as they are, and complete their keys."""
        try:
            with under(*keys):
                yield
        except OpenhypeError as error:
            error.keys, error.also = self.given(error), ()
            raise


def _plain(keys: Keys) -> str:
    return clean(".".join(map(str, keys)))


def _keys_of(data: Any, above: tuple[Key, ...] = ()) -> Iterator[tuple[Key, ...]]:
    """Yield the keys of each entry, those of an entry before those of its entries."""
    entries: Iterable[tuple[Key, Any]] = ()
    if isinstance(data, Mapping):
        entries = data.items()
    elif isinstance(data, list):
        entries = enumerate(data)
    for key, value in entries:
        yield (*above, key)
        yield from _keys_of(value, (*above, key))


def read(path: Path) -> StudyFile:
    """Return the TOML file at `path` with the lines of its entries.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is not TOML; names the line.
    """
    text = read_text(path)
    try:
        data = tomllib.loads(text)
        lines = _Scanner(text.replace("\r\n", "\n")).lines()
    except ValueError as error:  # of tomllib, or a number of thousands of digits
        raise _not_toml(path, text, str(error)) from None
    except RecursionError:
        raise InvalidInput(f"{path} must be TOML of few levels; its lists or tables are too deep") from None
    return StudyFile(path, data, lines)


def is_of(value: Any, kind: type) -> bool:
    """Return whether a value is of a type of TOML; true and false are no numbers, infinity is none either."""
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def written(value: Any) -> str:
    """Return a value of the file in a form that a message can quote on one line."""
    if isinstance(value, dict):
        return "a table"
    return "a list" if isinstance(value, list) else brief(value)


def name_of(keys: tuple[Key, ...]) -> str:
    """Return the name of a table as messages give it: `questions 2` for the second `[[questions]]`."""
    return " ".join(str(key + 1) if isinstance(key, int) else key for key in keys)


def _kinds(kinds: type | tuple[type, ...]) -> tuple[type, ...]:
    return kinds if isinstance(kinds, tuple) else (kinds,)


def _expected(kinds: type | tuple[type, ...]) -> str:
    return " or ".join(_EXPECTED[kind] for kind in _kinds(kinds))


def _not_toml(path: Path, text: str, problem: str) -> InvalidInput:
    match = _PLACE.search(problem)
    last = len(text.rstrip().splitlines()) or 1
    place = f"{path} line {match[1] or last}" if match else str(path)
    problem = problem[: match.start()] if match else problem
    return InvalidInput(f"{place}: the file must be TOML: {problem[:1].lower()}{problem[1:]}")


_SPACE = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}|'
    + r"'''(?:[^']|'(?!''))*'{3,5}|"
    + r'"(?:[^"\\\n]|\\.)*"|'
    + r"'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^\s,\]}#]+(?: [0-9][^\s,\]}#]*)?")
"""A number, a truth value, or a date, which a space may separate from its time."""


class _Scanner:
    """Finds the line of each entry in TOML that is known to be valid."""

    def __init__(self, text: str):
        self._text, self._place = text, 0
        self._lines: dict[tuple[Key, ...], int] = {}
        self._counts: dict[tuple[Key, ...], int] = {}
        """Tables so far of each array of tables."""
        self._line, self._counted = 1, 0

    def lines(self) -> dict[tuple[Key, ...], int]:
        """Return the line of each entry, by the keys that lead to it."""
        table: tuple[Key, ...] = ()
        self._skip(_SPACE)
        while self._place < len(self._text):
            if self._text.startswith("[[", self._place):
                table = self._header(2)
            elif self._text.startswith("[", self._place):
                table = self._header(1)
            else:
                self._entry(table)
            self._skip(_SPACE)
        return self._lines

    def _header(self, brackets: int) -> tuple[Key, ...]:
        line = self._line_here()
        self._place += brackets
        names = self._names()
        self._place += brackets
        table: tuple[Key, ...] = ()
        for i, name in enumerate(names):
            table = (*table, name)
            is_last = i + 1 == len(names)
            if is_last and brackets == 2:
                self._lines.setdefault(table, line)
                self._counts[table] = self._counts.get(table, 0) + 1
            elif not is_last:
                self._lines.setdefault(table, line)
            if table in self._counts:
                table = (*table, self._counts[table] - 1)
        self._lines[table] = line
        return table

    def _entry(self, table: tuple[Key, ...]) -> None:
        line = self._line_here()
        for name in self._names():
            table = (*table, name)
            self._lines.setdefault(table, line)
        self._place += 1  # the equals sign
        self._value(table)

    def _value(self, keys: tuple[Key, ...]) -> None:
        self._skip(_BLANK)
        first = self._text[self._place]
        if first in "\"'":
            self._match(_STRING)
        elif first == "[":
            self._list(keys)
        elif first == "{":
            self._inline_table(keys)
        else:
            self._match(_SCALAR)

    def _list(self, keys: tuple[Key, ...]) -> None:
        self._place += 1
        self._skip(_SPACE)
        index = 0
        while self._text[self._place] != "]":
            self._lines[(*keys, index)] = self._line_here()
            self._value((*keys, index))
            self._after_member()
            index += 1
        self._place += 1

    def _inline_table(self, keys: tuple[Key, ...]) -> None:
        self._place += 1
        self._skip(_SPACE)
        while self._text[self._place] != "}":
            self._entry(keys)
            self._after_member()
        self._place += 1

    def _after_member(self) -> None:
        self._skip(_SPACE)
        if self._text[self._place] == ",":
            self._place += 1
            self._skip(_SPACE)

    def _names(self) -> list[str]:
        """Read a key, dotted or not, and the blanks around it."""
        names = []
        while True:
            self._skip(_BLANK)
            is_quoted = self._text[self._place] in "\"'"
            piece = self._match(_STRING if is_quoted else _BARE)
            names.append(tomllib.loads(f"name = {piece}")["name"] if is_quoted else piece)
            self._skip(_BLANK)
            if self._text[self._place] != ".":
                return names
            self._place += 1

    def _match(self, pattern: re.Pattern) -> str:
        match = pattern.match(self._text, self._place)
        if match is None:  # not in a file that was parsed
            raise ValueError(f"no {pattern.pattern} at character {self._place}")
        self._place = match.end()
        return match[0]

    def _skip(self, pattern: re.Pattern) -> None:
        self._match(pattern)

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._place)
        self._counted = self._place
        return self._line
