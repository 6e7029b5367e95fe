"""The routes of the API as tables, from their declarations; `python -m tests.api_page` writes docs/api.md."""

import json
import re
from pathlib import Path

import msgspec
from msgspec import inspect

from backend.web.openapi import operations

PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"
BEGIN, END = "<!-- routes: written by `python -m tests.api_page` -->", "<!-- end of routes -->"
_GROUPS = (
    ("Signing in, members, audit log", ("sign-in", "sign-out", "me", "members", "tokens", "audit")),
    ("Uploads", ("uploads",)),
    ("New studies, drafts, jobs", ("audits", "drafts", "jobs")),
    ("Studies", ("studies",)),
    ("Submissions and competitions", ("submissions", "competitions")),
    ("Settings, plans, costs", ("methods", "settings", "plan", "costs")),
    ("Sessions of evaluators", ("sessions",)),
)
_OTHERS = "Others"
_WHO = {"session": "a session's token", "withdrawal": "a withdrawal link's token", "wait": "a wait's token"}
_VALUES = {
    "action": "pause", "approve": ["all"], "budget_usd_cents": 25_000, "bytes": 5_242_880, "confirm": "faces",
    "confirmation": "9f86d081884c7d65…", "consent_version": "1", "digest": "0" * 64,
    "email": "tester@lab.example", "evaluator": "e1f2a3b4", "keep_days": 365, "label": "laptop", "lease": 1,
    "level": 0.95, "member": "ada", "method": "infinity", "model": "gan", "name": "faces", "pictures": 1000,
    "reason": "browser crash", "role": "submitter", "settings": {"evaluators": 40}, "title": "Faces 2026",
    "token": "oh_…", "upload": "3f1c…", "url": "https://study.example", "usd_cents": 110,
}  # fmt: skip
"""Of fields, by name, where the type alone would give nothing to learn from."""


def tables():
    """Return the tables of all routes."""
    grouped = {heading: [] for heading, _ in (*_GROUPS, (_OTHERS, ()))}
    for name, operation in operations().items():
        grouped[_heading(name)].append(_row(name, operation))
    parts = []
    for heading, rows in grouped.items():
        if rows:
            head = ["| route | who | what it does | body, an example |", "| --- | --- | --- | --- |"]
            parts.append("\n".join([f"### {heading}", "", *head, *rows]))
    return "\n\n".join(parts)


def example(declared):
    """Return a body that a route takes: its required fields, or else the first one."""
    if declared is None:
        return None
    fields = inspect.type_info(declared).fields
    chosen = [field for field in fields if field.required] or list(fields[:1])
    return {field.encode_name: _value(field.encode_name, field.type) for field in chosen}


def _heading(name):
    first, *rest = name.partition(" /api/")[2].split("/")
    if first == "studies" and rest[1:2] and rest[1] in ("sessions", "admission", "exit", "waits"):
        is_theirs = name.startswith("POST") and not name.endswith("withdraw")
        return _GROUPS[-1][0] if is_theirs else "Studies"
    return next((heading for heading, names in _GROUPS if first in names), _OTHERS)


def _row(name, operation):
    who = operation.role or ", ".join(_WHO.get(each, each) for each in operation.who) or "everybody"
    if operation.is_open_to_all:
        who = "everybody"
    body = "" if operation.takes is None else f"`{json.dumps(example(operation.takes), ensure_ascii=False)}`"
    if operation.media != "application/json":
        body = f"bytes, as `{operation.media}`"
    cells = (f"`{name}`", who, operation.summary, body)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _value(name, node):
    kind = _inner(node)
    if name in _VALUES and (not isinstance(kind, inspect.LiteralType) or _VALUES[name] in kind.values):
        return _VALUES[name]
    match kind:
        case inspect.BoolType():
            return True
        case inspect.IntType():
            return max(kind.ge or 0, 10)
        case inspect.FloatType():
            return 0.5
        case inspect.LiteralType():
            return kind.values[0]
        case inspect.ListType() | inspect.VarTupleType():
            return [_value("", kind.item_type)]
        case inspect.DictType():
            return {}
        case inspect.StructType():
            return example(kind.cls)
    return "…" if getattr(kind, "pattern", None) is None else _fitting(kind.pattern)


def _fitting(pattern):
    """Return a text that fits a pattern, out of a few."""
    tries = ("a1", "42.8", "0" * 64, "ada", "gan", "1", "0" * 32)
    return next((text for text in tries if re.search(pattern, text)), "…")


def _inner(node):
    while isinstance(node, (inspect.Metadata, inspect.UnionType)):
        if isinstance(node, inspect.Metadata):
            node = node.type
        else:
            node = next(each for each in node.types if not isinstance(each, inspect.NoneType))
    return node


def accepts(declared, body):
    """Return whether a body is what a route takes."""
    try:
        msgspec.convert(body, declared)
    except msgspec.ValidationError:
        return False
    return True


def written(text):
    """Return the page with its tables as they are now."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
