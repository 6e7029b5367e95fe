"""Pools in a table: only what a session shows is read."""

import dataclasses
from random import Random

import pytest

from backend.experiment import sampling
from backend.experiment.records import Condition
from backend.experiment.session import opening
from backend.foundation.errors import NotFound
from backend.stores.dynamodb import pools
from backend.stores.dynamodb.store import DynamoStore

from ... import sample_studies as studies
from .test_store import Meter, metered


def drawn(study, pool, seed=1, model="gan"):
    rng = Random(seed)
    return sampling.draw_session(
        study, pool, Condition((model,)), rng, sampling.real_counts(study, rng, is_second=False)
    )


@pytest.mark.parametrize(
    ("method", "classes"),
    [
        ("infinity", ("cat", "dog")),
        *(
            pytest.param(*case, marks=pytest.mark.slow("stores many stimuli, as the first"))
            for case in (("infinity", ()), ("time", ()), ("time", ("cat", "dog")))
        ),
    ],
)
def test_a_session_is_drawn_stored_and_read_as_from_a_pool_in_memory(table, method, classes):
    study = studies.study(method=method, classes=classes)
    stimuli = studies.pool(study, each=900)
    DynamoStore.open(table).add_study(study, stimuli)
    store = DynamoStore.open(table)

    blocks, spares = drawn(study, store.pool("faces"))

    expected = drawn(study, sampling.pool_of(sorted(stimuli, key=lambda s: s.name)))
    assert (blocks, spares) == expected
    session = dataclasses.replace(studies.session(study, stimuli), blocks=blocks, spares=spares)
    store.add_session(session, opening(study.protocol, studies.CREATED_AT))
    assert DynamoStore.open(table).session("s1") == session


@pytest.mark.slow("thousands of sessions, or whole ones, in DynamoDB")
def test_a_session_of_many_stimuli_is_opened_and_resumed_with_few_reads(table):
    study, meter = studies.study(models=("a", "b", "c")), Meter()
    DynamoStore.open(table).add_study(study, studies.pool(study, each=15_000))
    store = metered(table, meter)

    blocks, spares = drawn(study, store.pool("faces"), model="b")

    # 120 stimuli with the spares: at most as many pages of the 252, half a unit each; one read for the reals
    # and one for the fakes of the block, and of the spares; and the directory, 16 bytes a page
    assert meter.calls["batch_get_item"] <= 4
    assert meter.units["batch_get_item"] <= 60
    assert meter.units["query"] <= 2
    session = dataclasses.replace(
        studies.session(study, model="b", stimuli=studies.pool(study, each=60)), blocks=blocks, spares=spares
    )
    meter.calls.clear()
    store.add_session(session, opening(study.protocol, studies.CREATED_AT))
    assert meter.calls["query"] == 0
    meter.calls.clear()
    meter.units.clear()
    assert metered(table, meter).session("s1") == session
    assert meter.calls == {"get_item": 2}  # the session and its study, whatever the pool
    assert meter.units["get_item"] <= 2


def test_a_session_is_stored_with_its_names_compressed(table):
    study = studies.study()
    stimuli = studies.pool(study, each=900)
    store = DynamoStore.open(table)
    store.add_study(study, stimuli)

    store.add_session(studies.session(study, stimuli), opening(study.protocol, studies.CREATED_AT))

    item = store._calls.get("session s1", "00000000")
    assert 16 * 120 < len(item["j"]["B"]) < 25 * 120  # a name is a hash of 16 bytes


def test_what_is_cached_of_pools_is_bounded_by_its_bytes(table, monkeypatch):
    monkeypatch.setattr(pools, "_PAGES_BYTES", 100_000)
    study = studies.study(models=("a", "b", "c"))
    stimuli = studies.pool(study, each=5_000)
    store = DynamoStore.open(table)
    store.add_study(study, stimuli)

    for seed in range(5):
        drawn(study, store.pool("faces"), seed, "a")

    cached = store._pools._pages._values.values()
    assert 50_000 < sum(map(len, cached)) < 100_000


def test_nothing_is_left_of_a_pool_that_is_removed(table):
    study = studies.study()
    store = DynamoStore.open(table)
    store.add_study(study, studies.pool(study, each=900))

    store.remove_study("faces")

    found = store._calls.client.scan(TableName=store._calls.table)["Items"]
    assert [item for item in found if item["p"]["S"].startswith("pool")] == []


def test_a_pool_that_was_deleted_while_it_is_drawn_from_is_not_found(table):
    study = studies.study()
    store = DynamoStore.open(table)
    store.add_study(study, studies.pool(study, each=900))
    pool = store.pool("faces")

    DynamoStore.open(table).remove_study("faces")

    with pytest.raises(NotFound, match="there is no study 'faces'"):
        drawn(study, pool)
