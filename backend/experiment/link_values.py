"""Whether a value of a link is one, or what a panel should have replaced by one: `{{%PROLIFIC_PID%}}`."""

import re
from collections.abc import Collection, Mapping
from functools import cache
from urllib.parse import unquote

from backend.experiment.panel import BUILT_IN, PRIVATE_LINK, PanelRecord

_DECODED_TIMES = 3
_EMBEDDED = re.compile(r"\$\{.*|\{\{.*|\{%.*|<%.*|\*\|.*\|\*|%%.+%%|@@.+@@|##.+##")
"""The beginnings of placeholders of common template languages, anywhere in a value."""
_ENCLOSED = re.compile(
    r"[#$%]?[\[{<«|~*#$%!\ufffd]+(?P<inner>.*?)[\]}>»|~*#$%!]+|__(?P<name>[A-Z][A-Z0-9_]*?)__"
)
"""U+FFFD: a browser reads the start of `%DEVICE%` as an encoded byte."""
_NAMED = re.compile(r"\$[A-Za-z_]\w*|:[A-Za-z_]+|.+_NOT_AVAILABLE", re.IGNORECASE)
_ADVICE = re.compile(r"(your|insert|enter|replace|put)[\W_]+[A-Za-z\W_]+", re.IGNORECASE)
_ID = re.compile(
    r"\d+|[0-9a-f]{12,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[^@\s]+@[^@\s]+", re.IGNORECASE
)
"""Ids that stay ids in brackets: digits, hexadecimal ones, UUIDs, e-mail addresses."""
_NOTHING = {"undefined", "null", "none", "nil", "objectobject"}
_WORDS = {
    "id", "pid", "uid", "userid", "personid", "participant", "subjectid", "respondentid", "respondent",
    "prolificid", "surveycode", "submissionid", "panelid", "externalid",
}  # fmt: skip
"""What links call ids besides the parameters of `BUILT_IN`, in lower case without marks."""


def unfilled(record: PanelRecord, parameters: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the parameters which the panel left as a placeholder."""
    names = (*record.parameters, PRIVATE_LINK)
    return tuple(name for name in names if is_unfilled(parameters.get(name, ""), names))


def is_unfilled(value: str, names: Collection[str] = ()) -> bool:
    """Return whether a value of a link names nobody: a placeholder, a parameter's name, `undefined`.

    Values may be percent-encoded, also more than once. An empty value is none, so that it is not unfilled.

    Args:
        names: of the panel's own parameters, which are no values either.
    """
    seen = value.strip()
    known = _names_of_panels() | {_plain(name) for name in names}
    for _ in range(_DECODED_TIMES):
        if seen and _is_placeholder(seen, known):
            return True
        seen = unquote(seen).strip()
    return False


@cache
def _names_of_panels() -> set[str]:
    return _WORDS | {_plain(name) for record in BUILT_IN.values() for name in record.parameters}


def _is_placeholder(value: str, names: Collection[str]) -> bool:
    plain = _plain(value)
    if not plain or plain in _NOTHING or plain in names or value == "NaN":
        return True
    if _EMBEDDED.search(value) or _NAMED.fullmatch(value) or _ADVICE.fullmatch(value):
        return True
    enclosed = _ENCLOSED.fullmatch(value)
    return enclosed is not None and not _ID.fullmatch((enclosed["inner"] or enclosed["name"]).strip("[]{}<>"))


def _plain(value: str) -> str:
    """Return a value in lower case, without marks and spaces."""
    return re.sub(r"[\W_]", "", value).lower()
