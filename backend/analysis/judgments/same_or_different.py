"""Scores of same or different (JND): the share of test pairs that people call the same."""

from backend.analysis.share_scores import ShareScores, items_of, with_outcome, word_is
from backend.analysis.table.response_table import Answers


class SameOrDifferentScores(ShareScores):
    """Shares of pairs called the same."""

    def counted(self, answers: Answers) -> Answers:
        return with_outcome(answers, word_is(answers, "response", "same"), items_of(answers))


SCORES = SameOrDifferentScores()
