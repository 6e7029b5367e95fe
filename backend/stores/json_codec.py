"""Conversion of records to and from JSON text, the same for every store."""

import json
from functools import lru_cache
from typing import Any

import msgspec

from backend.experiment import settings
from backend.experiment.protocol import to_json
from backend.experiment.records import Response, Session, Study
from backend.experiment.session import Cursor


def dump(record: Study | Session | Cursor | Response) -> str:
    """Return `record` as compact JSON."""
    if isinstance(record, Study):
        return _text({**vars(record), "protocol": to_json(record.protocol)})
    return _text(record)


def _text(data: Any) -> str:
    return msgspec.json.encode(data).decode()


@lru_cache(maxsize=1000)
def load_study(text: str) -> Study:
    """Return the study in a record; the same one for the same text, since no study changes in place."""
    data = json.loads(text)
    return msgspec.convert({**data, "protocol": settings.from_json(data["protocol"])}, Study)


def load_session(text: str) -> Session:
    return msgspec.json.decode(text, type=Session)


def load_cursor(text: str) -> Cursor:
    return msgspec.json.decode(text, type=Cursor)


def load_response(text: str) -> Response:
    return msgspec.json.decode(text, type=Response)
