"""The scores of one model as a block for its model card: `model-index` of Hugging Face, and a table.

The form is that of huggingface.co/docs/hub/model-cards#evaluation-results. A score of the study stands there
with its interval, its evaluators and the models it was measured beside; simulated answers get no card.
"""

from collections.abc import Mapping
from typing import Any

from backend.foundation.yaml_text import yaml_text
from backend.responses.publication.subject import Subject, listed
from backend.responses.publication.terms import Terms

_UNITS = {"percent": "%", "ms": " ms", "": " log-odds"}
_DIGITS = 2


def model_card(subject: Subject, terms: Terms, scores: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Return the block of the model in `row`, a row of `scores["models"]`."""
    source = {"source": {"name": subject.title, "url": terms.url}} if terms.url else {}
    metric = {
        "type": f"hype-{subject.study.protocol.method}",
        "name": f"{subject.method.title}: {_metric_name(subject)}",
        "value": round(float(row["score"]), _DIGITS),
        "verified": False,
    }
    result = {
        "task": {"type": "image-generation", "name": "Image generation, judged by people"},
        "dataset": {"type": "openhype", "name": subject.study.name},
        "metrics": [metric],
        **source,
    }
    index = {"model-index": [{"name": str(row["model"]), "results": [result]}]}
    return f"---\n{yaml_text(index)}---\n\n{_table(subject, scores, row)}"


def _metric_name(subject: Subject) -> str:
    return subject.method.score.partition(", ")[2] or subject.method.score


def _table(subject: Subject, scores: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    unit = _UNITS[scores["unit"]]
    level = f"{100 * scores['settings']['level']:g}%"
    cells = {
        "score": _written(row["score"], unit),
        f"{level} interval": _interval(row, unit),
        "evaluators": str(row.get("evaluators", "")),
        "responses": str(row.get("responses", "")),
    }
    beside = [str(other["model"]) for other in scores["models"] if other["model"] != row["model"]]
    first, last = (at[:10] for at in subject.period)
    return "\n".join(
        [
            "## Human evaluation",
            "",
            f"| {' | '.join(cells)} |",
            f"|{' --- |' * len(cells)}",
            f"| {' | '.join(cells.values())} |",
            "",
            f"{subject.method.title} ({subject.judgment.source}), {_metric_name(subject)}; study "
            f"{_plain(subject.study.name)}, {first} to {last}, with openhype {subject.version}"
            f"{f'. Judged beside {_plain(listed(beside))}' if beside else ''}. The score holds for the "
            "pictures and the evaluators of that study.",
            "",
        ]
    )


def _written(number: float | None, unit: str) -> str:
    return "" if number is None else f"{number:.1f}{unit}"


def _interval(row: Mapping[str, Any], unit: str) -> str:
    """Return the interval that is recommended, over evaluators and pictures, or else the percentile one."""
    details = row.get("interval")
    ends = details["ci"] if details else row.get("ci")
    return f"{_written(ends[0], '')} to {_written(ends[1], unit)}" if ends else ""


def _plain(text: str) -> str:
    """Return a name so that Markdown shows it as it is."""
    return "".join(
        f"\\{character}" if character in r"\`*_{}[]<>()#+!|~&" else character for character in text
    )
