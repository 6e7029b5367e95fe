"""Jobs on studies whose pictures are in a bucket, done by instances that have none of them."""

import shutil
from functools import partial
from itertools import count

import pytest

from backend.foundation.errors import StoreFailed
from backend.jobs import queue
from backend.jobs.work import runner
from backend.jobs.worker import Worker
from backend.stores.datadir import DataDir
from deploy import study_locks
from deploy.bucket_jobs import with_pictures
from deploy.edge_copies import EdgeCopies
from deploy.s3_upload import Place, upload_pictures

from ..jobs.ordered import Orders, noise

PLACE = Place("pictures", "public/")


class Copies:
    """Notes which copies were removed, and the models that the study had by then."""

    def __init__(self, store):
        self._store, self.removed = store, []
        self.fault = None

    def remove(self, study, is_waited_for=False):
        if self.fault:
            raise self.fault
        models = [each.models for each in self._store.studies() if each.name == study]
        self.removed.append((study, is_waited_for, models))


class Instances:
    """The study `faces` of an Orders, its pictures in the bucket, and instances that do jobs."""

    def __init__(self, world, folder):
        self.orders, self.store = Orders(world), world.store
        self.copies, self._folder, self._numbers = Copies(world.store), folder, count()
        assert self.orders.done(self.orders.faces())["state"] == "done"
        upload_pictures(PLACE, "faces", world.data.images("faces"))

    def instance(self, find=runner, **options):
        """Return a worker in a data directory of its own."""
        data = DataDir(self._folder / f"instance-{next(self._numbers)}")
        return Worker(
            self.store,
            data,
            self.orders.uploads,
            find=lambda kind: with_pictures(kind, find(kind), PLACE, self.copies),
            may_begin=partial(study_locks.reserve, self.store),
            publish=partial(upload_pictures, PLACE),
            tick_s=0.02,
            **options,
        )

    def joining(self, model, first, **options):
        """Order that a model joins, and return the job."""
        body = {"model": model, "upload": self.orders.sent(noise(first, **options))}
        return self.orders.ordered(body, "/studies/faces/models")


@pytest.fixture
def instances(world, bucket, tmp_path):
    return Instances(world, tmp_path)


def files(bucket, study="faces"):
    """Return the lengths of a study's files by their names."""
    found = bucket.list_objects_v2(Bucket="pictures", Prefix=f"public/i/{study}/").get("Contents", [])
    return {each["Key"].rpartition("/")[2]: each["Size"] for each in found}


def held_by(work):
    images = work.data.root / "images"
    return {str(path.relative_to(images)): path.read_bytes() for path in images.rglob("*") if path.is_file()}


@pytest.mark.parametrize("kind", ["join", "join_model", "metrics", "agree", "create"])
def test_jobs_have_the_pictures_of_their_study_and_leave_none_behind(world, bucket, tmp_path, kind):
    for name in ("faces/a.png", "faces/b.png", "faces2/c.png"):
        bucket.put_object(Bucket="pictures", Key=f"public/i/{name}", Body=name.encode())
    seen = []
    run = with_pictures(kind, lambda work, _: seen.append(held_by(work)) or {}, PLACE)
    worker = Worker(world.store, DataDir(tmp_path / "instance"), find=lambda _: run)
    queue.enqueue(world.store, kind, "faces", "ada", {}, world.clock())

    done = worker.run_once()

    both = {"faces/a.png": b"faces/a.png", "faces/b.png": b"faces/b.png"}
    assert (done.state, seen) == ("done", [{} if kind == "create" else both])
    assert not (worker.data.root / "images").exists()
    assert len(files(bucket)) == 2


def test_a_job_that_correlates_two_studies_has_the_pictures_of_both(world, bucket, tmp_path):
    for name in ("one/a.png", "other/b.png", "third/c.png"):
        bucket.put_object(Bucket="pictures", Key=f"public/i/{name}", Body=b"x")
    seen = []
    run = with_pictures("correlate", lambda work, _: seen.append(held_by(work)) or {}, PLACE)
    worker = Worker(world.store, DataDir(tmp_path / "instance"), find=lambda _: run)
    queue.enqueue(world.store, "correlate", "one", "ada", {"other": {"study": "other"}}, world.clock())

    worker.run_once()

    assert [sorted(each) for each in seen] == [["one/a.png", "other/b.png"]]
    assert not (worker.data.root / "images").exists()


def test_a_researchers_model_joins_and_all_files_of_the_study_have_one_length(instances, bucket):
    before = files(bucket)
    job = instances.joining("dit", 3000, size=(40, 40))

    done = instances.instance().run_once()

    after = files(bucket)
    assert (done.id, done.state, done.reason) == (job, "done", None)
    assert instances.store.study("faces").models == ("gan", "dit")
    assert (len(before), len(after), len({*after.values()})) == (60, 90, 1)
    assert instances.copies.removed == [("faces", True, [("gan",)])]  # before anybody is shown the new ones


def test_a_study_that_is_made_again_has_the_pictures_of_the_first(instances, bucket):
    orders = instances.orders
    job = orders.call("POST", "/studies/faces/rerun", {}).json["job"]

    done = instances.instance().run_once()

    assert (done.id, done.state, done.reason) == (job, "done", None)
    assert files(bucket, "faces-2") == files(bucket)
    first, again = ({each.name for each in instances.store.stimuli(name)} for name in ("faces", "faces-2"))
    assert first == again


@pytest.mark.slow("plays several instances on dynalite and moto")
def test_of_two_instances_one_changes_the_pictures_of_a_study_at_a_time(instances, bucket):
    first, second = instances.joining("dit", 3000), instances.joining("vae", 4000)
    meanwhile = []

    def find(kind):
        def run(work, job):
            meanwhile.append(instances.instance().run_once())
            return runner(kind)(work, job)

        return run

    one = instances.instance(find).run_once()
    two = instances.instance().run_once()

    assert meanwhile == [None]
    assert [(each.state, each.reason) for each in (one, two)] == [("done", None)] * 2
    assert {one.id, two.id} == {first, second}
    assert set(instances.store.study("faces").models) == {"gan", "dit", "vae"}
    assert len({*files(bucket).values()}) == 1


def test_a_study_is_kept_for_a_job_whose_worker_was_killed(instances):
    killed = queue.job(instances.store, instances.joining("dit", 3000))
    instances.joining("vae", 4000)
    assert study_locks.reserve(instances.store, killed)
    queue.claim(instances.store, killed.id, "worker", "elsewhere", instances.orders.world.clock())
    elapsed = iter([0.0, 10.0, queue.LEASE_S + 20.0])
    worker = instances.instance(elapsed_s=lambda: next(elapsed, 1000.0))

    found = [worker.run_once(), worker.run_once()]

    assert found[0] is None
    assert (found[1].id, found[1].state) == (killed.id, "done")


@pytest.mark.slow("plays several instances on dynalite and moto")
def test_pictures_that_a_failed_job_published_are_removed(instances, bucket):
    before = files(bucket)
    instances.copies.fault = StoreFailed("CloudFront is away")
    instances.joining("dit", 3000)

    done = instances.instance().run_once()

    assert (done.state, done.reason) == ("failed", "CloudFront is away")
    assert instances.store.study("faces").models == ("gan",)
    assert files(bucket).keys() == before.keys()


def test_a_deleted_study_leaves_no_picture_and_no_copy(instances, bucket):
    reply = instances.orders.call("POST", "/studies/faces/delete", {"confirm": "faces"})
    assert reply.status_code == 202, reply.json

    done = instances.instance().run_once()

    assert (done.state, files(bucket)) == ("done", {})
    assert instances.copies.removed == [("faces", False, [])]
    assert [*instances.store.entries(study_locks.BOOK)] == []


def test_a_deletion_that_is_done_again_leaves_the_pictures_of_the_next_study_of_that_name(instances, bucket):
    job = instances.orders.call("POST", "/studies/faces/delete", {"confirm": "faces"}).json["job"]
    deleting = queue.job(instances.store, job)
    instances.instance().run_once()
    instances.orders.world.clock.move(minutes=1)
    shutil.rmtree(instances.orders.world.data.images("faces"))
    made = instances.orders.done(instances.orders.faces())
    assert made["state"] == "done", made
    upload_pictures(PLACE, "faces", instances.orders.world.data.images("faces"))
    clock = instances.orders.world.clock
    again = queue.enqueue(instances.store, "delete", "faces", "owner", deleting.args, clock())

    done = instances.instance().run_once()

    assert (done.id, done.state, len(files(bucket))) == (again.id, "done", 60)
    assert instances.store.study("faces").models == ("gan",)


class CloudFront:
    """Removes copies after some looks."""

    def __init__(self, looks):
        self.looks, self.asked = looks, []

    def create_invalidation(self, **arguments):
        self.asked.append(arguments)
        return {"Invalidation": {"Id": "I1", "Status": "InProgress"}}

    def get_invalidation(self, **arguments):
        self.looks -= 1
        return {"Invalidation": {"Id": "I1", "Status": "InProgress" if self.looks else "Completed"}}


def test_copies_at_the_edges_are_removed_by_the_path_of_the_study_alone():
    client, slept = CloudFront(3), []

    EdgeCopies("D1", client, slept.append).remove("faces", is_waited_for=True)
    EdgeCopies("D1", client, slept.append).remove("faces")

    (one, two) = client.asked
    assert one["InvalidationBatch"]["Paths"] == {"Quantity": 1, "Items": ["/i/faces/*"]}
    assert one["InvalidationBatch"]["CallerReference"] != two["InvalidationBatch"]["CallerReference"]
    assert (one["DistributionId"], len(slept), client.looks) == ("D1", 3, 0)


def test_a_removal_of_copies_that_takes_long_does_not_end_the_job():
    slept = []

    EdgeCopies("D1", CloudFront(1000), slept.append).remove("faces", is_waited_for=True)

    assert sum(slept) == 180


def test_a_distribution_that_cannot_be_asked_is_reported(cloud):
    with pytest.raises(StoreFailed, match=r"did not remove copies of the pictures of faces: .*NoSuch"):
        EdgeCopies("none").remove("faces")
