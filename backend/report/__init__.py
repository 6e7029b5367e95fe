"""Scores and plans for reading: figures, tables, pages."""
