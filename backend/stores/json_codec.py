"""Conversion of records to and from JSON text, the same for every store.

Numbers of sessions and answers keep their form, whatever their field declares: 500 and 500.0 are restored as
such, so that exports do not depend on the store.
"""

import json
from functools import lru_cache
from typing import Any

import msgspec

from backend.experiment import settings
from backend.experiment.protocol import to_json
from backend.experiment.records import Interaction, PlannedBlock, Response, Session, Study, Timing
from backend.experiment.session import Cursor


def dump(record: Study | Session | Cursor | Response) -> str:
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
    data = msgspec.json.decode(text)
    data["models"] = tuple(data["models"])
    for name in ("blocks", "spares"):
        data[name] = tuple(_block(block) for block in data[name])
    return Session(**data)


def load_cursor(text: str) -> Cursor:
    data = msgspec.json.decode(text)
    data["displays"] = tuple(data["displays"])
    data["voids"] = tuple((index, spare) for index, spare in data["voids"])
    return Cursor(**data)


def load_response(text: str) -> Response:
    data = msgspec.json.decode(text)
    data["flags"] = tuple(data["flags"])
    if data["mask_ms"] is not None:
        data["mask_ms"] = tuple(data["mask_ms"])
    if (timing := data["timing"]) is not None:
        for name in ("planned_frames", "achieved_frames", "phase_ms"):
            timing[name] = tuple(timing[name])
        data["timing"] = Timing(**timing)
    data["interactions"] = tuple(Interaction(**each) for each in data["interactions"])
    return Response(**data)


def _block(data: dict[str, Any]) -> PlannedBlock:
    parts = ("stimuli", "truths", "models", "by_need", "kinds", "exposures_ms")
    return PlannedBlock(class_=data["class_"], **{name: tuple(data[name]) for name in parts})
