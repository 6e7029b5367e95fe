"""Payment: what evaluators are owed, and how it is paid."""
