"""Conversion of records to and from JSON text, the same for every store."""

import json
from functools import lru_cache
from typing import Any

from backend.experiment import protocol as protocols
from backend.experiment.questionnaire import Page, question_of
from backend.experiment.records import TRUTHS, Interaction, PlannedBlock, Response, Session, Study, Timing
from backend.experiment.session import Cursor


def dump(record: Study | Session | Cursor | Response) -> str:
    """Return `record` as compact JSON."""
    return json.dumps(record, default=_plain, separators=(",", ":"))


def _plain(record: Any) -> dict[str, Any]:
    if isinstance(record, Session):
        return fields_of(record)
    return protocols.to_json(record) if isinstance(record, protocols.Protocol) else vars(record)


def fields_of(session: Session) -> dict[str, Any]:
    """Return the fields of a session as they are stored: `model`, and `models` only if there are several."""
    fields = {"model" if name == "models" else name: value for name, value in vars(session).items()}
    several = {"models": session.models} if len(session.models) > 1 else {}
    return {**fields, "model": session.model, **several}


@lru_cache(maxsize=1000)
def load_study(text: str) -> Study:
    """Return the study in a record; the same one for the same text, since no study changes in place."""
    data = json.loads(text)
    data["protocol"] = protocols.from_json(data["protocol"])
    for name in ("models", "classes", "masks", "notes"):
        data[name] = tuple(data[name])
    data["pages"] = tuple(Page(**page) for page in data.get("pages", ()))
    data["questions"] = tuple(question_of(question) for question in data.get("questions", ()))
    for name in ("joined", "joined_at", "closed"):
        data[name] = tuple(data.get(name, ()))
    return Study(**data)


def load_session(text: str) -> Session:
    data = json.loads(text)
    data["blocks"] = tuple(_block(block) for block in data["blocks"])
    data["spares"] = tuple(_block(block) for block in data["spares"])
    return session_of(data)


def session_of(data: dict[str, Any]) -> Session:
    """Return the session with these fields.

    Sessions stored before the field `is_simulated` existed are marked as simulated in their device
    facts. In sessions that have the field, these are ignored: they are what the browser claims.
    """
    data.setdefault("is_simulated", data["device"].get("simulated") is True)
    model = data.pop("model")
    data["models"] = tuple(data.get("models", () if model is None else (model,)))
    return Session(**data)


def load_cursor(text: str) -> Cursor:
    data = json.loads(text)
    data["displays"] = tuple(data["displays"])
    data["voids"] = tuple((index, spare) for index, spare in data["voids"])
    counts = {truth: data.pop(f"{truth}s_right", 0) for truth in TRUTHS}  # from older versions
    data.setdefault("right", {truth: count for truth, count in counts.items() if count})
    return Cursor(**data)


def load_response(text: str) -> Response:
    data = json.loads(text)
    data["flags"] = tuple(data["flags"])
    if data["mask_ms"] is not None:
        data["mask_ms"] = tuple(data["mask_ms"])
    if data.get("timing") is not None:
        timing = data["timing"]
        for name in ("planned_frames", "achieved_frames", "phase_ms"):
            timing[name] = tuple(timing[name])
        data["timing"] = Timing(**timing)
    data["interactions"] = tuple(Interaction(**each) for each in data.get("interactions", ()))
    return Response(**data)


def _block(data: dict[str, Any]) -> PlannedBlock:
    parts = ("stimuli", "truths", "models", "by_need", "kinds", "exposures_ms")
    return PlannedBlock(class_=data["class_"], **{name: tuple(data.get(name, ())) for name in parts})
