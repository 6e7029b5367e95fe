"""The zips that are shipped: built by Zappa, run by a clean interpreter, sent what Lambda sends."""

import importlib.util
import json
import sqlite3
import subprocess
import sys
import zipfile
from http.cookies import SimpleCookie

import pytest

from backend.foundation.errors import InvalidInput
from backend.responses.study_data import study_scores
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.web import assets
from deploy import package
from tests import function

from .. import sample_studies as studies

pytestmark = pytest.mark.slow("packages are built by pip and started as functions")

EVENTS = [function.rest_api_event, function.http_api_event, function.function_url_event]
SECRET_TEXT = "PROLIFIC-5f3a1c"


@pytest.fixture
def place(tmp_path):
    """The URL of the store that the functions use."""
    return f"sqlite:///{tmp_path}/openhype.db"


@pytest.fixture
def store(tmp_path, place):
    store = open_store(place, tmp_path)
    yield store
    store.close()


@pytest.fixture
def environment(tmp_path, place):
    DataDir(tmp_path).keys()
    return {"OPENHYPE_STORE": place, "OPENHYPE_DATA": str(tmp_path)}


@pytest.fixture
def start(environment):
    running = []

    def start(stage, **more):
        running.append(function.Function(stage, {**environment, **more}))
        return running[-1]

    yield start
    for one in running:
        one.close()


class Caller:
    """Sends requests to a function as one kind of event."""

    def __init__(self, running, event):
        self.running, self.event = running, event
        self.cookies = []

    def __call__(self, method, target, body=None, token=None):
        headers = {"Content-Type": "application/json", "X-Forwarded-For": "6.6.6.6"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = b"" if body is None else json.dumps(body).encode()
        reply = self.running.invoke(self.event(method, target, headers, data))
        sent = reply.get("headers") or {}
        self.cookies += [*reply.get("cookies", []), *SimpleCookie(sent.get("Set-Cookie", "")).values()]
        return reply["statusCode"], json.loads(function.body_of(reply))


def play(call, study, panel):
    """Play a session to its end, answering `real` throughout; return what it ended with."""
    opening = {"consent_version": "1", "panel": {"PROLIFIC_PID": panel}}
    status, opened = call("POST", f"/api/studies/{study}/sessions", opening)
    assert status == 201, opened
    path, token = f"/api/sessions/{opened['state']['session']}", opened["token"]
    following, done = opened["state"]["next"], None
    while done is None:
        begin = {"lease": 1, "block": following["block"], "display": {}}
        status, block = call("POST", f"{path}/blocks", begin, token)
        assert status == 200, block
        for image in block["images"]:
            posted = {
                "lease": 1,
                "trial_index": following["trial_index"],
                "stimulus": image.rpartition("/")[2],
                "response": "real",
            }
            status, reply = call("POST", f"{path}/answers", posted, token)
            assert status == 200, reply
            following, done = reply["next"], reply["done"]
    return done


class TestOnDynamodb:
    """The same with a table in the place of the file, as it is on AWS."""

    @pytest.fixture
    def place(self, table):
        return table

    @pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
    def test_a_session_is_played_against_the_package(self, start, store, event):
        session_is_played(start, store, event)

    def test_the_score_stage_scores_as_the_machine_does(self, start, store, tmp_path):
        scores_are_the_machines(start, store, tmp_path)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_a_session_is_played_against_the_package(start, store, event):
    session_is_played(start, store, event)


def test_the_score_stage_scores_as_the_machine_does(start, store, tmp_path):
    scores_are_the_machines(start, store, tmp_path)


def session_is_played(start, store, event):
    study = studies.study(images=8, panel="link")
    store.add_study(study, studies.pool(study))
    call = Caller(start("api"), event)

    done = play(call, "faces", SECRET_TEXT)

    ((session, cursor),) = store.sessions("faces")
    assert (cursor.state, cursor.trial_index, done["right"]) == ("finished", 8, 4)
    assert done["completion_code"] == session.completion_code
    assert call("GET", "/api/studies/nothing")[0] == 404
    assert call("POST", "/api/sessions/x/answers", {"a": 1})[0] == 403
    assert call.cookies == []
    assert "6.6.6.6" not in repr(session)


def test_no_log_holds_what_people_sent(start, store):
    study = studies.study(images=8, panel="link")
    store.add_study(study, studies.pool(study))
    running = start("api")
    call = Caller(running, function.function_url_event)

    play(call, "faces", SECRET_TEXT)
    call("POST", "/api/studies/faces/sessions", {"panel": {"x": [SECRET_TEXT]}})

    assert "trial_index" not in running.log()
    assert SECRET_TEXT not in running.log()


def test_a_fault_is_logged_with_its_id_and_told_without_its_cause(start, store, tmp_path):
    with sqlite3.connect(tmp_path / "openhype.db") as db:
        db.execute("INSERT INTO studies VALUES ('faces', 'no study at all')")
    running = start("api")
    call = Caller(running, function.function_url_event)

    status, reply = call("GET", "/api/studies/faces")

    assert (status, reply["error"]["code"]) == (500, "fault")
    assert reply["error"]["id"] in running.log()
    assert "Traceback" not in json.dumps(reply)


def rounded(data):
    """Return data with numbers to nine digits: intervals are solved for, and libraries differ in the last."""
    if isinstance(data, dict):
        return {key: rounded(value) for key, value in data.items()}
    if isinstance(data, list):
        return [rounded(value) for value in data]
    return float(f"{data:.9g}") if isinstance(data, float) else data


def scores_are_the_machines(start, store, tmp_path):
    study = studies.study(images=8, panel="link")
    store.add_study(study, studies.pool(study))
    call = Caller(start("api"), function.function_url_event)
    for i in range(6):
        play(call, "faces", f"p{i}")
    key = DataDir(tmp_path).keys().researcher

    scores = Caller(start("score"), function.function_url_event)
    status, found = scores("GET", "/api/studies/faces/scores", token=key)

    assert (status, rounded(found)) == (200, rounded(json.loads(json.dumps(study_scores(store, study)))))
    assert scores("GET", "/api/studies/faces/scores", token="wrong")[0] == 403
    assert scores("GET", "/api/studies/faces")[0] == 404
    assert call("GET", "/api/studies/faces/scores", token=key)[0] == 404
    assert call("GET", "/api/studies/faces/status", token=key)[0] == 200


def names_of(stage):
    with zipfile.ZipFile(function.built(stage).path) as archive:
        return archive.namelist()


def test_the_api_package_holds_what_it_imports_and_nothing_heavy():
    tops = {name.partition("/")[0] for name in names_of("api")}

    flask = {"flask", "werkzeug", "jinja2", "markupsafe", "itsdangerous", "click", "blinker", "msgspec"}
    aws = {"boto3", "botocore", "s3transfer", "jmespath", "dateutil", "urllib3", "six.py"}
    zappa = {"zappa", "durationpy", "zappa_settings.py", "__init__.py", "__pycache__"}
    assert tops == {"backend", "deploy", "frontend"} | flask | aws | zappa


def test_the_packages_tell_nothing_of_the_machine_they_were_built_on():
    for stage in package.STAGES:
        with zipfile.ZipFile(function.built(stage).path) as archive:
            settings = archive.read("zappa_settings.py").decode()
            assert "package_info.json" not in archive.namelist()
            assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
            code = b"".join(archive.read(name) for name in archive.namelist() if name.endswith(".pyc"))
            assert str(function.BUILT.parents[1]).encode() not in code
            assert (
                b"/tmp/" not in archive.read("zappa/__pycache__/handler." + tag() + ".pyc").split(b"tar")[0]
            )
        values = dict(line.split("=", 1) for line in settings.splitlines() if "=" in line)
        assert (values["DEBUG"], values["LOG_LEVEL"]) == ("False", "'WARNING'")
        assert values["ENVIRONMENT_VARIABLES"] == "{}"


def tag():
    return importlib.util.cache_from_source("x.py").split(".")[-2]


@pytest.mark.parametrize("stage", list(package.STAGES))
def test_byte_code_is_there_for_every_module_and_never_checked(stage):
    with zipfile.ZipFile(function.built(stage).path) as archive:
        compiled = {name: archive.read(name)[:8] for name in archive.namelist() if name.endswith(".pyc")}
        sources = [name for name in archive.namelist() if name.endswith(".py")]

    flags = {int.from_bytes(head[4:], "little") for head in compiled.values()}
    assert flags == {0b01}  # by hash, unchecked (PEP 552)
    assert {head[:4] for head in compiled.values()} == {importlib.util.MAGIC_NUMBER}
    assert {importlib.util.cache_from_source(name) for name in sources} - set(compiled) == set()


@pytest.mark.parametrize("stage", list(package.STAGES))
def test_the_packages_fit_into_lambda(stage):
    built = function.built(stage)

    assert built.unpacked <= 250 * 2**20
    assert built.size < {"api": 7, "panel": 13.5, "score": 75}[stage] * 2**20


@pytest.mark.parametrize("stage", list(package.STAGES))
def test_the_pages_of_a_package_link_to_the_files_that_stand_in_the_bucket(stage):
    program = "from backend.web import assets; print(assets.page('index.html').decode())"
    command = [sys.executable, "-S", "-c", program]
    page = subprocess.run(command, cwd=function.unpacked(stage), capture_output=True, text=True).stdout

    assert f'src="/assets/{assets.version()}/task/main.js"' in page


KINDS_OF_JOBS = """
import sys
sys.path.insert(0, sys.argv[1])
import deploy.work
from backend.jobs.work import KINDS, runner
print(all(callable(runner(kind)) for kind in KINDS))
"""


def test_the_package_of_scores_has_what_jobs_need(tmp_path):
    command = [sys.executable, "-S", "-I", "-c", KINDS_OF_JOBS, str(function.unpacked("score"))]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert (found.stdout, found.stderr) == ("True\n", "")


def printed(stage, program):
    """Return what a program prints that runs with a stage's package alone."""
    command = [sys.executable, "-S", "-I", "-c", f"import sys; sys.path.insert(0, sys.argv[1]); {program}"]
    done = subprocess.run([*command, str(function.unpacked(stage))], capture_output=True, text=True)
    return done.stdout + done.stderr


def test_the_worker_has_what_removes_copies_of_pictures_from_the_edges():
    program = "import boto3; print(hasattr(boto3.client('cloudfront', 'us-east-1'), 'create_invalidation'))"

    assert printed("score", program) == "True\n"


def test_a_function_starts_without_boto3_which_others_may_import():
    program = "import deploy.entry_point; print('boto3' in sys.modules); import boto3; print(boto3.client)"

    said = printed("api", program).splitlines()

    assert said[0] == "False"
    assert said[1].startswith("<function client")


def test_a_package_that_is_too_large_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "api.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(2**20 + 1))

    with pytest.raises(InvalidInput, match="the package of api has 1 MiB unpacked, and Lambda takes 1"):
        package.checked("api", tmp_path / "api.zip", limit=2**20)


def test_the_same_code_gives_the_same_bytes(tmp_path):
    again = package.build("api", tmp_path)

    assert again.sha256 == function.built("api").sha256


def test_an_unknown_stage_is_refused():
    with pytest.raises(InvalidInput, match="there is no stage 'x'; there are api, score, panel"):
        package.settings("x")


@pytest.mark.parametrize("stage", list(package.STAGES))
def test_a_package_has_nothing_that_its_function_never_calls(stage):
    with zipfile.ZipFile(function.built(stage).path) as archive:
        names = archive.namelist()

    unused = ("backend/commands/", "backend/cli.py", *(["backend/report/"] * (stage != "score")))
    assert [name for name in names if name.startswith(unused)] == []
    tests = [name for name in names if name.startswith(("numpy/", "scipy/")) and "/tests/" in name]
    assert [name for name in tests if not name.startswith("numpy/_")] == []  # numpy.testing needs some
    assert "backend/handlers.py" in names
