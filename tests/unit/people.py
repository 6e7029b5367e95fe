"""People who take part over HTTP as browsers do, many at a time; to the server they are real evaluators."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from random import Random

from backend.commands.simulated_evaluators import Client
from backend.handlers import create_app
from backend.stores.datadir import DataDir
from backend.task.picture_names import PictureNames
from backend.web.server import in_background
from tests.unit.whole_sessions import take_part


def take_part_all(base, store, study, data, count, right=0.7, seed=0, at_once=8, is_sealed=True):
    """Have `count` people answer a whole session each at the server `base`, right with a probability.

    Args:
        is_sealed: whether pictures have other names in each session, as on one machine.
    """
    names = PictureNames(data.keys().hashing) if is_sealed else None
    pictures = {each.name: each for each in store.stimuli(study.name)}

    def person(i):
        rng, client = Random(f"{seed} {i}"), Client(base)

        def answer(truth, model, exposure_ms, shown):
            return truth if rng.random() < right else {"real": "fake", "fake": "real"}[truth]

        try:
            return take_part(
                client, study, pictures, answer, {"PROLIFIC_PID": secrets.token_hex(12)}, names=names
            )
        finally:
            client.close()

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(person, range(count)))


@contextmanager
def served(store, folder):
    """Give the address of a server on a store, and stop it afterwards."""
    data = DataDir(folder)
    with in_background(create_app(store, data, data.keys())) as base:
        yield base
