"""Compact, lossless encoding of responses and cursors.

DynamoDB charges a write for each started kilobyte of the item, so that the size of a response is its
price. A response becomes columns of text made of digits and five other characters, two characters to a
byte; fields that are words follow. Numbers keep their form: 500 and 500.0 are restored as such.
"""

import json
import lzma
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from backend.experiment.records import FAKE, REAL, Interaction, Response, Timing
from backend.experiment.session import Cursor

_SIGNS = "0123456789.,;-e"
_HEX = str.maketrans(_SIGNS, "0123456789abcde")
_FROM_HEX = str.maketrans("0123456789abcde", _SIGNS)
_NO_PUNCTUATION = str.maketrans("", "", "-:.TZ")
_FACTS, _AT = 10, 8
_NUMBERS = _FACTS + 6
_NO_WORDS = ("",) * 6
_WORDS_AT_LEAST = 4
_SAME = "-"
"""Marks what follows from other columns: frames achieved as planned, times given by the phases."""
_DIFFERENCES = "+"
"""Precedes the first time of a column whose other times are differences, in milliseconds."""
_STATES = ("active", "finished", "ended", "returned")
_DAY_DIGITS, _AT_DIGITS = 8, 17
_TRUTHS = (REAL, FAKE)
"""Answers encoded as digits; others are stored as words."""
_OTHER = "="
"""Separates the name of a truth other than real and fake from its count of right answers."""
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "lc": 0, "lp": 0, "pb": 0, "dict_size": 1 << 20}]


def pack_response(response: Response, pictures: Sequence[str]) -> bytes:
    """Return a response as bytes; `pictures` are the stimulus names of its session, in a fixed order."""
    numbers, words = _columns(response, pictures)
    return _nibbles(",".join(numbers)) + "\n".join(words).rstrip("\n").encode()


def unpack_response(data: bytes, pictures: Sequence[str]) -> Response:
    """Return the response encoded by `pack_response`."""
    text, rest = _from_nibbles(data)
    return _response(text.split(","), rest.decode().split("\n"), pictures)


def pack_responses(responses: Sequence[Response], pictures: Sequence[str]) -> bytes:
    """Return all responses of a session as bytes: column by column, compressed."""
    rows = [_columns(response, pictures) for response in responses]
    columns: list[Sequence[str]] = list(zip(*(numbers + words for numbers, words in rows), strict=True))
    if columns:
        columns[_AT] = _as_differences(columns[_AT])
    while len(columns) > _NUMBERS + _WORDS_AT_LEAST and not any(columns[-1]):
        columns.pop()  # no words beyond those of HYPE, and no facts
    text = "\v".join("\n".join(column) for column in columns)
    return lzma.compress(text.encode(), format=lzma.FORMAT_RAW, filters=_FILTERS)


def unpack_responses(data: bytes, pictures: Sequence[str]) -> list[Response]:
    """Return the responses encoded by `pack_responses`."""
    text = lzma.decompress(data, format=lzma.FORMAT_RAW, filters=_FILTERS).decode()
    if not text:
        return []
    columns = [column.split("\n") for column in text.split("\v")]
    columns[_AT] = _from_differences(columns[_AT])
    rows = zip(*columns, strict=True)
    return [_response(row[:_NUMBERS], row[_NUMBERS:], pictures) for row in rows]


def pack_cursor(cursor: Cursor, pictures: Sequence[str]) -> bytes:
    """Return a cursor as bytes, without its version and its displays."""
    strange = [spare for _, spare in cursor.voids if spare not in pictures]
    places = {**{spare: -1 - i for i, spare in enumerate(strange)}, **_places(cursor, pictures)}
    voids = [place for index, spare in cursor.voids for place in (index, places[spare])]
    numbers = (
        *(cursor.lease, cursor.blocks_begun, cursor.trial_index, cursor.exposure_ms),
        *(cursor.right_in_a_row, *(cursor.right.get(truth, 0) for truth in _TRUTHS)),
        *(cursor.voided_answers, cursor.voided_right, _STATES.index(cursor.state)),
    )
    text = ",".join([*map(_text, numbers), _digits(cursor.last_at), _list(voids)])
    others = [f"{truth}{_OTHER}{count}" for truth, count in cursor.right.items() if truth not in _TRUTHS]
    return _nibbles(text) + "\n".join([*strange, *others]).encode()


def unpack_cursor(
    data: bytes, version: int, displays: Sequence[dict[str, Any]], pictures: Sequence[str]
) -> Cursor:
    """Return the cursor encoded by `pack_cursor`."""
    text, rest = _from_nibbles(data)
    lines = rest.decode().split("\n")
    strange = [line for line in lines if _OTHER not in line]
    others = [line.split(_OTHER) for line in lines if _OTHER in line]
    lease, begun, trial, exposure, in_a_row, *rest_of_text = text.split(",")
    reals, fakes, answered, right, state, last_at, voids = rest_of_text
    counts = [(REAL, int(reals)), (FAKE, int(fakes)), *((truth, int(count)) for truth, count in others)]
    places = _numbers(voids) or ()
    spares = [pictures[place] if place >= 0 else strange[-1 - place] for place in places[1::2]]
    return Cursor(
        version,
        *(int(lease), int(begun), int(trial), _number(exposure), int(in_a_row)),
        right={truth: count for truth, count in counts if count},
        voided_answers=int(answered),
        voided_right=int(right),
        voids=tuple(zip(places[::2], spares, strict=True)),
        state=_STATES[int(state)],
        last_at=_stamp(last_at),
        displays=tuple(displays),
    )


def _places(cursor: Cursor, pictures: Sequence[str]) -> dict[str, int]:
    return {spare: pictures.index(spare) for _, spare in cursor.voids if spare in pictures}


def _columns(response: Response, pictures: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the columns of a response: numbers as text in `_SIGNS`, then words."""
    known = response.stimulus in pictures
    numbers = [
        str(response.trial_index),
        str(response.block),
        str(pictures.index(response.stimulus)) if known else "",
        str(_TRUTHS.index(response.response)) if response.response in _TRUTHS else "",
        *map(_text, (response.exposure_ms, response.frames, response.frame_ms, response.rt)),
        _digits(response.at),
        str(response.attempt),
        *_flash(response),
    ]
    evidence = response.timing.evidence if response.timing else ""
    happened = [f"{each.event}:{each.time_ms!r}" for each in response.interactions]
    facts = json.dumps(response.facts, separators=(",", ":")) if response.facts else ""
    other = "" if response.response in _TRUTHS else response.response
    words = [" ".join(response.flags), "" if known else response.stimulus, " ".join(happened), facts, other]
    return numbers, [evidence, *words]


def _flash(response: Response) -> list[str]:
    timing, masks = response.timing, response.mask_ms
    if timing is None:
        return [_text(response.shown_ms), _list(masks), "", "", "", ""]
    place = len(timing.phase_ms) - len(masks or ()) - 1
    told = place >= 0 and _alike((response.shown_ms, *(masks or ())), timing.phase_ms[place:])
    return [
        f"{_SAME}{place}" if told else _text(response.shown_ms),
        _SAME if told and masks is not None else _list(masks),
        _text(timing.lateness_ms),
        _list(timing.planned_frames),
        _SAME if timing.achieved_frames == timing.planned_frames else _list(timing.achieved_frames),
        _list(timing.phase_ms),
    ]


def _response(numbers: Sequence[str], words: Sequence[str], pictures: Sequence[str]) -> Response:
    index, block, place, truth, exposure, frames, frame_ms, rt, at, attempt = numbers[:_FACTS]
    evidence, flags, stimulus, happened, facts, other = (*words, *_NO_WORDS)[: len(_NO_WORDS)]
    shown_ms, mask_ms, timing = _seen(numbers[_FACTS:], evidence)
    return Response(
        trial_index=int(index),
        block=int(block),
        stimulus=pictures[int(place)] if place else stimulus,
        response=_TRUTHS[int(truth)] if truth else other,
        exposure_ms=_number(exposure),
        shown_ms=shown_ms,
        frames=_number(frames),
        frame_ms=_number(frame_ms),
        mask_ms=mask_ms,
        rt=_number(rt),
        flags=tuple(flags.split()),
        at=_stamp(at),
        attempt=int(attempt),
        timing=timing,
        interactions=tuple(_interaction(text) for text in happened.split()),
        facts=json.loads(facts) if facts else {},
    )


def _interaction(text: str) -> Interaction:
    event, _, time_ms = text.partition(":")
    return Interaction(event, _number(time_ms))


def _seen(
    columns: Sequence[str], evidence: str
) -> tuple[float | None, tuple[float, ...] | None, Timing | None]:
    """Return (shown_ms, mask_ms, timing)."""
    shown, masks, lateness, planned, achieved, phases = columns
    if not lateness:
        return _number(shown), _numbers(masks), None
    phase_ms, planned_frames = _numbers(phases) or (), _numbers(planned) or ()
    achieved_frames = planned_frames if achieved == _SAME else _numbers(achieved) or ()
    timing = Timing(evidence, _number(lateness), planned_frames, achieved_frames, phase_ms)
    if not shown.startswith(_SAME):
        return _number(shown), _numbers(masks), timing
    place = int(shown.removeprefix(_SAME))
    return phase_ms[place], phase_ms[place + 1 :] if masks else None, timing


def _alike(some: Sequence[object], others: Sequence[object]) -> bool:
    """Return whether two sequences have equal numbers of the same type: 500 is not 500.0."""
    return list(map(repr, some)) == list(map(repr, others))


def _text(value: float | None) -> str:
    return "" if value is None else repr(value)


def _number(text: str) -> Any:
    """Return the number encoded by `_text`, whole or not as it was; None for ''."""
    if not text:
        return None
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def _list(values: Sequence[float] | None) -> str:
    return "" if values is None else ";" + ";".join(map(repr, values))


def _numbers(text: str) -> tuple[Any, ...] | None:
    """Return the numbers encoded by `_list`; a lone semicolon is an empty tuple, '' is None."""
    if not text:
        return None
    return tuple(map(_number, text[1:].split(";"))) if len(text) > 1 else ()


def _digits(at: str) -> str:
    """Return the digits of a time in the format of `timestamps.stamp`."""
    return at.translate(_NO_PUNCTUATION)


def _stamp(digits: str) -> str:
    if not digits:
        return ""
    d = digits
    return f"{d[:4]}-{d[4:6]}-{d[6:8]}T{d[8:10]}:{d[10:12]}:{d[12:14]}.{d[14:]}Z"


def _as_differences(times: Sequence[str]) -> Sequence[str]:
    """Return times of one day (digits) as the first one and differences; others are returned unchanged."""
    day = times[0][:_DAY_DIGITS]
    if not all(len(time) == _AT_DIGITS and time.isdecimal() and time.startswith(day) for time in times):
        return times
    milliseconds = [_milliseconds(time) for time in times]
    if [day + _time_of_day(count) for count in milliseconds] != list(times):
        return times  # such as 61 seconds
    return [_DIFFERENCES + times[0], *(str(after - before) for before, after in pairwise(milliseconds))]


def _from_differences(times: list[str]) -> list[str]:
    """Return the times encoded by `_as_differences`."""
    if not times[0].startswith(_DIFFERENCES):
        return times
    first = times[0].removeprefix(_DIFFERENCES)
    steps = accumulate(map(int, times[1:]), initial=_milliseconds(first))
    return [first[:_DAY_DIGITS] + _time_of_day(count) for count in steps]


def _milliseconds(time: str) -> int:
    """Return the milliseconds of a time (digits) since its day began."""
    hours, minutes, rest = time[8:10], time[10:12], time[12:]
    return int(hours) * 3_600_000 + int(minutes) * 60_000 + int(rest)


def _time_of_day(milliseconds: int) -> str:
    minutes, rest = divmod(milliseconds, 60_000)
    return f"{minutes // 60:02}{minutes % 60:02}{rest:05}"


def _nibbles(text: str) -> bytes:
    """Return text in `_SIGNS` as self-delimiting bytes: two characters a byte."""
    digits = text.translate(_HEX)
    packed = bytes.fromhex(digits + "f" * (len(digits) % 2))
    return len(packed).to_bytes(2, "big") + packed


def _from_nibbles(data: bytes) -> tuple[str, bytes]:
    """Return the text, and the bytes that follow it."""
    end = 2 + int.from_bytes(data[:2], "big")
    return data[2:end].hex().translate(_FROM_HEX).rstrip("f"), data[end:]
