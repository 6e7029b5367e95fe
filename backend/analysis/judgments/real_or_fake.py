"""Scores of real or fake: the measures of HYPE, and accuracy at each fixed exposure (constant stimuli)."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from backend.analysis.comparisons.run_contrasts import RunScore
from backend.analysis.confidence_sequence import score_by_evaluators
from backend.analysis.constant_stimuli import by_exposure
from backend.analysis.judgment_scores import JudgmentScores
from backend.analysis.models.psychometric import THRESHOLD_AT
from backend.analysis.planning.share_spreads import published_shares, spreads_of_exposures
from backend.analysis.planning.spread import Spread
from backend.analysis.planning.time_spreads import published_times, spreads_of_times
from backend.analysis.run_scores import run_scores
from backend.analysis.scores import Options, overall_scores, score_models
from backend.analysis.table.adaptive_rows import random_share
from backend.analysis.table.evaluator_values import Values, values_by_model
from backend.analysis.table.response_table import Answers
from backend.analysis.table.shown_exposures import as_exposed
from backend.experiment.protocol import Protocol
from backend.experiment.published import IMAGES


class RealOrFakeScores(JudgmentScores):
    """Shares of wrong answers, or exposures (HYPE-time)."""

    def exposed(self, answers: Answers, exposures: str) -> Answers:
        return as_exposed(answers, exposures)

    def sampled(self, answers: Answers) -> Answers:
        return random_share(answers)

    def values(self, answers: Answers) -> dict[str, Values]:
        return values_by_model(answers)

    def run_scores(self, answers: Answers, level: float) -> dict[str, RunScore]:
        return run_scores(random_share(answers), level)

    def spreads(self, answers: Answers) -> list[Spread]:
        if not answers.has_shares:
            return [*spreads_of_times(answers, self.values(answers))]
        found = super().spreads(answers)
        return [*found, *spreads_of_exposures(answers)] if answers.has_fixed_exposures else found

    def expected_spreads(self, protocol: Protocol, models: int, images: int | None = None) -> list[Spread]:
        published = published_times if protocol.has_staircase else published_shares
        return published(IMAGES[protocol.method])

    def overall(self, answers: Answers, options: Options) -> dict[str, Any]:
        return overall_scores(answers, **asdict(options))

    def model_rows(self, answers: Answers, options: Options) -> list[dict[str, Any]]:
        return score_models(answers, **asdict(options))

    def scores(self, answers: Answers, options: Options) -> dict[str, Any]:
        """Return scores, with the results of each exposure if exposures are fixed."""
        scores = self.overall(answers, options)
        if not answers.has_fixed_exposures:
            return scores
        found = by_exposure(answers, lambda some: self.overall(some, options), options.level, THRESHOLD_AT)
        of_model = found.pop("of_model")
        models = [{**row, **of_model[row["model"]]} for row in scores["models"]]
        return {**scores, "models": models, **found}

    def narrowing(self, answers: Answers, model: str, ended: Mapping[Any, str]) -> list[dict[str, Any]]:
        names = self.values(answers)[model].evaluators
        order = sorted(names, key=lambda name: ended.get(name, ""))
        return score_by_evaluators(answers, model, order)


SCORES = RealOrFakeScores()
