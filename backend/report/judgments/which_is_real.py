"""The report of pairs: which of two pictures is real."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from backend.analysis.comparisons.chance import against_chance, over_models
from backend.analysis.image_error_rates import image_table
from backend.analysis.judgment_scores import scores_of
from backend.analysis.pairs import over_evaluators, sides
from backend.analysis.score_intervals import share_of
from backend.analysis.scores import Options
from backend.analysis.table.response_table import Answers
from backend.foundation.counted_nouns import counted
from backend.report import chance, comparisons, formatting, metrics, not_sure, plain_scores
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Column, Row, Section, Table
from backend.report.judgment_report import FindingsOptions, JudgmentReport, shared_findings

_MEANING = (
    "The score is the share of pairs, a real picture beside a fake, of which people took the fake for the "
    "real one, averaged over evaluators. Guessing gives 50%: the fake cannot be told from the real picture, "
    "as in HYPE. Above 50%, people prefer the fake. Two pictures side by side are easier to tell apart than "
    "one alone, so that scores of pairs and of single pictures are compared by d′, not as they are."
)
_SHOWN = 20


class WhichIsRealReport(JudgmentReport):
    """Accuracy, d', bias to a side, and the fakes that were mistaken most."""

    has_leaderboard = True

    def findings(
        self, answers: Answers, scores: Mapping[str, Any], chosen: FindingsOptions, options: Options
    ) -> dict[str, Any]:
        how, level = scores_of(answers.method), options.level
        values, fakes = how.values(answers), how.compared(answers)
        order = [row["model"] for row in scores["models"]]
        tests = [
            against_chance(
                share_of(fakes, fakes.model.names.index(model), values[model]), level, chosen.margin
            )
            for model in order
        ]
        return {
            "models": [
                {"model": model, "chance": test, "pairs": over_evaluators(answers, fakes, model, level)}
                for model, test in zip(order, over_models(tests, level), strict=True)
            ],
            **shared_findings(answers, scores),
            "crossed_model": None,
            "crossed_model_note": None,
            "sides": sides(answers, level),
            "fakes": [*_fakes(fakes, level)] if "stimulus" in fakes.texts else [],
        }

    def summary(self, view: FindingsView) -> str:
        text = plain_scores.summary(view, "of pairs judged wrong")
        return f"{text} {comparisons.verdict(view)}" if view.pairs else text

    def sections(self, view: FindingsView, info: SourceInfo) -> Iterable[Section | None]:
        return (
            *self.score_sections(view),
            chance.section(view),
            metrics.section(view),
            _sides(view),
            _mistaken(view),
            *self.shared(view, info),
        )

    def score_sections(self, view: FindingsView) -> Iterable[Section | None]:
        note = (
            "d′ = √2 z(share right): the distance between real and fake in SDs of what people see, 0 for "
            "guessing. Its interval is that of the score, transformed."
        )
        scores = plain_scores.section(view, _MEANING, tables=(_accuracy(view),), notes=(note,), reference=50)
        return scores, not_sure.section(view), comparisons.section(view)


def _fakes(answers: Answers, level: float) -> Iterator[dict[str, Any]]:
    """Yield a row for each fake: how often it was taken for the real one, the most often first."""
    for row in image_table(answers, level):
        yield {
            "model": row["model"],
            "image_path": row["image_path"],
            "pairs": row["number_guesses"],
            "taken_for_real": row["number_guesses_generated"],
            "share": row["error"],
            "ci": row["ci"],
        }


def _accuracy(view: FindingsView) -> Table:
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("right (%)", lambda row: formatting.amount(row["accuracy"])),
        Column(f"{view.level} interval", lambda row: formatting.brackets(row["accuracy_ci"])),
        Column("d′", _d_prime),
        Column(f"{view.level} interval of d′", lambda row: formatting.brackets(row["d_prime_ci"], 2)),
    )
    keys = ("model", "accuracy", "accuracy_ci", "d_prime", "d_prime_ci")
    rows = [{key: row[key] for key in keys} for row in view.models]
    return Table("accuracy", "Share of pairs judged right, and d′", columns, rows, alone=view.alone)


def _d_prime(row: Row) -> str:
    """Return d' of a model; it has no bound where all pairs were judged right, or all wrong."""
    return "infinite" if row["d_prime"] is None else formatting.amount(row["d_prime"], "", 2)


def _sides(view: FindingsView) -> Section:
    data = view.findings["sides"]
    columns = (
        Column("the real stood", lambda row: row["side"], is_number=False),
        Column("pairs judged wrong (%)", lambda row: formatting.amount(row["error"])),
    )
    rows = [{"side": side, "error": data[f"{side}_error"]} for side in ("left", "right")]
    tables = [Table("sides", "Errors by the side of the real picture", columns, rows)]
    own = [{"model": row["model"], **row["pairs"]} for row in view.models if row["pairs"]]
    if own:
        tables.append(_unbiased(view, own))
    return Section(
        "sides",
        "Left and right",
        (_in_words(data),),
        tables=tuple(tables),
        notes=(
            "Sides are chosen at random, so that a bias to one side makes errors on the other, and accuracy "
            "and d′ smaller, but no model better than another. The d′ of this table is free of it: "
            "(z(H) − z(F)) / √2 of each evaluator, with H and F the shares of “right” where the real picture "
            "stands right and left, counts corrected by the log-linear rule, which makes it smaller with few "
            "pairs. c is above 0 for a bias to the left.",
        ),
    )


def _unbiased(view: FindingsView, rows: list[dict[str, Any]]) -> Table:
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("d′ without bias", lambda row: formatting.amount(row["evaluator_d_prime"], "", 2)),
        Column(f"{view.level} interval", lambda row: formatting.brackets(row["evaluator_d_prime_ci"], 2)),
        Column("c", lambda row: formatting.amount(row["criterion"], "", 2)),
        Column(f"{view.level} interval of c", lambda row: formatting.brackets(row["criterion_ci"], 2)),
        Column("evaluators", lambda row: str(row["evaluators"])),
    )
    caption = "Sensitivity and bias, means over evaluators"
    return Table("sensitivity", caption, columns, rows, alone=view.alone)


def _in_words(data: Mapping[str, Any]) -> str:
    said, real = (formatting.amount(data[name], "percent") for name in ("said_right", "real_right"))
    leaning = counted(data["people"], "evaluator")
    return (
        f"People chose the right-hand picture in {said} of pairs; the real one stood there in {real}. "
        f"{formatting.capital(leaning)} of {data['evaluators']} chose one side more often than chance "
        "would."
    )


def _mistaken(view: FindingsView) -> Section | None:
    rows = view.findings["fakes"]
    if not rows:
        return None
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("fake", lambda row: row["image_path"], is_number=False),
        Column("pairs", lambda row: str(row["pairs"])),
        Column("taken for the real one", lambda row: str(row["taken_for_real"])),
        Column("share", lambda row: formatting.share(row["share"])),
        Column(f"{view.level} interval (%)", lambda row: formatting.share_brackets(row["ci"])),
    )
    pairs = sum(row["pairs"] for row in rows)
    return Section(
        "fakes",
        "Fakes",
        (f"{counted(len(rows), 'fake')} stood beside a real picture {pairs / len(rows):.1f} times each.",),
        tables=(Table("fakes", "How often each fake was taken for real", columns, rows, shown=_SHOWN),),
        notes=("Of many pictures judged by few people, the extremes are partly luck.",),
    )


REPORT = WhichIsRealReport()
