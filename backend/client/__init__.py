"""The client of the API; it needs the standard library only."""
