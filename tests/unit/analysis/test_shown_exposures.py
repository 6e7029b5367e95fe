"""Scores on shown exposures: whole refreshes of the display, not what the staircase asked for."""

import io

import pytest

from backend.analysis.table.response_rows import answers_of
from backend.analysis.table.shown_exposures import on_shown
from backend.foundation.errors import InvalidInput
from backend.responses.readers import write_responses
from tests.unit.response_rows import score_file


def row(trial, exposure_ms, frames, frame_ms=16.7, **more):
    return {
        "model": "gan", "evaluator": "e1", "truth": "real", "response": "real", "block": 0,
        "trial_index": trial, "exposure_ms": exposure_ms, "frames": frames, "frame_ms": frame_ms, **more,
    }  # fmt: skip


def test_an_exposure_is_its_refreshes_times_the_interval_of_the_block():
    rows = [row(0, 500, 30), row(1, 505, 30, frame_ms=16.68), row(2, 510, 31), row(3, 9, 1, 6.9, block=1)]

    shown = on_shown(answers_of(rows, "time"))

    assert shown.exposure_ms.tolist() == [501.0, 501.0, 517.7, 6.9]


@pytest.mark.parametrize("missing", ["frames", "frame_ms"])
def test_a_row_that_does_not_tell_what_was_shown_is_refused(missing):
    with pytest.raises(InvalidInput, match="response 2: frames and frame_ms must be numbers above 0"):
        on_shown(answers_of([row(0, 500, 30), {**row(1, 500, 30), missing: None}], "time"))


def test_a_method_without_exposures_is_refused():
    answers = answers_of([{"model": "m", "evaluator": "e", "truth": "real", "response": "real"}], "infinity")

    with pytest.raises(InvalidInput, match="HYPE-infinity has no exposures"):
        on_shown(answers)


def test_exposures_that_a_display_shows_alike_count_as_one(tmp_path):
    # nominal: 470, 480, 490, 490 (mode 490); shown at 60 Hz: 28, 29, 29, 29 refreshes (mode 29)
    rows = [row(0, 470, 28), row(1, 480, 29), row(2, 490, 29), row(3, 490, 29)]
    file = io.StringIO()
    write_responses(rows, file)
    path = tmp_path / "a.csv"
    path.write_text(file.getvalue())

    nominal, shown = score_file(path), score_file(path, exposures="shown")

    assert (nominal["models"][0]["score"], shown["models"][0]["score"]) == (490, pytest.approx(29 * 16.7))
