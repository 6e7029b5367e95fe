"""Sessions of items are stored as numbers into their pool, in whatever order their pictures are shown."""

from random import Random

import pytest

from backend.experiment.judgment import Turn
from backend.experiment.judgments.closer import JUDGMENT
from backend.stores.datadir import DataDir
from backend.stores.dynamodb import pool_codec
from backend.stores.dynamodb.store import create_table
from backend.stores.name_pages import PackedNames, held_pages, pack_names

from ... import sample_studies, triplet_studies
from ...conftest import World
from .test_store import Meter, metered


def stored_pool(stimuli):
    packed = pool_codec.pack_pool(stimuli)
    return pool_codec.unpack_directory(packed.sides, packed.firsts, held_pages(packed.pages))


def of_session(study, pool, turn=0):
    rng = Random(turn)
    blocks, spares = JUDGMENT.draw(study, pool.pool(), Turn(study.conditions[0], turn, rng, rng))
    session = sample_studies.session(sample_studies.study(), sample_studies.pool(sample_studies.study()))
    return sample_studies.replaced(session, models=study.models, blocks=blocks, spares=spares)


@pytest.mark.parametrize("count", [20, 3000])
def test_a_session_of_triplets_takes_two_bytes_and_some_bits_each(count):
    study = triplet_studies.study(images=18, blocks=5, picture_checks=15, practice_images=4, triplets=count)
    if count < 90:
        study = triplet_studies.study(triplets=count, practice_images=2)
    pool = stored_pool(triplet_studies.pool(study, triplets=count, known=30))

    for turn in range(5):
        session = of_session(study, pool, turn)
        facts, numbers = pool_codec.pack_session(session, pool)

        assert len(numbers) == 2 * sum(len(block.stimuli) for block in session.blocks)
        assert len(facts) + len(numbers) < 1024  # one write unit; names alone would take five
        assert pool_codec.unpack_session(facts, numbers, lambda: pool) == session


def test_a_session_costs_about_a_write_unit_an_answer(dynalite, tmp_path):
    table = dynalite.url("triplets")
    create_table(table)
    meter = Meter()
    world = World(metered(table, meter), DataDir(tmp_path))
    of = triplet_studies.study(images=90, picture_checks=15, triplets=1000)
    triplet_studies.add(world, of, triplets=1000, known=30)
    triplet_studies.Person(world)  # by the first one the study is begun, and its pool is read
    meter.calls.clear()
    meter.units.clear()

    triplet_studies.Person(world).play()

    assert meter.write_units <= 105 + 8  # the answers; what HYPE-infinity takes besides, and the turn
    assert sum(meter.calls.values()) <= 105 + 30


def test_names_of_several_pictures_take_16_bytes_each_and_come_back():
    rng = Random(1)
    names = sorted(" ".join(f"{rng.getrandbits(128):032x}.webp" for _ in range(3)) for _ in range(100))

    packed = pack_names(names)

    assert len(packed) == 100 * 48 + 7
    assert list(PackedNames(packed)) == names
    assert [PackedNames(packed).place_of(name) for name in names] == list(range(100))


@pytest.mark.parametrize(
    "names", [["a b", "c"], ["a.png b.png", "c.png d.png"], [f"{'0' * 32}.png {'1' * 32}.webp"]]
)
def test_other_names_are_stored_as_text(names):
    assert list(PackedNames(pack_names(names))) == names


def test_a_session_that_shows_other_pictures_than_the_pool_has_is_stored_whole():
    study = triplet_studies.study()
    pool = stored_pool(triplet_studies.pool(study))
    session = of_session(study, pool)
    block = session.blocks[0]
    torn = [name.rsplit(" ", 1)[0] + f" {'f' * 32}.png" for name in block.stimuli]
    other = sample_studies.replaced(session, blocks=(sample_studies.replaced(block, stimuli=tuple(torn)),))

    facts, numbers = pool_codec.pack_session(other, pool)

    assert numbers == b""
    assert pool_codec.unpack_session(facts, numbers, lambda: pool) == other
