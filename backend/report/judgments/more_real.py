"""The report of a tournament: ladder, win matrix, what the first place rests on, and checks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from backend.analysis.scores import Options
from backend.analysis.table.response_table import Answers
from backend.analysis.table.unscored_rows import attention
from backend.foundation.counted_nouns import counted
from backend.report import figures, formatting, methods, metrics
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import ALONE, Column, Figure, Section, Table, cell_of
from backend.report.judgment_report import FindingsOptions, JudgmentReport
from backend.report.models import bootstrap

_DIGITS = 2


class MoreRealReport(JudgmentReport):
    """Strengths of models, and how sure they are."""

    def findings(
        self, answers: Answers, scores: Mapping[str, Any], chosen: FindingsOptions, options: Options
    ) -> dict[str, Any]:
        return {
            "models": [{"model": row["model"]} for row in scores["models"]],
            "evaluators": [],
            "attention": attention(answers, scores["settings"]["level"]),
            "browsers": [],
            "attrition": None,
            "mistimed": None,
        }

    def summary(self, view: FindingsView) -> str:
        best, *others = [row for row in view.models if not row["is_real"]]
        text = (
            f"Of {counted(len(others) + 1, 'model')}, {best['model']} looks most real: "
            f"{formatting.amount(best['win_percent'], 'percent', 0)} of decided answers would prefer it to "
            "the mean model"
        )
        if best["ranks"] is not None:
            text += f" (ranks {formatting.ranks(best['ranks'])})"
        return f"{text}. {_flips(view.data)}"

    def sections(self, view: FindingsView, info: SourceInfo) -> Iterable[Section | None]:
        from backend.report import attention as attention_section
        from backend.report import attrition, questions, surround

        return (
            *self.score_sections(view),
            metrics.section(view),
            attention_section.section(view),
            surround.section(view),
            questions.section(view, info),
            attrition.section(view),
            methods.section(view, info),
        )

    def further_tests(self, answers: Answers, scores: Mapping[str, Any]) -> dict[str, Any]:
        return {}

    def score_sections(self, view: FindingsView) -> Iterable[Section | None]:
        return _ladder(view), _matrix(view), _checks(view)


REPORT = MoreRealReport()


def _flips(data: Mapping[str, Any]) -> str:
    """Return how many answers and evaluators the first place depends on, as a sentence."""
    first = data["tournament"]["first_place"]
    removed, turned, people = (first[name] for name in ("removed", "turned", "evaluators"))
    if removed is None or turned is None:
        return f"No small set of answers was found whose removal would put another before {first['leader']}."
    text = (
        f"{first['leader']} would lose the first rank to {removed['leader']} without "
        f"{counted(removed['count'], 'answer')} of {data['responses']:,}, or with {turned['count']:,} turned "
        "around"
    )
    if people is None:
        return f"{text}."
    return f"{text}; and without {counted(people['count'], 'evaluator')} of {data['people']:,}."


def _check_texts(data: Mapping[str, Any]) -> list[str]:
    """Return sentences on sides, ties, fit and cycles."""
    more = data["tournament"]
    sides, fit, cycles = more["sides"], more["fit"], more["cycles"]
    texts = []
    if sides["left_share"] is not None:
        odds = formatting.amount(sides["log_odds"], "", _DIGITS)
        texts.append(
            f"Of the decided answers, {formatting.share(sides['left_share'], 1)} were for the left "
            f"{_interval_of_share(sides['ci'])}(log-odds {odds})."
        )
    if more["ties"]["share"]:
        texts.append(
            f"{formatting.share(more['ties']['share'], 1)} of the answers were ties (Davidson's parameter "
            f"{formatting.amount(more['ties']['parameter'], '', _DIGITS)})."
        )
    if fit["p"] is not None:
        verdict = "do not fit" if fit["p"] < 0.05 else "fit"
        texts.append(
            f"The answers {verdict} one scale of strengths: "
            f"{formatting.chi_squared(fit['chi2'], fit['df'], fit['p'])}, {ALONE}."
        )
    if cycles["triples"]:
        texts.append(
            f"{cycles['circular']:,} of {counted(cycles['triples'], 'triple')} of contestants are circular."
        )
    return texts


def _interval_of_share(ci: Sequence[float] | None) -> str:
    if ci is None:
        return ""
    return f"[{formatting.share(ci[0], 1)}, {formatting.share(ci[1], 1)}] {ALONE} "


def _ladder(view: FindingsView) -> Section:
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("strength", lambda row: formatting.amount(row["score"], "", _DIGITS)),
        Column(f"{view.level} interval", lambda row: formatting.brackets(row["ci"], _DIGITS)),
        Column(
            "preferred to the mean model", lambda row: formatting.amount(row["win_percent"], "percent", 0)
        ),
        Column("rank", lambda row: str(row["rank"])),
        Column("ranks", lambda row: formatting.ranks(row["ranks"])),
        *(Column(head, cell_of(head, "{:,}".format)) for head in ("wins", "ties", "losses")),
        Column("answers", lambda row: f"{row['responses']:,}"),
    )
    table = Table("models", "Strengths in log-odds, highest first", columns, view.models)

    best = view.models[0]
    figure = Figure(
        "ladder",
        "Ladder",
        f"Strength of each contestant against the mean model (0), with {view.level} intervals"
        f"{'; the reals, a reference, are hollow' if any(row['is_real'] for row in view.models) else ''}.",
        f"Points of {counted(len(view.models), 'contestant')}, strongest first: {best['model']} at "
        f"{formatting.amount(best['score'], '', _DIGITS)}.",
        lambda width_in: figures.tournament.ladder(view.models, width_in),
        table,
    )
    flips = _flips(view.data)
    meaning = (
        "The strength of a model is the log-odds with which it is preferred to the mean model in decided "
        "answers (Bradley and Terry 1952; ties after Davidson 1970). A difference of 1 means 73% to 27%."
    )
    return Section(
        "scores",
        "Ladder",
        (meaning, flips),
        lead=table,
        figures=(figure,),
        notes=(
            "Intervals are Student's, with the standard error of a bootstrap that samples evaluators with "
            f"replacement, {bootstrap(view)}, and the variance that shared pictures add. Ranges of ranks "
            "hold for all contestants at once (Mogstad et al. 2024). The reals, if they took part, do not "
            "count in the mean.",
        ),
        brief=(table, flips),
    )


def _matrix(view: FindingsView) -> Section:
    rows = view.data["tournament"]["fit"]["pairs"]
    table = Table(
        "win_matrix",
        "Answers to each pair; a tie is half a win of both",
        (
            Column("A", lambda row: row["a"], is_number=False),
            Column("B", lambda row: row["b"], is_number=False),
            Column("A preferred", lambda row: f"{row['a_wins']:,}"),
            Column("ties", lambda row: f"{row['ties']:,}"),
            Column("B preferred", lambda row: f"{row['b_wins']:,}"),
            Column("share of A", cell_of("share", formatting.share)),
            Column("expected", cell_of("expected", formatting.share)),
            Column("z", lambda row: formatting.amount(row["z"], "", 1)),
        ),
        rows,
    )

    figure = Figure(
        "win_matrix",
        "Win matrix",
        "How often the contestant of a row was preferred to that of a column, in percent; a tie is half a "
        "win. Darker is more often; empty where the two did not meet.",
        f"A matrix of {counted(len(view.models), 'contestant')} with a percentage for each of "
        f"{counted(len(rows), 'pair')}.",
        lambda width_in: figures.tournament.win_matrix([row["model"] for row in view.models], rows, width_in),
        table,
    )
    return Section("pairs", "Pairs", (), figures=(figure,))


def _checks(view: FindingsView) -> Section:
    names = ("a", "b", "difference", "ci", "p")
    rows = [{name: row[name] for name in names} for row in view.data["pairs"]]
    table = Table(
        "differences",
        f"Differences of strengths, with {view.level} intervals of each alone",
        (
            Column("A", lambda row: row["a"], is_number=False),
            Column("B", lambda row: row["b"], is_number=False),
            Column("difference", lambda row: formatting.amount(row["difference"], "", _DIGITS)),
            Column("interval", lambda row: formatting.brackets(row["ci"], _DIGITS)),
            Column("p", lambda row: formatting.bare_p(row["p"])),
        ),
        rows,
        is_folded=True,
    )
    texts = tuple(_check_texts(view.data))
    return Section("checks", "Checks", texts, tables=(table,), brief=texts)
