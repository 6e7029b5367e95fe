"""Responses and cursors come back from their bytes as they were, to the last digit."""

import dataclasses
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.experiment.records import Interaction, Response, Timing
from backend.experiment.session import Cursor
from backend.stores.dynamodb import response_codec

from ... import sample_studies as studies

PICTURES = [f"{i:032x}.png" for i in range(510)]
AT = "2026-01-01T00:00:01.000Z"

numbers = st.integers(0, 10**6) | st.floats(0, 1e9, exclude_max=True) | st.just(1e-07)
maybe = st.none() | numbers
lists = st.lists(numbers, max_size=9).map(tuple)
words = st.from_regex(r"[a-z0-9_-]{1,32}", fullmatch=True)
counts = st.lists(st.integers(0, 99), max_size=9).map(tuple)
timings = st.builds(Timing, words, numbers, counts, counts, lists)
interactions = st.builds(Interaction, st.sampled_from(["focus", "blur", "fullscreenexit"]), numbers)
responses = st.builds(
    Response,
    trial_index=st.integers(0, 10**5),
    block=st.integers(0, 50),
    stimulus=st.sampled_from(PICTURES) | st.sampled_from(["strange.png", "left.png right.png"]),
    response=st.sampled_from(["real", "fake", "left", "not_sure"]),
    exposure_ms=maybe,
    shown_ms=maybe,
    frames=st.none() | st.integers(0, 1000),
    frame_ms=maybe,
    mask_ms=st.none() | lists,
    rt=maybe,
    flags=st.lists(words, max_size=4).map(tuple),
    at=st.just(AT),
    attempt=st.integers(0, 40),
    timing=st.none() | timings,
    interactions=st.lists(interactions, max_size=3).map(tuple),
    facts=st.dictionaries(st.text(), st.text() | numbers | st.lists(numbers), max_size=3),
)


def exactly(record):
    return repr(record)  # 500 == 500.0, but they are not written alike


def test_every_field_of_a_response_is_drawn_here_so_that_a_new_one_is_not_forgotten():
    drawn = (
        "trial_index block stimulus response exposure_ms shown_ms frames frame_ms mask_ms rt flags at attempt"
    )

    fields = {field.name for field in dataclasses.fields(Response)}

    assert fields == {*drawn.split(), "timing", "interactions", "facts"}


@given(responses)
def test_a_response_comes_back(response):
    packed = response_codec.pack_response(response, PICTURES)

    assert exactly(response_codec.unpack_response(packed, PICTURES)) == exactly(response)


@given(st.lists(responses, max_size=5))
def test_the_responses_of_a_session_come_back(some):
    packed = response_codec.pack_responses(some, PICTURES)

    assert exactly(response_codec.unpack_responses(packed, PICTURES)) == exactly(some)


@pytest.mark.parametrize("masks", [4, 0, None])
def test_what_the_phases_tell_is_not_stored_twice(masks):
    flash = studies.flash(Random(1), 500)
    timing = Timing(*(tuple(v) if isinstance(v, list) else v for v in flash["timing"].values()))
    timing = dataclasses.replace(timing, phase_ms=timing.phase_ms[: 4 + (masks or 0)])
    told = Response(
        3, 0, PICTURES[3], "real", 500, timing.phase_ms[3], 30, 16.7, timing.phase_ms[4:], 300.5, (), AT
    )
    told = dataclasses.replace(told, timing=timing, mask_ms=None if masks is None else told.mask_ms)
    other = dataclasses.replace(told, shown_ms=told.shown_ms + 0.001)

    packed = response_codec.pack_response(told, PICTURES)

    assert exactly(response_codec.unpack_response(packed, PICTURES)) == exactly(told)
    assert len(packed) < len(response_codec.pack_response(other, PICTURES))


def counted(counts):
    return {truth: n for truth, n in zip(("real", "fake", "left"), counts, strict=True) if n}


@given(
    st.builds(
        Cursor,
        version=st.just(9),
        lease=st.integers(1, 50),
        blocks_begun=st.integers(0, 50),
        trial_index=st.integers(0, 10**5),
        exposure_ms=maybe,
        right_in_a_row=st.integers(0, 9),
        right=st.lists(st.integers(0, 500), min_size=3, max_size=3).map(counted),
        voided_answers=st.integers(0, 60),
        voided_right=st.integers(0, 60),
        voids=st.lists(
            st.tuples(st.integers(0, 500), st.sampled_from([*PICTURES, "strange.png", "odd.png"])), max_size=5
        ).map(tuple),
        state=st.sampled_from(["active", "finished", "ended"]),
        last_at=st.sampled_from([AT, ""]),
    )
)
def test_a_cursor_comes_back(cursor):
    packed = response_codec.pack_cursor(cursor, PICTURES)

    assert exactly(response_codec.unpack_cursor(packed, 9, (), PICTURES)) == exactly(cursor)
