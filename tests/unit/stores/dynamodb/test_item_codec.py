"""Sessions of items, stimuli of several pictures, in a table."""

from random import Random

import pytest

from backend.stores.datadir import DataDir
from backend.stores.dynamodb.store import create_table
from backend.stores.name_pages import PackedNames, pack_names

from ... import triplet_studies
from ...conftest import World
from .test_store import Meter, metered


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

    assert meter.write_units <= 105 + 15  # the answers; what HYPE-infinity takes besides, turn and names
    assert sum(meter.calls.values()) <= 105 + 30


def test_names_of_several_pictures_take_16_bytes_each_and_come_back():
    rng = Random(1)
    names = sorted(" ".join(f"{rng.getrandbits(128):032x}.webp" for _ in range(3)) for _ in range(100))

    packed = pack_names(names)

    assert len(packed) == 100 * 48 + 7
    assert list(PackedNames(packed)) == names


@pytest.mark.parametrize(
    "names", [["a b", "c"], ["a.png b.png", "c.png d.png"], [f"{'0' * 32}.png {'1' * 32}.webp"]]
)
def test_other_names_are_stored_as_text(names):
    assert list(PackedNames(pack_names(names))) == names
