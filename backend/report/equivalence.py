"""Equivalence of pairs of models, and their effect sizes over evaluators and pictures, in a report."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.report import formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Table

_NO_EFFECT = {"d": None, "d_ci": None, "sd": None}


def verdicts(view: FindingsView) -> tuple[str, ...]:
    """Return a sentence on which of several pairs are equivalent, differ, or are undecided.

    None for a single pair, on which `verdict` says it, or if no pair is tested for equivalence.
    """
    if view.margin is None or len(view.pairs) < 2:
        return ()
    kinds = (
        (f"equivalent within {view.margin}", lambda row: row["is_within"] and not row["is_apart"]),
        (f"different, but by less than {view.margin}", lambda row: row["is_within"] and row["is_apart"]),
        ("different", lambda row: not row["is_within"] and row["is_apart"]),
        ("undecided", lambda row: not row["is_within"] and not row["is_apart"]),
    )
    parts = [
        f"{kind}: {named(rows)}"
        for kind, is_of in kinds
        for rows in ([row for row in view.pairs if is_of(row)],)
        if rows or kind.startswith("equivalent")
    ]
    text = "; ".join(parts)
    return (f"{formatting.capital(text)}.",)


def named(pairs: Sequence[Mapping[str, Any]]) -> str:
    """Return the names of up to five pairs, and the number of others."""
    names = [f"{row['a']} and {row['b']}" for row in pairs[:5]]
    return ", ".join([*names, *([f"{len(pairs) - 5} more"] if len(pairs) > 5 else ())]) or "none"


def tables(view: FindingsView) -> tuple[Table, ...]:
    """Return the table of equivalence and effect sizes of pairs; none if no pictures are named."""
    rows = [
        {"a": row["a"], "b": row["b"], **row["equivalence"], **(row["effect"] or _NO_EFFECT)}
        for row in view.pairs
        if row["equivalence"]
    ]
    if not rows:
        return ()
    columns = [Column("pair", lambda row: f"{row['a']} − {row['b']}", is_number=False)]
    if view.margin:
        head = f"p (within {view.margin}, Holm)"
        columns.append(Column(head, lambda row: formatting.bare_p(row["p_holm"])))
    columns.append(
        Column(f"equivalent within ({view.points})", lambda row: formatting.amount(row["equivalent_within"]))
    )
    if any(row["d"] is not None for row in rows):
        columns.append(
            Column(
                "d (over evaluators and pictures)",
                lambda row: formatting.estimate(row["d"], row["d_ci"], "", 2),
            )
        )
    caption = "Equivalence and effect sizes of pairs, over evaluators and pictures"
    return (Table("pair_sizes", caption, tuple(columns), rows, shown=200),)


def notes(view: FindingsView) -> tuple[str, ...]:
    """Return what the table of equivalence and effect sizes shows."""
    if not any(row["equivalence"] for row in view.pairs):
        return ()
    within = (
        f"Equivalent pairs are within {view.margin} by two one-sided tests over people and pictures, with "
        "p-values corrected by Holm's method"
        if view.margin
        else "No margin in ms is tested"
    )
    smallest = "the smallest margin at which a pair would be called equivalent is given for every pair"
    d = "d is the difference in SDs of single answers, in which evaluators, pictures and answers vary"
    has_d = any(row["effect"] for row in view.pairs)
    return (f"{within}; {smallest}.{f' {d}.' if has_d else ''}",)
