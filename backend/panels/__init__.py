"""Crowd panels: their APIs, their links, and their events."""
