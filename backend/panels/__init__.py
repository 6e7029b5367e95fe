"""Crowd panels: their API, their links, and the events that they send."""
