"""The zip of each Lambda stage, built by `zappa package` in an environment for that stage only.

A stage's folder holds our code and a virtual environment with that stage's dependencies alone, so that
nothing from the build machine is included. The zip is then rewritten: with byte code that is never checked
against its source (Zappa dates every file 1980, so ordinary byte code would count as outdated and be
compiled again at each cold start), without the record of who built it and when, and with identical bytes
for identical code. Measurements: CHANGELOG.md and `make bench`.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

from backend.foundation.errors import InvalidInput
from backend.web import assets
from deploy import aws_models, locks

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SETTINGS = "zappa_settings.json"
"""In the project's root; an installed openhype has a copy beside this module."""
STAGES: Mapping[str, tuple[str, ...]] = {
    "api": ("flask", "msgspec", "boto3"),
    "score": ("flask", "msgspec", "boto3", "cachetools", "segno", "numpy", "scipy", "pillow", "matplotlib"),
    "panel": ("flask", "msgspec", "boto3", "requests", "pyjwt", "cryptography"),
}
"""Dependencies of each stage; their versions, and what they need in turn, are in its lock (`locks.py`)."""

_COMMANDS = ("commands", "cli.py", "__main__.py")
_MAKING = ("stimuli/distortions", "stimuli/masks")
_SCORES = ("analysis", "scoring.py", "responses", "report")
_EXPLAINING = ("payment/explanation.py", "payment/people.py")
_NUMERIC_METRICS = tuple(f"metrics/{part}" for part in ("calibration", "extractors", "pairs", "weights"))
_LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "api": (
        *_COMMANDS,
        *_MAKING,
        *_SCORES,
        *_EXPLAINING,
        "administration",
        "jobs",
        "metrics",
        "competitions",
    ),
    "score": _COMMANDS,
    "panel": (*_COMMANDS, *_MAKING, *_SCORES, *_NUMERIC_METRICS, "jobs", "competitions"),
}
"""Parts of `backend/` that a function never calls: commands and what makes stimuli, and without numpy also
scores, reports and jobs. The package of `score` is also that of the function `work`, which makes studies."""

_MODULES: Mapping[str, tuple[str, ...]] = {
    "api": (),
    "score": (
        "bucket_jobs.py",
        "bucket_downloads.py",
        "bucket_pictures.py",
        "bucket_uploads.py",
        "edge_copies.py",
        "s3_upload.py",
        "study_locks.py",
        "work.py",
        "work_calls.py",
    ),
    "panel": ("panel_calls.py", "tasks.py"),
}
"""Modules of `deploy/` that only some functions need."""

_FRONTEND: Mapping[str, str] = {"api": "*.html", "panel": "*.html", "score": "**/*"}
"""Files of the page that a stage reads: HTML that it serves, and the texts that studies are made with."""

UNPACKED_LIMIT = 250 * 2**20
"""Lambda's limit for a function with its layers (bytes)."""

RUNTIME_DEPENDENCIES = ("zappa", "durationpy")
"""The only two of Zappa's dependencies that its handler needs at run time."""

# The earliest time of a zip; a constant, so that equal contents give equal packages.
_STAMP = (1980, 1, 1, 0, 0, 0)
_UNUSED = ("package_info.json", SETTINGS, "handler.py")
"""What Zappa adds: who built the package and when, its settings, a second copy of its handler."""


@dataclass(frozen=True)
class Package:
    """A built zip; sizes in bytes."""

    path: Path
    stage: str
    size: int
    unpacked: int
    sha256: str

    @property
    def runtime(self) -> str:
        """The Lambda runtime it was built for."""
        return runtime()


def runtime() -> str:
    """Return the Lambda runtime of the running Python, because byte code fits one version only."""
    return f"python{sys.version_info.major}.{sys.version_info.minor}"


def settings(stage: str) -> dict[str, Any]:
    """Return the settings of a stage, including those of the stage it extends."""
    path = next(path for path in (ROOT / SETTINGS, HERE / SETTINGS) if path.is_file())
    stages = json.loads(path.read_text("utf-8"))
    if stage not in STAGES:
        raise InvalidInput(f"there is no stage {stage!r}; there are {', '.join(STAGES)}")
    own = stages[stage]
    return {**stages[own["extends"]], **own}


def build(stage: str, out: Path) -> Package:
    """Build the zip of `stage` in the folder `out`, or return an existing one built from the same code.

    Raises:
        InvalidInput: pip or Zappa failed, or the unpacked zip exceeds Lambda's limit.
    """
    path = out / f"{stage}-{_key(stage)}.zip"
    if not path.exists():
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"openhype-{stage}-") as folder:
            _lay_out(stage, Path(folder))
            made = _zappa_package(stage, Path(folder))
            repack(stage, made, Path(folder) / "done.zip", Path(folder) / "unpacked")
            os.replace(_beside(Path(folder) / "done.zip", path), path)
    return checked(stage, path)


def _key(stage: str) -> str:
    """Return a hash of everything that a zip is built from."""
    parts = hashlib.sha256(f"{runtime()} {settings(stage)}".encode())
    parts.update(locks.path_of(stage, sys.version_info[:2]).read_bytes())
    parts.update(assets.version().encode())
    for path in (*sources(stage), *map(Path, (__file__, aws_models.__file__, locks.__file__))):
        parts.update(f"{path.name}\n".encode() + path.read_bytes())
    return parts.hexdigest()[:16]


def requirements(stage: str) -> list[str]:
    """Return pip's requirements: the stage's dependencies with openhype's lower bounds.

    Raises:
        InvalidInput: openhype is not installed.
    """
    try:
        asked = requires("openhype") or []
    except PackageNotFoundError:
        raise InvalidInput(
            "openhype is not installed, only its files are here; in its folder run: "
            f"{sys.executable} -m pip install -e '.[deploy]'"
        ) from None
    bounds = {re.split(r"[^A-Za-z0-9_-]", text)[0]: text.partition(";")[0].strip() for text in asked}
    return [bounds.get(name, name) for name in STAGES[stage]]


def sources(stage: str) -> list[Path]:
    """Return the files of ours that a stage consists of."""
    backend = ROOT / "backend"
    ours = [
        path
        for path in backend.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and not any(path.is_relative_to(backend / part) for part in _LEFT_OUT[stage])
    ]
    modules = ["__init__.py", "api.py", "entry_point.py", "secure_parameters.py", *_MODULES[stage]]
    frontend = [path for path in assets.FRONTEND.glob(_FRONTEND[stage]) if path.is_file()]
    return sorted([*ours, *frontend, *(HERE / name for name in modules)])


def _lay_out(stage: str, folder: Path) -> None:
    """Create the folder that Zappa packs: our code, the settings, and the stage's environment."""
    project = folder / "openhype"
    for source in sources(stage):
        target = project / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    ours = {**settings(stage), "runtime": runtime()}
    for name in ("extends", "callbacks"):  # the folder holds only what is packed
        ours.pop(name)
    (project / SETTINGS).write_text(json.dumps({stage: ours}), "utf-8")
    site = folder / "environment" / "lib" / runtime() / "site-packages"
    site.mkdir(parents=True)
    lock = locks.path_of(stage, sys.version_info[:2])
    exactly = ["--require-hashes", "--no-deps", "--requirement", str(lock)]
    _pip("install", "--target", str(site), *locks.pip_options(sys.version_info[:2]), *exactly)


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    _run([*command, "--no-compile"], Path.cwd(), os.environ)


def _zappa_package(stage: str, folder: Path) -> Path:
    """Return the zip that Zappa makes of the folder, with the stage's environment as the active one."""
    environment = {
        **os.environ,
        "VIRTUAL_ENV": str(folder / "environment"),
        "AWS_DEFAULT_REGION": os.environ.get("AWS_DEFAULT_REGION", "us-east-1"),  # unused, but required
    }
    out = folder / "zappa.zip"
    program = "import sys; from zappa.cli import handle; sys.exit(handle())"
    command = [sys.executable, "-c", program, "package", stage, "-o", str(out)]
    _run(command, folder / "openhype", environment)
    if not out.is_file():
        raise InvalidInput(f"zappa package {stage} made no zip")
    return out


def _run(command: list[str], where: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(command, cwd=where, env=dict(environment), capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise InvalidInput(f"{' '.join(command[1:4])} failed: {lines[-1] if lines else 'it said nothing'}")


def repack(stage: str, made: Path, done: Path, folder: Path) -> None:
    """Write the package `made` by Zappa to `done`, with byte code and the same bytes for the same code.

    The page's version is added, since most of the files that it follows from are not packed.

    Args:
        folder: where the files are unpacked; it must not exist.
    """
    with zipfile.ZipFile(made) as archive:
        archive.extractall(folder)
    for name in _UNUSED:
        (folder / name).unlink(missing_ok=True)
    aws_models.trim(folder / "botocore" / "data", stage)
    if (frontend := folder / assets.FRONTEND.name).is_dir():
        (frontend / assets.VERSION).write_text(assets.version(), "utf-8")
    for cache in list(folder.rglob("__pycache__")):
        shutil.rmtree(cache)
    compiling = [sys.executable, "-m", "compileall", "-qq", "--invalidation-mode", "unchecked-hash"]
    fixed = {**os.environ, "PYTHONHASHSEED": "0"}  # it determines the order of constants in a set
    subprocess.run(
        [*compiling, "-s", str(folder), str(folder)], env=fixed
    )  # no check=True: some files are for other Python versions
    with zipfile.ZipFile(done, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(str(path.relative_to(folder)), _STAMP)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())


def _beside(path: Path, target: Path) -> Path:
    """Move a file next to `target`, onto the same disk, so that it can replace it atomically."""
    near = target.with_name(f".{target.name}-{os.getpid()}")
    shutil.move(path, near)
    return near


def checked(stage: str, path: Path, limit: int = UNPACKED_LIMIT) -> Package:
    """Return the zip at `path` as a package.

    Raises:
        InvalidInput: unpacked, it is larger than `limit` (bytes).
    """
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > limit:
        raise InvalidInput(
            f"the package of {stage} has {unpacked / 2**20:.0f} MiB unpacked, "
            f"and Lambda takes {limit / 2**20:.0f}"
        )
    return Package(path, stage, path.stat().st_size, unpacked, hashlib.sha256(path.read_bytes()).hexdigest())
