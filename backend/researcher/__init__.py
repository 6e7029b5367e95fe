"""The researcher's door: progress, scores and the results page, behind the key."""
