"""Reasons for answers: how often each was given, and whether it tells fakes from reals; and comments.

A reason that people give as often for reals that they call fake as for fakes describes pictures in general;
one that they give more often for fakes describes what the model does wrong. Shares are of all answers of
one kind ("fake" or "real"), answers without a reason included, so that they sum to 1 or more. Intervals are
over evaluators (`clusters.py`); p-values of the differences are corrected for the number of reasons (Holm,
1979), separately for each model.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backend.analysis.clusters import answered, difference_of, share_of
from backend.analysis.distributions.inference import holm
from backend.analysis.table.response_table import Answers
from backend.experiment.not_sure import NOT_SURE
from backend.experiment.response_columns import number

_SEPARATORS = re.compile(r"\s*[;|]\s*")


def reasons(answers: Answers, level: float) -> dict[str, Any] | None:
    """Return how often each reason was given, by model and answer; None if there are no reasons.

    `model` is None in the rows over all models. `of_fakes` and `of_reals` are the shares among the fakes and
    among the reals that were answered so, `difference` the former less the latter, and `was_fake` the share
    of fakes among the answers with the reason.

    A number in the responses is a reason's place in the study's list (`Answers.reasons`), from 1; other
    words, and numbers beyond the list, are reported as they are.
    """
    column = answers.texts.get("reasons")
    if column is None:
        return None
    names = answers.reasons
    given = _parsed(column.names, names)
    known = [*dict.fromkeys([*names, *sorted({reason for own in given for reason in own}, key=_order)])]
    has = np.array([[reason in own for reason in known] for own in given], bool)[column.codes]
    if not has.any():
        return None
    groups = [(name, answers.model.codes == code) for code, name in enumerate(answers.model.names)]
    if len(groups) > 1:
        groups.append((None, answers.is_first))
    rows: list[dict[str, Any]] = []
    decided = answers.is_decided
    given_as = (("fake", decided & answers.said_fake), ("real", decided & ~answers.said_fake))
    for response, said in (*given_as, (NOT_SURE, ~decided)):
        if has[said].any():  # otherwise reasons were not asked for these answers
            for model, mine in groups:
                kind = {"model": model, "response": response}
                rows += [{**kind, **row} for row in _rows(answers, said & mine, has, known, level)]
    return {"reasons": known, "rows": rows}


def listed(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the list of reasons among a study's settings, as in JSON; empty if it has none."""
    names = settings.get("reasons")
    return tuple(map(str, names)) if isinstance(names, (list, tuple)) else ()


def comments(answers: Answers) -> list[dict[str, Any]]:
    """Return the comments as they were written, in the order of the responses; each once."""
    column = answers.texts.get("comment")
    if column is None:
        return []
    is_written = np.array([bool(str(text).strip()) for text in column.names], bool)[column.codes]
    stimulus = answers.texts.get("stimulus")
    return [
        {
            "model": answers.model.names[answers.model.codes[i]],
            "evaluator": answers.evaluator.names[answers.evaluator.codes[i]],
            "stimulus": stimulus.names[stimulus.codes[i]] if stimulus else "",
            "truth": "fake" if answers.is_fake[i] else "real",
            "response": NOT_SURE if not answers.is_decided[i] else "fake" if answers.said_fake[i] else "real",
            "comment": str(column.names[column.codes[i]]).encode(errors="replace").decode(),
        }
        for i in np.flatnonzero(is_written & answers.is_first).tolist()
    ]


def _parsed(cells: Sequence[str], names: Sequence[str]) -> list[list[str]]:
    """Return the reasons of each distinct cell.

    They are separated by spaces, or, if any cell has a semicolon or a vertical bar, by these, so that reasons
    of several words can be told apart.
    """
    is_separated = any(_SEPARATORS.search(str(cell)) for cell in cells)
    reasons = []
    for cell in map(str, cells):
        words = _SEPARATORS.split(cell.strip()) if is_separated else cell.split()
        reasons.append([_name(word, names) for word in dict.fromkeys(words) if word])
    return reasons


def _name(word: str, names: Sequence[str]) -> str:
    value = number(word)
    if value is None or value != int(value) or value < 1:
        return word
    return names[int(value) - 1] if value <= len(names) else f"reason {int(value)}"


def _order(reason: str) -> tuple[int, float, str]:
    """Return the key that sorts reasons: numbered ones by number, then the others by name."""
    value = number(reason.removeprefix("reason "))
    return (1, 0.0, reason) if value is None else (0, value, reason)


def _rows(
    answers: Answers, chosen: np.ndarray, has: np.ndarray, known: Sequence[str], level: float
) -> list[dict[str, Any]]:
    """Return a row for each reason, and one for none (`reason` None); empty if nobody answered so."""
    if not chosen.any():
        return []
    who = answered(answers, chosen)
    whole = np.ones(len(who.is_fake), bool)
    given = np.column_stack([has[chosen], ~has[chosen].any(axis=1)])
    rows: list[dict[str, Any]] = []
    for reason, mine in zip([*known, None], given.T, strict=True):
        of_fakes, of_reals = (mine, who.is_fake), (mine, ~who.is_fake)
        parts = {"share": (mine, whole), "of_fakes": of_fakes, "of_reals": of_reals}
        shares = {name: share_of(part, who, level) for name, part in parts.items()}
        difference = difference_of(of_fakes, of_reals, who, level) or {}
        rows.append(
            {
                "reason": reason,
                "answers": int(mine.sum()),
                "of": len(whole),
                "evaluators": who.count(mine),
                **{name: share for name, (share, _) in shares.items()},
                **{f"{name}_ci": ci for name, (_, ci) in shares.items()},
                "difference": difference.get("difference"),
                "difference_ci": difference.get("ci"),
                "p": difference.get("p"),
                "was_fake": share_of((who.is_fake, mine), who, level)[0],
            }
        )
    rows[-1]["p"] = None  # that no reason was given is not one of the reasons that are tested
    return [{**row, "p_holm": p} for row, p in zip(rows, holm([row["p"] for row in rows]), strict=True)]
