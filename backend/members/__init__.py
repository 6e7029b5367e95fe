"""People who use the API: owner, researchers, submitters; their tokens; the audit log."""
