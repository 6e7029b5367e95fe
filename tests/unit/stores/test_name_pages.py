"""Names in pages: every name comes back, at 16 bytes each, and a pool in pages is drawn from as in a list."""

import hashlib
import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.experiment import sampling
from backend.experiment.records import Condition
from backend.stores.name_pages import NAMES_PER_PAGE, PackedNames, held_pool, pack_names

from .. import sample_studies as studies

NAMES = st.one_of(
    st.text(),
    st.builds(
        lambda number, suffix: f"{number:032x}{suffix}",
        st.integers(0, 2**128 - 1),
        st.sampled_from([".png", ".jpg", ".webp", "", ".PNG"]),
    ),
)


@given(st.lists(NAMES))
def test_names_come_back_as_they_were_packed(names):
    packed = PackedNames(pack_names(names))

    assert list(packed) == names
    assert packed[1:3] == names[1:3]


def test_a_full_page_of_hashes_is_below_four_kilobytes_with_its_keys():
    rng = Random(1)
    keys = len(f"pool {'n' * 63} {'0' * 16} 7" + "00000000" + "psb")

    page = pack_names([f"{rng.getrandbits(128):032x}.webp" for _ in range(NAMES_PER_PAGE)])

    assert len(page) + keys < 4096


def rows_of(stimuli):
    return [(s.name, s.truth, s.model, s.class_, s.role) for s in sorted(stimuli, key=lambda s: s.name)]


def test_a_pool_in_pages_is_the_pool_in_lists():
    study = studies.study(classes=("cat", "dog"))
    stimuli = studies.pool(study, each=500)

    pool = held_pool(rows_of(stimuli))

    listed = sampling.pool_of(sorted(stimuli, key=lambda s: s.name))
    assert {class_: [*names] for class_, names in pool.reals.items()} == listed.reals
    assert list(pool.reals) == list(listed.reals)
    assert {m: {c: [*names] for c, names in of.items()} for m, of in pool.fakes.items()} == listed.fakes
    assert list(pool.fakes) == list(listed.fakes)
    assert pool.reals["cat"][-1] == listed.reals["cat"][-1]


def test_a_pool_in_pages_takes_twenty_bytes_a_stimulus():
    study = studies.study()

    pool = held_pool(rows_of(studies.pool(study, each=10_000)))

    assert 16 * 30_000 <= pool.memory_bytes <= 20 * 30_000


@pytest.mark.parametrize(
    ("settings", "condition", "seed", "digest"),
    [
        ({}, Condition(("gan",)), 1, "40c8cbe9103bfea2"),
        ({}, Condition(("gan",)), 2, "e43180e66ca9f98f"),
        ({"method": "time"}, Condition(("vae",)), 1, "5527ab294f6e91b4"),
        ({"classes": ("cat", "dog")}, Condition(("gan",)), 1, "b3facd7f118cd200"),
        (
            {"classes": ("cat", "dog"), "class_design": "between"},
            Condition(("gan",), "dog"),
            1,
            "0a28143a64347ad9",
        ),
        ({"kind": "qualification"}, None, 1, "5eac1c0bef2b62c0"),
        ({"balance": "people"}, Condition(("vae",)), 1, "042532c21db8a18a"),
    ],
)
def test_a_session_is_drawn_as_before_pools_were_in_pages(settings, condition, seed, digest):
    # The digests are of sessions drawn by commit d7e20fa, which held each side as a list.
    study = studies.study(**settings)
    pool, rng = held_pool(rows_of(studies.pool(study, each=700))), Random(seed)

    drawn = sampling.draw_session(study, pool, condition, rng, sampling.real_counts(study, rng, False))

    text = json.dumps([[b.stimuli, b.truths, b.models, b.class_] for part in drawn for b in part])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest
