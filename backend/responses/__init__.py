"""Responses as data sets: of stored studies, and from files."""
