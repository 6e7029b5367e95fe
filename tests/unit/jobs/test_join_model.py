"""A model that a researcher adds to a study from an upload: once, also if its worker is killed."""

from dataclasses import replace

import pytest

from backend.administration import intake_facts
from backend.jobs import join_model, queue

from .ordered import Orders, noise

JOINS = "/studies/faces/models"


@pytest.fixture
def orders(world):
    found = Orders(world)
    assert found.done(found.faces())["state"] == "done"
    return found


def test_a_model_joins_a_study_from_an_upload_once(orders, world):
    body = {"model": "dit", "upload": orders.sent(noise(3000))}
    job = orders.ordered(body, JOINS)

    again = orders.ordered(body, JOINS)
    orders.worker.run_once()
    done = queue.job(world.store, job)
    update = replace(done, state="queued", tries=1)  # as if its worker had been killed before it was noted
    study, told = world.store.study("faces"), join_model.run(work_of(orders, world), update)

    assert (again, done.state, done.reason) == (job, "done", None)
    assert study.models == ("gan", "dit")
    assert told == done.result
    assert done.result["notes"][0].startswith("dit joined on ")
    assert world.store.study("faces").version == study.version


def test_a_model_joins_no_study_that_got_the_name_of_its_own_meanwhile(orders, world, monkeypatch):
    unpack_all, before = join_model.unpack_all, world.store.study("faces")

    def replaced_meanwhile(*given):
        stimuli = [*world.store.stimuli("faces")]
        world.store.remove_study("faces")
        later = replace(before, created_at="2030-01-01T00:00:00.000Z", settings_id="later")
        intake_facts.write(world.store, later, (), ())
        world.store.add_study(later, stimuli)
        return unpack_all(*given)

    monkeypatch.setattr(join_model, "unpack_all", replaced_meanwhile)

    failed = orders.done({"model": "dit", "upload": orders.sent(noise(3000))}, JOINS)

    assert failed["state"] == "failed"
    assert failed["reason"] == "study faces was deleted, and another one has its name"
    assert world.store.study("faces").models == ("gan",)


def test_what_cannot_join_is_refused(orders, world):
    same = orders.done({"model": "copy", "upload": orders.sent(noise(1000))}, JOINS)
    few = orders.done({"model": "few", "upload": orders.sent(noise(4000, 3))}, JOINS)
    replies = [
        orders.call("POST", JOINS, {"model": model, "upload": upload}).json["error"]["message"]
        for model, upload in (("GAN", orders.sent(noise(5000))), ("a/b", "x"), ("new", "none"))
    ]

    assert (same["state"], few["state"]) == ("failed", "failed")
    assert "30 of the new pictures are in study faces already" in same["reason"]
    assert "few" in few["reason"]
    assert replies[0].startswith("two models differ by case only")
    assert replies[1].startswith("a model's name must be")
    assert "no upload 'none'" in replies[2]
    assert world.store.study("faces").models == ("gan",)


def work_of(orders, world):
    """Return what a job may use, without pictures to take in."""
    from backend.jobs.work import Work

    return Work(world.store, world.data, orders.uploads, None, None, print, iter, world.data.root / "none")
