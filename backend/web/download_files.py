"""The job `download`: a file of a study, made as a whole: report, data set, responses, masks, demo.

Making one can take minutes of a processor, which evaluators' requests need. Responses are written one session
at a time.
"""

import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput, NotFound, OpenhypeError
from backend.foundation.file_permissions import make_folder
from backend.foundation.timestamps import utc_now
from backend.jobs.queue import Job
from backend.jobs.study_work import study_of
from backend.jobs.work import Failed, Work
from backend.web import results

Options = Mapping[str, Any]
_Write = Callable[[Work, Study, Options, Path], None]


def run(work: Work, job: Job) -> dict[str, Any]:
    """Make a file; it is there as a whole or not at all, and without what is withdrawn meanwhile.

    Raises:
        Failed: the study has no such file, for example since no session is finished yet, or a package that
            it needs is missing; the details have class and code of the error.
    """
    try:
        while (size := _made_bytes(work, job)) is None:
            continue
    except OpenhypeError as error:
        raise Failed(str(error), {"error": type(error).__name__, "code": error.code}) from error
    return {"bytes": size}


def _made_bytes(work: Work, job: Job) -> int | None:
    """Make the file and return its size; None if the study's downloads were removed meanwhile."""
    study, args = study_of(work, job), job.args
    out = work.data.downloads(study.name) / args["file"]
    folder = out.parent / f".{job.id}"
    shutil.rmtree(folder, ignore_errors=True)  # left by a killed worker
    make_folder(folder)
    try:
        KINDS[args["kind"]](work, study, args["options"], folder / out.name)
        return (folder / out.name).rename(out).stat().st_size
    except FileNotFoundError:
        if folder.is_dir():
            raise
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _report(work: Work, study: Study, options: Options, out: Path) -> None:
    from backend.report.build import ReportOptions, study_report, with_stored_metrics
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
    store, data = work.store, work.data
    report = study_report(store, data.picture, study, utc_now(), with_stored_metrics(chosen, data, study))
    folder = out.parent / "report"
    write_report(report, folder, work.progress)
    _zip(folder, f"{study.name}-report", out)


def _export(work: Work, study: Study, options: Options, out: Path) -> None:
    from backend.responses.agreement import study_votes
    from backend.responses.bapps_export import export_bapps
    from backend.responses.export import export
    from backend.responses.publication.publish import publish_study
    from backend.responses.publication.terms import terms_of

    declared = options["croissant"]
    terms = terms_of(utc_now().date().isoformat(), **declared) if declared else None
    store, simulated, folder = work.store, options["simulated"], out.parent / "export"
    votes = study_votes(store, study, simulated) if options["bapps"] else None
    export(store, study, folder, simulated, work.progress)
    if terms is not None:
        publish_study(store, study, folder, terms, simulated)
    if votes is not None:
        export_bapps(votes, store.stimuli(study.name), partial(work.data.picture, study.name), folder)
    _zip(folder, f"{study.name}-data", out)


def _responses(work: Work, study: Study, options: Options, out: Path) -> None:
    from backend.responses.export import write_responses

    write_responses(work.store, study, out, options["simulated"], work.progress)


def _masks(work: Work, study: Study, options: Options, out: Path) -> None:
    from backend.stimuli.masks import sheet

    if not study.masks:
        raise InvalidInput(f"study {study.name} has no masks")
    folder = work.data.images(study.name)
    with _pictures_of(study):
        picture = sheet.of_masks([folder / name for name in study.masks[: options["count"]]])
    picture.save(out, "PNG", optimize=True)


def _site(work: Work, study: Study, options: Options, out: Path) -> None:
    from backend.web.static_demo import write_site

    folder = out.parent / "site"
    with _pictures_of(study):
        write_site(work.store, study, work.data.images(study.name), folder, options["each"], work.progress)
    _zip(folder, f"{study.name}-demo", out)


def _scores(work: Work, study: Study, options: Options, out: Path) -> None:
    out.write_bytes(results.scores_json(work.store, work.data, study, utc_now(), **options))


def _page(work: Work, study: Study, options: Options, out: Path) -> None:
    data = work.data
    out.write_bytes(results.page_html(work.store, data, study, utc_now(), data.picture, **options))


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
    "scores.json": _scores,
    "results.html": _page,
}
"""By the name of the file in the API, or of what the server sends itself."""


def _zip(folder: Path, top: str, out: Path) -> None:
    """Write a folder's files as a zip with one folder `top`, in the order of their paths."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            archive.write(path, f"{top}/{path.relative_to(folder).as_posix()}")
    shutil.rmtree(folder)
