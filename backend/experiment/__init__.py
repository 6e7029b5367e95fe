"""The experiment as values: protocol, stimuli, sessions, staircase. No files, no clock, no network."""
