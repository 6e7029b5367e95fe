"""Our numbers against those of other people's programs; run by `make validate`."""
