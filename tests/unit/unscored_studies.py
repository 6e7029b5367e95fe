"""Studies with practice and attention checks, and stimuli for them, to test with."""

from random import Random

from backend.experiment.records import CHECK, FAKE, PRACTICE, REAL, Stimulus

from . import sample_studies as studies


def stimuli(study, each=60, aside=12, seed=7):
    """Return a study's pool with `aside` reals and fakes for practice, and as many for checks."""
    rng = Random(seed)
    return studies.pool(study, each=each) + [
        Stimulus(f"{rng.getrandbits(128):032x}.png", truth, model, "", f"{truth}{i}.png", role)
        for role in (PRACTICE, CHECK)
        for truth, model in ((REAL, None), (FAKE, ""))
        for i in range(aside)
    ]


def add(world, study, **options):
    """Add a study with such a pool to a world of `conftest`."""
    world.pools[study.name] = stimuli(study, **options)
    world.store.add_study(study, world.pools[study.name])
    return study


def play(player, right=lambda kind: True, **facts):
    """Answer all of a session; return the replies.

    Args:
        right: whether to answer a trial of a kind right.
        facts: what is posted with each answer.
    """
    roles = {}
    for stimulus in player.world.pools[player.state["study"]]:
        roles[stimulus.name] = stimulus.role
    replies = []
    while player.done is None:
        block = player.begin()
        for instruction in block["instructed"] or [None] * len(block["images"]):
            name = player.stored(player.images[player.next["trial_index"]])
            kind = "instructed" if instruction else roles[name] or "test"
            truth = instruction or player.truths[name]
            wrong = {"real": "fake", "fake": "real"}[truth]
            replies.append({**player.answer(response=truth if right(kind) else wrong, **facts), "kind": kind})
    return replies
