"""Scores of 2AFC: the share of answers that call `p1` closer to the reference than `p0`."""

from typing import Any

from backend.analysis.scores import Options
from backend.analysis.share_scores import ShareScores, items_of, with_outcome, word_is
from backend.analysis.table.response_table import Answers
from backend.foundation.errors import InvalidInput

_PARTS = {"p0", "p1"}


class CloserScores(ShareScores):
    """Shares of answers for `p1`, without tests between sets: which picture is `p1` is of no meaning."""

    def overall(self, answers: Answers, options: Options) -> dict[str, Any]:
        scores = super().overall(answers, options)
        scores.pop("ttest", None)
        return {**scores, "anova": None, "pairs": [], "over_pictures": None}

    def counted(self, answers: Answers) -> Answers:
        """Return the responses with those for `p1` as the ones that count.

        Raises:
            InvalidInput: the columns `left` and `right` do not say where `p0` and `p1` stood.
        """
        for side in ("left", "right"):
            names = set(answers.texts[side].names) if side in answers.texts else {""}
            if not names <= _PARTS:
                raise InvalidInput(
                    f"{side} must be 'p0' or 'p1' in every response of 2AFC, not {min(names - _PARTS)!r}"
                )
        of_p1 = [word_is(answers, side, "p1") for side in ("left", "right")]
        if (of_p1[0] == of_p1[1]).any():
            raise InvalidInput("left and right must be 'p0' and 'p1' in either order in every response")
        prefers = of_p1[0] == word_is(answers, "response", "left")
        return with_outcome(answers, prefers, items_of(answers))


SCORES = CloserScores()
