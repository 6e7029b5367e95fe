"""Validation of our numbers against those of independent programs; run by `make validate`."""
