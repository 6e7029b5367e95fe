"""Responses files as rows of texts, and as columns of numbers."""
