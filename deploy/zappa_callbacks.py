"""Callbacks of `zappa package`, `zappa deploy` and `zappa update`, named in `zappa_settings.json`.

Zappa packs the current folder and the whole environment it runs in. These callbacks restrict the package
to what `openhype deploy` ships, and compile it in the same way.
"""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from backend.foundation.errors import InvalidInput
from deploy import locks, package

_GLIBC = re.compile(rb"\0GLIBC_2\.(\d+)(?:\.\d+)?\0")
"""A version of glibc's symbols, as a library names the ones that it needs."""
_INJECTED = {"handler.py", "zappa_settings.py"}
"""Files that Zappa adds to the package itself."""


def select_files(cli: Any) -> None:
    """Exclude from a stage's package what the function does not need.

    Args:
        cli: Zappa's command, with the settings of all stages, and the one chosen.

    Raises:
        InvalidInput: a dependency of the stage is not installed here, or cannot run in Lambda's system.
    """
    stage = cli.api_stage
    if stage not in package.STAGES:
        return
    needed = {name for path in package.sources(stage) for name in _parents(path.relative_to(package.ROOT))}
    ours = {path.relative_to(package.ROOT).as_posix() for path in package.sources(stage)}
    unneeded = [
        path.as_posix()
        for path in sorted(_walked(package.ROOT, needed))
        if path.as_posix() not in ours | needed
    ]
    needs = _distributions(stage)
    _check_system(stage, needs)
    folders_kept = {file.parts[0] for each in needs for file in each.files or [] if file.parts[0] != ".."}
    foreign = [
        entry.name
        for entry in _environment().iterdir()
        if entry.name not in folders_kept | needed | _INJECTED
    ]
    settings = cli.zappa_settings[stage]
    settings["exclude_glob"] = [
        *cli.stage_config.get("exclude_glob", []),
        *(_literal(name) for name in (*unneeded, *foreign)),
    ]


def compile_files(cli: Any) -> None:
    """Replace the finished package by one with byte code that is never compiled again."""
    if cli.api_stage not in package.STAGES:
        return
    made = Path(cli.zip_path)
    with tempfile.TemporaryDirectory(prefix="openhype-zappa-") as folder:
        done = Path(folder) / "done.zip"
        package.repack(cli.api_stage, made, done, Path(folder) / "unpacked")
        package.checked(cli.api_stage, done)
        shutil.move(done, made)


def _parents(path: Path) -> list[str]:
    return [parent.as_posix() for parent in path.parents if parent != Path()]


def _walked(root: Path, needed: Iterable[str]) -> Iterator[Path]:
    """Yield what lies in the root and in the needed folders, relative to the root."""
    for folder in ("", *needed):
        for entry in (root / folder).iterdir():
            yield entry.relative_to(root)


def _distributions(stage: str) -> list[Distribution]:
    """Return the packages of the environment that the stage's dependencies consist of."""
    from packaging.requirements import Requirement

    wanted = [Requirement(text).name for text in package.requirements(stage)]
    distributions: dict[str, Distribution] = {}
    while wanted:
        name = wanted.pop()
        if name in distributions:
            continue
        try:
            distributions[name] = distribution(name)
        except PackageNotFoundError:
            raise InvalidInput(
                f"{name}, which the function {stage} needs, is not installed here; run: pip install {name}"
            ) from None
        required = [Requirement(text) for text in distributions[name].requires or []]
        wanted += [one.name for one in required if not one.marker or one.marker.evaluate({"extra": ""})]
    for name in package.RUNTIME_DEPENDENCIES:
        distributions[name] = distribution(name)
    return [*distributions.values()]


def _check_system(stage: str, needed: Iterable[Distribution]) -> None:
    """Raise InvalidInput if packages cannot run in Lambda's system."""
    python = sys.version_info[:2]
    if foreign := sorted(
        f"{each.name} {each.version}" for each in needed if not runs_on_lambda(each, python)
    ):
        raise InvalidInput(
            f"Lambda's {package.runtime()} (x86_64, glibc 2.{locks.glibc(python)}) cannot run these packages "
            f"as they are installed here: {', '.join(foreign)}; install those that openhype locks for it: "
            f"{sys.executable} -m pip install --require-hashes --no-deps -r {locks.path_of(stage, python)}"
        )


def runs_on_lambda(package: Distribution, python: locks.Python) -> bool:
    """Return whether an installed package fits Lambda's system, by its platforms and the symbols it needs."""
    tags = re.findall(r"^Tag: .*-(\S+)$", package.read_text("WHEEL") or "", re.MULTILINE)
    if tags and not {"any", "linux_x86_64", *locks.platforms(python)}.intersection(tags):
        return False
    libraries = [
        Path(str(package.locate_file(file))) for file in package.files or [] if ".so" in file.suffixes
    ]
    needed = [int(minor) for path in libraries for minor in _GLIBC.findall(path.read_bytes())]
    return max(needed, default=0) <= locks.glibc(python)


def _environment() -> Path:
    """Return the folder of packages that Zappa packs: that of the active environment."""
    active = os.environ.get("VIRTUAL_ENV")
    if not active:
        raise InvalidInput("Zappa packs the active environment, and none is active; activate one first")
    library = "Lib" if os.name == "nt" else f"lib/{package.runtime()}"
    return Path(active) / library / "site-packages"


def _literal(name: str) -> str:
    """Return a glob pattern that matches this name only."""
    return re.sub(r"([\[*?])", r"[\1]", name)
