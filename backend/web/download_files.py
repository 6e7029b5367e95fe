"""Files of a study to download, each made as a whole: report, data set, responses, masks, demo.

Making one can take minutes of a processor, which evaluators' requests need: the server has a process of its
own do it (`downloads.py`), which runs this module. Responses are written one session at a time.
"""

import json
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from backend.experiment.records import Study
from backend.foundation.child_processes import lower_priority
from backend.foundation.errors import InvalidInput, NotFound, OpenhypeError, Unavailable
from backend.foundation.timestamps import utc_now
from backend.stores.datadir import DataDir
from backend.stores.store import Store

Options = Mapping[str, Any]
_Write = Callable[[Store, DataDir, Study, Options, Path], None]


def write(store: Store, data: DataDir, study: Study, kind: str, options: Options, out: Path) -> None:
    """Write the file of a kind, one of `KINDS`, to `out`; it is there as a whole or not at all.

    Raises:
        InvalidInput: the study has no such file, for example since no session is finished yet.
        NotInstalled: a package that the file needs is missing.
        Unavailable: `being_made`: somebody withdrew meanwhile, so that it is to be made again.
    """
    try:
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=".making-") as folder:
            partial_file = Path(folder) / out.name
            KINDS[kind](store, data, study, options, partial_file)
            os.replace(partial_file, out)
    except FileNotFoundError:
        if out.parent.is_dir():
            raise
        raise removed(study, kind) from None


def removed(study: Study, kind: str) -> Unavailable:
    """Return the error of a file that was removed, since it had answers that were withdrawn just now."""
    return Unavailable(f"{kind} of study {study.name} is being made anew; ask again", code="being_made")


def _report(store: Store, data: DataDir, study: Study, options: Options, out: Path) -> None:
    from backend.report.build import ReportOptions, study_report, with_kept
    from backend.report.findings import FindingsOptions
    from backend.report.write import write as write_report

    scoring = {name: options[name] for name in ("level", "iterations", "seed") if options[name] is not None}
    chosen = ReportOptions(
        options["title"],
        options["exposures"],
        FindingsOptions(margin=options["margin"], threshold_at=options["threshold_at"]),
        scoring,
        options["simulated"],
    )
    report = study_report(store, data.picture, study, utc_now(), with_kept(chosen, data, study))
    folder = out.parent / "report"
    write_report(report, folder)
    _zip(folder, f"{study.name}-report", out)


def _export(store: Store, data: DataDir, study: Study, options: Options, out: Path) -> None:
    from backend.responses.agreement import study_votes
    from backend.responses.bapps_export import export_bapps
    from backend.responses.export import export
    from backend.responses.publication.publish import publish_study
    from backend.responses.publication.terms import terms_of

    declared = options["croissant"]
    terms = terms_of(utc_now().date().isoformat(), **declared) if declared else None
    simulated, folder = options["simulated"], out.parent / "export"
    votes = study_votes(store, study, simulated) if options["bapps"] else None
    export(store, study, folder, simulated)
    if terms is not None:
        publish_study(store, study, folder, terms, simulated)
    if votes is not None:
        export_bapps(votes, store.stimuli(study.name), partial(data.picture, study.name), folder)
    _zip(folder, f"{study.name}-data", out)


def _responses(store: Store, data: DataDir, study: Study, options: Options, out: Path) -> None:
    from backend.responses.export import write_responses

    write_responses(store, study, out, options["simulated"])


def _masks(store: Store, data: DataDir, study: Study, options: Options, out: Path) -> None:
    from backend.stimuli.masks import sheet

    if not study.masks:
        raise InvalidInput(f"study {study.name} has no masks")
    folder = data.images(study.name)
    with _pictures_of(study):
        picture = sheet.of_masks([folder / name for name in study.masks[: options["count"]]])
    picture.save(out, "PNG", optimize=True)


def _site(store: Store, data: DataDir, study: Study, options: Options, out: Path) -> None:
    from backend.web.static_demo import write_site

    folder = out.parent / "site"
    with _pictures_of(study):
        write_site(store, study, data.images(study.name), folder, options["each"])
    _zip(folder, f"{study.name}-demo", out)


@contextmanager
def _pictures_of(study: Study) -> Iterator[None]:
    """Say which picture is missing, on a server that has none, such as a function on AWS."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(
            f"the picture {Path(error.filename or '').name} of {study.name} is not in this server's data "
            "directory; this file is made where the pictures are",
            code="no_pictures",
        ) from None


KINDS: Mapping[str, _Write] = {
    "report.zip": _report,
    "export.zip": _export,
    "responses.csv": _responses,
    "masks.png": _masks,
    "site.zip": _site,
}
"""By the name of the file in the API."""


def _zip(folder: Path, top: str, out: Path) -> None:
    """Write a folder's files as a zip with one folder `top`, in the order of their paths."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            archive.write(path, f"{top}/{path.relative_to(folder).as_posix()}")
    shutil.rmtree(folder)


def main() -> None:
    """Write the file that standard input asks for; print why not, as JSON, if that is refused."""
    asked = json.load(sys.stdin)
    _step_back(asked["server"])
    from backend.stores.opening import open_store

    data = DataDir(Path(asked["data"]))
    store = open_store(asked["store"], data.root)
    try:
        write(store, data, store.study(asked["study"]), asked["kind"], asked["options"], Path(asked["out"]))
    except OpenhypeError as error:
        refusal = {"error": type(error).__name__, "code": error.code, "message": str(error)}
        sys.stdout.write(json.dumps(refusal))
        sys.exit(1)
    finally:
        store.close()


def _step_back(server: int) -> None:
    """Take the lowest priority, and the cores to which the server is not pinned, if there are any."""
    lower_priority()
    with suppress(OSError, AttributeError):  # the server has ended, or cannot be pinned to cores
        every = set(range(os.cpu_count() or 1))
        os.sched_setaffinity(0, every - os.sched_getaffinity(server) or every)


if __name__ == "__main__":
    main()
