"""Export of a study's responses as a Psych-DS data set: plain files that outlive the software.

`data/study-<name>_data.csv` has the responses of finished sessions and is the file to score. Beside it are
tables of evaluators and stimuli, computed from the same rows, responses that are not scored, and events
(`codebook.FILES`). Rows are written one session at a time; only a few counts for each stimulus stay in
memory. No panel id, key, secret, completion code or source path is exported, and of a submitter's e-mail
address only what stands before the @ (`published_names`).
"""

import contextlib
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

from backend import __version__
from backend.experiment import follow_ups
from backend.experiment.exclusion import CHECK_KINDS
from backend.experiment.judgment import PLACE_COLUMNS, Judgment
from backend.experiment.judgments import judgment_of
from backend.experiment.languages import CHOOSE
from backend.experiment.not_sure import error_of
from backend.experiment.protocol import to_json
from backend.experiment.records import FAKE, REAL, TEST, Study
from backend.foundation.errors import Conflict
from backend.responses import question_answers
from backend.responses.codebook import FILES, columns_of, files_of
from backend.responses.published_names import published_names, published_rows, published_study
from backend.responses.readers import row_writer
from backend.responses.study_data import scored_rows, study_rows
from backend.responses.study_looks import exported
from backend.stimuli.media import MEDIA
from backend.stores.store import Store

_DESCRIPTION = "dataset_description.json"
_EVENT_FLAGS = (
    "hidden", "left_full_screen", "resized", "not_whole", "display_changed", "display_stalled",
    "interrupted", "same_answer_notice",
)  # fmt: skip
"""Flags that record what an evaluator or a display did; the other flags assess the response."""
_ANY_MODEL = "-"
QUESTIONS = "questions"
"""The table of answers to the researcher's own questions."""
QUESTIONS_CONTENT = "answers to the researcher's own questions, one row a session, a column for each question"
_NOBODY = "They are simulated: nobody looked at the pictures"


def _unwatched(items: Iterable, *_: Any) -> Iterable:
    return items


def export(
    store: Store,
    study: Study,
    out: Path,
    simulated: bool = False,
    progress: Callable[..., Iterable] = _unwatched,
) -> list[Path]:
    """Write the data set to the folder `out`, created if missing; return the files, the one to score first.

    Each file is written atomically. An earlier export of the same study is replaced.

    Args:
        simulated: export the simulated sessions instead of the real ones, as a separate data set.
        progress: wraps an iterable, such as a progress bar; called with the items, how many, and a label.

    Raises:
        Conflict: `out` holds another data set.
    """
    name = f"{study.name} (simulated)" if simulated else study.name
    _check_free(name, out)
    looks = None if simulated else exported(store, study)  # before the answers, which have all that it used
    for folder in ("data", "materials"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    judgment = judgment_of(study.protocol.method)
    paths = {which: table_path(study, out, which) for which in (*FILES, "items")}
    for which in paths.keys() - files_of(judgment).keys():
        paths.pop(which).unlink(missing_ok=True)
    for stale in published(out):  # they describe the files of the export before
        stale.unlink()
    answers = table_path(study, out, QUESTIONS)
    if study.questions:
        _write_questions(store, study, simulated, answers)
    else:
        answers.unlink(missing_ok=True)
    images = _Images() if "images" in paths else _Items(judgment)
    with contextlib.ExitStack() as files:
        write = {
            which: row_writer(files.enter_context(_atomic(path)), _columns(study, which))
            for which, path in paths.items()
        }
        counts = _write_answers(store, study, simulated, write, images, progress)
        for row in images.rows() if images.file in paths else ():
            write[images.file](row)
    asked = [answers] if study.questions else []
    return [
        *paths.values(),
        *asked,
        *_write_about(published_study(study), name, simulated, out, paths[""], counts, looks),
    ]


def write_responses(
    store: Store,
    study: Study,
    path: Path,
    simulated: bool = False,
    progress: Callable[..., Iterable] = _unwatched,
) -> int:
    """Write the scored responses of a study as one CSV, the file to score of `export`; return how many.

    Args:
        progress: as in `export`.

    Raises:
        InvalidInput: no session is finished yet.
    """
    count = 0
    with _atomic(path) as file:
        write = row_writer(file, _columns(study, ""))
        rows = published_rows(scored_rows(store, study, simulated), published_names(study))
        expected = store.finished(study.name, simulated)[0] * study.protocol.stimuli.trials
        for row in progress(rows, expected, "answers"):
            write(row)
            count += 1
    return count


def table_path(study: Study, out: Path, which: str) -> Path:
    """Return the path of a table of the data set in `out`; `which` is the description in its name."""
    described = f"_description-{which}" if which else ""
    return out / "data" / f"study-{keyword_of(study.name)}{described}_data.csv"


def published(out: Path) -> list[Path]:
    """Return the files in `out` that `publication.publish` has written, but for README.md, sorted."""
    return sorted([*out.glob("croissant.json"), *out.glob("CITATION.cff"), *out.glob("model-cards/*.md")])


def _columns(study: Study, which: str) -> list[str]:
    """Return the columns of a file; some are only in studies with a certain setting."""
    absent = set(follow_ups.COLUMNS) - follow_ups.columns_of(study.protocol)
    if not study.protocol.page.not_sure:
        absent.add("not_sure")
    if not study.protocol.stimuli.is_adaptive:
        absent.add("sampling")
    if study.protocol.language.language != CHOOSE:
        absent.add("language")
    if not study.protocol.admission.shared_computer:
        absent.add("person_at_computer")
    judgment = judgment_of(study.protocol.method)
    absent |= {*PLACE_COLUMNS} - {*judgment.own_columns}
    return [column for column in files_of(judgment)[which][0] if column not in absent]


def keyword_of(name: str) -> str:
    """Return a name in the form that Psych-DS requires of values in file names: letters and digits only.

    Other characters are removed, and `x` and eight digits of the name's hash appended, so that `a-b` and
    `ab` differ.
    """
    bare = re.sub(r"[^A-Za-z0-9]", "", name)
    return bare if bare == name else f"{bare}x{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _check_free(wanted: str, out: Path) -> None:
    try:
        name = json.loads((out / _DESCRIPTION).read_text("utf-8"))["name"]
    except FileNotFoundError:
        return
    except (ValueError, KeyError, TypeError):
        name = None
    if name != wanted:
        raise Conflict(f"{out} holds another data set ({name or 'unknown'}); choose another folder")


def _write_answers(
    store: Store,
    study: Study,
    simulated: bool,
    write: Mapping[str, Callable],
    images: "_Images | _Items",
    progress: Callable[..., Iterable],
) -> dict[str, int]:
    """Write responses, evaluators, events; count the images; return counts of scored sessions, responses."""
    counts = {"sessions": 0, "responses": 0}
    names = published_names(study)
    for which, file in (("scored", ""), ("unfinished", "unfinished"), ("replaced", "replaced")):
        published = published_rows(study_rows(store, study, which, simulated), names)
        expected = store.finished(study.name, simulated)[0] if which == "scored" else None
        for _, group in progress(groupby(published, itemgetter("session")), expected, f"{which} sessions"):
            rows = list(group)
            for row in rows:
                write[file](row)
                for event in _events(row):
                    write["events"](event)
            if which == "scored":
                scored = [row for row in rows if row["trial_kind"] == TEST]
                images.add(scored)
                write["evaluators"]({**_evaluator(study, scored), **_checks(rows)})
                counts = {"sessions": counts["sessions"] + 1, "responses": counts["responses"] + len(scored)}
    return counts


def _write_questions(store: Store, study: Study, simulated: bool, path: Path) -> None:
    with _atomic(path) as file:
        write = row_writer(file, question_answers.header(study))
        for row in question_answers.rows(store, study, simulated):
            write(row)


_OF_SESSION = (
    "study", "method", "session", "simulated", "language", "person_at_computer", "translated_before",
)  # fmt: skip


def _evaluator(study: Study, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the row of an evaluator from the rows of one session."""
    from backend.analysis.judgment_scores import scores_of
    from backend.analysis.quality import evaluator_table
    from backend.analysis.table.response_rows import answers_of

    method = study.protocol.method
    how = scores_of(method)
    same = {name: rows[0][name] for name in _OF_SESSION}
    models = {row["model"] for row in rows}
    model = models.pop() if len(models) == 1 else _ANY_MODEL  # such as in a qualification
    unmarked = ({**row, "model": model, "excluded": None} for row in rows)
    answers = how.sampled(answers_of(unmarked, method))
    (table,) = evaluator_table(answers, how.values(answers))
    shown = {"model": "" if model == _ANY_MODEL else model}
    return {"not_sure": 0.0, **table, **shown, **same}


def _checks(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return how many attention checks an evaluator had and got right, and whether a rule excludes them."""
    checks = [
        row["response"] == row["truth"]
        for row in rows
        if row["trial_kind"] in CHECK_KINDS and row["truth"] != ""
    ]
    return {"checks": len(checks), "checks_right": sum(checks), "excluded": rows[0]["excluded"]}


def _events(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of a trial: those that the page recorded with a time, and those known from flags."""
    for each in row["interactions"]:
        yield {**row, "event": each.event, "trial": row["trial_index"], "time": each.time_ms}
    for flag in row["flags"]:
        if flag in _EVENT_FLAGS:
            yield {**row, "event": flag, "trial": row["trial_index"], "time": None}


_Image = tuple[str, str, bool, str]
"""Model, name, whether it is a fake, and class."""


class _Images:
    """Counts for each stimulus and model, like those of `analysis.fooling` for responses in memory."""

    file = "images"

    def __init__(self) -> None:
        self._counts: dict[_Image, list[float]] = {}

    def add(self, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            key = (row["model"], row["stimulus"], row["truth"] == FAKE, row["class"])
            counts = self._counts.setdefault(key, [0, 0])
            counts[0] += 1
            counts[1] += error_of(row["response"], REAL)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one row each, sorted by model, fakes before reals, then by decreasing error."""

        def error(key: _Image) -> float:
            guesses, said_fake = self._counts[key]
            return (guesses - said_fake if key[2] else said_fake) / guesses

        def place(key: _Image) -> tuple[str, bool, float, float, str]:
            model, stimulus, is_fake, _ = key
            return model, not is_fake, -error(key), -self._counts[key][0], stimulus

        for key in sorted(self._counts, key=place):
            model, stimulus, is_fake, class_ = key
            guesses, said_fake = self._counts[key]
            yield {
                "model": model,
                "generated": is_fake,
                "image_path": stimulus,
                "number_guesses": int(guesses),
                "number_guesses_generated": said_fake if said_fake % 1 else int(said_fake),
                "soft_label": said_fake / guesses,
                "error": error(key),
                "class": class_,
            }


class _Items:
    """Counts of votes for each item of a judgment that counts votes (`Judgment.vote`)."""

    file = "items"

    def __init__(self, judgment: Judgment) -> None:
        self._judgment = judgment
        self._counts: dict[tuple[str, str, str], Counter] = {}

    def add(self, rows: list[dict[str, Any]]) -> None:
        for row in rows if self._judgment.votes else ():
            key = (row["model"], *self._judgment.voted_on(row))
            self._counts.setdefault(key, Counter())[self._judgment.vote(row)] += 1

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one row each, sorted by set or model, and name."""
        for (model, item, stimulus), votes in sorted(self._counts.items()):
            counts = {f"votes_{word}": votes[word] for word in self._judgment.votes}
            yield {"model": model, "item": item, "stimulus": stimulus, "votes": votes.total(), **counts}


def _write_about(
    study: Study,
    name: str,
    simulated: bool,
    out: Path,
    scored: Path,
    counts: Mapping[str, int],
    looks: Mapping[str, Any] | None,
) -> list[Path]:
    """Write the files that describe the data, the description last: its presence shows a complete set."""
    # With the panel's addresses and codes, other people could claim credit.
    settings = {**to_json(study.protocol), "panel": study.protocol.admission.panel.name}
    materials: dict[str, Any] = {
        "study": study.name,
        "kind": study.kind,
        "models": study.models,
        "classes": study.classes,
    }
    materials |= {"created_at": study.created_at, "settings": settings, "notes": study.notes}
    materials |= {"pages": [asdict(page) for page in study.pages]} if study.pages else {}
    materials |= {"questions": [asdict(question) for question in study.questions]} if study.questions else {}
    materials |= {"looks": looks} if looks else {}
    materials |= {"medium": study.medium, "clip": asdict(study.clip)} if study.clip else {}
    kind = "finished simulated sessions" if simulated else "finished sessions"
    content = f"{counts['responses']} responses of {counts['sessions']} {kind}"
    bapps = ["bapps/"] if judgment_of(study.protocol.method).has_items else []
    texts = {
        "materials/study.json": json_text(materials),
        ".psychds-ignore": "\n".join([".psychds-ignore", "materials/study.json", *bapps, ""]),
        "README.md": _said(
            study, _readme(study, name, scored, f"{content}. {_NOBODY}" if simulated else content), name
        ),
        "CHANGES.md": _changes(out, f"- openhype {__version__}: {content}\n"),
        _DESCRIPTION: json_text(_description(study, name, simulated)),
    }
    for path, text in texts.items():
        with _atomic(out / path) as file:
            file.write(text)
    return [out / path for path in texts]


def _description(study: Study, name: str, simulated: bool) -> dict[str, Any]:
    whose = "simulated evaluators" if simulated else "evaluators"
    judgment = judgment_of(study.protocol.method)
    used = {column for which in files_of(judgment) for column in _columns(study, which)}
    asked = {**question_answers.FIXED, **question_answers.columns(study)} if study.questions else {}
    title = judgment.methods[study.protocol.method].title
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": name,
        "description": _said(
            study,
            f"Answers of {whose} to the question {judgment.question}, in the "
            f"{title} {study.kind} {study.name} of {', '.join(study.models)}"
            f"{f'. {_NOBODY}' if simulated else ''}",
        ),
        "schemaVersion": "Psych-DS 0.4.0",
        "dateCreated": study.created_at,
        "keywords": ["HYPE", "human evaluation", "generative models"],
        "measurementTechnique": f"{title}, openhype {__version__}",
        "variableMeasured": [
            {
                "@type": "PropertyValue",
                "name": name,
                "description": _said(study, column.description),
                "unitText": column.unit,
            }
            for name, column in {**columns_of(judgment), **asked}.items()
            if name in used or name in asked
        ],
    }


def _said(study: Study, text: str, *names: str) -> str:
    """Return a text in the words of the study's medium, with names as they are."""
    return MEDIA[study.medium].said(text, [*names, study.name, *study.models])


def _readme(study: Study, title: str, scored: Path, content: str) -> str:
    name = scored.name
    stem = name.removesuffix("_data.csv")
    judgment = judgment_of(study.protocol.method)
    kind = f"{judgment.methods[study.protocol.method].title} ({judgment.source})"
    files = "\n".join(
        f"- `data/{stem}{f'_description-{which}' if which else ''}_data.csv`: {what}"
        for which, (_, what) in files_of(judgment).items()
    )
    if study.questions:
        files += f"\n- `data/{stem}_description-{QUESTIONS}_data.csv`: {QUESTIONS_CONTENT}"
    return f"""# {title}

Answers to the question {judgment.question}: {kind}
of {", ".join(study.models)}. {content[0].upper() + content[1:]}.

{files}

`dataset_description.json` explains every column. `materials/study.json` has the settings of the study, and
the consent text. Evaluators are random pseudonyms.

    openhype score data/{name}

gives the scores of the study. Before publishing, add author and license to `dataset_description.json`.
"""


def _changes(out: Path, line: str) -> str:
    """Return the changes so far, and the line of this export unless it is the last one."""
    try:
        before = (out / "CHANGES.md").read_text("utf-8")
    except FileNotFoundError:
        before = "# Changes\n\n"
    return before if before.endswith(f"\n{line}") else before + line


def json_text(data: Mapping[str, Any]) -> str:
    """Return data as a file of JSON for people to read."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


@contextlib.contextmanager
def _atomic(path: Path) -> Iterator[TextIO]:
    """Open a temporary file for writing, and move it to `path` once it is complete."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="") as file:
            yield file
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
