"""What browsers send, checked at the border: JSON to typed values, or one clear message.

Nothing past this module meets a wrong type, a NaN, or a text of a megabyte.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from backend.errors import InvalidInput
from backend.experiment.records import TRUTHS, Interaction, Timing
from backend.experiment.response_columns import FACTS, Kind
from backend.experiment.session import Posted

MAX_BODY_BYTES = 64 * 1024
_MAX_TEXT = 300
_MAX_SIGNATURE = 4096
_MAX_ENTRIES = 40
_MAX_FACTS_BYTES = 4096
"""Of what a browser tells of its device, or of its display; our page's are a tenth of it."""
_DIGITS_OF_WHOLE = 19
_DIGITS_OF_MS = 3
_INTERACTIONS = ("focus", "blur", "fullscreenenter", "fullscreenexit")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and halves of surrogate pairs."""
_FLAG = re.compile(r"[a-z0-9_-]{1,32}")


def parse_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in `body`.

    Raises:
        InvalidInput: not JSON, not an object, a number that JSON does not have (NaN, Infinity), or a text
            that cannot be stored or printed.
    """
    try:
        data = json.loads(body, parse_constant=_no_constant, parse_int=_whole_number)
    except (ValueError, RecursionError):
        raise InvalidInput("the body must be a JSON object in UTF-8; it could not be read as JSON") from None
    if not isinstance(data, dict):
        raise InvalidInput(f"the body must be a JSON object, not {_named(data)}")
    _check_texts(data)
    return data


def parse_opening(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an opening visit sends.

    That is `consent_version`, `panel`, `device`, `qualification_token` and `signature`; and of a simulated
    session, which only the researcher opens, `simulated` and perhaps the `seed` of its pictures.
    """
    simulated = data.get("simulated", False)
    if not isinstance(simulated, bool):
        raise InvalidInput(f"simulated must be true or false, not {_named(simulated)}")
    seed = data.get("seed")
    if seed is not None and not simulated:
        raise InvalidInput("a seed goes with a simulated session only")
    return {
        "consent_version": _text(data, "consent_version"),
        "panel": parse_panel(data),
        "device": _facts(data, "device"),
        "qualification_token": _maybe_token(data),
        "signature": _maybe_signature(data),
        "simulated": simulated,
        "seed": None if seed is None else _whole(data, "seed"),
    }


def parse_admission(data: Mapping[str, Any]) -> tuple[dict[str, str], str | None]:
    """Return (parameters of the link, the panel's signature of them) of a visit that begins."""
    return parse_panel(data), _maybe_signature(data)


def parse_leaving(data: Mapping[str, Any]) -> tuple[str, dict[str, str], str | None, str | None]:
    """Return (outcome, parameters of the link, qualification token, signature) of a visit that ends early."""
    return _text(data, "outcome"), parse_panel(data), _maybe_token(data), _maybe_signature(data)


def parse_panel(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters of the panel's link."""
    panel = _flat(data, "panel")
    for name, value in panel.items():
        if not isinstance(value, str):
            raise InvalidInput(f"panel.{name} must be a text, not {_named(value)}")
    return panel


def parse_wait(data: Mapping[str, Any]) -> tuple[dict[str, Any], str | None, str | None]:
    """Return (panel, qualification_token, signature) of somebody who begins to wait."""
    opening = parse_opening({**data, "consent_version": "", "device": {}})
    return opening["panel"], opening["qualification_token"], opening["signature"]


def parse_sign(data: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return (is_visible, is_here) of a sign of life."""
    for name in ("is_visible", "is_here"):
        if not isinstance(data.get(name), bool):
            raise InvalidInput(f"{name} must be true or false, not {_named(data.get(name))}")
    return data["is_visible"], data["is_here"]


def parse_block(data: Mapping[str, Any]) -> tuple[int, int, dict[str, Any]]:
    """Return (lease, block, facts of the display)."""
    return _whole(data, "lease"), _whole(data, "block"), _facts(data, "display")


def parse_end(data: Mapping[str, Any]) -> int:
    """Return the lease of the visit that ends its session early."""
    return _whole(data, "lease")


def parse_answer(data: Mapping[str, Any]) -> Posted:
    """Return an answer as `session.Posted`. Times in ms.

    Raises:
        InvalidInput: names the field, what was expected and what came.
    """
    response = data.get("response")
    if response not in TRUTHS:
        raise InvalidInput(f"response must be 'real' or 'fake', not {_named(response)}")
    return Posted(
        lease=_whole(data, "lease"),
        trial_index=_whole(data, "trial_index"),
        stimulus=_text(data, "stimulus"),
        response=response,
        exposure_ms=None if data.get("exposure_ms") is None else _number("exposure_ms", data["exposure_ms"]),
        shown_ms=_maybe_number(data, "shown_ms"),
        frames=None if data.get("frames") is None else _whole(data, "frames"),
        frame_ms=_maybe_number(data, "frame_ms"),
        mask_ms=None if data.get("mask_ms") is None else _numbers("mask_ms", data["mask_ms"]),
        rt=_maybe_number(data, "rt"),
        flags=_flags(data.get("flags", [])),
        timing=None if data.get("timing") is None else _timing(data["timing"]),
        interactions=_interactions(data.get("interactions", [])),
        facts={
            name: _FACT[column.kind](data, name)
            for name, column in FACTS.items()
            if data.get(name) is not None
        },
    )


def _timing(value: Any) -> Timing:
    if not isinstance(value, dict):
        raise InvalidInput(f"timing must be an object or null, not {_named(value)}")
    evidence = value.get("evidence")
    if not isinstance(evidence, str) or not _FLAG.fullmatch(evidence):
        raise InvalidInput(f"timing.evidence must be a short lower-case word, not {_named(evidence)}")
    planned, achieved, phase_ms = (
        _numbers(f"timing.{name}", value.get(name))
        for name in ("planned_frames", "achieved_frames", "phase_ms")
    )
    if not len(planned) == len(achieved) == len(phase_ms):
        raise InvalidInput(
            "timing must have as many planned_frames as achieved_frames and phase_ms, "
            f"not {len(planned)}, {len(achieved)} and {len(phase_ms)}"
        )
    for name, frames in (("planned_frames", planned), ("achieved_frames", achieved)):
        if not all(isinstance(count, int) for count in frames):
            raise InvalidInput(f"timing.{name} must hold whole numbers, not {_named(list(frames))}")
    lateness_ms = _duration("timing.lateness_ms", value.get("lateness_ms"))
    return Timing(evidence, lateness_ms, planned, achieved, phase_ms)


def _maybe_token(data: Mapping[str, Any]) -> str | None:
    token = data.get("qualification_token")
    if token is not None and not isinstance(token, str):
        raise InvalidInput(f"qualification_token must be a text or null, not {_named(token)}")
    return token


def _maybe_signature(data: Mapping[str, Any]) -> str | None:
    """Return the panel's signature; a message about it does not quote it, for it lets somebody in."""
    signature = data.get("signature")
    if signature is not None and (not isinstance(signature, str) or len(signature) > _MAX_SIGNATURE):
        raise InvalidInput(f"signature must be a text of at most {_MAX_SIGNATURE} characters, or null")
    return signature


def _whole(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise InvalidInput(f"{name} must be a whole number from 0, not {_named(value)}")
    return value


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str) or len(value) > _MAX_TEXT:
        raise InvalidInput(f"{name} must be a text of at most {_MAX_TEXT} characters, not {_named(value)}")
    return value


def _maybe_number(data: Mapping[str, Any], name: str) -> float | None:
    value = data.get(name)
    return None if value is None else _duration(name, value)


def _duration(name: str, value: Any) -> float:
    """Return a measured time in ms, to the microsecond: no browser's clock ticks more finely."""
    return round(_number(name, value), _DIGITS_OF_MS)


def _number(name: str, value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 <= value < 1e9:
        raise InvalidInput(f"{name} must be a number from 0 to 1e9 or null, not {_named(value)}")
    return value


def _numbers(name: str, value: Any) -> tuple[float, ...]:
    if not isinstance(value, list) or len(value) > _MAX_ENTRIES:
        raise InvalidInput(f"{name} must be a list of at most {_MAX_ENTRIES} numbers, not {_named(value)}")
    return tuple(_duration(name, entry) for entry in value)


def _flags(value: Any) -> tuple[str, ...]:
    words = isinstance(value, list) and len(value) <= _MAX_ENTRIES
    if not words or not all(isinstance(word, str) and _FLAG.fullmatch(word) for word in value):
        raise InvalidInput(f"flags must be a list of short lower-case words, not {_named(value)}")
    return tuple(value)


def _interactions(value: Any) -> tuple[Interaction, ...]:
    if not isinstance(value, list) or len(value) > _MAX_ENTRIES:
        raise InvalidInput(
            f"interactions must be a list of at most {_MAX_ENTRIES} entries, not {_named(value)}"
        )
    for each in value:
        if not isinstance(each, dict) or each.get("event") not in _INTERACTIONS:
            raise InvalidInput(
                f"interactions must be objects whose event is one of {', '.join(_INTERACTIONS)}, "
                f"not {_named(each)}"
            )
    return tuple(
        Interaction(each["event"], _duration("interactions.time_ms", each.get("time_ms"))) for each in value
    )


def _facts(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return facts of a browser, which are stored with each session as they came, and so must be few."""
    value = _flat(data, name)
    length = len(json.dumps(value, ensure_ascii=False).encode())
    if length > _MAX_FACTS_BYTES:
        raise InvalidInput(f"{name} must be of at most {_MAX_FACTS_BYTES} bytes as JSON, not {length}")
    return value


def _flat(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an object of plain values, which is stored as it came."""
    value = data.get(name, {})
    if not isinstance(value, dict) or len(value) > _MAX_ENTRIES:
        raise InvalidInput(f"{name} must be an object of at most {_MAX_ENTRIES} entries, not {_named(value)}")
    for key, entry in value.items():
        plain = entry is None or isinstance(entry, (bool, int, float, str))
        too_long = len(key) > _MAX_TEXT or (isinstance(entry, str) and len(entry) > _MAX_TEXT)
        not_finite = isinstance(entry, float) and not math.isfinite(entry)
        if not plain or too_long or not_finite:
            raise InvalidInput(f"{name} must hold short texts and finite numbers, not {_named(entry)}")
    return value


def _check_texts(value: Any) -> None:
    """Refuse texts with control characters or with half of a surrogate pair, wherever they stand.

    JSON can write them (`"\\ud800"`), and Python reads them; databases, hashes and terminals fail on them
    later, far from whoever sent them.
    """
    if isinstance(value, str):
        if _UNPRINTABLE.search(value):
            raise InvalidInput(
                f"texts must be of letters, digits, signs and spaces, not {_named(value)} with a control "
                "character or half of a surrogate pair"
            )
    elif isinstance(value, dict):
        for each in (*value, *value.values()):
            _check_texts(each)
    elif isinstance(value, list):
        for each in value:
            _check_texts(each)


def _whole_number(digits: str) -> float:
    """Read a whole number; one that no clock and no counter has becomes a float, infinite if need be.

    Python's whole numbers have no end, and fail where one of hundreds of digits meets a float.
    """
    return int(digits) if len(digits) <= _DIGITS_OF_WHOLE else float(digits)


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _named(value: Any) -> str:
    text = json.dumps(value) if value is None or isinstance(value, (bool, int, float, str)) else None
    if text is None:
        return {"list": "a list", "dict": "an object"}.get(type(value).__name__, type(value).__name__)
    return text if len(text) <= 60 else text[:57] + "..."


_FACT = {
    Kind.TEXT: _text,
    Kind.WHOLE: _whole,
    Kind.NUMBER: lambda data, name: _number(name, data[name]),
    Kind.LIST: lambda data, name: list(_numbers(name, data[name])),
}
"""How a fact of each kind is taken from a body."""
