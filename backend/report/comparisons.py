"""Report section on differences between models: ANOVA, pairwise tests, effect sizes, assumptions."""

from collections.abc import Mapping
from typing import Any

from backend.foundation.counted_nouns import counted
from backend.report import equivalence, figures, formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Figure, Section, Table
from backend.report.formatting import f_test, p_value

_ANOVA = {
    "between": "one-way ANOVA",
    "within": "repeated-measures ANOVA (Greenhouse–Geisser)",
    "mixed": "Wald test, evaluators as clusters",
}
_T_TEST = {
    "between": "unpaired t-test",
    "within": "paired t-test",
    "mixed": "t-test of partly overlapping samples",
}


def section(view: FindingsView) -> Section | None:
    """Return the section on which models differ significantly; None for a single model."""
    if len(view.models) < 2:
        return None
    if view.data["anova"] is None and not view.pairs:
        why = (
            "Models cannot be tested against each other: that needs at least two models with at least two "
            "evaluators each, and evaluators of a model who do not all have the same value."
        )
        return Section("pairs", "Differences between models", (why,), brief=(why,))
    tests = (_tests(view),) if view.data["anova"] else ()
    sizes = equivalence.tables(view)
    figures = (_figure(view),) if view.pairs else ()
    return Section(
        "pairs",
        "Differences between models",
        tuple(_paragraphs(view)),
        tables=(*tests, *sizes),
        figures=figures,
        notes=(*_of_design(view), *_pictures(view), *equivalence.notes(view)),
        brief=(*tests, *(figure.table for figure in figures), verdict(view), *equivalence.verdicts(view)),
    )


def pairs_table(view: FindingsView) -> Table:
    """Return the table of all pairs with differences and intervals."""
    whose = "Tukey" if view.design == "between" else "Holm"
    rows: list[dict[str, Any]] = view.pairs
    columns = [
        Column("pair", lambda row: f"{row['a']} − {row['b']}", is_number=False),
        Column(f"difference ({view.points})", lambda row: formatting.amount(row["difference"])),
        Column(f"{view.level} interval", lambda row: formatting.brackets(row["ci"])),
        Column(f"p ({whose})", lambda row: formatting.bare_p(row["p"])),
    ]
    if view.deciding:
        columns += [
            Column(f"interval ({view.deciding})", lambda row: formatting.brackets(row.get("deciding_ci"))),
            Column(f"p ({view.deciding})", lambda row: formatting.bare_p(row.get("deciding_p"))),
        ]
    effects = {(row["a"], row["b"]): row for row in view.findings.get("pair_effects") or ()}
    if effects:
        rows = [{**row, **_effect(effects.get((row["a"], row["b"])))} for row in rows]
        columns.append(Column("Hedges' g", lambda row: formatting.estimate(row["g"], row["g_ci"], "", 2)))
    columns.append(Column("verdict", lambda row: formatting.verdict(row["is_apart"]), is_number=False))
    return Table(
        "pairs",
        "Differences of scores, with simultaneous intervals over all pairs",
        tuple(columns),
        rows,
        shown=200,
        alone="all but “over pictures too”" if view.over_pictures else "all",
    )


def _effect(row: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"g": row and row["g"], "g_ci": row and row["g_ci"]}


def _tests(view: FindingsView) -> Table:
    data, findings = view.data, view.findings
    rows = [_row(_ANOVA[view.design], "F", data["anova"])]
    if findings.get("welch"):
        rows.append(_row("Welch's ANOVA (unequal spread)", "F", findings["welch"]))
    if findings.get("equal_spread"):
        rows.append(_row("Brown–Forsythe (equal spread)", "F", findings["equal_spread"]))
    if data.get("over_pictures") and data["over_pictures"]["F"] is not None:
        rows.append(_row("over people and pictures (quasi-F)", "F", data["over_pictures"]))
    if data.get("ttest"):
        rows.append(_row(_T_TEST[view.design], "t", data["ttest"]))
        if data["ttest"].get("welch"):
            rows.append(_row("Welch's t-test", "t", data["ttest"]["welch"]))
    columns = (
        Column("test", lambda row: row["test"], is_number=False),
        Column("statistic", lambda row: f"{row['statistic']} = {formatting.amount(row['value'], '', 2)}"),
        Column(
            "degrees of freedom",
            lambda row: ", ".join(
                formatting.degrees(row[key]) for key in ("df1", "df2") if row[key] is not None
            ),
        ),
        Column("p", lambda row: formatting.bare_p(row["p"])),
    )
    alone = "all but the quasi-F" if any("quasi-F" in row["test"] for row in rows) else "all"
    return Table("tests", "Tests over all models", columns, rows, alone=alone)


def _row(name: str, statistic: str, test: dict[str, Any]) -> dict[str, Any]:
    df = test["df"] if isinstance(test["df"], list) else [test["df"], None]
    return {"test": name, "statistic": statistic, "value": test[statistic], "df1": df[0], "df2": df[1],
            "p": test["p"]}  # fmt: skip


def _figure(view: FindingsView) -> Figure:
    differing = sum(row["is_apart"] for row in view.pairs)
    whose = "Tukey's" if view.design == "between" else "Bonferroni's"
    caption = (
        f"Differences of scores. Intervals are Tukey's, {view.level} for all pairs together: where one "
        "leaves out 0, the two models differ significantly (filled disc)."
    )
    if view.design != "between":
        caption = (
            "Differences of scores within evaluators. Intervals are Bonferroni's, "
            f"{view.level} for all pairs together; filled discs are pairs that differ significantly, by "
            "Holm's test, which is a little sharper."
        )
    if len(view.pairs) > 45:
        caption = (
            "Every model against every other, best first; filled discs are pairs that differ significantly. "
            "On narrow pages numbers replace the names across."
        )
    elif view.deciding:
        caption = (
            f"Differences of scores. Thick lines are {whose} {view.level} intervals for all pairs "
            f"together, thin ones those of the test that decides here ({view.deciding}); filled discs are "
            "pairs that differ significantly."
        )
    return Figure(
        "pairs",
        "Differences between models",
        caption,
        f"{differing} of {counted(len(view.pairs), 'pair')} differ significantly.",
        lambda width_in: figures.scores.pairs(view.pairs, view.unit, view.level, view.deciding, width_in),
        pairs_table(view),
    )


def verdict(view: FindingsView) -> str:
    """Return a sentence on how many pairs differ significantly; a single one may be equivalent."""
    differing = [row for row in view.pairs if row["is_apart"]]
    if len(view.pairs) == 1:
        pair, margin = view.pairs[0], view.margin
        if differing:
            less = f", though by less than {margin}" if pair["is_within"] else ""
            return f"{pair['a']} and {pair['b']} differ significantly{less}."
        if pair["is_within"]:
            return f"{pair['a']} and {pair['b']} are equivalent within {margin}; no significant difference."
        nor = f"; nor were they shown to be equivalent within {margin}" if margin else ""
        return (
            f"{pair['a']} and {pair['b']} do not differ significantly, which does not show them equal{nor}."
        )
    if len(differing) == len(view.pairs):
        return f"All {len(differing)} pairs of models differ significantly."
    equivalent = sum(bool(row["is_within"]) and not row["is_apart"] for row in view.pairs)
    also = f"; {equivalent} {'is' if equivalent == 1 else 'are'} equivalent within {view.margin}"
    if not differing:
        end = also if equivalent else ", which does not show them equal"
        return f"None of the {len(view.pairs)} pairs of models differs significantly{end}."
    end = also if equivalent else ""
    return f"{len(differing)} of {len(view.pairs)} pairs of models differ significantly{end}."


def _paragraphs(view: FindingsView) -> list[str]:
    over = view.over_pictures
    paragraphs = [_over_pictures(view, over)] if over else []
    if view.data["anova"]:
        paragraphs.append(_omnibus_test(view, "Over evaluators alone" if over else None))
    if view.data.get("ttest"):
        paragraphs.append(_t_test(view))
    if view.design != "between":
        paragraphs.append(_WITHIN)
    if view.is_unequal and not over:
        paragraphs.append(
            "Evaluators of some models differ more among themselves than those of others (Brown–Forsythe "
            f"{f_test(view.findings['equal_spread'])}), which the ANOVA and Tukey's test take to be "
            "equal. So "
            + (
                f"Welch's ANOVA is given besides, {f_test(view.findings['welch'])}, and "
                if view.findings.get("welch")
                else ""
            )
            + "the pairs are decided by Games and Howell's test, which does not."
        )
    paragraphs += [verdict(view), *equivalence.verdicts(view)]
    open_ones = [row for row in view.pairs if not row["is_apart"] and not row["is_within"]]
    if open_ones and len(view.pairs) > 1:
        which = "" if view.margin else f"No significant difference: {equivalence.named(open_ones)}. "
        paragraphs.append(
            f"{which}{'Undecided pairs are not shown' if view.margin else 'That does not show them'} equal: "
            "their interval holds every difference that these data leave possible."
        )
    return paragraphs


_WITHIN = (
    "Evaluators judged several models, so models are compared within evaluators: what one is more lenient "
    "than another in falls out of a difference. Of many pairs, p-values are corrected by Holm's method, and "
    "the intervals, by Bonferroni's, hold together."
)


def _over_pictures(view: FindingsView, over: Mapping[str, Any]) -> str:
    test = ""
    if over["F"] is not None:
        test = f"{_whether(view, over)}: {f_test(over)}, over people and pictures. "
    return (
        f"{test}Evaluators saw the same pictures, which are up to {_picture_share(over)} of the variance "
        f"of a {_compared(view)}; tests over evaluators alone, below, would find differences that other "
        "pictures of the same models would not show. The test over people and pictures decides, for the "
        "pairs too."
    )


def _whether(view: FindingsView, test: Mapping[str, Any]) -> str:
    if test["p"] < view.alpha:
        return "The models' scores differ"
    return "The models' scores were not shown to differ"


def _omnibus_test(view: FindingsView, start: str | None = None) -> str:
    anova, effects = view.data["anova"], view.findings["effects"]
    differ = start or _whether(view, anova)
    if effects is None:
        return f"{differ}: {f_test(anova)} ({_ANOVA[view.design]})."
    test_name = "one-way ANOVA over evaluators' values" if view.design == "between" else _ANOVA[view.design]
    return (
        f"{differ}: {f_test(anova)} ({test_name}); models account for "
        f"{formatting.share(effects['eta_squared'])} of the variance between evaluators "
        f"(η² = {formatting.coefficient(effects['eta_squared'])}, less its bias ω² = "
        f"{formatting.coefficient(effects['omega_squared'])})."
    )


def _t_test(view: FindingsView) -> str:
    test, pair = view.data["ttest"], view.models
    text = (
        f"With two models, the {_T_TEST[view.design]} says the same: t({formatting.degrees(test['df'])}) = "
        f"{formatting.amount(test['t'], '', 2)}, {p_value(test['p'])}; {pair[0]['model']} is "
        f"{formatting.amount(test['difference'], view.points)} above {pair[1]['model']} ({view.level} "
        "interval "
        f"{formatting.interval(test['ci'], view.points)})"
    )
    effect = test.get("effect")
    if effect and effect.get("g") is not None:
        basis = "" if view.design == "between" else " of the differences"
        text += f"; Hedges' g{basis} = {formatting.estimate(effect['g'], effect['g_ci'], '', 2)}"
    return text + "."


def _pictures(view: FindingsView) -> list[str]:
    """Return the pictures' part of the variance, where the test over people and pictures does not decide."""
    over = view.data.get("over_pictures")
    if not over or over["advised"]:
        return []
    return [
        f"Pictures are up to {_picture_share(over)} of the variance of a {_compared(view)}, too little for "
        "the test over people and pictures to decide."
    ]


def _picture_share(over: Mapping[str, Any]) -> str:
    return formatting.share(max(over["share_of_pictures"].values()))


def _compared(view: FindingsView) -> str:
    return "score" if view.design == "between" else "difference"


def _of_design(view: FindingsView) -> list[str]:
    unit = (
        "The unit of the tests is the evaluator: each enters with one value, however many pictures they saw."
    )
    if view.design == "within":
        return [
            f"Everybody judged every model: {view.data['people']} evaluators. p of the ANOVA is that of "
            "Greenhouse and Geisser, which does not take differences of all pairs to vary alike.",
            unit.replace("one value", "one value for each model"),
        ]
    if view.design == "mixed":
        return [
            "Some evaluators judged some of the models. The covariance of two scores is that of the "
            "evaluators of both; degrees of freedom are Satterthwaite's.",
            unit.replace("one value", "one value for each model that they judged"),
        ]
    tested = [row["evaluators"] for row in view.models if row["evaluators"] >= 2]
    within, between = sum(tested) - len(tested), len(tested) - 1
    return [
        f"Degrees of freedom: {len(tested)} models give {between}, and {sum(tested)} evaluators less "
        f"{len(tested)} models give {within}. (The HYPE paper prints F(3, 29) for 4 models of 30 evaluators; "
        "its second number should be 4 × 30 − 4 = 116.)",
        unit,
    ]
