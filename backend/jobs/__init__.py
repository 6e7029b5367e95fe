"""Work that takes longer than a request: a queue in the store, and the worker that does it (docs/jobs.md)."""
