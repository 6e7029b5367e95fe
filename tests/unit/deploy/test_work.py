"""The function that does jobs: within its time, with the deployment's keys, and never anything else."""

import boto3
import pytest

from backend.foundation.timestamps import utc_now
from backend.jobs import queue
from deploy import work
from deploy.bucket_uploads import BucketUploads

from .. import sample_studies as studies

KEYS = '{"researcher": "r", "hashing": "00ff"}'


class Context:
    """Lambda's, with the time that is left."""

    def __init__(self, *left_s):
        self._left_s = list(left_s)

    def get_remaining_time_in_millis(self):
        return 1000 * (self._left_s.pop(0) if self._left_s else 0)


@pytest.fixture
def environment(cloud, tmp_path, monkeypatch):
    boto3.client("ssm").put_parameter(Name="/openhype/pilot/keys", Type="SecureString", Value=KEYS)
    variables = {
        "OPENHYPE_STORE": "sqlite:///a.db",
        "OPENHYPE_DATA": str(tmp_path / "data"),
        "OPENHYPE_KEYS": "ssm:/openhype/pilot/keys",
        "OPENHYPE_UPLOADS": "s3://pictures/uploads",
        "OPENHYPE_IMAGES": "s3://pictures/public",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables


def test_the_worker_has_the_deployments_keys_and_bucket(environment, tmp_path):
    worker = work.make_worker(environment)
    worker.store.close()

    assert worker.data.keys().hashing == bytes.fromhex("00ff")
    assert isinstance(worker.uploads, BucketUploads)
    assert worker.publish is not None


def test_an_archive_that_an_ended_invocation_left_does_not_fill_the_disk(environment, tmp_path):
    left = tmp_path / "data" / "scratch" / "archive-1" / "archive"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"zip")

    work.handle({"task": "work"}, Context(800, 700))

    assert not left.exists()


def test_each_invocation_enqueues_the_reruns_and_the_looks_that_are_due(environment, monkeypatch):
    worker, asked = work.make_worker(environment), []
    study = studies.study()
    worker.store.add_study(study, studies.pool(study))
    worker.store.close()
    monkeypatch.setattr("backend.jobs.rerun_schedule.enqueue_due", lambda *given: asked.append("reruns"))
    monkeypatch.setattr("backend.jobs.look.have_decided", lambda store, of, now: asked.append(of.name))

    work.handle({"task": "work"}, Context(800, 700))

    assert asked == ["reruns", study.name]


def test_jobs_are_begun_in_the_first_half_of_the_time(environment):
    worker = work.make_worker(environment)
    for number in range(3):
        queue.enqueue(worker.store, "no such kind", None, "ada", {"number": number}, utc_now())

    first = work.handle({"task": "work"}, Context(800, 451, 449))
    second = work.handle({"task": "work"}, Context(800, 700))

    assert (first, second) == ({"jobs": 2, "expired": 0}, {"jobs": 1, "expired": 0})
    assert {job.state for job in queue.jobs(worker.store)} == {"failed"}
    worker.store.close()


def test_payments_are_left_to_a_worker_that_has_the_panels_token(environment):
    worker = work.make_worker(environment)
    ordered = queue.enqueue(worker.store, "pay", "faces", "owner", {}, utc_now())

    done = work.handle({"task": "work"}, Context(800, 700, 600))

    assert done["jobs"] == 0
    assert queue.job(worker.store, ordered.id).state == "queued"
    worker.store.close()


@pytest.mark.parametrize("event", [{}, {"task": "pay"}, {"requestContext": {}, "version": "2.0"}])
def test_no_other_event_is_taken(environment, event):
    with pytest.raises(ValueError, match="takes the task 'work' only"):
        work.handle(event, Context(800))
