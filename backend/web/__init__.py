"""The server, the researcher's pages, and what they show."""
