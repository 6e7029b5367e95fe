"""Leaderboard studies, which models join at any time: their terms, submissions, and published tables."""
