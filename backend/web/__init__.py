"""The server, and the researcher's pages with their data."""
