"""Jobs on the same study again: it is made, also after a killed run, and its runs are compared."""

import pytest

from backend.jobs import queue
from backend.jobs.replication import rerun
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

from ..conftest import World
from ..web.researcher import Researcher
from .test_study_work import draw, run

OTHERS = {"others": ["faces-2"], "simulated": True}


@pytest.fixture
def me(tmp_path, monkeypatch):
    """A researcher with the study `faces`, which three simulated evaluators finished."""
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("real", "gan", "vae")):
        draw(f"images/{name}", 8, 5, seed)
    folders = ("--real", "images/real", "--model", "gan=images/gan", "--model", "vae=images/vae")
    run("create", "faces", *folders, "--size", 16, "--set", "images=8", "--evaluators", 3)
    run("simulate", "faces", "--seed", 1, "--accuracy", "gan=0.7")
    store = open_store("sqlite:///openhype.db", tmp_path / "openhype-data")
    yield Researcher(World(store, DataDir(tmp_path / "openhype-data")))
    store.close()


def test_a_study_is_made_again_and_its_runs_are_compared(me):
    ordered = me.post("studies/faces/rerun", {}, 202)
    again = me.post("studies/faces/rerun", {}, 202)
    made = me.done(ordered["job"])

    store = me.world.store
    assert (ordered, made.state, made.reason) == (again, "done", None)
    assert made.result == {"study": "faces-2", "models": ["gan", "vae"], "of": "faces"}
    names = [{stimulus.name for stimulus in store.stimuli(study)} for study in ("faces", "faces-2")]
    assert names[0] == names[1]

    run("simulate", "faces-2", "--seed", 2, "--accuracy", "gan=0.7")
    job = me.job("studies/faces/replicate", OTHERS)
    assert job.state == "done", job.reason
    assert [row["run"] for row in job.result["runs"]] == ["faces", "faces-2"]
    assert [row["model"] for row in job.result["differences"]] == ["gan", "vae"]
    assert job.result["sentences"][0].startswith("Of 2 differences between runs, ")
    assert (job.result["simulated"], job.result["warnings"]) == (True, [])

    real = me.job("studies/faces/replicate", {"others": ["faces-2"]})
    assert (real.state, "no finished session" in real.reason) == ("failed", True)


def test_a_margin_that_no_score_can_exceed_is_refused(me):
    for margin in ("1e999", "1e308", "0", "-1", "NaN"):
        text = f'{{"others": ["faces"], "margin": {margin}}}'
        headers = {**me.headers, "Content-Type": "application/json"}
        reply = me.world.http.post("/api/studies/faces/replicate", data=text, headers=headers)
        assert (reply.status_code, reply.json["error"]["code"]) == (400, "invalid")


def test_a_killed_run_of_the_job_finds_the_study_that_it_made(me):
    ordered = me.post("studies/faces/rerun", {"name": "june"}, 202)
    made = me.done(ordered["job"])

    class Work:
        store, data, progress, publish = me.world.store, me.world.data, None, None

    assert rerun(Work, queue.job(me.world.store, ordered["job"])) == made.result


def test_what_cannot_be_made_again_is_refused(me):
    taken = me.refused("studies/faces/rerun", {"name": "faces"}, 409, "conflict")
    bad = me.refused("studies/faces/rerun", {"name": "a b"}, 400, "invalid")
    ordered = me.post("studies/faces/rerun", {"name": "june"}, 202)
    run("delete", "faces", "--yes", "faces")
    run("create", "faces", "--real", "images/real", "--model", "gan=images/gan", "--set", "images=8")
    gone = me.done(ordered["job"])

    assert "faces" in taken
    assert "a b" in bad
    assert (gone.state, "was deleted, and another one has its name" in gone.reason) == ("failed", True)


def test_what_cannot_be_compared_is_refused(me):
    twice = me.refused("studies/faces/replicate", {"others": ["faces"]}, 400, "invalid")
    unknown = me.refused("studies/faces/replicate", {"others": ["cars"]}, 404, "unknown_study")
    none = me.refused("studies/faces/replicate", {"others": []}, 400, "invalid")
    draw("images/new", 8, 5, 9)
    run("create", "other", "--real", "images/new", "--model", "gan=images/vae", "--size", 16,
        "--set", "images=8", "--evaluators", 2)  # fmt: skip
    run("simulate", "other", "--seed", 1)
    other = me.job("studies/faces/replicate", {"others": ["other"], "simulated": True})
    margin = me.job("studies/faces/replicate", {**OTHERS, "others": ["other"], "margin": 60})

    assert "faces is named twice" in twice
    assert "cars" in unknown
    assert none
    assert (other.state, "have no stimulus in common" in other.reason) == ("failed", True)
    assert (margin.state, "margin must be between 0 and 50" in margin.reason) == ("failed", True)
