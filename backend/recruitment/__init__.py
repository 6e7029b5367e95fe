"""Recruiting evaluators from a panel, and keeping its places in step with sessions."""
