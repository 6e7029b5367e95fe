"""Scores by judgment: `NAME.py` defines those of the judgment NAME, as `SCORES` (`judgment_scores.py`)."""
