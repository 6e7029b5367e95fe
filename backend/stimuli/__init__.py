"""Stimuli of a study: image files are read, checked, and made uniform."""
