"""A study as ordered by a researcher, from a study.toml or from the options of the command line.

Whatever is wrong in a study.toml is reported with its line, before any picture is read (docs/study-file.md).
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from backend.administration import study_file
from backend.administration.study_file import PostedStudy, StudyFile, is_of, written
from backend.experiment import languages, questionnaire
from backend.experiment import panel as panels
from backend.experiment import protocol as protocols
from backend.experiment.judgment import NO_QUALIFICATIONS
from backend.experiment.judgments import METHODS, judgment_of, method_named
from backend.experiment.panel import PanelRecord
from backend.experiment.questionnaire import InvalidEntry, Page, Question, ShownIf
from backend.experiment.records import CHECK, PRACTICE
from backend.experiment.settings import LISTS, TEXTS, documented_settings, new_protocol, with_settings
from backend.foundation.errors import InvalidInput, Key, under
from backend.foundation.names import clean
from backend.foundation.suggestions import did_you_mean
from backend.foundation.text_files import read_text
from backend.panels.signed_links import check_installed, check_posted

T = TypeVar("T")
KINDS = ("study", "qualification")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_MODEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9 ._@+-]{0,98}[A-Za-z0-9._@+-])?")
ENTRIES: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "kind": str,
    "method": str,
    "real": str,
    "models": dict,
    "items": (str, dict),
    "masks": str,
    "practice": str,
    "checks": str,
    "preprocess": list,
    "skip_bad": bool,
    "strict": bool,
    "flat": bool,
    "panel": str,
    "settings": dict,
    "texts": dict,
    "pages": list,
    "questions": list,
}
"""Entries of a study.toml."""
ORDER_ENTRIES = {**ENTRIES, "panel": (str, dict)}
"""The same where no file can hold the record of a panel."""
PAGE = {"title": str, "text": str, "before_block": int}
QUESTION = {
    "name": str,
    "when": str,
    "kind": str,
    "text": str,
    "required": bool,
    "page": str,
    "if": dict,
    "choices": list,
    "min": float,
    "max": float,
    "step": float,
    "points": int,
    "low": str,
    "high": str,
    "max_length": int,
}
IF: dict[str, type | tuple[type, ...]] = {"question": str, "is": (str, int, list)}


@dataclass(frozen=True)
class StudySpec:
    """A study as ordered by a researcher."""

    name: str
    kind: Literal["study", "qualification"]
    method: str
    real: Path | None = None
    models: tuple[tuple[str, Path], ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    masks: Path | None = None
    practice: Path | None = None
    """Folder with sub-folders `real` and `fake` of the pictures for practice; None to set some aside."""
    checks: Path | None = None
    """The same for attention checks."""
    preprocess: tuple[str, ...] = ()
    skip_bad: bool = False
    strict: bool = False
    flat: bool = False
    """Whether sub-folders of a side are ignored, rather than classes."""
    items: tuple[tuple[str, Path], ...] = ()
    """Sets of items, each with its folder, in place of reals and models; '' for a set named as its folder."""
    pages: tuple[Page, ...] = ()
    questions: tuple[Question, ...] = ()
    file: StudyFile | None = None
    """The study.toml that describes it."""

    @property
    def aside(self) -> dict[str, Path]:
        """Folders of pictures that no scored trial shows, by role."""
        given = {PRACTICE: self.practice, CHECK: self.checks}
        return {role: folder for role, folder in given.items() if folder is not None}

    @property
    def folders(self) -> dict[str, Path]:
        named = {f"model {name}": folder for name, folder in (*self.models, *self.items)}
        return ({} if self.real is None else {"real": self.real}) | named | self.aside

    def at(self, *keys: Key) -> AbstractContextManager[None]:
        """Name the line in errors raised by the checks within, if a file describes the study.

        Args:
            keys: the entry that is checked; an error of one of its entries has the rest of the keys.
        """
        return under(*keys) if self.file is None else self.file.at(*keys)


def read_spec(path: Path) -> StudySpec:
    """Return the study described by a TOML file; its relative paths start at the file's folder.

    Raises:
        NotFound: there is no such file, or no such folder.
        InvalidInput: names the file and the line of the entry that is missing, unknown or invalid.
    """
    file, here = study_file.read(path), path.parent
    return _spec(file, lambda *keys: _folder(file, here, *keys), here)


def spec_of_order(data: Mapping[str, Any], root: Path) -> StudySpec:
    """Return the study described by the entries of a study.toml that are not in a file.

    No file is read: a text that begins with `@` is refused, and the panel is one of the built-in ones or a
    record. What stands where a study.toml names a folder is not looked at.

    Args:
        root: the folder of the pictures, in `real`, `models/NAME`, `items/NAME`, `practice`, `checks`,
            `masks`.

    Raises:
        InvalidInput: names the entry that is missing, unknown or invalid.
    """
    return _spec(PostedStudy.of(data), lambda *keys: root.joinpath(*map(str, keys)), None)


def _spec(file: StudyFile, folder: Callable[..., Path], here: Path | None) -> StudySpec:
    """Return the study that a file, or an order, describes.

    Args:
        folder: returns the folder that an entry names.
        here: where relative paths start; None if no file may be read.
    """
    known = ORDER_ENTRIES if here is None else ENTRIES
    data = file.entries((), known, needed=("name",))
    with file.at("name"):
        check_name(data["name"])
    kind, method = data.get("kind", "study"), data.get("method", "infinity")
    with file.at("kind"):
        base = base_protocol(kind, "infinity")
    with file.at("method"):
        _check_method(method)
        base = base_protocol(kind, method)
    with file.at("items" if "items" in data else "method"):
        check_sources(method, "real" in data or "models" in data, "items" in data, IN_A_FILE)
    has_items = "items" in data
    if not has_items:
        file.entries((), known, needed=("name", "real", "models"))
    settings = _settings(file, here, base, kind)
    return StudySpec(
        name=data["name"],
        kind=kind,
        method=method,
        real=None if has_items else folder("real"),
        models=() if has_items else _folders(file, folder, data["models"]),
        items=_items(file, folder, data["items"]) if has_items else (),
        settings=settings,
        masks=folder("masks") if data.get("masks") else None,
        practice=folder("practice") if data.get("practice") else None,
        checks=folder("checks") if data.get("checks") else None,
        preprocess=tuple(_texts(file, "preprocess")),
        skip_bad=data.get("skip_bad", False),
        strict=data.get("strict", False),
        flat=data.get("flat", False),
        pages=_pages(file, with_settings(base, settings).stimuli.blocks),
        questions=_questions(file),
        file=file,
    )


def check_name(name: str) -> None:
    """Raise InvalidInput unless a study can be called so."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            "a study's name must be 1 to 63 lower-case letters, digits and hyphens, starting with a letter "
            f"or digit, not {name!r}"
        )


IN_A_FILE = "real and [models]", "items"
BY_OPTIONS = "--real DIR and --model NAME=DIR", "--items [NAME=]DIR"


def check_sources(method: str, has_sides: bool, has_items: bool, words: tuple[str, str]) -> None:
    """Raise InvalidInput unless the pictures are given in the form that a method needs.

    Args:
        has_sides: whether reals, or models, are given.
        has_items: whether sets of items are given.
        words: what reals and models are called where they are given, and what items are.
    """
    judgment, (sides, items) = judgment_of(method), words
    title = judgment.methods[method].title
    if judgment.has_items and (has_sides or not has_items):
        parts = ", ".join(judgment.parts)
        raise InvalidInput(
            f"{title} (method {method}) shows items of {len(judgment.parts)} pictures each ({parts}), given "
            f"by {items}{f', not by {sides}' if has_sides else ''}"
        )
    if has_items and not judgment.has_items:
        ours = ", ".join(name for name, other in METHODS.items() if other.has_items)
        raise InvalidInput(
            f"{title} (method {method}) takes its pictures from {sides}; {items} goes with method {ours}"
        )


def check_models(names: Sequence[str], what: str = "model") -> None:
    """Raise InvalidInput unless models, or sets of items, can be called so, beside each other."""
    if not names:
        raise InvalidInput("a study needs at least one model: --model NAME=FOLDER")
    for name in names:
        if not _MODEL.fullmatch(name):
            raise InvalidInput(
                f"a {what}'s name must be 1 to 100 letters from a to z, digits, spaces and . _ @ + -, "
                f"starting with a letter or digit and not ending with a space, not {name!r}",
                keys=(name,),
            )
    folded: dict[str, str] = {}
    for name in names:
        if (other := folded.get(name.casefold())) is not None:
            how = "are called" if other == name else "differ by case only:"
            message = f"two {what}s {how} {other!r} and {name!r}; each needs a name of its own"
            raise InvalidInput(message, keys=(name,))
        folded[name.casefold()] = name


def base_protocol(kind: str, method: str) -> protocols.Protocol:
    """Return the default settings of a study of this kind and method.

    Raises:
        InvalidInput: there is no such kind, or no qualification of this method.
    """
    if kind not in KINDS:
        raise InvalidInput(
            f"kind must be 'study' or 'qualification', not {kind!r}{did_you_mean(kind, KINDS)}"
        )
    chosen = method_named(method)
    if kind == "study":
        return chosen.protocol
    if chosen.qualification is None:
        raise InvalidInput(f"{chosen.title} {NO_QUALIFICATIONS}")
    return chosen.qualification


def with_texts(settings: Mapping[str, Any], here: Path = Path()) -> dict[str, Any]:
    """Return settings with each `@FILE` replaced by the text of the file, and the panel by its record.

    `@@` escapes a leading `@`.

    Raises:
        NotFound: there is no such file.
        InvalidInput: the file is not readable text, or there is no such panel.
    """
    return {name: _read_setting(name, value, here) for name, value in settings.items()}


def read_panel(text: str, here: Path = Path()) -> PanelRecord:
    """Return the panel called `text`, or the one described by the TOML file at `text`.

    Raises:
        InvalidInput: there is no such panel or file, or an entry is invalid.
        NotInstalled: the panel signs its links, and the library for verifying signatures is missing.
    """
    if not text.endswith(".toml"):
        return panels.named(text)
    path = here / text
    record = panels.from_json(study_file.read(path).data, str(path))
    if record.signature:
        check_installed()
    return record


def panel_of(given: str | Mapping[str, Any], here: Path | None = None) -> PanelRecord:
    """Return the panel that is named, or described by a table or by its JSON (`setting_list.typed`).

    Args:
        here: where the path of a TOML file starts; None if no file may be read.

    Raises:
        InvalidInput: there is no such panel or file, or an entry is invalid.
        NotInstalled: as in `read_panel`.
    """
    if isinstance(given, str) and given.startswith("{"):
        given = _table_in(given)
    if isinstance(given, str):
        return panels.named(given) if here is None else read_panel(given, here)
    record = panels.from_json(given, "panel")
    if record.signature:
        if here is None:
            check_posted(record.signature)
        else:
            check_installed()
    return record


def _table_in(text: str) -> dict[str, Any]:
    try:
        return dict(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"panel begins as a record in JSON, and is none: {error}") from None


def _read_setting(name: str, value: Any, here: Path | None) -> Any:
    if name == "panel":
        return panel_of(str(value), here)
    if name not in TEXTS or isinstance(value, Mapping) or not str(value).startswith("@"):
        return value
    text = str(value)
    if text.startswith("@@"):
        return text[1:]
    if here is None:
        raise InvalidInput(
            f"{name} begins with @, which in a study.toml names a file, and no files are read here; give the "
            "text itself, with @@ for a leading @"
        )
    return read_text(here / text[1:]).strip()


def _check_method(method: str) -> None:
    if method not in METHODS:
        options = ", ".join(repr(name) for name in METHODS)
        raise InvalidInput(f"method must be one of {options}, not {method!r}{did_you_mean(method, METHODS)}")


def _folders(
    file: StudyFile, folder_of: Callable[..., Path], models: Mapping[str, Any]
) -> tuple[tuple[str, Path], ...]:
    """Return the folders of the models after checking names and folders, each at its line."""
    _check_folders(file, "models", models, "model", 'gan = "images/gan"')
    return tuple((name, folder_of("models", name)) for name in models)


def _items(
    file: StudyFile, folder_of: Callable[..., Path], items: str | Mapping[str, Any]
) -> tuple[tuple[str, Path], ...]:
    """Return the sets of items: one folder, or a table of folders by the sets' names."""
    if isinstance(items, str):
        return (("", folder_of("items")),)
    _check_folders(file, "items", items, "set", 'traditional = "traditional"')
    return tuple((clean(name), folder_of("items", name)) for name in items)


def _check_folders(file: StudyFile, entry: str, folders: Mapping[str, Any], what: str, example: str) -> None:
    names: list[str] = []
    if not folders:
        raise file.error((entry,), f"{entry} must name at least one {what}, as in {example}")
    for name, folder in folders.items():
        if not isinstance(folder, str):
            raise file.error((entry, name), f"{name} must be a folder in quotes, not {written(folder)}")
        with file.at(entry, name):
            names.append(clean(name))
            check_models(names, what)


def _folder(file: StudyFile, here: Path, *keys: Key) -> Path:
    value = file.value(*keys)
    folder = here / value
    try:
        is_there = folder.is_dir()
    except ValueError:  # a zero byte
        is_there = False
    if not is_there:
        raise file.error(keys, f"there is no folder {value!r} in {here.resolve()}")
    return folder


def _texts(file: StudyFile, *keys: Key) -> list[str]:
    node: Any = file.data
    for key in keys:
        node = node.get(key, []) if isinstance(node, dict) else node[key]
    for i, each in enumerate(node):
        if not isinstance(each, str):
            raise file.error(
                (*keys, i), f"{keys[-1]} must be a list of texts in quotes, not of {written(each)}"
            )
    return node


def _settings(file: StudyFile, here: Path | None, base: protocols.Protocol, kind: str) -> dict[str, Any]:
    """Return the settings after checking each at its line, then all together."""
    settings: dict[str, Any] = {}
    for name, value in file.data.get("settings", {}).items():
        with file.at("settings", name):
            is_list = name in LISTS and isinstance(value, list)
            if not is_list and not any(is_of(value, each) for each in (str, float, bool)):
                raise InvalidInput(f"{name} must be a text, a number, true or false, not {written(value)}")
            settings[name] = _read_setting(name, value, here)
        if name not in documented_settings():
            with file.at():
                with_settings(base, {name: settings[name]})
    if "texts" in file.data:
        try:
            with under("texts"):
                settings["texts"] = languages.parse_texts(file.data["texts"])
        except InvalidInput as error:
            raise file.error(file.given(error), str(error)) from None
    if "panel" in file.data:
        with file.at("panel"):
            settings["panel"] = panel_of(file.data["panel"], here)
    try:
        new_protocol(base, kind, settings)
    except InvalidInput as error:
        raise file.error(file.given(error), str(error)) from None
    return settings


def _pages(file: StudyFile, blocks: int) -> tuple[Page, ...]:
    pages = []
    for i in range(file.tables("pages")):
        entries = file.entries(("pages", i), PAGE, needed=("title", "text"))
        pages.append(_made(file, ("pages", i), Page, entries))
    for i, problem in questionnaire.check_pages(pages, blocks):
        raise file.error(("pages", i, *problem.keys), str(problem))
    return tuple(pages)


def _questions(file: StudyFile) -> tuple[Question, ...]:
    questions = []
    for i in range(file.tables("questions")):
        keys = ("questions", i)
        entries = file.entries(keys, QUESTION, needed=("name", "when", "kind", "text"))
        given = entries | {"choices": tuple(_texts(file, *keys, "choices"))}
        if given.pop("if", None) is not None:
            given["shown_if"] = _condition(file, (*keys, "if"))
        questions.append(_made(file, keys, Question, given))
        for entry, kinds in questionnaire.other_kinds_entries(entries["kind"]).items():
            if entry in entries:
                raise file.error(
                    (*keys, entry), f"{entry} is for {kinds}, and this question is {entries['kind']}"
                )
    for i, problem in questionnaire.check_questions(questions):
        raise file.error(("questions", i, *problem.keys), str(problem))
    return tuple(questions)


def _condition(file: StudyFile, keys: tuple[Key, ...]) -> ShownIf:
    entries = file.entries(keys, IF, needed=("question", "is"))
    answers = entries["is"] if isinstance(entries["is"], list) else [entries["is"]]
    for i, answer in enumerate(answers):
        if not is_of(answer, str) and not is_of(answer, int):
            raise file.error(
                (*keys, "is", i), f"is must be an answer or a list of some, not {written(answer)}"
            )
    return ShownIf(entries["question"], tuple(answers))


def _made(file: StudyFile, keys: tuple[Key, ...], kind: Callable[..., T], entries: Mapping[str, Any]) -> T:
    """Return a page or question of these entries."""
    try:
        return kind(**entries)
    except InvalidEntry as error:
        raise file.error((*keys, *error.keys), str(error)) from None
