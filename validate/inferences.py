"""What is random in each number that is printed with an interval, a p, ranks or a verdict.

And where it is measured how often they hold. `tests/unit/report/test_inferences.py` finds every such number
of reports, leaderboard, plan, live page and competitions in this list, and nothing else in it;
`python -m validate.inferences` writes it to docs/statistics.md.
"""

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs" / "statistics.md"
MARKS = ("<!-- inferences: python -m validate.inferences -->", "<!-- end of inferences -->")
BOTH, ALONE, MODELS = "evaluators and pictures", "evaluators alone", "models"
ITEMS, PICTURES, ANSWERS, EXACT = "evaluators and items", "pictures", "answers", "exact"
STIMULI, METRICS = "stimuli, or their references", "metrics"
GRID = "statistics.md#over-a-grid"


@dataclass(frozen=True)
class Inference:
    """Numbers of one kind."""

    what: str
    random: str
    measured: str
    """Section of the docs with their coverage or error rate, as `page.md#section`; `exact` if that follows
    from a test's distribution; empty if it was not measured."""
    names: str
    """Their names in JSON, such as `models.interval.ci`, and in the rows of tables, as `table/column`.

    Separated by blanks, with `*` for anything; behind `method:` for those of that method alone.
    """
    why: str = ""
    """Why pictures are not random, or why nothing is measured."""


INFERENCES = (
    Inference(
        "scores, by class and checkpoint too; the errors on each side", BOTH, "statistics.md#the-interval",
        "*interval.ci models/interval_ci intervals/interval_ci thresholds/score_ci "
        "leaderboard-*/interval_ci exclusion/ci* metric-values/ci "
        "narrowing.ci competition/ci findings.sides.*.ci sides/ci",
    ),
    Inference(
        "share of answers `not_sure`", BOTH, "statistics.md#not-sure",
        "*models.not_sure_ci models/not_sure_ci not-sure/not_sure_ci classes/not_sure_ci",
    ),
    Inference(
        "accuracy and d′ of pairs", BOTH, "statistics.md#pairs",
        "models.accuracy_ci models.d_prime_ci models/accuracy_ci models/d_prime_ci accuracy/*_ci",
    ),
    Inference(
        "accuracy at one exposure; told apart from which", BOTH, "statistics.md#constant-stimuli",
        "models.by_exposure.* models.told_from models.indistinguishable_up_to accuracy-by-exposure/*",
    ),
    Inference(
        "differences at a planned look", BOTH, "planning.md#planned-looks",
        "look-pairs/p look-pairs/repeated_p look-pairs/ci look-pairs/repeated_ci",
    ),
    Inference(
        "score at all looks together (live page)", BOTH, GRID, "narrowing.any_look",
        "valid at any look by its construction if people are about normal (Lai, 1976)",
    ),
    Inference(
        "fitted threshold of HYPE-time", BOTH, GRID,
        "time:models.threshold.ci models/threshold.ci leaderboard-time/threshold.ci",
    ),
    Inference(
        "ranks on a leaderboard and in a competition", BOTH, GRID,
        "leaderboard-*/ranks competition/ranks", "from the intervals of scores, by a bound that is too wide",
    ),
    Inference(
        "changes between runs of one study, and over them", BOTH, "replication.md#how-often-it-errs",
        "*differences.p *differences.p_holm *differences.ci *differences.verdict *differences.equivalence.* "
        "*trend.p *trend.p_holm *trend.ci *scores.ci replication*/* run-scores*/ci trend*/*",
    ),
    Inference("planned widths", BOTH, "planning.md#what-is-computed", "plan.rows.curve.width"),
    Inference(
        "strengths, ranks, pairs of a tournament", BOTH, "tournaments.md#strengths",
        "tournament:models.ci tournament:models/ci models.win_percent_ci models/win_percent_ci models.ranks "
        "models/ranks tournament:pairs.* differences/*",
    ),
    Inference(
        "against 50%", BOTH, "statistics.md#against-50",
        "findings.models.chance.* chance/*",
    ),
    Inference(
        "d′ and c", BOTH, "statistics.md#sensitivity-and-bias",
        "findings.models.detection.* findings.sides.detection.* detection/* sides-detection/*",
    ),
    Inference(
        "d′ and c of pairs without bias to a side", BOTH, GRID,
        "findings.models.pairs.* sensitivity/*",
    ),
    Inference(
        "crossed model: models, evaluators, pictures, SDs; more evaluators needed", BOTH,
        "statistics.md#how-it-was-validated",
        "findings.crossed_model.* crossed-model/* crossed-differences/* evaluators-crossed/* difficulty/*",
    ),
    Inference(
        "models, over pictures too; verdicts on pairs", BOTH, "statistics.md#between-models",
        "over_pictures.* pairs/deciding_* pairs/is_apart",
        "verdicts are over evaluators alone where pictures are under a tenth of the variance",
    ),
    Inference(
        "equivalence of two models; d over pictures too", BOTH,
        "statistics.md#equivalence-of-two-models", "pair_sizes/* pairs/equivalence.*",
    ),
    Inference(
        "confidence: areas, weighted score, Brier score, calibration", BOTH, "statistics.md#confidence",
        "findings.confidence.* confidence*/* overconfidence/* calibration/ci",
    ),
    Inference(
        "reasons: shares and differences", BOTH, "statistics.md#how-it-was-validated",
        "findings.reasons.* reasons_*/*",
    ),
    Inference(
        "metrics and people: scores, ceilings, pairs of metrics", ITEMS,
        "agreement.md#sets-averages-intervals",
        "*agreement.*.ci *agreement.pairs.* findings.people.ci agreement/ci agreement_intervals/ci "
        "metric_pairs/* calibration:calibration/*_ci average_precision/*.ci "
        "average_precision/ci across_judgments.metrics.*_ci metric_scores/*_ci",
    ),
    Inference(
        "percentile interval and its width (papers)", ALONE, "statistics.md#the-interval",
        "models.ci models/ci intervals/percentile_ci leaderboard-*/ci findings.classes.models.ci "
        "classes/ci findings.progress.points.ci progress/ci width/width findings.models.width.width "
        "exclusion.without.models.ci",
        "the papers' own; too narrow where pictures are shared",
    ),
    Inference(
        "ANOVA, t, Welch, Tukey, Games–Howell, paired and clustered tests", ALONE,
        "statistics.md#between-models",
        "*anova.* *ttest.ci *ttest.p *ttest.welch.* findings.welch.* findings.games_howell.* pairs.* "
        "pairs/ci pairs/p pairs/p_alone tests/p",
        "the papers' own; where pictures are a tenth of the variance the test over both decides",
    ),
    Inference(
        "effect sizes", ALONE, GRID, "*effect*.d_ci *effect*.g_ci pairs/g_ci",
        "in SDs between evaluators; compared with R",
    ),
    Inference(
        "equal variances (Brown–Forsythe)", ALONE, GRID, "findings.equal_spread.*",
        "about evaluators' variance; compared with scipy",
    ),
    Inference(
        "between exposures; models at one exposure", ALONE, GRID,
        "models.between_exposures.pairs.* exposures.pairs.* exposure-pairs/* model-pairs-by-exposure/*",
        "the tests of models, of the answers at an exposure; pictures are left out",
    ),
    Inference(
        "threshold of all answers, of constant stimuli", ALONE, "statistics.md#constant-stimuli",
        "exposures:models.threshold.ci findings.models.function.ci functions/threshold_ci",
        "evaluators are the clusters; pictures are left out",
    ),
    Inference(
        "threshold of all answers, of staircases", ALONE, "statistics.md#hype-time-besides-the-mode",
        "findings.models.exposures.pooled.ci", "printed without an interval",
    ),
    Inference(
        "median of reversals, median threshold", ALONE, GRID,
        "findings.models.exposures.reversal_ms.* findings.models.exposures.threshold_ms.* "
        "thresholds/reversal_median_ci thresholds/threshold_ci",
        "each evaluator enters with one value; pictures are left out",
    ),
    Inference(
        "metrics' correlations, other evaluators", ALONE, "statistics.md#metrics-beside-scores",
        "findings.metrics.*evaluators_ci metrics*/*evaluators_ci", "models and their pictures are fixed",
    ),
    Inference(
        "metrics' correlations, other models", MODELS, "statistics.md#metrics-beside-scores",
        "findings.metrics.*models_ci metrics*/*models_ci findings.metrics.*p findings.metrics.*p_exact "
        "metrics*/*p metrics*/*p_exact",
    ),
    Inference(
        "metrics' correlations with opinion scores of others", STIMULI,
        "agreement.md#opinion-scores-of-others", "opinion_scores.metrics.*_ci opinion_scores/*_ci",
    ),
    Inference(
        "2AFC and JND over metrics", METRICS, "statistics.md#metrics-beside-scores",
        "across_judgments.correlations.ci across_judgments/ci",
        "people and items are fixed; rank correlations as over models, Pearson's r by Fisher's z",
    ),
    Inference(
        "browsers", ALONE, GRID, "findings.browsers.* browsers/ci",
        "compares evaluators, on the same models",
    ),
    Inference(
        "change over a session; dependence on the previous answer", ALONE, "statistics.md#over-a-session",
        "findings.drift.* drift/*", "pictures come in random order, so they are alike at any time",
    ),
    Inference(
        "attention checks right", ALONE, GRID, "findings.attention.ci", "checks are the same for all"
    ),
    Inference(
        "who had all checks right; who left", ALONE, EXACT,
        "findings.attention.all_right_ci findings.attrition.* attrition/*", "counts of evaluators",
    ),
    Inference(
        "side and fit of a tournament", ALONE, GRID, "tournament.sides.* tournament.fit.*",
        "evaluators are the clusters; pictures are left out",
    ),
    Inference(
        "tests of the papers' tables", "evaluators, as printed", "", "published:*",
        "what the papers print, recomputed from their tables",
    ),
    Inference(
        "one picture, fake or item", ANSWERS, EXACT, "findings.images.ci findings.fakes.ci findings.items.ci "
        "images/ci fooling/ci fakes/ci items/ci", "the picture is fixed (Clopper and Pearson)",
    ),
    Inference(
        "one evaluator: guessing", ANSWERS, EXACT, "findings.evaluators.guessing_p evaluators/guessing_p",
        "binomial",
    ),
    Inference(
        "one evaluator's threshold", ANSWERS,
        "statistics.md#hype-time-besides-the-mode",
        "findings.models.exposures.evaluators.psychometric.ci",
    ),
    Inference(
        "fit of a psychometric function", ANSWERS, GRID,
        "findings.models.function.p "
        "functions/p", "simulated data sets of one function (Wichmann and Hill, 2001)",
    ),
    Inference(
        "marks on one picture", "marks, among pictures", "statistics.md#how-it-was-validated",
        "findings.marks.* marked_pictures/*",
    ),
    Inference(
        "distances and overlap of sets of pictures", PICTURES, "set-distances.md#intervals",
        "picture-*/*_ci",
    ),
)  # fmt: skip


def entry_of(name: str, method: str) -> tuple[Inference, str] | None:
    """Return the entry of a number and the name in it that matches; None if the list has none.

    A name behind the method precedes others, and the first of the list those after it.
    """
    for wanted in (f"{method}:{name}", name):
        for entry in INFERENCES:
            for pattern in entry.names.split():
                if fnmatch.fnmatchcase(wanted, pattern):
                    return entry, pattern
    return None


def as_markdown(entries: Sequence[Inference] = INFERENCES) -> str:
    """Return the list as a table of the docs."""
    lines = ["| number | what is random | coverage, or error rate | why |", "| --- | --- | --- | --- |"]
    for one in entries:
        page, _, section = one.measured.partition("#") if "#" in one.measured else ("", "", "")
        link = f"{'' if page == DOCS.name else page}#{section}"
        where = f"[{section.replace('-', ' ')}]({link})" if page else one.measured or "not measured"
        lines.append(f"| {one.what} | {one.random} | {where} | {one.why} |")
    return "\n".join(lines)


def put(path: Path, marks: tuple[str, str], text: str) -> None:
    """Write a text to a page of the docs, between its marks."""
    begin, end = marks
    before, _, rest = path.read_text("utf-8").partition(begin)
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}", "utf-8")


if __name__ == "__main__":
    put(DOCS, MARKS, as_markdown())
