"""The lowest layer: errors, text, timestamps, permissions, optional packages."""
