"""Names and salts of pictures: a session's own, and turned back by whoever holds the key."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from backend.stimuli.images import encode
from backend.task.picture_names import PictureNames

from .. import sample_studies as studies

NAMES = PictureNames(b"k" * 32)
NAME = st.binary(min_size=16, max_size=16).map(lambda whole: f"{whole.hex()}.png")


@given(NAME, st.text())
def test_a_name_comes_back_for_its_own_session_only(name, session):
    sealed = NAMES.sealed(session, name)

    assert NAMES.opened(session, sealed) == name
    assert NAMES.opened(f"{session}x", sealed) != name
    assert PictureNames(b"other").opened(session, sealed) != name
    assert (len(sealed), sealed[-4:]) == (36, ".png")


@given(NAME, NAME)
def test_what_two_names_have_in_common_tells_nothing_after_sealing(one, other):
    """Sealed by a fixed pad, the difference of two names would be the same in every session."""
    if one == other:
        return

    def difference(session):
        pair = (NAMES.sealed(session, name).partition(".")[0] for name in (one, other))
        first, second = (int(name, 16) for name in pair)
        return first ^ second

    assert difference("a") != difference("b")
    assert difference("a") != int(one[:32], 16) ^ int(other[:32], 16)


def test_sealed_names_of_a_session_are_all_different():
    sealed = {NAMES.sealed("s", f"{i:032x}.png") for i in range(5000)}

    assert len(sealed) == 5000


@pytest.mark.parametrize(
    "name", ["", "a.png", "0" * 32, f"{'0' * 32}.gif", f"{'A' * 32}.png", f"{'0' * 33}.png"]
)
def test_what_is_no_name_of_a_picture_is_said_to_be_none(name):
    assert NAMES.opened("s", name) is None
    with pytest.raises(ValueError, match="is no name of a picture"):
        NAMES.sealed("s", name)


@pytest.mark.parametrize(("kind", "suffix"), [("webp", ".webp"), ("png", ".png"), ("jpeg:90", ".jpg")])
def test_salted_files_are_the_same_picture_and_other_bytes_in_each_session(kind, suffix):
    plain = encode(Image.effect_noise((40, 40), 60).convert("RGB"), kind)

    a, b = (f"{name}{suffix}" for name in "ab")
    salted = [NAMES.salted(session, a, plain) for session in ("s1", "s2")]

    assert len({plain, *salted}) == 3
    assert len({len(each) for each in salted}) == 1
    assert NAMES.salted("s1", a, plain) == salted[0]
    assert NAMES.salted("s1", b, plain) != salted[0]
    for each in salted:
        with Image.open(io.BytesIO(each)) as picture, Image.open(io.BytesIO(plain)) as before:
            assert picture.tobytes() == before.tobytes()


def test_nothing_that_the_api_says_names_a_picture_as_it_is_stored(world):
    study = world.add(studies.study(method="time", images=8, blocks=1, spare_images=8, debrief="true"))
    stored = {stimulus.name[:32] for stimulus in world.store.stimuli(study.name)} | {
        name[:32] for name in study.masks
    }
    player = world.player()
    said = [str(player.begin())]

    wrong = ({"stimulus": player.images[1]}, {"stimulus": "x"}, {"exposure_ms": 100}, {"trial_index": 4})
    for changes in (*wrong, {"flags": ["mistimed"]}):
        said.append(player.post("answers", player.body(**changes)).text)
    said.append(player.post("resume", {}).text)

    assert "wrong_stimulus" in said[1]
    assert "/i/faces/" in said[-2]
    assert [name for name in stored if any(name in text for text in said)] == []


def test_stored_names_may_be_answered_too_as_pages_behind_cloudfront_do(world):
    world.add(studies.study(images=2, spare_images=0))
    player = world.player()
    player.begin()
    player.images = {i: player.stored(name) for i, name in player.images.items()}

    player.answer()

    assert player.answer()["done"]["complete"]


def test_answers_are_stored_under_the_stored_names(world):
    study = world.add(studies.study(images=2, spare_images=0))
    player = world.player()
    player.begin()
    shown = dict(player.images)
    player.play()

    stored = [response.stimulus for response in world.store.responses(player.state["session"])]

    assert stored == [player.stored(shown[i]) for i in range(2)]
    assert set(stored) <= {stimulus.name for stimulus in world.store.stimuli(study.name)}


def test_simulated_evaluators_know_pictures_by_their_stored_names(world):
    study = world.add(studies.study(images=2, spare_images=0))
    player = world.player(simulated=True)

    player.begin()

    assert set(player.images.values()) <= {stimulus.name for stimulus in world.store.stimuli(study.name)}


@pytest.mark.parametrize(
    "path", ["/i/faces/s/{}.png", "/i/.faces/s/{}.png", "/i/faces/s/x.png", "/i/faces/s/../{}.png"]
)
def test_a_name_that_opens_to_nothing_is_not_found(world, path):
    assert world.http.get(path.format("0" * 32)).status_code == 404
