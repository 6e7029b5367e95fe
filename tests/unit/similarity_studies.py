"""Small studies of same or different to test with: named pairs, no pictures on disk."""

from random import Random

from backend.experiment import sampling
from backend.experiment.judgment import Turn
from backend.experiment.judgments.same_or_different import DIFFERENT, JND, JUDGMENT, SAME
from backend.experiment.records import CHECK, PRACTICE, Condition, Session, Stimulus, Study
from backend.experiment.settings import new_protocol

from . import sample_studies

SMALL = {"images": 16, "picture_checks": 10, "practice_images": 4, "spare_images": 6}


def study(name="pairs", sets=("traditional",), kind="study", **settings):
    """Return a JND study; a small one unless settings say otherwise."""
    numbers = new_protocol(JND, kind, {"panel": "link", **SMALL, **settings})
    return Study(name, kind, sets, numbers, sample_studies.CREATED_AT)


def pool(of, each=60, known=30, seed=1):
    """Return the pairs of a study: `each` of every set, and `known` of each known answer and role."""
    rng = Random(seed)

    def pair(truth, model, source, role=""):
        names = " ".join(f"{rng.getrandbits(128):032x}.png" for _ in range(2))
        return Stimulus(names, truth, model, "", source, role)

    tests = [pair("", set_, f"{set_}/{i:06}") for set_ in of.models for i in range(each)]
    asides = [
        pair(truth, "", f"{role}/{truth}{i}", role)
        for role in (CHECK, PRACTICE)
        for truth in (SAME, DIFFERENT)
        for i in range(known)
    ]
    return tests + asides


def session(of, stimuli=None, seed=1, turn=0):
    """Return a session drawn from the study's pool."""
    drawn = sampling.pool_of(stimuli if stimuli is not None else pool(of))
    rng = Random(seed)
    blocks, spares = JUDGMENT.draw(of, drawn, Turn(Condition(of.models), turn, rng, rng))
    return Session(
        id="s1",
        study=of.name,
        models=of.models,
        evaluator="e-s1",
        evaluator_key=None,
        secret_hash="x",
        completion_code="CODE",
        seed=seed,
        opened_at=sample_studies.CREATED_AT,
        blocks=blocks,
        spares=spares,
    )
