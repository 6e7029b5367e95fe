"""`python -m backend` is `openhype`."""

from backend.cli import main

main()
