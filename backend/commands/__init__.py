"""What each command of `openhype` parses, calls and prints; one module a subject."""
