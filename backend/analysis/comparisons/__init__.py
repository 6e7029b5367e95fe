"""Tests between models, and of one against 50%: differences, equivalence, effect sizes."""
