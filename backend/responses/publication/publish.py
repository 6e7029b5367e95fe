"""Add to an export what publishing it needs: Croissant, a dataset card, model cards, a citation."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from backend import __version__
from backend.experiment.judgments import judgment_of
from backend.experiment.records import Study
from backend.foundation.atomic_files import write_whole
from backend.foundation.csv_tables import read_rows
from backend.responses import question_answers
from backend.responses.codebook import columns_of, files_of
from backend.responses.export import QUESTIONS, QUESTIONS_CONTENT, json_text, keyword_of, table_path
from backend.responses.publication.citation import citation
from backend.responses.publication.croissant import croissant
from backend.responses.publication.data_files import Table, read_table
from backend.responses.publication.dataset_card import header
from backend.responses.publication.model_card import model_card
from backend.responses.publication.subject import RESPONSES, Subject
from backend.responses.publication.terms import Terms
from backend.responses.published_names import published_names, published_study
from backend.responses.study_data import study_scores
from backend.stores.store import Store

_IGNORED = (".psychds-ignore", "croissant.json", "CITATION.cff", "model-cards/")
_COUNTED = {"images": "number_guesses", "items": "votes"}
"""The tables that have a row for each picture or item, and their column of answers."""


def publish(
    study: Study, out: Path, terms: Terms, scores: Mapping[str, Any] | None, simulated: bool = False
) -> list[Path]:
    """Write the files into the folder of an export; return them.

    README.md gets a header, `dataset_description.json` author and licence. There is a model card for each
    model in `scores` (`study_data.study_scores`), none if it is None; nor is there one, or a CITATION.cff,
    that would not be valid: without finished sessions, of simulated ones, or without creators.
    """
    subject = _subject(study, out, simulated)
    described = json.loads((out / "dataset_description.json").read_text("utf-8"))
    readme = (out / "README.md").read_text("utf-8")
    texts = {
        "croissant.json": json_text(croissant(subject, terms)),
        "CITATION.cff": citation(subject, terms),
        **(_model_cards(subject, terms, _published(scores, study)) if scores and not simulated else {}),
        "README.md": header(subject, terms) + readme,
        "dataset_description.json": json_text(described | _declared(terms)),
        ".psychds-ignore": _ignored((out / ".psychds-ignore").read_text("utf-8")),
    }
    paths = {out / name: text.encode() for name, text in texts.items() if text}
    write_whole(paths)
    return [*paths]


def publish_study(
    store: Store, study: Study, out: Path, terms: Terms, simulated: bool = False
) -> tuple[list[Path], bool]:
    """Write the files beside a study's export; return them, and whether there are scores for model cards."""
    is_scored = study.kind == "study" and not simulated and store.finished(study.name)[0] > 0
    scores = study_scores(store, study) if is_scored else None
    return publish(study, out, terms, scores, simulated), is_scored


def _subject(study: Study, out: Path, simulated: bool) -> Subject:
    tables = tuple(_tables(study, out))
    by_name = {table.name: table for table in tables}
    return Subject(
        study=published_study(study),
        name=f"{study.name} (simulated)" if simulated else study.name,
        is_simulated=simulated,
        tables=tables,
        answers_an_item=tuple(_answers_an_item(out, by_name)),
        sessions=by_name["evaluators"].rows,
        version=__version__,
    )


def _tables(study: Study, out: Path) -> Iterator[Table]:
    judgment = judgment_of(study.protocol.method)
    columns = columns_of(judgment)
    for which, (_, content) in files_of(judgment).items():
        yield read_table(out, table_path(study, out, which), which or RESPONSES, content, columns)
    if study.questions:
        columns = columns | question_answers.FIXED | question_answers.columns(study)
        yield read_table(out, table_path(study, out, QUESTIONS), QUESTIONS, QUESTIONS_CONTENT, columns)


def _answers_an_item(out: Path, tables: Mapping[str, Table]) -> list[int]:
    for name, column in _COUNTED.items():
        if name in tables:
            rows = read_rows(out / tables[name].path, [column], tables[name].bytes)
            return sorted(int(row[column]) for _, row in rows)
    return []


def _model_cards(subject: Subject, terms: Terms, scores: Mapping[str, Any]) -> dict[str, str]:
    return {
        f"model-cards/{keyword_of(str(row['model']))}.md": model_card(subject, terms, scores, row)
        for row in scores["models"]
    }


def _published(scores: Mapping[str, Any], study: Study) -> dict[str, Any]:
    names = published_names(study)
    rows = [{**row, "model": names.get(row["model"], row["model"])} for row in scores["models"]]
    return {**scores, "models": rows}


def _declared(terms: Terms) -> dict[str, Any]:
    """Return the entries of `dataset_description.json` on who made the data set, and under what licence."""
    authors = [
        {"@type": "Person" if creator.is_person else "Organization", "name": creator.name}
        for creator in terms.creators
    ]
    entries = {
        "author": authors,
        "license": terms.licence and terms.licence.url,
        "url": terms.url,
        "version": terms.release,
        "datePublished": terms.published_on,
    }
    return {name: value for name, value in entries.items() if value}


def _ignored(text: str) -> str:
    """Return the list of files that the validator of Psych-DS skips, with the ones written here."""
    lines = text.split()
    return "\n".join([*lines, *(name for name in _IGNORED if name not in lines), ""])
