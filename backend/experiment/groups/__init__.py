"""The groups of a protocol's settings, a module each: all settings but those of judgments."""
