"""The job `audit`: what tells the pictures of an order's sides apart, and which files cannot be used.

Pictures take the same path as in the creation of a study, but nothing is written. A refused file that can be
decoded is shown as a small picture, made anew from its pixels.
"""

import base64
import io
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.administration.study_spec import StudySpec
from backend.experiment.judgments import judgment_of
from backend.foundation.errors import InvalidInput
from backend.foundation.printable import printable
from backend.jobs.create_study import unpack_all
from backend.jobs.queue import Job, enqueue
from backend.jobs.study_orders import StudyOrder, first_within, in_words_of_order
from backend.jobs.work import Failed, Work
from backend.stores.store import Store

if TYPE_CHECKING:
    from backend.administration.create import Examined
    from backend.stimuli.folders import Finding
    from backend.stimuli.ingest import Survey

KIND = "audit"
_MOST_REFUSED, _MOST_THUMBNAILS, _REFUSED_BYTES = 500, 40, 250_000
"""Files that are listed, and shown: a result must fit into one entry of a table (400 KB)."""
_THUMBNAIL_PX, _THUMBNAIL_BYTES = 64, 5000
_WITH_THUMBNAIL = frozenset({"duplicate", "both sides", "both sets", "sizes"})
"""Kinds of findings about files that were decoded as a whole."""
_TITLES = {"compression": "Compression", "sharpness": "Sharpness", "colour": "Colour"}


def order(store: Store, member: str, ordered: StudyOrder, now: datetime) -> Job:
    """Enqueue the job that audits the pictures of an order, and return it."""
    args = {"entries": ordered.entries, "uploads": ordered.uploads}
    return enqueue(store, KIND, None, member, args, now, secrets.token_hex(8))


def run(work: Work, mine: Job) -> dict[str, Any]:
    """Return what was found."""
    root = work.folder / "pictures"
    ordered = StudyOrder(mine.args["entries"], mine.args["uploads"])
    try:
        unpack_all(work, ordered.uploads, root)
        spec = ordered.spec(root)
        return _audit(work, spec, root)
    except InvalidInput as error:
        raise Failed(in_words_of_order(str(error), root), keys=error.keys) from None


def _audit(work: Work, spec: StudySpec, root: Path) -> dict[str, Any]:
    from backend.administration.create import examine

    examined = examine(spec, work.folder, progress=work.progress, say=work.say)
    if judgment_of(spec.method).has_items:
        return _of_items(spec, examined, root)
    return _of_sides(spec, examined, root)


def _of_sides(spec: StudySpec, examined: "Examined", root: Path) -> dict[str, Any]:
    from backend.stimuli.confounds import suggested
    from backend.stimuli.refusals import handed_on_notes

    found: Survey = examined.survey
    unusable = [*found.files, *found.duplicates]
    untold = () if spec.skip_bad else {*handed_on_notes((), (), found.files)}  # they are not left out
    steps = suggested(found.differences)
    return {
        "sides": [*_sides(spec, found)],
        "differences": [
            {
                "what": _TITLES[each.what],
                "model": each.model,
                "reals": each.reals,
                "models": f"{each.model}: {each.fakes}",
                "remedy": each.remedy,
                "sentence": in_words_of_order(each.note),
            }
            for each in found.differences
            if not each.is_equalised
        ],
        **_refused(spec, unusable, root),
        "problems": [in_words_of_order(each, root) for each in examined.problems],
        "notes": [
            in_words_of_order(each, root)
            for each in (
                *(each.note for each in found.differences if each.is_equalised),
                *found.notes_beside_differences,
            )
            if each not in untold
        ],
        "suggested": {"equalise": _with_steps(spec.equalise, steps)},
    }


def _of_items(spec: StudySpec, examined: "Examined", root: Path) -> dict[str, Any]:
    found = examined.survey
    counts = Counter(stimulus.model for stimulus in found.stimuli if not stimulus.role)
    return {
        "sides": [
            {"side": name, "files": count, "pictures": count, "classes": []} for name, count in counts.items()
        ],
        "differences": [],
        **_refused(spec, found.unusable, root),
        "problems": [in_words_of_order(each, root) for each in examined.problems],
        "notes": [in_words_of_order(each, root) for each in found.notes],
        "suggested": {"equalise": []},
    }


def _with_steps(before: Sequence[str], steps: Sequence[str]) -> list[str]:
    """Return an order's steps with those suggested in place of others of their kinds; [] if none are."""
    if not steps:
        return []
    kinds = {step.partition(":")[0] for step in steps}
    return [*(step for step in before if step.partition(":")[0] not in kinds), *steps]


def _sides(spec: StudySpec, found: "Survey") -> Iterator[dict[str, Any]]:
    """Yield what the files of each side are."""
    files = Counter(item.source.model for item in found.made if not item.source.role)
    for model in (None, *(name for name, _ in spec.models)):
        facts = found.sides.get(model, [])
        classes = Counter(
            item.source.class_ for item in found.good if item.source.model == model and not item.source.role
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
