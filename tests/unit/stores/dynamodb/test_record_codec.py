"""Records come back from their bytes as they were, to the last digit, whatever fields they have."""

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from backend.experiment.records import Interaction, Response, Timing
from backend.experiment.session import Cursor
from backend.stores import json_codec
from backend.stores.dynamodb import record_codec

PICTURES = [f"{i:032x}.png" for i in range(510)]
AT = "2026-01-01T00:00:01.000Z"

RESPONSE = Response(
    3, 0, PICTURES[3], "real", 500, 500.25, 30, 16.7, (33.3, 33.4), 300.5, ("late",), AT, 1,
    Timing("element", 0.5, (30, 2), (30, 3), (500.25, 33.3)), (Interaction("blur", 12),), {"browser": "x"},
)  # fmt: skip

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
    packed = record_codec.pack(response, PICTURES)

    assert exactly(record_codec.unpack(Response, packed, PICTURES)) == exactly(response)
    assert exactly(json_codec.load_response(json_codec.dump(response))) == exactly(response)


@given(st.lists(responses, max_size=5))
def test_the_responses_of_a_session_come_back(some):
    packed = record_codec.pack(some, PICTURES)

    assert exactly(record_codec.unpack(list[Response], packed, PICTURES)) == exactly(some)


@dataclasses.dataclass(frozen=True)
class Gaze:
    """A fact that no record of the product has."""

    x_px: float
    seen: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Watched(Response):
    """A response with more fields, of all kinds that records have."""

    pupil_mm: float | None = None
    gaze: Gaze | None = None
    fixations: tuple[Gaze, ...] = ()
    targets: tuple[tuple[int, str], ...] = ()


def test_a_field_more_is_stored_without_a_change_of_the_store():
    gaze = Gaze(500, ("strange.png", PICTURES[7]))
    watched = Watched(
        **vars(RESPONSE),
        pupil_mm=2.5,
        gaze=gaze,
        fixations=(gaze, Gaze(0.5, ())),
        targets=((3, PICTURES[1]),),
    )
    unseen = dataclasses.replace(watched, pupil_mm=None, gaze=None, fixations=())

    packed = record_codec.pack([watched, unseen], PICTURES)

    assert exactly(record_codec.unpack(list[Watched], packed, PICTURES)) == exactly([watched, unseen])


def test_names_of_the_session_are_stored_as_numbers():
    other = dataclasses.replace(RESPONSE, stimulus="f" * 32 + ".png")

    known, unknown = (record_codec.pack(each, PICTURES) for each in (RESPONSE, other))

    assert len(known) < len(unknown)
    assert record_codec.unpack(Response, unknown, PICTURES) == other


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
        displays=st.lists(st.dictionaries(words, numbers | st.booleans(), max_size=3), max_size=3).map(tuple),
        questions=st.dictionaries(words, st.dictionaries(words, st.text() | numbers), max_size=2),
    )
)
def test_a_cursor_comes_back(cursor):
    packed = record_codec.pack(cursor, PICTURES)

    assert exactly(record_codec.unpack(Cursor, packed, PICTURES)) == exactly(cursor)
    assert exactly(json_codec.load_cursor(json_codec.dump(cursor))) == exactly(cursor)
