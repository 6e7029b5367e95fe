"""Scores on what was really shown, instead of on the exposures that the staircase asked for.

A shown exposure is its whole refreshes times the refresh interval of the block's display. Measured
milliseconds differ by hundredths from trial to trial, so that no two of them would be the same to a mode.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from backend.errors import InvalidInput


def on_shown(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield responses of HYPE-time with `exposure_ms` (ms) as shown: `frames` times `frame_ms`.

    Within an evaluator's block the refresh interval is that of its first response, since the
    interval is measured anew where a display changed.

    Raises:
        InvalidInput: a row does not tell its frames and their interval.
    """
    intervals: dict[tuple, float] = {}
    for number, row in enumerate(rows, start=1):
        frames, frame_ms = row.get("frames"), row.get("frame_ms")
        if not frames or not frame_ms:
            raise InvalidInput(
                f"row {number}: frames and frame_ms must be numbers above 0 to score on shown exposures, "
                f"not {frames!r} and {frame_ms!r}"
            )
        block = (row["model"], row["evaluator"], row["block"])
        yield {**row, "exposure_ms": frames * intervals.setdefault(block, frame_ms)}
