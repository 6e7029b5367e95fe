"""The job `audit`: what tells the pictures of an order's sides apart, and which files cannot be used.

Pictures take the same path as in the creation of a study, but nothing is written. A refused file that can be
decoded is shown as a small picture, made anew from its pixels.

The same order of the same content is the same job, whoever asks. What was found in pictures is noted by their
content and the settings of their form: with other settings nothing is read again, and settings that need more
pictures than there are can be refused at once.
"""

import base64
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend import __version__
from backend.administration.study_spec import StudySpec
from backend.experiment.judgments import judgment_of
from backend.experiment.records import REAL, Stimulus
from backend.foundation.errors import InvalidInput
from backend.foundation.printable import printable
from backend.jobs.create_study import unpack_all
from backend.jobs.queue import JOBS, RESULTS, Job, enqueue
from backend.jobs.study_orders import StudyOrder, first_within, in_words_of_order
from backend.jobs.work import Failed, Work
from backend.stimuli.medium import Intake
from backend.stores.store import Store
from backend.stores.updates import update

if TYPE_CHECKING:
    from backend.administration.creation_preview import Examined
    from backend.stimuli.folders import Finding
    from backend.stimuli.ingest import Survey

KIND = "audit"
AUDITED = "audited_pictures"
"""The book of the jobs that audited pictures, by `_of_pictures`."""
_OF_FORM = ("size_px", "image_format")
_OF_FILES = (
    "real",
    "models",
    "items",
    "practice",
    "checks",
    "masks",
    "preprocess",
    "skip_bad",
    "strict",
    "flat",
)
_NOT_AUDITED = ("name", "pages", "questions")
_FRUITLESS = ("failed", "cancelled")
_MOST_REFUSED, _MOST_THUMBNAILS, _REFUSED_BYTES = 500, 40, 250_000
"""Files that are listed, and shown: a result must fit into one entry of a table (400 KB)."""
_THUMBNAIL_PX, _THUMBNAIL_BYTES = 64, 5000
_WITH_THUMBNAIL = frozenset({"duplicate", "both sides", "both sets", "sizes"})
"""Kinds of findings about files that were decoded as a whole."""
_TITLES = {"compression": "Compression", "sharpness": "Sharpness", "colour": "Colour"}


def order(store: Store, member: str, ordered: StudyOrder, digests: Mapping[str, str], now: datetime) -> Job:
    """Enqueue the job that audits the pictures of an order, and return it; that of before if it is done.

    Args:
        digests: the digest of each upload, by its folder.
    """
    pictures = _of_pictures(ordered, digests)
    others = {*ordered.entries} - {*_NOT_AUDITED, *_OF_FILES}
    key = _digest([pictures, {name: ordered.entries[name] for name in others}])
    args = {"entries": ordered.entries, "uploads": ordered.uploads, "pictures": pictures}
    return enqueue(store, KIND, None, member, args, now, key, lambda before: before.state in _FRUITLESS)


def audited(store: Store, ordered: StudyOrder, digests: Mapping[str, str]) -> tuple[Stimulus, ...] | None:
    """Return the stimuli that an audit found in an order's pictures, without names; None if none was made."""
    result = _result(store, _of_pictures(ordered, digests))
    return None if result is None else _stimuli(result["pool"])


def forget(store: Store) -> None:
    """Erase the notes of audits whose jobs are forgotten."""
    for entry in store.entries(AUDITED):
        if store.entry(JOBS, entry.data["job"]) is None:
            store.erase_entry(AUDITED, entry.key)


def run(work: Work, mine: Job) -> dict[str, Any]:
    root = work.folder / "pictures"
    ordered = StudyOrder(mine.args["entries"], mine.args["uploads"])
    try:
        spec = ordered.spec(root)
        if before := _result(work.store, mine.args["pictures"]):
            return {**before, "problems": _lack(spec, before)}
        unpack_all(work, ordered.uploads, root)
        result = _audit(work, spec, root)
    except InvalidInput as error:
        raise Failed(in_words_of_order(str(error), root), keys=error.keys) from None
    if result.pop("is_usable"):
        update(work.store, AUDITED, mine.args["pictures"], lambda _: {"job": mine.id})
    return result


def _audit(work: Work, spec: StudySpec, root: Path) -> dict[str, Any]:
    from backend.administration.creation_preview import examine

    examined = examine(spec, work.folder, progress=work.progress, say=work.say)
    of = _of_intake if isinstance(examined.survey, Intake) else _of_sides
    problems = [*examined.problems, *filter(None, [examined.lack])]
    return {
        **of(spec, examined, root),
        "pool": _pool(examined.stimuli),
        "problems": [in_words_of_order(each, root) for each in problems],
        "is_usable": not examined.problems,
    }


def _lack(spec: StudySpec, result: Mapping[str, Any]) -> list[str]:
    """Return what the pictures of an audit of before lack for other settings, and other invalid settings."""
    from backend.administration.creation_preview import check_pictures

    try:
        check_pictures(spec, _stimuli(result["pool"]))
    except InvalidInput as error:
        return [in_words_of_order(str(error))]
    return []


def _result(store: Store, pictures: str) -> Mapping[str, Any] | None:
    """Return the result of the job that audited pictures; None if there is none, or it is forgotten."""
    entry = store.entry(AUDITED, pictures)
    done = store.entry(RESULTS, entry.data["job"]) if entry else None
    return done.data if done else None


def _of_pictures(ordered: StudyOrder, digests: Mapping[str, str]) -> str:
    """Return a digest of all that an audit depends on, except for the settings that pictures have to meet."""
    entries, settings = ordered.entries, ordered.entries.get("settings", {})
    method = judgment_of(entries.get("method", "infinity")).name
    given = {name: entries[name] for name in _OF_FILES if name in entries and name not in ordered.uploads}
    files = {name: [*value] if isinstance(value, Mapping) else value for name, value in given.items()}
    form = {name: str(settings[name]) for name in _OF_FORM if name in settings}
    return _digest([__version__, method, files, form, digests])


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _pool(stimuli: Sequence[Stimulus]) -> list[dict[str, Any]]:
    """Return how many stimuli of each kind there are."""
    counts = Counter((each.truth, each.model, each.class_, each.role) for each in stimuli)
    return [
        {"truth": truth, "model": model, "class": class_, "role": role, "stimuli": count}
        for (truth, model, class_, role), count in counts.items()
    ]


def _stimuli(pool: Sequence[Mapping[str, Any]]) -> tuple[Stimulus, ...]:
    """Return as many stimuli as `_pool` counted."""
    kinds = [each for each in pool for _ in range(each["stimuli"])]
    return tuple(
        Stimulus(f"{number}", kind["truth"], kind["model"], kind["class"], role=kind["role"])
        for number, kind in enumerate(kinds)
    )


def _of_sides(spec: StudySpec, examined: "Examined", root: Path) -> dict[str, Any]:
    from backend.stimuli.confounds import suggested
    from backend.stimuli.refusals import handed_on_notes

    surveyed: Survey = examined.survey
    unusable = [*surveyed.files, *surveyed.duplicates]
    untold = () if spec.skip_bad else {*handed_on_notes((), (), surveyed.files)}  # they are not left out
    steps = suggested(surveyed.differences)
    return {
        "sides": [*_sides(spec, surveyed)],
        "differences": [
            {
                "what": _TITLES[each.what],
                "model": each.model,
                "reals": each.reals,
                "models": f"{each.model}: {each.fakes}",
                "remedy": each.remedy,
                "sentence": in_words_of_order(each.note),
            }
            for each in surveyed.differences
            if not each.is_preprocessed
        ],
        **_refused(spec, unusable, root),
        "notes": [
            in_words_of_order(each, root)
            for each in (
                *(each.note for each in surveyed.differences if each.is_preprocessed),
                *surveyed.notes_beside_differences,
            )
            if each not in untold
        ],
        "suggested": {"preprocess": _with_steps(spec.preprocess, steps), "flat": _helps_flat(spec, surveyed)},
    }


def _of_intake(spec: StudySpec, examined: "Examined", root: Path) -> dict[str, Any]:
    surveyed = examined.survey
    counts = Counter(stimulus.model for stimulus in surveyed.stimuli if not stimulus.role)
    return {
        "sides": [
            {"side": name or REAL, "files": count, "pictures": count, "classes": []}
            for name, count in counts.items()
        ],
        "differences": [],
        **_refused(spec, surveyed.unusable, root),
        "notes": [in_words_of_order(each, root) for each in surveyed.notes],
        "suggested": {"preprocess": [], "flat": False},
    }


def _helps_flat(spec: StudySpec, survey: "Survey") -> bool:
    """Return whether nothing is wrong with the folders if their sub-folders are ignored."""
    from backend.stimuli.folders import scan

    if spec.flat or spec.real is None or not survey.folders:
        return False
    return not scan(spec.real, dict(spec.models), aside=spec.aside, flat=True).of_folders


def _with_steps(before: Sequence[str], steps: Sequence[str]) -> list[str]:
    """Return an order's steps with those suggested in place of others of their kinds; [] if none are."""
    if not steps:
        return []
    kinds = {step.partition(":")[0] for step in steps}
    return [*(step for step in before if step.partition(":")[0] not in kinds), *steps]


def _sides(spec: StudySpec, survey: "Survey") -> Iterator[dict[str, Any]]:
    """Yield what the files of each side are."""
    files = Counter(item.source.model for item in survey.made if not item.source.role)
    for model in (None, *(name for name, _ in spec.models)):
        facts = survey.sides.get(model, [])
        classes = Counter(
            item.source.class_ for item in survey.good if item.source.model == model and not item.source.role
        )
        yield {
            "side": "real" if model is None else model,
            "files": files[model],
            "pictures": len(facts),
            "classes": [
                {"class": name, "pictures": count} for name, count in sorted(classes.items()) if name
            ],
            "formats": dict(Counter(each.format for each in facts).most_common()),
            "short_side_px": _range([each.short_side_px for each in facts]),
            "in_colour": sum(each.has_colour for each in facts),
            "not_square": sum(not each.is_square for each in facts),
        }


def _range(values: Sequence[int]) -> dict[str, int] | None:
    from statistics import median_low

    if not values:
        return None
    return {"smallest": min(values), "median": median_low(values), "largest": max(values)}


def _refused(spec: StudySpec, findings: Sequence["Finding"], root: Path) -> dict[str, Any]:
    """Return the files that cannot be used (of many, the first), their number, and how many stop a study."""
    listed = first_within(_listed(findings[:_MOST_REFUSED], root), _REFUSED_BYTES)
    stopping = 0 if spec.skip_bad else sum(spec.strict or each.kind != "duplicate" for each in findings)
    return {"refused": listed, "refused_count": len(findings), "stopping_count": stopping}


def _listed(findings: Sequence["Finding"], root: Path) -> Iterator[dict[str, Any]]:
    left = _MOST_THUMBNAILS
    for finding in findings:
        side, file = _place(finding.what, root)
        thumbnail = _thumbnail(finding, root) if left else None
        left -= thumbnail is not None
        reason = in_words_of_order(_reason(finding), root)
        yield {"side": side, "file": file, "reason": reason, "thumbnail": thumbnail}


def _reason(finding: "Finding") -> str:
    from backend.stimuli import refusals

    return refusals.line(finding).removeprefix(f"{finding.what}: ")


def _place(what: str, root: Path) -> tuple[str, str]:
    """Return the side of a file, and its path within the upload."""
    inner = what.removeprefix(f"{printable(root)}/")
    first, _, rest = inner.partition("/")
    if first in ("models", "items"):
        first, _, rest = rest.partition("/")
    return (first, rest) if rest else ("", inner)


def _thumbnail(finding: "Finding", root: Path) -> str | None:
    """Return a small picture as a `data:` URL; None where none can be made."""
    from PIL import Image

    from backend.stimuli.images import BadPicture, load

    path = Path(finding.what)
    if finding.kind not in _WITH_THUMBNAIL or not path.is_file() or root not in path.parents:
        return None
    try:
        picture, _ = load(path)
    except BadPicture:
        return None
    picture.thumbnail((_THUMBNAIL_PX, _THUMBNAIL_PX), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=75)
    data = buffer.getvalue()
    if len(data) > _THUMBNAIL_BYTES:
        return None
    return f"data:image/jpeg;base64,{base64.b64encode(data).decode()}"
