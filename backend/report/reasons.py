"""Report section on reasons for answers, and on comments."""

from typing import Any

from backend.experiment.not_sure import NOT_SURE
from backend.foundation.counted_nouns import counted
from backend.report import formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Section, Table
from backend.report.models import MOST_DESCRIBED, remaining_note

_OVERALL = "all models"
_NO_REASON = "none given"
_COMMENTS_SHOWN = 10


def section(view: FindingsView) -> Section | None:
    """Return the section on reasons and comments; None if there are neither."""
    data, comments = view.findings.get("reasons"), view.findings.get("comments") or []
    if not data and not comments:
        return None
    rows = data["rows"] if data else []
    called = [row for row in rows if row["response"] == "fake"]
    models = [*dict.fromkeys(row["model"] for row in called if row["model"] is not None)]
    paragraphs = [_meaning()] if rows else []
    if comments:
        paragraphs.append(
            f"{counted(len(comments), 'answer has', 'answers have')} a comment; comments are listed as they "
            "were written, and not interpreted."
        )
    tables = [_table(view, rows, response) for response in ("fake", "real", NOT_SURE)]
    return Section(
        "reasons",
        "Reasons",
        tuple(paragraphs),
        model_notes=tuple((model, _model_note(view, called, model)) for model in models[:MOST_DESCRIBED]),
        more_paragraphs=remaining_note(len(models)),
        tables=(*(table for table in tables if table.rows), *([_comments(comments)] if comments else [])),
        notes=tuple(_notes(view)) if rows else (),
    )


def _meaning() -> str:
    return (
        "Why evaluators answered so, from the list that they were shown. A reason given more often for fakes "
        "than for reals that were called fake as well says what gives the fakes away; one given as often for "
        "both says what people suspect, rightly or not."
    )


def _model_note(view: FindingsView, rows: list[dict[str, Any]], model: str) -> str:
    mine = [row for row in rows if row["model"] == model and row["reason"] is not None]
    total = mine[0]["of"]
    common = sorted((row for row in mine if row["answers"]), key=lambda row: -row["answers"])[:3]
    if not common:
        return f"no reason was given for the {counted(total, 'answer')} “fake”."
    named = [f"{row['reason']} ({formatting.share(row['share'])})" for row in common]
    text = f"of {counted(total, 'answer')} “fake”, most were for {formatting.listing(named)}"
    apart = [row for row in mine if row["p_holm"] is not None and row["p_holm"] < view.alpha]
    for is_more, what in ((True, "more often for fakes than for reals"), (False, "more often for reals")):
        some = [row["reason"] for row in apart if (row["difference"] > 0) == is_more]
        if some:
            text += f"; {what}: {formatting.listing(some)}"
    return f"{text}." if apart else f"{text}; none is shown to be given more often for fakes or for reals."


def _table(view: FindingsView, rows: list[dict[str, Any]], response: str) -> Table:
    def with_ci(key: str, ci: str):
        return lambda row: formatting.share_estimate(row[key], row[ci], 0)

    columns = (
        Column("model", lambda row: row["model"] or _OVERALL, is_number=False),
        Column("reason", lambda row: row["reason"] or _NO_REASON, is_number=False),
        Column("answers", lambda row: f"{row['answers']:,} of {row['of']:,}"),
        Column("share (%)", with_ci("share", "share_ci")),
        Column("of fakes", lambda row: formatting.share(row["of_fakes"])),
        Column("of reals", lambda row: formatting.share(row["of_reals"])),
        Column("difference (points)", with_ci("difference", "difference_ci")),
        Column("p (Holm)", lambda row: formatting.bare_p(row["p_holm"])),
    )
    own = [row for row in rows if row["response"] == response]
    caption = f"Reasons for the answer “{response.replace('_', ' ')}”, with {view.level} intervals"
    return Table(f"reasons_{response}", caption, columns, own, shown=120, alone=view.alone)


def _comments(comments: list[dict[str, Any]]) -> Table:
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("evaluator", lambda row: row["evaluator"], is_number=False),
        Column("picture", lambda row: row["stimulus"] or formatting.NONE, is_number=False),
        Column("is", lambda row: row["truth"], is_number=False),
        Column("answer", lambda row: row["response"], is_number=False),
        Column("comment", lambda row: row["comment"], is_number=False),
    )
    return Table("comments", "Comments", columns, comments, shown=_COMMENTS_SHOWN, is_folded=True)


def _notes(view: FindingsView) -> list[str]:
    return [
        "Shares are of all answers of the kind, those without a reason included; several reasons may be "
        f"given for one answer. The {view.level} intervals of shares and differences are over "
        f"{view.sampled}; the p-values of differences are corrected for the number of reasons by Holm’s "
        "method, separately for each model."
    ]
