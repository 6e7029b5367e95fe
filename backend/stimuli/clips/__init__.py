"""Clips: short videos without sound, read and re-encoded as a sequence of frames."""
