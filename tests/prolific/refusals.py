"""Answers of the API that are errors."""


class Refusal(Exception):
    """An answer of the API that is an error."""

    def __init__(self, status, title, detail, headers=()):
        super().__init__(title)
        self.status, self.title, self.detail, self.headers = status, title, detail, headers


def bad(detail):
    return Refusal(400, "Validation error", detail)


def not_possible(detail):
    return Refusal(400, "Bad request", detail)


def not_found(what):
    return Refusal(404, "Not found", f"no {what} with that id")


def not_for_you(what):
    """Return the refusal of what only chosen workspaces may do."""
    return Refusal(403, "Forbidden", f"this workspace may not use {what}")
