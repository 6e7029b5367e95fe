"""The demo: sample studies and the page on which they are made."""
