"""How the responses to a judgment become scores: the interface, and its default for any judgment.

`analysis/judgments/NAME.py` defines the scores of the judgment NAME as `SCORES`. A judgment without such a
module has those of `JudgmentScores`: means of the values that the judgment itself gives its evaluators.

The responses of every judgment are one response table (`response_table.Answers`). Practice, attention checks,
simulated sessions and the rule for exclusion are dealt with before (`unscored_rows.py`): what arrives here
is scored. `Answers.texts` has the columns `truth`, `response`, `item`, `left` and `right` where they exist.
"""

import importlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from backend.analysis.comparisons.run_contrasts import RunScore
from backend.analysis.distributions.bootstrap import lattice_of
from backend.analysis.distributions.rank_ranges import rank_ranges
from backend.analysis.planning.share_spreads import spreads_of_shares
from backend.analysis.planning.spread import Spread
from backend.analysis.run_scores import scores_over_evaluators
from backend.analysis.score_resamples import ITERATIONS, ScoreResamples, resampled_scores
from backend.analysis.scores import Options, scores_of_values
from backend.analysis.table.evaluator_values import Values
from backend.analysis.table.response_table import Answers
from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.protocol import Protocol
from backend.foundation.errors import InvalidInput

_MODULES = "backend.analysis.judgments"


class JudgmentScores:
    """The scores of a judgment."""

    def exposed(self, answers: Answers, exposures: str) -> Answers:
        """Return the responses with exposures as planned (`nominal`) or as `shown`.

        Raises:
            InvalidInput: `shown`, and the method has no exposures to score on.
        """
        if exposures != "nominal":
            title = method_named(answers.method).title
            raise InvalidInput(f"{title} has no exposures to score on; leave out exposures='shown'")
        return answers

    def sampled(self, answers: Answers) -> Answers:
        """Return the responses that scores are computed from, with a note on the others."""
        return answers

    def compared(self, answers: Answers) -> Answers:
        """Return the responses in a form in which equal answers to one stimulus are equal, for agreement.

        Default: as they are, which suits judgments whose stimuli have one order.
        """
        return answers

    def values(self, answers: Answers) -> dict[str, Values]:
        """Return the values of each model's evaluators, in the unit of the method."""
        judgment, judges = judgment_of(answers.method), answers.judges
        exact = [judgment.value(answers.method, [*rows_of(answers, own)]) for own in judges.responses]
        by_model = {}
        for code, model in enumerate(answers.model.names):
            mine = np.flatnonzero(judges.model == code)
            own = [exact[judge] for judge in mine]
            names = [answers.evaluator.names[judges.evaluator[judge]] for judge in mine]
            by_model[model] = Values(names, np.array(own, float), lattice_of(own))
        return by_model

    def overall(self, answers: Answers, options: Options) -> dict[str, Any]:
        """Return scores, intervals and tests as plain data, in the form of `scores.scores_of_values`.

        That is: `method`, `unit`, `simulated`, `models`, `anova`, `pairs`, `pairs_method`, `over_pictures`,
        `design`, `people`, `responses`, `settings`, `warnings`, `notes`; a model has `model`, `score`,
        `std`, `ci`, `interval`, `evaluators` and `responses`. A judgment may add keys.

        Raises:
            InvalidInput: the responses have no score.
        """
        return scores_of_values(answers, self.values(answers), options)

    def model_rows(self, answers: Answers, options: Options) -> list[dict[str, Any]]:
        """Return the models of `overall`, where possible without the tests of every pair."""
        result: list[dict[str, Any]] = self.overall(answers, options)["models"]
        return result

    def rank_ranges(
        self, rows: Sequence[Mapping[str, Any]], level: float, chosen_of: int, scored: int
    ) -> Sequence[Sequence[int] | None]:
        """Return the best and the worst rank of some models, as `rank_ranges.rank_ranges` does.

        Args:
            rows: of the scores.
            chosen_of: how many models these were chosen of by their scores.
            scored: how many models the scores are of.
        """
        return rank_ranges(rows, level, chosen_of)

    def scores(self, answers: Answers, options: Options) -> dict[str, Any]:
        """Return `overall`, with what takes too long while a study runs."""
        return self.overall(answers, options)

    def resampled(self, answers: Answers, options: Options) -> ScoreResamples | None:
        """Return scores in resamples of the evaluators; None if their variation is not known."""
        return resampled_scores(
            answers,
            self.values(answers),
            np.random.default_rng(options.seed or 0),
            options.level,
            options.iterations or ITERATIONS,
            options.evaluators_drawn,
        )

    def run_scores(self, answers: Answers, level: float) -> dict[str, RunScore]:
        """Return the score of each model with what is random in it, to compare it with that of another run.

        Models of one evaluator have none.
        """
        return scores_over_evaluators(self.values(answers))

    def spreads(self, answers: Answers) -> list[Spread]:
        """Return the spread of each model of a pilot that has two evaluators or more.

        Raises:
            InvalidInput: an evaluator judged one image.
        """
        return spreads_of_shares(answers, self.values(answers))

    def expected_spreads(self, protocol: Protocol, models: int, images: int | None = None) -> list[Spread]:
        """Return the spreads from which a study of `models` models is planned without a pilot.

        Args:
            images: that an evaluator judges, where spreads depend on it; default, those of `protocol`.

        Returns:
            [] where nothing is known; methods of which something is say so (`Planning.without_pilot`).
        """
        return []

    def narrowing(self, answers: Answers, model: str, ended: Mapping[Any, str]) -> list[dict[str, Any]]:
        """Return score and intervals of a model after its first 5, ..., n evaluators; [] if not computed.

        The rows are those of `confidence_sequence.score_by_evaluators`.

        Args:
            ended: time at which each evaluator finished (UTC, ISO 8601), by name.
        """
        return []


def scores_of(method: str) -> JudgmentScores:
    """Return how the judgment that a method asks for is scored.

    Raises:
        InvalidInput: the method is unknown.
    """
    name = f"{_MODULES}.{judgment_of(method).name}"
    return importlib.import_module(name).SCORES if importlib.util.find_spec(name) else JudgmentScores()


def rows_of(answers: Answers, index: np.ndarray) -> Iterator[Mapping[str, Any]]:
    """Yield the responses at the indices `index` as rows, with the columns that the table has."""
    texts = {"model": answers.model, "evaluator": answers.evaluator, **answers.texts}
    numbers = {**answers.numbers, "block": answers.block, "exposure_ms": answers.exposure_ms}
    columns = {name: [column.names[code] for code in column.codes[index]] for name, column in texts.items()}
    columns |= {name: column[index].tolist() for name, column in numbers.items() if column is not None}
    for cells in zip(*columns.values(), strict=True):
        yield dict(zip(columns, cells, strict=True))
