"""Recruitment of evaluators from a panel, and synchronization of its places with sessions."""
