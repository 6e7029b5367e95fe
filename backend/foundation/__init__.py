"""The layer below all others: errors, texts, times, permissions, optional packages."""
