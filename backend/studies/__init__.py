"""The state of a running study: begun, paused, waiting evaluators, withdrawn sessions."""
