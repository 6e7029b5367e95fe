"""Names of models as exports have them: without the e-mail addresses of those who submitted them.

Within a study a submitted model is called `MEMBER MODEL`. In what is made to be shared, a member who is an
e-mail address is called by what stands before the @, as in the table of a competition.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from backend.experiment.records import Study

Names = Mapping[str, str]
"""Published names by the names within the study; only of models that are renamed."""

_ADDRESS = re.compile(r"([^@ ]+)@[^@ ]+\.[A-Za-z][^@ ]*(?= )")
_SIDES = ("left", "right")
"""Columns beside `model` that hold the names of models in a tournament."""


def published_names(study: Study) -> Names:
    """Return the published names of a study's models that joined it under an e-mail address.

    Two that would be called the same are numbered, since they are different models.
    """
    submitted = study.models[len(study.first_models) :]
    shortened = {model: _ADDRESS.sub(r"\1", model, count=1) for model in submitted if _ADDRESS.match(model)}
    taken = {model.casefold() for model in study.models if model not in shortened}
    names = {}
    for model, name in shortened.items():
        names[model] = _free(name, taken)
        taken.add(names[model].casefold())
    return names


def published_study(study: Study) -> Study:
    """Return a study with the published names of its models, as a description of the data has it."""
    names = published_names(study)
    return replace(
        study,
        models=tuple(names.get(model, model) for model in study.models),
        notes=tuple(_in_text(note, names) for note in study.notes),
    )


def published_rows(rows: Iterable[dict[str, Any]], names: Names) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield _renamed(row, names) if names else row


def _renamed(row: dict[str, Any], names: Names) -> dict[str, Any]:
    parts = [names.get(part, part) for part in row["model"].split(", ")]
    others = {column: names.get(row[column], row[column]) for column in _SIDES if column in row}
    return {**row, **others, "model": ", ".join(sorted(parts))}  # two contestants are in alphabetical order


def _free(name: str, taken: set[str]) -> str:
    """Return `name`, or `name (2)` and so on if it is taken."""
    candidate, count = name, 1
    while candidate.casefold() in taken:
        count += 1
        candidate = f"{name} ({count})"
    return candidate


def _in_text(text: str, names: Names) -> str:
    for model in sorted(names, key=len, reverse=True):  # one name may begin with another
        text = text.replace(model, names[model])
    return text
