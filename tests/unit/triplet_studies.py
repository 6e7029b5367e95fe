"""Small studies of 2AFC to test with: named triplets, no pictures on disk."""

from random import Random

from backend.experiment.judgments import method_named
from backend.experiment.records import CHECK, PRACTICE, Stimulus, Study
from backend.experiment.settings import new_protocol
from backend.task.picture_names import PictureNames

from . import sample_studies

SMALL = {"images": 8, "picture_checks": 3, "judgments_per_item": 2, "panel": "link"}


def study(name="sim", sets=("traditional", "cnn"), triplets=20, **settings):
    """Return a 2AFC study of so many triplets in all; a small one unless settings say otherwise."""
    made = new_protocol(method_named("2afc").protocol, "study", {**SMALL, **settings})
    wanted = -(-triplets * made.judgment.judgments_per_item // made.stimuli.trials)
    if "evaluators" not in settings:
        made = made.changed(evaluators=wanted)
    return Study(name, "study", sets, made, sample_studies.CREATED_AT, settings_id="a")


def pool(of, triplets=20, known=12, seed=1):
    """Return the triplets of a study, divided among its sets, and `known` of each known answer and role."""
    rng = Random(seed)

    def triplet(truth, model, source, role=""):
        names = " ".join(f"{rng.getrandbits(128):032x}.png" for _ in range(3))
        return Stimulus(names, truth, model, "", source, role)

    sets = of.models
    tests = [triplet("", sets[i % len(sets)], f"{sets[i % len(sets)]}/{i:06}") for i in range(triplets)]
    asides = [
        triplet(truth, "", f"{role}/{truth}{i}", role)
        for role in (CHECK, PRACTICE)
        for truth in ("p0", "p1")
        for i in range(known)
    ]
    return sorted(tests + asides, key=lambda each: each.name)


def add(world, of, **options):
    world.pools[of.name] = pool(of, **options)
    world.store.add_study(of, world.pools[of.name])
    return of


class Person:
    """An evaluator of a study of triplets, by HTTP; answers left unless told otherwise."""

    def __init__(self, world, name="sim", **options):
        reply = world.open(name, **options)
        assert reply.status_code == 201, reply.json
        self.world, self.token, self.state = world, reply.json["token"], reply.json["state"]
        self.id, self.next = self.state["session"], self.state["next"]
        self.replies = []

    def post(self, path, body):
        headers = {"Authorization": f"Bearer {self.token}"}
        reply = self.world.http.post(f"/api/sessions/{self.id}/{path}", json=body, headers=headers)
        assert reply.status_code == 200, reply.json
        return reply.json

    def begin(self):
        body = {"lease": self.state["lease"], "block": self.next["block"], "display": {"refresh_hz": 60}}
        self.block = self.post("blocks", body)
        names = [" ".join(url.rpartition("/")[2] for url in urls.split(" ")) for urls in self.block["images"]]
        self.shown = dict(enumerate(names, start=self.block["first_trial_index"]))

    def answer(self, response="left"):
        body = {
            "lease": self.state["lease"],
            "trial_index": self.next["trial_index"],
            "stimulus": self.shown[self.next["trial_index"]],
            "response": response,
            "rt": 800.0,
            "exposure_ms": None,
            "flags": [],
        }
        reply = self.post("answers", body)
        self.replies.append(reply)
        self.next = reply["next"]
        return reply

    def play(self, choose=lambda names: "left", trials=None):
        """Answer all trials, or so many; return the last reply's `done`."""
        reply, names = None, PictureNames(self.world.data.keys().hashing)
        while self.next is not None and trials != 0:
            self.begin()
            for trial in sorted(self.shown):
                if trials == 0:
                    break
                stored = [names.opened(self.id, name) for name in self.shown[trial].split(" ")]
                reply = self.answer(choose(stored))
                trials = None if trials is None else trials - 1
        return reply and reply["done"]
