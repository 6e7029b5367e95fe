"""The client, `openhype submit` and the CI job of the examples, against a served study."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import yaml

import openhype
from backend.client.connection import Connection
from backend.client.pictures import picture_files
from backend.client.retries import Retries
from backend.client.sending import archive_of, send

from .served import SOON_S, Served, write_pictures

ROOT = Path(__file__).resolve().parents[3]
WORKFLOW = ROOT / "examples" / "ci" / "human-evaluation.yml"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Return a server of a leaderboard study of one evaluator a model; ada may submit three models, bob
    too."""
    served = Served(tmp_path_factory.mktemp("served"))
    for seed, name in enumerate(("real", "gan", "new", "more"), start=1):
        write_pictures(served.folder / name, 12, seed)
    served.run(
        *("create", "faces", "--real", "real", "--model", "gan=gan"),
        *("--set", "images=10", "--set", "spare_images=0", "--set", "evaluators=1"),
    )
    served.start()
    served.post("/api/studies/faces/competition", {"title": "Faces", "limit": {"count": 3, "days": 1}})
    served.tokens = {}
    for member in ("ada", "bob"):
        served.post("/api/members", {"member": member, "role": "submitter"})
        made = served.post(f"/api/members/{member}/tokens", {"label": "t", "days": 1})
        served.tokens[member] = made["secret"]
    yield served
    served.kill()


def client_of(served, member, **options):
    return openhype.Client(served.url, served.tokens[member], patience=20, **options)


def submitted(served, *arguments, member="ada", **environment):
    """Run `openhype submit` as a shell does; return the finished process."""
    return subprocess.run(
        [sys.executable, "-m", "backend", "submit", *arguments],
        cwd=served.folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "OPENHYPE_URL": served.url,
            "OPENHYPE_TOKEN": served.tokens[member],
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=2 * SOON_S,
    )


def until_joined(client, model):
    deadline = time.monotonic() + SOON_S
    while {one.model: one.state for one in client.submissions("faces")}[model] != "collecting":
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_submissions_are_the_same_again_and_another_members_are_not_there(served):
    client, progress = client_of(served, "ada"), []

    first = client.submit(
        "faces",
        model="gan@1",
        images=served.folder / "new",
        progress=lambda done, total: progress.append((done, total)),
    )
    again = client.submit("faces", model="gan@1", images=served.folder / "new")

    assert again.id == first.id
    assert progress[0][0] == 0
    assert progress[-1][0] == progress[-1][1]
    assert client.submission(first.id).digest == first.digest
    with pytest.raises(openhype.Conflict, match="gan@1 was submitted on") as taken:
        client.submit("faces", model="gan@1", images=served.folder / "more")
    assert taken.value.code == "model_taken"
    with pytest.raises(openhype.NotFound, match="there is no submission"):
        client_of(served, "bob").submission(first.id)
    with pytest.raises(openhype.TimedOut, match="gan@1 is"):
        first.result(timeout=0)


def test_pictures_that_are_too_few_are_refused_with_the_servers_reason_and_cost_no_try(served):
    client = client_of(served, "bob")
    rng = np.random.default_rng(9)
    few = [rng.integers(0, 256, (64, 64, 3), dtype=np.uint8) for _ in range(3)]

    submission = client.submit("faces", model="few", images=few)

    with pytest.raises(openhype.Refused, match=r"few was refused: .*3"):
        submission.result(timeout=SOON_S)
    assert submission.status()["try"] is None


def test_what_the_server_refuses_has_its_own_error(served):
    client = client_of(served, "ada")
    with pytest.raises(openhype.NotFound, match="no study 'none' that you can submit to"):
        client.submit("none", model="m", images=served.folder / "new")
    with pytest.raises(openhype.NotAllowed) as raised:
        openhype.Client(served.url, "oh_x_y").submit("faces", model="m", images=served.folder / "new")
    assert raised.value.code == "wrong_token"
    with pytest.raises(openhype.NotAllowed, match="ada is a submitter"):
        client.create("mine", real=served.folder / "real", models={"gan": served.folder / "gan"})
    with pytest.raises(openhype.InvalidInput, match="control character"):
        client.submit("faces", model="a\nb", images=served.folder / "new")


def test_a_researcher_creates_a_study_with_all_that_an_order_may_have(served):
    client = openhype.Client(served.url, served.key)
    for seed, truth in enumerate(("real", "fake"), start=20):
        write_pictures(served.folder / "practice" / truth, 3, seed)
    order = {
        "real": served.folder / "real",
        "models": {"gan": served.folder / "gan"},
        "practice": served.folder / "practice",
        "strict": True,
        "questions": [{"name": "age", "text": "How old are you?", "kind": "number", "when": "after"}],
        "panel": "private",
        "images": 10,
        "spare_images": 0,
        "practice_images": 4,
    }

    job = client.create("other", **order)

    assert job.result(timeout=60)["models"] == ["gan"]
    assert client.status("other")["method"] == "infinity"
    assert client.create("other", **order).id == job.id


@pytest.mark.slow("a process is killed again and again")
def test_an_upload_goes_on_after_the_server_was_killed(served, tmp_path):
    (tmp_path / "large.png").write_bytes(np.random.default_rng(1).bytes(11_000_000))
    connection = Connection(served.url, served.key, Retries(patience_s=60))
    done = []

    def progress(sent, total):
        done.append(sent)
        if len(done) == 2:
            served.kill()
            threading.Thread(target=served.start).start()

    with picture_files(tmp_path) as files:
        archive = archive_of(files)
        upload = send(connection, archive, progress)
        assert send(connection, archive, lambda *_: None) == upload

    assert done[:3] == [0, 5242880, 10485760]
    assert connection.get(f"/api/uploads/{upload}")["state"] == "complete"


def test_the_command_submits_waits_and_fails_under_a_score(served):
    first = submitted(served, "faces", "--model", "cli=more", "--simulated", "--wait", "--timeout", "0")

    assert first.returncode == 1
    assert first.stdout.startswith("cli: ")  # what is known of each is printed all the same
    assert "there is no score after 0 s" in first.stderr
    until_joined(client_of(served, "ada"), "cli")
    served.run("simulate", "faces", "--evaluators", "4", "--url", served.url)
    arguments = ("faces", "--model", "cli=more", "--simulated", "--wait", "--timeout", str(SOON_S))
    passed = submitted(served, *arguments, "--fail-under", "-1")
    failed = submitted(served, *arguments, "--fail-under", "100.5")
    assert (passed.returncode, passed.stderr) == (0, "")
    assert passed.stdout.startswith("cli: scored, ")
    assert failed.returncode == 1
    assert "less than the 100.5% asked for" in failed.stderr
    assert served.tokens["ada"] not in first.stderr + passed.stdout + failed.stdout + failed.stderr


def test_the_limit_is_an_error_of_its_own(served):
    rng, client = np.random.default_rng(7), client_of(served, "bob")
    sets = [[rng.integers(0, 256, (32, 32, 3), dtype=np.uint8) for _ in range(12)] for _ in range(4)]
    for number in range(3):
        client.submit("faces", model=f"m{number}", images=sets[number])

    with pytest.raises(openhype.LimitReached, match="3"):
        client.submit("faces", model="m3", images=sets[3])


def test_the_ci_job_runs_its_command_with_names_from_the_environment(served):
    job = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["score"]
    step = job["steps"][-1]
    shell = step["run"].replace("samples", "new").replace("--timeout 20000", "--timeout 0")

    assert "${{" not in step["run"]  # a tag with quotes in it would be a command
    client = client_of(served, "ada")
    client.submit("faces", model="gan@1", images=served.folder / "new")
    until_joined(client, "gan@1")
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", shell],
        cwd=served.folder,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "OPENHYPE_URL": served.url,
            "OPENHYPE_TOKEN": served.tokens["ada"],
            "MODEL": "gan@1",
        },
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 1
    assert "openhype: gan@1 is collecting: there is no score after 0 s" in done.stderr
    assert set(step["env"]) == {"OPENHYPE_URL", "OPENHYPE_TOKEN", "MODEL"}
