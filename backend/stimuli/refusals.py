"""Messages on files and items that cannot be used: the refusal of an ingest, or notes on what it left out."""

from collections.abc import Iterator, Sequence

from backend.foundation.errors import Problem
from backend.stimuli.file_names import handed_on
from backend.stimuli.folders import Finding
from backend.stimuli.medium import Refused

_NAMED = 3
_ALL_NAMED = 5
"""Up to this many files of a kind are all named; of more, only the first few are."""
_KINDS = {
    "gone": ("is gone", "are gone"),
    "dead link": ("is a link that leads nowhere", "are links that lead nowhere"),
    "forbidden": ("may not be read for lack of permission", "may not be read for lack of permission"),
    "empty": ("is empty", "are empty"),
    "no picture": ("has a picture's ending but holds none", "have a picture's ending but hold none"),
    "still": ("has no second frame", "have no second frame"),
    "short": ("is shorter than clips are to be", "are shorter than clips are to be"),
    "format": ("is a picture in a format that is not read", "are pictures in formats that are not read"),
    "codec": ("is no video that is read", "are no videos that are read"),
    "unsupported": ("has levels or colours that are not read", "have levels or colours that are not read"),
    "broken": ("is cut off or damaged", "are cut off or damaged"),
    "foreign": ("is no clip as openhype writes them", "are no clips as openhype writes them"),
    "form": ("is a clip of another form", "are clips of another form"),
    "large": ("is too large", "are too large"),
    "small": ("is too small", "are too small"),
    "unpaired": ("lacks a part", "lack a part"),
    "same stem": ("has two files of one name", "have two files of one name"),
    "sizes": ("has pictures of different sizes", "have pictures of different sizes"),
    "both sides": ("appears on more than one side", "appear on more than one side"),
    "both sets": ("is in more than one set", "are in more than one set"),
    "duplicate": ("is a duplicate", "are duplicates"),
}
"""Kinds of refused files and items in the order of messages, each worded for one and for several."""
FILES, ITEMS = ("file", "files"), ("item", "items")


def check(
    folders: Sequence[Finding],
    files: Sequence[Finding],
    lack: str,
    noun: tuple[str, str] = FILES,
    besides: Sequence[str] = (),
) -> None:
    """Raise Refused if there are problems, with all of them in one message.

    Args:
        folders: problems with folders, as sentences.
        files: files, or items, that cannot be used.
        lack: what the pool lacks; "" if it is sufficient.
        noun: what the files are called, one and several.
        besides: what else can be repaired at the same time, though nothing is refused for it.
    """
    problems = [finding.what for finding in folders]
    if files:
        problems.append(_summary(files, noun))
        if any(finding.kind != "duplicate" for finding in files):
            problems[-1] += "; fix or remove what cannot be used, or leave it out with --skip-bad"
        else:
            problems[-1] += "; remove them, or leave them out by not asking for --strict"
    if lack:
        problems.append(lack)
    if problems:
        about = [finding.keys for finding in (*folders, *files)]
        about += [lack.keys, *lack.also] if isinstance(lack, Problem) else []
        keys, *also = [*filter(None, about)] or [()]
        everything = [*(finding.what for finding in folders), *map(line, files), *filter(None, [lack])]
        problems += [f"besides, {note}" for note in besides[:_NAMED]]
        raise Refused("; ".join(problems), everything if are_many((), files) else (), keys, also)


def are_many(names: Sequence[str], files: Sequence[Finding]) -> bool:
    """Return whether messages do not name all of these files, of which `names` are no pictures."""
    groups: list[Sequence] = [names, *_by_kind(files).values()]
    return any(len(group) > _ALL_NAMED for group in groups)


def left_out_lines(
    no_pictures: Sequence[str], unusable: Sequence[Finding], noun: str = "picture"
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a line for each file that was left out; and those lines again if notes do not name all files."""
    lines = (*(f"{name}: is no {noun}" for name in no_pictures), *map(line, unusable))
    return lines, lines if are_many(no_pictures, unusable) else ()


def line(finding: Finding) -> str:
    """Return one file with its problem, as a line of a list."""
    kind = _KINDS[finding.kind][0]
    return f"{finding.what}: {kind}{f': {finding.why}' if finding.why else ''}"


def left_out_notes(
    no_pictures: Sequence[str],
    duplicates: Sequence[Finding],
    files: Sequence[Finding],
    noun: tuple[str, str] = FILES,
) -> Iterator[str]:
    """Yield a note on each kind of what was left out."""
    one, several = noun
    if no_pictures:
        which = (
            "1 file that is no picture was"
            if len(no_pictures) == 1
            else f"{len(no_pictures)} files that are no pictures were"
        )
        more = ", …" if len(no_pictures) > _ALL_NAMED else ""
        yield f"{which} left out: {', '.join(no_pictures[:_ALL_NAMED])}{more}"
    if duplicates:
        which = "1 duplicate was" if len(duplicates) == 1 else f"{len(duplicates)} duplicates were"
        yield f"{which} left out: {_first(duplicates)}"
    for kind, group in _by_kind(files).items():
        which = f"1 {one} was" if len(group) == 1 else f"{len(group)} {several} were"
        what = _KINDS[kind][len(group) > 1]
        yield f"{which} left out that {what}: {_first(group)}"


def handed_on_notes(
    no_pictures: Sequence[str],
    duplicates: Sequence[Finding],
    files: Sequence[Finding],
    noun: tuple[str, str] = FILES,
) -> Iterator[str]:
    """Yield the notes of `left_out_notes` as a study has them, which travel further than its folders."""
    repeated, unusable = ([finding.handed_on for finding in group] for group in (duplicates, files))
    yield from left_out_notes([*map(handed_on, no_pictures)], repeated, unusable, noun)


def _summary(files: Sequence[Finding], noun: tuple[str, str]) -> str:
    """Return how many files have which problem, with the first files of each kind."""
    kinds = [
        f"{len(group)} {_KINDS[kind][len(group) > 1]} ({_first(group)})"
        for kind, group in _by_kind(files).items()
    ]
    if len(files) == 1:
        return f"1 {noun[0]} cannot be used: {kinds[0].removeprefix('1 ')}"
    return f"{len(files)} {noun[1]} cannot be used: {'; '.join(kinds)}"


def _by_kind(files: Sequence[Finding]) -> dict[str, list[Finding]]:
    groups = {kind: [finding for finding in files if finding.kind == kind] for kind in _KINDS}
    return {kind: group for kind, group in groups.items() if group}


def _first(group: Sequence[Finding]) -> str:
    """Return the names of the first files; if they are few, all names, each with its problem."""
    if len(group) > _ALL_NAMED:
        alike = group[0].why if len({finding.why for finding in group}) == 1 else ""
        return (
            f"{', '.join(finding.what for finding in group[:_NAMED])}, …{f'; each {alike}' if alike else ''}"
        )
    return "; ".join(f"{finding.what} {finding.why}".strip() for finding in group)
