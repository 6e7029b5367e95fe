"""The clips of the demo, encoded, and how they were made."""
