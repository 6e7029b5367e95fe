"""The licences of all packages that openhype installs; `python -m tests.licences` writes docs/licences.md."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "licences.md"
BEGIN, END = "<!-- packages: written by `python -m tests.licences` -->", "<!-- end of packages -->"
_LARGE = {
    "torch": "Apache-2.0 AND Apache-2.0 WITH LLVM-exception AND BSD-2-Clause AND BSD-3-Clause AND BSL-1.0 "
    "AND MIT",
    "torch-fidelity": "Apache-2.0",
}
"""Packages that the tests run without, as their metadata state; listed without what they need."""
_ALWAYS = "always"


def needed() -> dict[str, set[str]]:
    """Return the names of all packages, each with the extras that install it or `always`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: dict[str, set[str]] = {}
    extras = {_ALWAYS: project["dependencies"], **project["optional-dependencies"]}
    for extra, requirements in extras.items():
        for name in _closure([Requirement(text) for text in requirements], set()):
            if name != "openhype":
                found.setdefault(name, set()).add(extra)
    return {name: {_ALWAYS} if _ALWAYS in extras else extras for name, extras in sorted(found.items())}


def _closure(requirements: list[Requirement], seen: set[str]) -> Iterator[str]:
    for requirement in requirements:
        name = canonicalize_name(requirement.name)
        wanted = {"", *requirement.extras}
        if name in seen or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        seen.add(name)
        yield name
        known = _installed(name)
        if known is not None and name not in _LARGE:
            inner = [Requirement(text) for text in known.requires or ()]
            yield from _closure([_unmarked(each) for each in inner if _applies(each, wanted)], seen)


def _applies(requirement: Requirement, extras: set[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


def _unmarked(requirement: Requirement) -> Requirement:
    requirement.marker = None
    return requirement


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def licence(name: str) -> str:
    """Return the licence that a package's metadata state: an expression, its field, or its classifiers."""
    known = _installed(name)
    if name in _LARGE or known is None:
        return _LARGE[name]
    about = known.metadata
    field = (about.get("License") or "").strip().splitlines()
    classified = [
        text.split(" :: ")[-1] for text in about.get_all("Classifier") or () if "License ::" in text
    ]
    stated = about.get("License-Expression") or (field[0] if len(field) == 1 else "") or ", ".join(classified)
    if not stated and field:
        stated = field[0]
    return stated.replace("|", "/")


def table() -> str:
    """Return the table of packages, by name."""
    rows = [
        f"| {name} | {licence(name)} | {', '.join(sorted(extras))} |" for name, extras in needed().items()
    ]
    return "\n".join(["| package | licence | installed |", "| --- | --- | --- |", *rows])


def written(page: str) -> str:
    """Return the page with its table written anew."""
    between = rf"{re.escape(BEGIN)}.*?{re.escape(END)}"
    return re.sub(between, lambda _: f"{BEGIN}\n\n{table()}\n\n{END}", page, flags=re.S)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
