"""Pools with pictures for practice and checks in a table."""

from random import Random

import pytest

from backend.experiment import sampling
from backend.experiment.judgment import Turn
from backend.experiment.judgments import judgment_of
from backend.stores import json_codec
from backend.stores.dynamodb import pool_codec
from backend.stores.name_pages import held_pages

from ... import sample_studies as studies
from ... import unscored_studies


def stored_pool(stimuli):
    packed = pool_codec.pack_pool(stimuli)
    return pool_codec.StoredPool(pool_codec.unpack_sides(packed.sides), held_pages(packed.pages))


@pytest.mark.parametrize("classes", [(), ("cat", "dog")])
def test_a_session_with_practice_and_checks_comes_back_from_a_pool_in_pages(classes):
    study = studies.study(
        classes=classes, images=20, practice_images=6, picture_checks=4, instructed_checks=6
    )
    stimuli = unscored_studies.stimuli(study)
    turn = Turn(study.conditions[0], 0, Random(1), Random(1))
    blocks, spares = judgment_of("infinity").draw(study, stored_pool(stimuli).pool(), turn)
    session = studies.session(studies.study(classes=classes), stimuli)
    session = studies.replaced(session, blocks=blocks, spares=spares)

    assert json_codec.load_session(json_codec.dump(session)) == session


def test_a_pool_read_back_has_the_roles_it_was_stored_with():
    study = studies.study()
    stimuli = unscored_studies.stimuli(study)

    pool, listed = stored_pool(stimuli).pool(), sampling.pool_of(sorted(stimuli, key=lambda each: each.name))

    assert {role: len(parts) for role, parts in pool.aside.items()} == {"practice": 2, "check": 2}
    for role, parts in listed.aside.items():
        found = {(truth, model): [*names] for truth, model, names in pool.aside[role]}
        assert found == {(truth, model): [*names] for truth, model, names in parts}
