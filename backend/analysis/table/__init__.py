"""Responses as a table: read, recognized, grouped by design, and as the values of evaluators."""
