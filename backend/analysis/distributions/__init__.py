"""Distributions, intervals and ranks of any numbers: what the rest of the statistics is computed with."""
