"""Scoring on the exposures actually shown, instead of those that were requested.

A shown exposure is its number of refreshes times the refresh interval of the block's display. Measured
milliseconds differ by hundredths between trials, so that no two would be equal and there would be no mode.
With fixed exposures, psychometric functions are fitted to shown exposures, and answers are grouped by the
requested ones.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from backend.experiment.staircase import COMPARED_DIGITS
from backend.foundation.errors import InvalidInput

if TYPE_CHECKING:
    from backend.analysis.table.response_table import Answers


def as_exposed(answers: "Answers", exposures: str) -> "Answers":
    """Return the responses with the given kind of exposures: `nominal`, or `shown` (`on_shown`)."""
    if exposures != "shown":
        return answers
    shown = on_shown(answers)
    before = answers.unexcluded
    return shown if before is None else replace(shown, unexcluded=on_shown(before))


def on_shown(answers: "Answers") -> "Answers":
    """Return responses with `exposure_ms` (ms) as shown: `frames` times `frame_ms`.

    The requested exposures are stored in the column `asked_ms`, from which the staircase rule is inferred. An
    exposure without time limit stays infinite.

    Within an evaluator's block the refresh interval is that of its first response, since the
    interval is measured again if the display changes. Products are rounded as exposures are
    compared.

    Raises:
        InvalidInput: HYPE-infinity, or a response without frames and their interval.
    """
    import numpy as np

    if answers.exposure_ms is None:
        raise InvalidInput("HYPE-infinity has no exposures to score on; leave out exposures='shown'")
    unknown = np.full(len(answers), np.nan)
    frames, frame_ms = (answers.numbers.get(name, unknown) for name in ("frames", "frame_ms"))
    is_timed = np.isfinite(answers.exposure_ms)
    is_bad = is_timed & ~((frames > 0) & (frame_ms > 0))
    if is_bad.any():
        row = int(np.flatnonzero(is_bad)[0])
        raise InvalidInput(
            f"response {row + 1}: frames and frame_ms must be numbers above 0 to score on shown exposures, "
            f"not {frames[row]:g} and {frame_ms[row]:g}"
        )
    if answers.block is not None:
        blocks = answers.judges.of_response.astype(np.int64) * (int(answers.block.max()) + 1) + answers.block
        _, first, block = np.unique(blocks, return_index=True, return_inverse=True)
        frame_ms = frame_ms[first][block]
    return replace(
        answers,
        exposure_ms=np.where(is_timed, np.round(frames * frame_ms, COMPARED_DIGITS), np.inf),
        numbers={**answers.numbers, "asked_ms": answers.exposure_ms},
    )
