"""A session on the zips that are shipped: files from a bucket, the API from functions, answers in a table."""

import shutil
import time
import urllib.request

import boto3
import numpy as np
import pytest
from PIL import Image

from backend.administration.simulated_evaluators import simulate
from backend.client.client import Client
from backend.competitions.terms import Terms, set_terms
from backend.experiment.session import is_scored
from backend.foundation.timestamps import utc_now
from backend.jobs import queue
from backend.members import memberships, tokens
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.studies.pausing import is_paused
from backend.web import assets, headers
from deploy import smoke
from deploy.page import upload_page
from deploy.s3_upload import Place, upload_pictures
from deploy.template import PUBLIC
from tests import aws
from tests.cloudfront import Cloudfront, serving
from tests.function import Function, invocations
from tests.s3_checksums import listing_checksums
from tests.unit.people import take_part_all

from .conftest import Site
from .test_accessibility import violations
from .test_panels import play_in_a_frame, preview

pytestmark = pytest.mark.slow("runs the zips that are shipped, from functions beside a bucket and a table")

PLACE = Place("openhype-test", f"{PUBLIC}/")
WORK = "openhype-test-work"
INSTANCES = 2


class CloudSite(Site):
    """Studies as the researcher's commands make them for AWS."""

    def publish(self, study, folder):
        upload_pictures(PLACE, study, folder)


def worker_environment(environment, folder):
    """Return the environment of the function `work`, whose disk has the keys and nothing else."""
    own = folder / "work"
    own.mkdir()
    shutil.copyfile(folder / "keys.json", own / "keys.json")
    return {**environment, "OPENHYPE_DATA": str(own)}


def allow_origin(url):
    """Have the bucket take requests of pages at `url`, as the template says."""
    bucket = aws.template("data", HasOrigins=True)["Resources"]["Bucket"]["Properties"]
    (rule,) = bucket["CorsConfiguration"]["CorsRules"]
    names = {"AllowedMethods": rule["AllowedMethods"], "AllowedHeaders": rule["AllowedHeaders"]}
    rules = {"CORSRules": [{**names, "AllowedOrigins": [url]}]}
    boto3.client("s3").put_bucket_cors(Bucket=PLACE.bucket, CORSConfiguration=rules)


@pytest.fixture
def site(tmp_path, folders, copies, cloud, table):
    where = {"LocationConstraint": "eu-central-1"}
    boto3.client("s3").create_bucket(Bucket=PLACE.bucket, CreateBucketConfiguration=where)
    upload_page(PLACE)
    store, data = open_store(table, tmp_path), DataDir(tmp_path)
    data.keys()
    made = CloudSite(store, data, folders, copies)
    with listing_checksums(cloud) as s3:
        made.environment = {
            **aws.environment(cloud),
            "AWS_ENDPOINT_URL_S3": s3,
            "OPENHYPE_STORE": table,
            "OPENHYPE_DATA": str(tmp_path),
            "OPENHYPE_IMAGES": f"s3://{PLACE.bucket}/public",
            "OPENHYPE_UPLOADS": f"s3://{PLACE.bucket}/uploads",
            "OPENHYPE_DOWNLOADS": f"s3://{PLACE.bucket}/downloads",
            "MPLCONFIGDIR": str(tmp_path / "matplotlib"),
        }
        work = Function("score", worker_environment(made.environment, tmp_path), "deploy.work.handle")
        with invocations({WORK: work}) as lambda_:
            calls = {"AWS_ENDPOINT_URL_LAMBDA": lambda_, "OPENHYPE_WORK_FUNCTION": WORK}
            environments = {"api": made.environment, "score": made.environment | calls}
            running = {
                stage: [Function(stage, environment) for _ in range(INSTANCES)]
                for stage, environment in environments.items()
            }
            made.elsewhere = (s3,)
            with serving(Cloudfront(PLACE.bucket, running)) as made.url:
                allow_origin(made.url)
                yield made
            for instance in (*running["api"], *running["score"], work):
                instance.close()
    store.close()


def test_an_infinity_session_is_played_on_the_packages(player, site):
    site.create("faces", images=10, feedback_ms=50, panel="prolific")
    player.visit("faces", "?PROLIFIC_PID=p1")
    player.wait("consent")
    assert violations(player.page) == []
    player.press("consent")
    player.press("instructions")

    for _ in range(10):
        player.wait("question")
        player.answer(player.see()[0])

    player.wait("done")
    session, cursor, responses = site.stored("faces")
    assert player.page.inner_text("#code") == session.completion_code
    assert (cursor.right, len(responses)) == ({"real": 5, "fake": 5}, 10)


def test_a_time_session_is_played_on_the_packages(player, site):
    site.create("glimpse", "time", images=4, blocks=2, spare_images=100, countdown_ms=100, feedback_ms=50)
    player.visit("glimpse")
    player.play_two_blocks()

    session, cursor, stored = site.stored("glimpse")
    assert cursor.state == "finished"
    assert sum(is_scored(session, cursor, response) for response in stored) == 8


def test_a_session_is_played_in_a_panels_frame_and_its_form_is_posted_there(page, site):
    code, posted = play_in_a_frame(page, site)

    assert posted == [("/mturk/externalSubmit", {"assignmentId": ["a1"], "completion_code": [code]})]
    assert site.stored("faces")[1].state == "finished"


def test_a_preview_on_the_packages_records_nothing(page, site):
    preview(page, site)


def get(url, **sent):
    request = urllib.request.Request(url, headers=sent)
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, dict(reply.headers), reply.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, dict(refused.headers), refused.read()


def test_every_address_has_the_headers_of_the_server_of_one_machine(site):
    study = site.create("faces", images=4)
    picture = f"/i/faces/{next(iter(site.store.stimuli(study.name))).name}"
    loaded = [f"/assets/{assets.version()}/{name}" for name in ("task/main.js", "shared/style.css")]
    for path in ("/", "/s/faces", "/timing.html", *loaded, picture):
        status, sent, body = get(site.url + path)

        hsts = {"Strict-Transport-Security": "max-age=63072000; includeSubDomains"}
        kept = headers.IMMUTABLE if path in (picture, *loaded) else headers.REVALIDATE
        name = {"/": "root.html", "/s/faces": "index.html"}.get(path, path.rpartition("/")[2])
        expected = {"Cache-Control": kept, "Content-Type": headers.content_type(name)}
        length = {"Content-Length": str(len(body))}
        if path == "/s/faces":  # a function's reply
            sent = {name: value for name, value in sent.items() if name not in ("Date", "ETag", "Vary")}
        assert (status, sent) == (200, {**headers.PAGE, **hsts, **expected, **length})


def test_what_is_not_public_is_not_served(site):
    boto3.client("s3").put_object(Bucket=PLACE.bucket, Key="packages/api.zip", Body=b"zip")

    for path in ("/packages/api.zip", "/../packages/api.zip", "/s/../../packages/api.zip", "/i/", "/nothing"):
        status, _, body = get(site.url + path)

        assert (status in (403, 404), b"zip" in body) == (True, False)
        assert b"main.js" in body or path == "/i/"


def test_scores_come_from_the_function_that_computes_them(site):
    site.create("faces", images=4)
    key = site.data.keys().researcher

    for _ in range(30):
        status, _, body = get(f"{site.url}/api/studies/faces/scores", **{"X-Openhype-Token": key})
        if b"being_made" not in body:
            break
        time.sleep(1)

    assert (status, b"no finished session" in body or b"error" in body) == (400, True)
    assert get(f"{site.url}/api/studies/faces/scores")[0] == 403
    assert get(f"{site.url}/api/studies/faces/status", **{"X-Openhype-Token": key})[0] == 200


def sign_in(player, site, path, key=None):
    player.page.goto(f"{site.url}{path}")
    player.page.fill("#token", key or site.data.keys().researcher)
    player.page.keyboard.press("Enter")


def test_results_with_thumbnails_are_shown_to_who_has_the_key(player, site):
    site.create("faces", images=20)
    take_part_all(site.url, site.store, site.store.study("faces"), site.data, 16, at_once=2, is_sealed=False)

    sign_in(player, site, "/results/faces", "wrong")
    player.page.wait_for_selector("dialog .error:not(:empty)")
    refused = player.page.inner_text("dialog .error:not(:empty)")
    player.page.fill("#token", site.data.keys().researcher)
    player.page.keyboard.press("Enter")
    player.page.wait_for_selector("main img", timeout=90_000)  # it loads itself again until it is computed
    thumbnails = "[...document.querySelectorAll('img')].map((image) => image.naturalWidth)"
    widths = player.page.evaluate(thumbnails)
    cookie = player.page.context.cookies()
    assert violations(player.page) == []
    player.page.click("text=Sign out")
    player.page.click("main button:text-is('Sign out')")
    player.page.wait_for_selector("#token")

    assert "token" in refused
    assert len(widths) > 3
    assert min(widths) > 20
    assert {(each["path"], each["httpOnly"], each["secure"]) for each in cookie} == {
        ("/results", True, True),
        ("/api", True, True),
    }
    assert player.page.context.cookies() == []
    assert get(f"{site.url}/results/faces")[0] == 403


def test_the_console_downloads_a_file_that_the_worker_left_in_the_bucket(player, site):
    site.create("faces", images=4, evaluators=8)
    take_part_all(site.url, site.store, site.store.study("faces"), site.data, 3, at_once=2, is_sealed=False)
    fetched = []
    player.page.on("request", lambda each: "responses.csv" in each.url and fetched.append(each.url))

    sign_in(player, site, "/console/studies/faces/scores")
    with player.page.expect_download(timeout=60000) as download:
        player.page.click(".downloads button:text-is('Answers')")

    assert download.value.suggested_filename == "faces-responses.csv"
    assert len(download.value.path().read_text().splitlines()) == 1 + 3 * 4
    assert [each.startswith(site.elsewhere[0]) for each in fetched].count(True) == 1
    (job,) = [each for each in queue.jobs(site.store, "faces") if each.args.get("kind") == "responses.csv"]
    assert job.tries == 1


def test_the_console_shows_a_study_and_pauses_it(player, site):
    site.create("faces", images=4, evaluators=8)
    take_part_all(site.url, site.store, site.store.study("faces"), site.data, 6, at_once=2, is_sealed=False)

    sign_in(player, site, "/results/faces")
    player.page.wait_for_selector("h1:has-text('Results of faces')")
    player.page.goto(f"{site.url}/console/studies/faces")
    player.page.wait_for_selector("svg.narrowing")
    player.page.click("text=Pause the study")
    player.page.wait_for_selector("text=Paused: nobody new can begin")
    is_stopped = is_paused(site.store, "faces")
    assert violations(player.page) == []
    player.page.click("text=Sign out")
    player.page.wait_for_selector("#token")

    assert is_stopped
    assert site.store.finished("faces")[0] == 6


def test_the_smoke_check_passes_but_for_the_cache_that_is_not_here(site, capsys):
    site.create("faces", images=4)

    failed = smoke.main([site.url, "faces", "--key", site.data.keys().researcher])

    lines = capsys.readouterr().out.splitlines()
    wrong = [line for line in lines if not line.startswith("ok")]
    assert failed == 1
    assert wrong == ["FAIL served from CloudFront's cache the second time: no X-Cache"]
    assert len(lines) == 12
    ((_, cursor),) = site.store.sessions("faces")
    assert (cursor.state, cursor.trial_index) == ("active", 3)  # nothing finished is left behind


def test_training_code_sends_a_model_through_the_bucket_and_it_is_judged(site, tmp_path):
    """By presigned parts, taken in by the function that does jobs, and with a score at the end."""
    site.create("faces", images=10, evaluators=2)
    now = utc_now()
    set_terms(site.store, site.store.study("faces"), Terms("Faces"), now)
    ada = memberships.add(site.store, "ada", "submitter", "owner", now)
    _, token = tokens.issue(site.store, ada, "laptop", 1, "owner", now)
    rng, samples = np.random.default_rng(3), tmp_path / "samples"
    samples.mkdir()
    for number in range(30):
        Image.fromarray(rng.integers(0, 256, (64, 64, 3), np.uint8)).save(samples / f"{number}.png")
    client = Client(site.url, token, patience=0, simulated=True)
    sent = client.submit("faces", model="gan@1", images=samples)
    again = client.submit("faces", model="gan@1", images=samples)
    until = time.monotonic() + 120
    while sent.status()["state"] != "collecting" and time.monotonic() < until:
        time.sleep(0.5)

    assert sent.id == again.id
    assert sent.status()["state"] == "collecting"
    study = site.store.study("faces")
    assert study.models == ("gan", "ada gan@1")
    joined = [each for each in site.store.stimuli("faces") if each.model == "ada gan@1"]
    assert len(joined) == 30
    status, headers_, picture = get(f"{site.url}/i/faces/{joined[0].name}")
    assert (status, headers_["Content-Type"], len(picture) > 500) == (200, "image/webp", True)
    simulate(site.store, "faces", {}, url=site.url, key=site.data.keys().researcher, evaluators=8, seed=1)
    result = sent.result(timeout=60)
    assert (result.unit, result.evaluators >= 2) == ("percent", True)
