"""Planned looks in words: the section of a report, with a text for a paper, and a text to register."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.experiment.judgments import method_named
from backend.experiment.money import format_money
from backend.experiment.planned_looks import (
    ALL_PAIRS,
    APART,
    EQUAL_WITHIN,
    FEWER,
    FUTILITY,
    HALF_WIDTH,
    NEIGHBOURS,
    RANKS,
    PlannedLooks,
)
from backend.experiment.records import Study
from backend.foundation.timestamps import readable
from backend.report import formatting
from backend.report.elements import Column, Section, Table, cell_of
from backend.report.plan_tables import WRITTEN_UNITS

_SPENDING = {
    "obrien-fleming": "a function of O’Brien-Fleming shape for each of two sides, as in ldbounds of R",
    "obrien-fleming-whole": "a function of O’Brien-Fleming shape for the whole level",
    "pocock": "a function of Pocock shape",
}
_PAIRS = {
    ALL_PAIRS: "all pairs of models differ significantly",
    NEIGHBOURS: "all models that are next to each other in the order of scores differ significantly",
}
_INTERVALS = (
    "Other intervals and p of this report are the usual ones, of everybody who finished. The table has those "
    "of the look: the usual interval of a difference, which after an early stop covers in 94 to 95% of "
    "studies of two models, and the repeated one, at the level of the look, which is wider. It and the "
    "repeated p hold whenever a study stops, and whyever."
)

_NEWCOMERS = (
    "A model that joined has the same looks at its own evaluators, by which it is compared with the models "
    "whose looks had ended; its pairs are a family of their own, with Holm’s p-values, so that each model "
    "that joins errs as often as the plan says."
)
_MOST_IN_ORDER = 10
"""Pairs that stand in the order of the scores; of more, twice as many are shown, open ones first."""
_DROPPED = "A model of which all comparisons are decided gets no further evaluators. "


def aim_in_words(plan: PlannedLooks, points: str, is_of_newcomer: bool = False) -> str:
    """Return when a study, or a model that joined it, stops, as a clause; `points` is of differences."""
    aim, pairs = plan.aim, "all pairs of models"
    apart = _PAIRS.get(aim.pairs, f"{aim.pairs} differs significantly from every other model")
    if is_of_newcomer:
        other = "every other model" if aim.pairs in _PAIRS else aim.pairs
        pairs, apart = f"it and {other}", f"it differs significantly from {other}"
    number = f"{aim.number:g} {points}" if aim.number is not None else ""
    return {
        APART: apart,
        HALF_WIDTH: f"every {formatting.level(plan.level)} interval of a score is at most {number} to a side",
        RANKS: f"the ranks that are left to every model are at most {aim.number or 1:g}",
        EQUAL_WITHIN: f"{pairs} are equal within {number} by one-sided tests",
        FUTILITY: f"{apart}, or the last look would find a difference of "
        f"{number} with a probability below 0.1",
    }.get(aim.kind, f"the aim {aim} is reached")


def plan_in_words(plan: PlannedLooks, points: str, p_below: Sequence[float]) -> str:
    """Return a plan of looks in a sentence or two; `p_below` is the p below which each look stops."""
    (*first, last), aim = map(str, plan.looks), aim_in_words(plan, points)
    at = f"{', '.join(first)} and {last}" if first else last
    said = f"at {at} evaluators of each model, and is to stop once {aim}"
    if plan.aim.kind == HALF_WIDTH:
        early = f"; before the last look, it would have to be with {FEWER} evaluators less"
        return said + (early if first else "")
    bars = ", ".join(f"{p:.5f}" for p in p_below)
    error = f"{100 * (1 - plan.level):g}%"
    return (
        f"{said}. The error of {error} is spread over the looks by {_SPENDING[plan.spending]} (Lan and "
        f"DeMets, 1983): a look stops where p, for all pairs together, is below {bars}"
    )


def section(looks: Mapping[str, Any] | None, unit: str) -> Section | None:
    """Return the section of a report on planned looks; None without any, or before the first.

    Args:
        looks: what `study_looks.exported` returns, perhaps with `saved_usd_cents` and `currency`.
        unit: of scores.
    """
    from backend.responses.study_looks import plan_exported

    if not looks or not looks["decisions"]:
        return None
    plan, last = plan_exported(looks), looks["decisions"][-1]
    points = WRITTEN_UNITS[unit or "log-odds"]
    paragraphs = [
        f"The study is analysed {plan_in_words(plan, points, looks['p_below'])}. The plan was fixed on "
        f"{readable(looks['fixed_at'])}, before the first answer; its SHA-256 is {plan.digest}.",
        _course(looks, plan),
        _INTERVALS,
    ]
    if last["decision"] == "stop":
        paragraphs += [*_at_stop(last, points), f"For a methods section: {methods_text(looks, points)}"]
    tables = [_decisions(looks["decisions"])]
    if last["pairs"]:
        tables.append(look_pairs(_with_bias(last), last["look"], 2 if points == "log-odds" else 1))
    newcomers = [
        {**look, "model": model} for model, own in (looks.get("newcomers") or {}).items() for look in own
    ]
    if newcomers:
        paragraphs.append(_NEWCOMERS)
        tables.append(_looks_of_newcomers(newcomers))
    return Section("looks", "Planned looks", tuple(paragraphs), tables=tuple(tables))


def methods_text(looks: Mapping[str, Any], points: str) -> str:
    """Return a text for the methods section of a paper on a study that a look has ended."""
    from backend.responses.study_looks import plan_exported

    plan, last = plan_exported(looks), looks["decisions"][-1]
    how = "was closed" if last["is_closed"] else "stopped"
    return (
        "Before the first answer we planned to analyse the study "
        f"{plan_in_words(plan, points, looks['p_below'])} (SHA-256 of the plan {plan.digest[:12]}). "
        f"It {how} at look {last['look']}, with {_counts(last)}: {last['reason']}."
    )


def registration(study: Study, version: str) -> str:
    """Return a text in which a study is registered before its first evaluator, as Markdown."""
    from backend.responses.study_looks import p_below

    protocol, plan = study.protocol, study.protocol.looks.plan
    method, shown, rule = method_named(protocol.method), protocol.stimuli, protocol.exclusion
    points = WRITTEN_UNITS[method.unit or "log-odds"]
    alone = "" if study.is_mixed else f"{_DROPPED}{_NEWCOMERS} "
    if plan:
        stopping = (
            f"The study is analysed {plan_in_words(plan, points, p_below(study, plan))}. A look uses the "
            "evaluators of each model who finished first, and whom no rule excludes. "
            f"{alone}If nobody else comes, for reasons that have nothing to do with the scores, the "
            "evaluators so far are the last look, with the error that is left. SHA-256 of the plan: "
            f"{plan.digest}."
        )
    else:
        stopping = (
            f"{protocol.admission.evaluators} evaluators of each model finish; nothing is tested before, and "
            "nobody is added after."
        )
    excluded = [
        f"a share of attention checks answered right below {rule.exclude_checks_below:g}"
        if rule.exclude_checks_below
        else "",
        f"a median response time under {rule.exclude_faster_ms:g} ms" if rule.exclude_faster_ms else "",
    ]
    begun = (
        f"Evaluators have taken part since {readable(study.begun_at)}."
        if study.begun_at
        else "Nobody has taken part yet."
    )
    parts = {
        "Status": f"{begun} Study {study.name}, made {readable(study.created_at)}, openhype {version}.",
        "Design": f"{method.title}: {method.score.lower()}. Models: {', '.join(study.models)}. A session has "
        f"{shown.trials} {'pictures' if not study.is_mixed else 'pictures of several models'}"
        f"{f' in {shown.blocks} blocks' if shown.blocks > 1 else ''}; an evaluator takes part once.",
        "Exclusion": f"Evaluators are left out by {' or '.join(filter(None, excluded))}."
        if any(excluded)
        else "Nobody who finishes is left out.",
        "Sample size and stopping": stopping,
        "Analysis": "Scores with intervals over evaluators and pictures, and tests between all pairs of "
        "models that account for their number, as `openhype report` computes them.",
    }
    body = "\n\n".join(f"## {head}\n\n{text}" for head, text in parts.items())
    return f"# Registration of {protocol.consent.title!r}\n\n{body}\n"


def _course(looks: Mapping[str, Any], plan: PlannedLooks) -> str:
    last = looks["decisions"][-1]
    if last["decision"] != "stop":
        return f"{last['look']} of {len(plan.looks)} looks were decided; the study goes on."
    said = f"The study ended at look {last['look']} of {len(plan.looks)} ({_counts(last)}): {last['reason']}."
    saved = last.get("saved")
    if not saved:
        return said
    used = {name for look in looks["decisions"] for some in look["new"].values() for name in some}
    share = formatting.share(saved / (saved + len(used)))
    cents = looks.get("saved_usd_cents") or 0
    money = f", and {format_money(cents, looks['currency'])} at most" if cents else ""
    return f"{said} Against the fixed plan that saved {saved} evaluators ({share}){money}."


def _at_stop(last: Mapping[str, Any], points: str) -> list[str]:
    stopped = last.get("stopped") or {}
    if stopped.get("p") is None:
        return []
    bias = stopped.get("bias")
    lean = f" The difference is too large by about {bias:.2g} {points} on average." if bias else ""
    return [f"Under stopping, two-sided {formatting.p_value(stopped['p'])} (stage-wise ordering).{lean}"]


def _with_bias(look: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the pairs of a look, after the stop with the simulated bias and coverage of each."""
    ended = {(row["a"], row["b"]): row for row in (look.get("stopped") or {}).get("pairs", ())}
    return [
        {**row, **{name: ended.get((row["a"], row["b"]), {}).get(name) for name in ("bias", "covers")}}
        for row in look["pairs"]
    ]


def _counts(look: Mapping[str, Any]) -> str:
    counts = {*look["evaluators"].values()}
    if len(counts) == 1:
        return f"{counts.pop()} evaluators of each model"
    return ", ".join(f"{count} of {model}" for model, count in look["evaluators"].items()) or "nobody"


def _decisions(decisions: Sequence[Mapping[str, Any]]) -> Table:
    columns = (
        Column("look", cell_of("look")),
        Column("evaluators", lambda row: _counts(row), is_number=False),
        Column("stops below p", lambda row: "" if row["error"] is None else f"{row['error']:.5f}"),
        Column("decision", cell_of("decision"), is_number=False),
        Column("reason", cell_of("reason"), is_number=False),
        Column("decided", lambda row: readable(row["at"]), is_number=False),
        Column("SHA-256 of values", lambda row: (row["data"] or "")[:12], is_number=False),
    )
    names = ("look", "evaluators", "error", "decision", "reason", "at", "data")
    rows = [{name: each[name] for name in names} for each in decisions]
    return Table("looks", "Decisions at the planned looks", columns, rows)


def _looks_of_newcomers(looks: Sequence[Mapping[str, Any]]) -> Table:
    columns = (
        Column("model", cell_of("model"), is_number=False),
        Column("look", cell_of("look")),
        Column("evaluators", lambda row: f"{row['own']:,}"),
        Column("stops below p", lambda row: "" if row["error"] is None else f"{row['error']:.5f}"),
        Column("open", cell_of("open")),
        Column("decision", cell_of("decision"), is_number=False),
        Column("reason", cell_of("reason"), is_number=False),
        Column("decided", lambda row: readable(row["at"]), is_number=False),
        Column("SHA-256 of values", lambda row: (row["data"] or "")[:12], is_number=False),
    )
    names = ("model", "look", "error", "decision", "reason", "at", "data")
    rows = [
        {
            **{name: look[name] for name in names},
            "own": look["evaluators"].get(look["model"], 0),
            "open": ", ".join(
                row["b"] if row["a"] == look["model"] else row["a"]
                for row in look["pairs"]
                if row["state"] == "open"
            ),
        }
        for look in looks
    ]
    return Table("newcomer-looks", "Looks of models that joined", columns, rows)


def look_pairs(pairs: Sequence[Mapping[str, Any]], look: int, digits: int = 1) -> Table:
    """Return the table of the differences that a look was about; of several, with their simulated bias."""
    columns = [
        Column("model", cell_of("a"), is_number=False),
        Column("and", cell_of("b"), is_number=False),
        Column("difference", lambda row: formatting.amount(row["difference"], digits=digits)),
        Column("usual interval", lambda row: formatting.brackets(row["ci"], digits)),
        Column("repeated interval", lambda row: formatting.brackets(row["repeated_ci"], digits)),
        Column("p", lambda row: formatting.bare_p(row["p"])),
        Column("repeated p", lambda row: formatting.bare_p(row["repeated_p"])),
        Column("state", cell_of("state"), is_number=False),
    ]
    if any(row.get("covers") is not None for row in pairs):
        columns += [
            Column("bias", lambda row: formatting.amount(row["bias"], digits=digits + 1)),
            Column("usual interval covers", lambda row: formatting.share(row["covers"], 1)),
        ]
    shown = None
    if len(pairs) > _MOST_IN_ORDER:
        pairs = sorted(pairs, key=lambda row: (row["state"] != "open", row["p"] is None, row["p"] or 0.0))
        shown = 2 * _MOST_IN_ORDER
    return Table("look-pairs", f"Differences at look {look}", tuple(columns), pairs, shown)
