"""Stimuli of a study: image files read, checked, and made alike."""
