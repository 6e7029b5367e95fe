"""Studies from uploads: over the API, by a worker, with nothing half made and nothing made twice."""

from datetime import datetime, timedelta

import pytest

from backend.jobs import create_study, queue
from backend.jobs.worker import Worker
from backend.members import audit_log
from backend.uploads import pixel_limits

from .ordered import Orders, noise, picture, signed_panel


@pytest.fixture
def orders(world):
    return Orders(world)


def refused(orders, body, path="/studies"):
    reply = orders.call("POST", path, body)
    assert 400 <= reply.status_code < 500, reply.json
    return reply.status_code, reply.json["error"]["message"]


def test_a_study_is_made_from_uploads(orders, world):
    body = orders.faces(
        settings={"images": 20, "size_px": 16, "practice_images": 2, "consent_text": "@@home\nsecond line"},
        models=[
            {"model": "gan 1@4000", "upload": orders.sent(noise(1000))},
            {"model": "vae", "upload": orders.sent(noise(2000))},
        ],
        practice=orders.sent({"real/1.png": picture(5001), "fake/2.png": picture(5002)}),
        panel="sona",
        pages=[{"title": "Hello", "text": "Look at <b>pictures</b>"}],
        questions=[{"name": "age", "when": "after", "kind": "number", "text": "How old?", "required": False}],
    )

    job = orders.done(body)

    assert (job["state"], job["result"]["models"]) == ("done", ["gan 1@4000", "vae"])
    study = world.store.study("faces")
    assert study.protocol.consent.consent_text == "@home\nsecond line"
    assert study.protocol.admission.panel.name == "sona"
    assert (study.pages[0].title, study.questions[0].name) == ("Hello", "age")
    assert len([*world.store.stimuli("faces")]) == 92
    assert {path.name for path in world.data.images("faces").iterdir()} >= {
        stimulus.name for stimulus in world.store.stimuli("faces")
    }
    assert [path.name for path in (world.data.root / "jobs").iterdir()] == [".place"]


def test_the_audit_log_names_the_study_that_is_ordered(orders, world):
    orders.call("POST", "/studies", orders.faces())
    refused(orders, orders.faces(method="no such method"))

    entries, _ = audit_log.page(world.store, 10)
    ordered = [(each.target, each.outcome) for each in entries if each.action == "POST /api/studies"]
    assert sorted(ordered) == [("", "refused"), ("faces", "done")]


def test_a_study_of_items_is_made_from_uploads(orders, world):
    pairs = {
        f"{part}/{i}.png": picture(100 * i + part_seed)
        for part_seed, part in enumerate(("p0", "p1"))
        for i in range(12)
    }
    body = {
        "name": "pairs",
        "method": "jnd",
        "items": [{"set": "blur", "upload": orders.sent(pairs)}],
        "settings": {"images": 8, "picture_checks": 0},
    }

    job = orders.done(body)

    assert job["state"] == "done", job["reason"]
    assert world.store.study("pairs").models == ("blur",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "Faces"}, "a study's name must be 1 to 63 lower-case letters"),
        ({"name": None}, "the study lacks the entry name, a text"),
        ({"method": "infinty"}, "method must be one of"),
        ({"real": None}, "the study lacks the entry real"),
        ({"equalize": []}, "unknown field `equalize`"),
        ({"settings": {"imges": 3}}, "no setting is called 'imges'; did you mean"),
        ({"settings": {"consent_text": "@/etc/passwd"}}, "no files are read here"),
        ({"settings": {"images": 10**400}}, "images"),
        ({"settings": {"title": "\ud800"}}, "text"),
        ({"settings": {"images": [1]}}, "images must be a text, a number, true or false, not a list"),
        ({"panel": "/etc/passwd.toml"}, "panel must be one of"),
        ({"settings": {"panel": "x.toml"}}, "panel must be one of"),
        ({"pages": [{"title": "x"}]}, "pages 1 lacks the entry text"),
        (
            {"questions": [{"name": "a", "when": "now", "kind": "text", "text": "?"}]},
            "questions 1: when must be",
        ),
        ({"settings": {"qualification": "none"}}, "a study of the kind qualification, called none"),
        ({"practice": "0" * 32}, "practice_images is 0; the setting practice_images, or leave out"),
        (
            {"settings": {"picture_checks": 2}},
            "picture_checks need pictures whose truth is beyond doubt: pictures (checks)",
        ),
    ],
)
def test_what_is_wrong_in_an_order_is_told_at_once_in_its_own_words(orders, changes, message):
    status, found = refused(orders, orders.faces(**changes))

    assert (status, message in found, "--" in found) == (400, True, False), found
    assert queue.jobs(orders.world.store) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "169.254.169.254", "[::1]", "localhost", "0x7f.1", "a@10.1"])
def test_keys_inside_the_servers_network_are_refused_where_a_study_is_ordered(orders, host):
    panel = signed_panel(f"https://{host}/latest")

    for path in ("/studies", "/previews"):
        reply = orders.call("POST", path, orders.faces(panel=panel))
        found = reply.json["error"]
        assert (reply.status_code, found["keys"]) == (400, ["panel", "signature", "keys"])
        assert "is not public" in found["message"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["gan", "gan"], "two models are called 'gan' and 'gan'"),
        (["gan", "Gan"], "differ by case only"),
        (["<b>gan</b>"], "a model's name must be 1 to 100 letters"),
        (["../real"], "a model's name must be 1 to 100 letters"),
        (["a/b"], "a model's name must be 1 to 100 letters"),
    ],
)
def test_names_of_models_are_checked(orders, names, message):
    upload = orders.sent(noise(1000))

    status, found = refused(orders, orders.faces(models=[{"model": n, "upload": upload} for n in names]))

    assert (status, message in found) == (400, True), found


def test_uploads_must_be_complete_and_ones_own(orders, world):
    theirs = Orders(world, "ana").sent(noise(3000))
    begun = orders.uploads.begin("owner", "files", 10, ["0" * 8], world.clock()).id

    assert refused(orders, orders.faces(real="0" * 32))[0] == 404
    assert refused(orders, orders.faces(real=theirs))[0] == 404
    assert refused(orders, orders.faces(real=begun)) == (
        409, "the upload of real is not complete; send the parts that are missing first"
    )  # fmt: skip


def test_too_few_pictures_and_broken_files_fail_with_reasons(orders, world):
    few = orders.done(orders.faces(models=[{"model": "gan", "upload": orders.sent(noise(9000, 9))}]))
    broken = {**noise(0), **{f"b{i}.png": picture(50 + i)[:200] for i in range(7)}}
    cut = orders.done(orders.faces(real=orders.sent(broken)))

    assert (few["state"], cut["state"]) == ("failed", "failed")
    assert "gan has 9" in few["reason"] or "9" in few["reason"], few["reason"]
    assert cut["reason"].startswith("7 files cannot be used: 7 are cut off or damaged (real/b0.png, ")
    assert cut["reason"].endswith("or leave it out with skip_bad")
    assert len(cut["result"]["files"]) == 7
    assert str(world.data.root) not in f"{few} {cut}"
    assert world.store.studies() == []
    assert [*world.data.root.glob("images/*"), *world.data.root.glob("jobs/[!.]*")] == []


def test_the_same_order_again_is_the_same_job_and_another_waits(orders, world):
    body = orders.faces()
    job = orders.ordered(body)

    assert orders.ordered(body) == job
    status, message = refused(orders, {**body, "strict": True})
    assert (status, message) == (
        409, "a study faces is being made at this moment; choose another name, or cancel its job"
    )  # fmt: skip
    orders.worker.run_once()
    assert orders.ordered(body) == job
    assert "a study faces exists already" in refused(orders, {**body, "strict": True})[1]
    assert orders.worker.run_once() is None


def test_an_order_is_forgotten_with_its_job(orders, world):
    ended = datetime.fromisoformat(orders.done(orders.faces())["updated_at"])

    queue.forget(world.store, ended + timedelta(days=queue.KEPT_DAYS - 1))
    kept = [entry.key for entry in world.store.entries(queue.MAKING)]
    queue.forget(world.store, ended + timedelta(days=queue.KEPT_DAYS + 1))

    assert kept == ["faces"]
    assert [*world.store.entries(queue.MAKING)] == [*world.store.entries(queue.JOBS)] == []
    assert "a study faces exists already" in refused(orders, orders.faces())[1]


def test_after_a_failure_the_same_order_is_a_new_job(orders):
    body = orders.faces(models=[{"model": "gan", "upload": orders.sent(noise(9000, 9))}])
    first = orders.done(body)

    assert orders.ordered(body) != first["job"]


def test_an_order_whose_server_was_killed_before_the_job_was_stored_is_not_lost(orders, world):
    body = orders.faces()
    job = orders.ordered(body)
    world.store.erase_entry(queue.JOBS, job)

    assert refused(orders, {**body, "strict": True})[0] == 409
    assert orders.worker.run_once().id == job
    assert world.store.study("faces")


def test_a_job_that_is_run_again_after_the_study_was_stored_makes_no_second_one(orders, world, monkeypatch):
    job = orders.ordered(orders.faces())
    claimed = queue.claim(world.store, job, "dead", orders.worker._place, world.clock())
    made = create_study.run(orders.worker._work(_NoBeat(), world.data.root / "jobs" / "x"), claimed)
    before = world.store.study("faces")

    again = orders.worker.run_once()

    assert (again.state, queue.job(world.store, job).result) == ("done", made)
    assert world.store.study("faces") == before


def test_a_cancelled_job_leaves_nothing(orders, world):
    job = orders.ordered(orders.faces())

    cancelled = orders.call("POST", f"/jobs/{job}/cancel", {})

    assert (cancelled.status_code, cancelled.json["state"]) == (200, "cancelled")
    assert orders.worker.run_once() is None


def test_a_worker_without_uploads_says_so(orders, world):
    job = orders.ordered(orders.faces())

    Worker(world.store, world.data).run_once()

    assert "this worker has no uploads" in queue.job(world.store, job).reason


def test_an_upload_that_expired_is_named(orders, world):
    job = orders.ordered(orders.faces())
    orders.uploads.expire(world.clock() + timedelta(days=30))

    orders.worker.run_once()

    assert "there is no upload" in orders.call("GET", f"/jobs/{job}").json["reason"]


def test_drafts_are_stored_by_member(orders, world):
    body = {"name": "faces", "settings": {"images": 4}}
    stored = orders.call("POST", "/drafts/new", body)
    broken = orders.call("POST", "/drafts/a b", {})

    assert stored.json["body"] == body
    assert broken.status_code == 400
    assert orders.call("GET", "/drafts/new").json == stored.json
    assert [each["draft"] for each in orders.call("GET", "/drafts").json["drafts"]] == ["new"]
    assert orders.call("POST", "/drafts/new/delete", {}).status_code == 200
    assert orders.call("GET", "/drafts/new").status_code == 404


class _NoBeat:
    def progress(self, items, total=None, label=""):
        return items


def test_jobs_that_wait_or_run_are_listed_by_themselves(orders, world):
    """A page that shows them asks every few seconds, and jobs are kept for a month."""
    ended = [orders.done(orders.faces(strict=strict), "/audits")["job"] for strict in (True, False)]
    waiting = [orders.ordered(orders.faces(skip_bad=True), "/audits"), orders.ordered(orders.faces())]

    def listed(query):
        return [job["job"] for job in orders.call("GET", f"/jobs{query}").json["jobs"]]

    assert {*listed("?state=open")} == {*waiting}
    assert {*listed("")} == {*ended, *waiting}
    assert listed("?state=open&study=faces") == waiting[1:]
    assert "state must be 'open'" in orders.call("GET", "/jobs?state=done").json["error"]["message"]


@pytest.mark.parametrize("path", ["/studies", "/audits"])
@pytest.mark.parametrize("what", ["real", "models/gan", "masks"])
def test_an_upload_of_few_bytes_and_many_pixels_is_refused_before_it_is_decoded(
    orders, monkeypatch, path, what
):
    monkeypatch.setattr(pixel_limits, "FREE_PIXELS", 0)
    monkeypatch.setattr(pixel_limits, "PIXELS_A_FILE", 10)
    monkeypatch.setattr(pixel_limits, "PIXELS_A_BYTE", 0.31)  # noise of 99 x 99 px has 0.33, of 16 x 16 less
    body = orders.faces(masks=orders.sent(noise(3000, size=(8, 8))))
    many = orders.sent(noise(7000, size=(99, 99)))
    upload = {"models": [{"model": "gan", "upload": many}]} if what == "models/gan" else {what: many}

    job = orders.done(body | upload, path)

    assert job["state"] == "failed"
    assert job["reason"].startswith(f"the archive of {what}: ")
    assert "its pictures have 294,030 pixels, more than the" in job["reason"]
