"""Submissions to a leaderboard study over HTTP: states, retries, limits, refusals, withdrawal, and no
leaks."""

import hashlib
import io
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.administration import join
from backend.cli import main
from backend.competitions import competition, join_job, names, ranking, submissions
from backend.competitions.badge import badge
from backend.competitions.terms import competition_of
from backend.jobs import queue
from backend.jobs.worker import Worker
from backend.members import memberships, tokens
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.task import withdrawal
from backend.uploads.local_uploads import LocalUploads

from ..conftest import World
from ..uploads import streams
from ..web.test_server_paths import Seen

TERMS = {"title": "Faces of <b>2026</b>", "published": True}


def picture(rng, kind="PNG"):
    written = io.BytesIO()
    Image.fromarray(rng.integers(0, 255, (16, 16, 3), np.uint8)).save(written, kind)
    return written.getvalue()


def pictures(seed, count=4):
    rng = np.random.default_rng(seed)
    return {f"{i}.png": picture(rng) for i in range(count)}


class Site(World):
    """A server with a study of files, members with tokens, and a worker."""

    def __init__(self, store, data):
        super().__init__(store, data)
        self.uploads = LocalUploads(data)
        self.worker = Worker(store, data, self.uploads, tick_s=0.02)
        self.of = {"owner": data.keys().researcher}
        for name in ("ann@lab.example", "bob"):
            found = memberships.add(store, name, "submitter", "owner", self.clock())
            self.of[name] = tokens.issue(store, found, "", 3650, "owner", self.clock())[1]

    def ask(self, path, body=None, member="ann@lab.example"):
        token = {"X-Openhype-Token": self.of[member]} if member else {}
        if body is None:
            return self.http.get(path, headers=token)
        return self.http.post(path, json=body, headers=token)

    def set_terms(self, **terms):
        reply = self.ask("/api/studies/faces/competition", {**TERMS, **terms}, "owner")
        assert reply.status_code == 200, reply.json
        return reply.json

    def upload(self, files, member="ann@lab.example"):
        """Upload files, and return the upload's id and digest."""
        upload = streams.send(self.uploads, member, files, self.clock())
        return upload.id, upload.digest

    def submit(self, model, files, member="ann@lab.example"):
        """Submit a model with its pictures, have them checked, and return the submission."""
        upload, digest = self.upload(files, member)
        given = self.ask("/api/studies/faces/submissions", {"model": model, "digest": digest}, member)
        assert given.status_code == 201, given.json
        path = f"/api/submissions/{given.json['submission']}"
        assert self.ask(f"{path}/pictures", {"upload": upload}, member).status_code == 200
        self.worker.run_once()
        return self.ask(path, member=member).json

    def judge(self, count):
        for i in range(count):
            answers = iter([True, i % 2 == 0, True, False] * 100)
            self.player().play(right=lambda truth, answers=answers: next(answers))
        self.clock.move(minutes=2)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make a data directory with the study, once."""
    folder = tmp_path_factory.mktemp("made")
    for name, seed in (("real", 1), ("base", 2)):
        (folder / name).mkdir()
        for file, content in pictures(seed, 6).items():
            (folder / name / file).write_bytes(content)
    given = ["create", "faces", "--method", "infinity", "--real", f"{folder}/real"]
    given += ["--model", f"base={folder}/base", "--data", f"{folder}/data", "--set", "panel=prolific"]
    for setting in ("images=8", "evaluators=2", "size_px=16", "base_usd_cents=100"):
        given += ["--set", setting]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 0, result.output
    return folder / "data"


@pytest.fixture
def site(made, tmp_path, monkeypatch):
    import shutil

    monkeypatch.setattr(competition, "_SHARE", 0)  # the time that a table takes depends on the machine

    shutil.copytree(made, tmp_path / "data")
    data = DataDir(tmp_path / "data")
    store = open_store("sqlite:///openhype.db", data.root)
    yield Site(store, data)
    store.close()


def submitted(site, model="gan", seed=3, member="ann@lab.example", count=4):
    return site.submit(model, pictures(seed, count), member)


def test_a_model_is_submitted_checked_judged_scored_and_published(site):
    site.set_terms(about="One.\n\nTwo <script>alert(1)</script>.", limit={"count": 2, "days": 7})
    upload, digest = site.upload(pictures(3))
    path = "/api/studies/faces/submissions"
    before = site.ask(path).json["limit"]

    first = site.ask(path, {"model": "gan@4000", "digest": digest})
    again = site.ask(path, {"model": "gan@4000", "digest": digest})

    own = f"/api/submissions/{first.json['submission']}"
    assert (before["used"], before["left"]) == (0, 2)
    assert (first.status_code, again.status_code) == (201, 200)
    assert (first.json["state"], first.json["needs_pictures"]) == ("awaiting_pictures", True)
    assert again.json == first.json
    for _ in range(2):
        assert site.ask(f"{own}/pictures", {"upload": upload}).json["state"] == "queued"
    assert site.worker.run_once().state == "done"
    assert site.worker.run_once() is None
    collecting = site.ask(own).json
    assert (collecting["state"], collecting["reason"]) == ("collecting", "0 of 2 evaluators have finished")
    assert collecting["result"] == {
        "score": None,
        "ci": None,
        "unit": "percent",
        "evaluators": 0,
        "wanted": 2,
    }
    site.judge(4)
    scored = site.ask(own).json
    assert (scored["state"], scored["result"]["evaluators"], scored["try"]) == ("scored", 2, 1)
    assert 0 <= scored["result"]["score"] <= 100
    assert site.ask(path).json["limit"]["left"] == 1
    data = site.ask("/api/competitions/faces", member=None)
    rows = {row["model"]: row for row in data.json["models"]}
    assert set(rows) == {"base", "gan@4000"}
    row = rows["gan@4000"]
    assert (row["submitter"], row["tries"], row["evaluators"]) == ("ann", 1, 2)
    assert row["score"] == scored["result"]["score"]
    assert row["cost_usd_cents"] >= 200
    assert len(row["judged_from"]) == len("2026-01-31")
    assert data.headers["Access-Control-Allow-Origin"] == "*"
    assert data.headers["Cache-Control"].startswith("public, max-age=60")
    page = site.http.get("/competitions/faces")
    text = page.get_data(as_text=True)
    assert "gan@4000" in text
    assert "Faces of &lt;b&gt;2026&lt;/b&gt;" in text
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert "lab.example" not in text
    assert (
        site.http.get("/competitions/faces", headers={"If-None-Match": page.headers["ETag"]}).status_code
        == 304
    )
    badge = site.http.get("/competitions/faces/badge.svg?model=gan@4000")
    assert (badge.status_code, badge.mimetype) == (200, "image/svg+xml")
    assert "<b>" not in badge.get_data(as_text=True)
    assert "faces" in site.http.get("/competitions").get_data(as_text=True)
    refused = site.ask(f"{own}/withdraw", {})
    assert (refused.status_code, refused.json["error"]["code"]) == (409, "already_scored")


def test_two_of_one_name_at_once_make_one_and_other_pictures_are_refused(site):
    site.set_terms()
    digests = [f"{i:064x}" for i in range(6)]

    with ThreadPoolExecutor(6) as pool:
        replies = [
            *pool.map(
                lambda digest: site.app.test_client().post(
                    "/api/studies/faces/submissions",
                    json={"model": "gan", "digest": digest},
                    headers={"X-Openhype-Token": site.of["bob"]},
                ),
                digests,
            )
        ]

    assert sorted(reply.status_code for reply in replies) == [201, 409, 409, 409, 409, 409]
    assert {reply.json["error"]["code"] for reply in replies if reply.status_code == 409} == {"model_taken"}
    assert len(site.ask("/api/studies/faces/submissions", member="bob").json["submissions"]) == 1


def test_the_one_of_two_at_once_that_is_accepted_joins(site):
    """The other, which is refused, may have claimed the name between its claim and its being stored."""
    site.set_terms()
    upload, digest = site.upload(pictures(3))
    one = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": digest}).json
    study = site.store.study("faces")
    names.claim(site.store, study, "ann@lab.example gan", "gan", "f" * 24, lambda other: False)

    site.ask(f"/api/submissions/{one['submission']}/pictures", {"upload": upload})
    site.worker.run_once()

    joined = site.ask(f"/api/submissions/{one['submission']}").json
    assert (joined["state"], joined["reason"]) == ("collecting", "0 of 2 evaluators have finished")


def test_a_name_is_one_models_whoever_submits_it(site):
    site.set_terms()
    found = memberships.add(site.store, "rita", "researcher", "owner", site.clock())
    site.of["rita"] = tokens.issue(site.store, found, "", 3650, "owner", site.clock())[1]

    of_study = site.ask("/api/studies/faces/submissions", {"model": "Base", "digest": "0" * 64}, "owner")
    assert (of_study.status_code, of_study.json["error"]["code"]) == (409, "model_taken")
    refused = submitted(site, "gan", seed=3, member="rita", count=2)
    assert refused["state"] == "refused"
    assert submitted(site, "gan", seed=4, member="owner")["state"] == "collecting"
    other = site.ask("/api/studies/faces/submissions", {"model": "GAN", "digest": "1" * 64}, "rita")
    assert (other.status_code, other.json["error"]["code"]) == (409, "model_taken")
    assert site.store.study("faces").models == ("base", "gan")
    assert submitted(site, "gan", seed=5)["state"] == "collecting"  # a submitter's has its own name besides


def test_a_limit_holds_for_submissions_at_once_and_failures_cost_none(site):
    site.set_terms(limit={"count": 2, "days": 7})

    refused = submitted(site, "few", count=2)
    assert refused["state"] == "refused"
    assert refused["reason"].endswith("it has 2 of 4 fakes of ann@lab.example few")
    assert refused["try"] is None
    with ThreadPoolExecutor(5) as pool:
        replies = [
            *pool.map(
                lambda i: site.app.test_client().post(
                    "/api/studies/faces/submissions",
                    json={"model": f"m{i}", "digest": f"{i:064x}"},
                    headers={"X-Openhype-Token": site.of["ann@lab.example"]},
                ),
                range(5),
            )
        ]

    assert sorted(reply.status_code for reply in replies) == [201, 201, 409, 409, 409]
    (message,) = {reply.json["error"]["message"] for reply in replies if reply.status_code == 409}
    assert "2 of your models can be judged in 7 days" in message
    limit = site.ask("/api/studies/faces/submissions").json["limit"]
    assert (limit["used"], limit["left"]) == (2, 0)
    assert limit["next_at"][:10] == "2026-01-02"  # a day after they were begun, if no pictures come
    assert site.ask("/api/studies/faces/submissions", member="bob").json["limit"]["left"] == 2
    site.clock.move(days=2)  # what never got pictures costs nothing
    assert site.ask("/api/studies/faces/submissions").json["limit"]["left"] == 2


def test_a_check_that_failed_costs_no_try_until_its_pictures_are_sent_again(site):
    site.set_terms(limit={"count": 1, "days": 7})
    upload, digest = site.upload(pictures(3))
    path = "/api/studies/faces/submissions"
    failed = site.ask(path, {"model": "gan", "digest": digest}).json
    own = f"/api/submissions/{failed['submission']}"
    site.ask(f"{own}/pictures", {"upload": upload})
    queue.cancel(site.store, queue.open_jobs(site.store)[0].id, site.clock())

    assert site.ask(path).json["limit"]["left"] == 1
    assert site.ask(own).json["try"] is None
    other = submitted(site, "other", 4)
    again = site.ask(f"{own}/pictures", {"upload": upload})
    site.clock.move(days=5)
    still = site.ask(f"{own}/pictures", {"upload": upload})
    site.clock.move(days=2)
    late = site.ask(f"{own}/pictures", {"upload": upload})

    assert (other["state"], other["try"]) == ("collecting", 1)
    assert [each.status_code for each in (again, still, late)] == [409, 409, 200]
    assert again.json["error"]["code"] == "limit_reached"
    assert (late.json["state"], late.json["try"]) == ("queued", 1)
    assert site.ask(path).json["limit"]["next_at"][:10] == "2026-01-15"  # a week after they were sent again


def test_a_refused_name_can_be_used_again_and_the_reason_names_files_alone(site):
    site.set_terms()
    bad = {**pictures(3), "broken.png": b"no picture", "sub/x.txt": b"?"}

    refused = site.submit("gan", bad)

    assert refused["state"] == "refused"
    assert "broken.png" in refused["reason"]
    assert "--skip-bad" not in refused["reason"]
    assert str(site.data.root) not in refused["reason"]
    assert "/" not in refused["reason"].replace("sub/", "").replace("and/or", "")
    assert submitted(site, "gan", seed=5)["state"] == "collecting"
    listed = site.ask("/api/studies/faces/submissions").json["submissions"]
    assert [(one["model"], one["state"]) for one in listed] == [("gan", "refused"), ("gan", "collecting")]


def test_a_worker_killed_after_the_model_joined_makes_no_second_one(site, monkeypatch):
    site.set_terms()
    upload, digest = site.upload(pictures(3))
    one = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": digest}).json
    site.ask(f"/api/submissions/{one['submission']}/pictures", {"upload": upload})
    (job,) = queue.open_jobs(site.store)

    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    work = site.worker
    with monkeypatch.context() as patched:
        patched.setattr(join_job, "_joined", killed)
        with pytest.raises(Killed):
            work.run_once()
    assert site.store.study("faces").models == ("base", "ann@lab.example gan")

    Worker(site.store, site.data, site.uploads, tick_s=0.02).run_once()

    assert site.store.study("faces").models == ("base", "ann@lab.example gan")
    assert queue.job(site.store, job.id).state == "done"
    assert site.ask(f"/api/submissions/{one['submission']}").json["state"] == "collecting"


def test_a_fault_of_the_server_costs_no_try_and_is_mended_by_sending_again(site):
    site.set_terms(limit={"count": 1, "days": 7})
    upload, digest = site.upload(pictures(3))
    one = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": digest}).json
    path = f"/api/submissions/{one['submission']}"
    site.ask(f"{path}/pictures", {"upload": upload})
    images = site.data.images("faces")
    images.rename(images.with_name("away"))
    site.worker.run_once()
    images.with_name("away").rename(images)

    failed = site.ask(path).json

    assert (failed["state"], failed["needs_pictures"]) == ("awaiting_pictures", True)
    assert "send the pictures again" in failed["reason"]
    assert site.ask(f"{path}/pictures", {"upload": upload}).json["state"] == "queued"
    site.worker.run_once()
    assert site.ask(path).json["state"] == "collecting"


def test_a_submitter_sees_nothing_of_another(site):
    site.set_terms(submitters=["ann@lab.example", "bob"], embargo_until="2027-01-01")
    mine = submitted(site, "secret-gan", seed=3)
    unknown = site.ask(f"/api/submissions/{'0' * 24}", member="bob")
    known = f"/api/submissions/{mine['submission']}"

    replies = [
        site.ask(known, member="bob"),
        site.ask(f"{known}/withdraw", {}, member="bob"),
        site.ask(f"{known}/pictures", {"upload": "0" * 32}, member="bob"),
    ]

    assert {reply.status_code for reply in replies} == {404}
    assert {reply.json["error"]["message"].replace(mine["submission"], "0" * 24) for reply in replies} == {
        unknown.json["error"]["message"]
    }
    assert site.ask("/api/studies/faces/submissions", member="bob").json["submissions"] == []
    # the same name: as if nobody had it
    same = submitted(site, "secret-gan", seed=4, member="bob")
    assert same["state"] == "collecting"
    assert same["submission"] != mine["submission"]
    assert same["notes"] == [note.replace("ann@lab.example", "bob") for note in mine["notes"]]
    job = queue.jobs(site.store)[0]
    assert (
        site.ask(
            f"/api/jobs/{job.id}", member="bob" if job.member != "bob" else "ann@lab.example"
        ).status_code
        == 404
    )
    for member in ("bob", None):
        for path in (
            "/api/competitions/faces", "/competitions/faces", "/competitions", "/api/competitions",
            "/api/studies/faces", "/competitions/faces/badge.svg?model=secret-gan",
        ):  # fmt: skip
            reply = site.ask(path, member=member).get_data(as_text=True)
            assert "ann@" not in reply
            assert "lab.example" not in reply
            assert '"ann"' not in reply
            assert ">ann<" not in reply
            assert path.endswith("secret-gan") or "secret-gan" not in reply


def test_real_pictures_are_refused_without_saying_which(site, made):
    site.set_terms()
    reals = {path.name: path.read_bytes() for path in (made.parent / "real").iterdir()}

    refused = site.submit("thief", {**pictures(9), "x.png": reals["0.png"]})

    assert refused["state"] == "refused"
    assert "some of the pictures show the same as pictures that study faces has already" in refused["reason"]
    assert "x.png" not in refused["reason"]
    assert "0.png" not in refused["reason"]


def test_a_refusal_does_not_say_whose_a_picture_is(site, made):
    """Whoever is an evaluator too could submit what was shown, and learn whether it was real."""
    site.set_terms()
    own, others = pictures(21), pictures(22)
    assert submitted(site, "own", 21)["state"] == "collecting"
    assert submitted(site, "others", 22, "bob")["state"] == "collecting"
    reals, fakes = (
        {path.name: path.read_bytes() for path in (made.parent / side).iterdir()} for side in ("real", "base")
    )

    refused = [
        site.submit(f"m{i}", {**pictures(30 + i), "x.png": side["0.png"]})
        for i, side in enumerate((reals, fakes, own, others))
    ]

    assert [each["state"] for each in refused] == ["refused"] * 4
    assert len({each["reason"] for each in refused}) == 1


def test_what_was_withdrawn_is_compared_with_too_since_it_was_shown(site):
    site.set_terms()
    withdrawn = submitted(site, "others", 22, "bob")
    site.ask(f"/api/submissions/{withdrawn['submission']}/withdraw", {}, "bob")

    refused = submitted(site, "copy", 22)

    assert refused["state"] == "refused"


def test_the_progress_of_a_check_does_not_say_how_many_pictures_others_have(site, monkeypatch):
    site.set_terms()
    submitted(site, "others", 22, "bob")
    told = []
    monkeypatch.setattr(
        "backend.jobs.worker._Beat.progress",
        lambda _, items, total=None, label="": told.append((label, total)) or iter(items),
    )

    submitted(site)

    assert told
    assert {total for _, total in told} <= {4, None}


def test_nobody_submits_under_the_name_of_a_model_that_is_there(site):
    """Its score would be shown as that of other pictures, and its withdrawal would end that of another."""
    site.set_terms()
    site.submit("extra", pictures(5), "owner")
    site.of["res"] = tokens.issue(
        site.store, memberships.add(site.store, "res", "researcher", "owner", site.clock()), "", 9, "owner",
        site.clock(),
    )[1]  # fmt: skip

    taken = [
        site.ask("/api/studies/faces/submissions", {"model": name, "digest": "0" * 64}, "res")
        for name in ("base", "BASE", "extra")
    ]

    assert [reply.json["error"]["code"] for reply in taken] == ["model_taken"] * 3
    again = site.ask("/api/studies/faces/submissions", member="owner").json["submissions"][0]
    given = {"model": "extra", "digest": again["digest"]}
    assert site.ask("/api/studies/faces/submissions", given, "owner").status_code == 200


def test_what_is_not_accepted_leaves_nothing_in_the_store(site):
    site.set_terms(opens_at="2027-01-01")

    given = [{"model": f"gan {i}", "digest": "0" * 64} for i in range(3)]
    late = [site.ask("/api/studies/faces/submissions", each) for each in given]

    assert [reply.status_code for reply in late] == [409, 409, 409]
    assert [*site.store.entries("submission_ids")] == []


def test_names_of_submitters_are_theirs_however_they_are_written(site):
    site.set_terms(submitters=["Ann@lab.example"])

    given = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": "0" * 64})

    assert given.status_code == 201, given.json


def test_why_the_server_failed_is_not_for_submitters(site):
    """The reason may name files of the server, or what others do at the same time."""
    site.set_terms()
    upload, digest = site.upload(pictures(3))
    path = (
        "/api/submissions/"
        + site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": digest}).json["submission"]
    )
    site.ask(f"{path}/pictures", {"upload": upload})
    for stored in site.data.images("faces").iterdir():
        stored.unlink()

    site.worker.run_once()

    job = queue.jobs(site.store)[0]
    assert (job.state, job.member) == ("failed", "ann@lab.example")
    assert ".webp is missing in images/faces" in job.reason
    for asked in (path, f"/api/jobs/{job.id}"):
        assert "images/faces" not in site.ask(asked).get_data(as_text=True)
        assert "the server" in site.ask(asked).json["reason"]
        assert "images/faces" in site.ask(asked, member="owner").get_data(as_text=True)


def test_a_study_that_is_not_open_to_a_member_does_not_exist_for_it(site):
    nothing = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": "0" * 64}, "bob")
    site.set_terms(submitters=["ann@lab.example"])

    closed = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": "0" * 64}, "bob")
    missing = site.ask("/api/studies/nowhere/submissions", {"model": "gan", "digest": "0" * 64}, "bob")

    assert nothing.status_code == closed.status_code == missing.status_code == 404
    assert nothing.json["error"]["message"] == closed.json["error"]["message"]
    assert missing.json["error"]["message"].replace("nowhere", "faces") == closed.json["error"]["message"]
    assert site.ask("/api/studies/faces/competition", member="ann@lab.example").status_code == 403


def test_what_is_not_published_does_not_exist_for_the_public(site):
    site.set_terms(published=False)

    hidden = [site.ask(path, member=None) for path in ("/api/competitions/faces", "/competitions/faces")]

    assert [reply.status_code for reply in hidden] == [404, 404]
    missing = site.ask("/api/competitions/nowhere", member=None).json["error"]["message"]
    assert missing.replace("nowhere", "faces") == hidden[0].json["error"]["message"]
    assert "faces" not in site.ask("/api/competitions", member=None).get_data(as_text=True)


def test_the_page_of_a_competition_with_the_host_of_its_request_is_for_no_shared_cache(site):
    site.set_terms()

    page = site.http.get("/competitions/faces", headers={"Host": "evil.example"})

    assert "evil.example" in page.get_data(as_text=True)
    assert ("Host" in page.vary, page.headers["Cache-Control"]) == (True, "private, no-cache")


def test_a_withdrawn_model_gets_no_more_evaluators_and_its_answers_stay(site):
    site.set_terms(limit={"count": 1, "days": 7})
    one = submitted(site)
    site.judge(2)
    path = f"/api/submissions/{one['submission']}"

    for _ in range(2):
        assert site.ask(f"{path}/withdraw", {}).json["state"] == "withdrawn"

    site.judge(1)
    assert site.open().json["error"]["code"] == "study_full"
    study = site.store.study("faces")
    assert study.closed == ("ann@lab.example gan",)
    assert {condition.models for condition in study.conditions} == {("base",)}
    assert study.evaluators_wanted == 2
    rows = site.ask("/api/competitions/faces", member=None).json["models"]
    assert "gan" not in {row["model"] for row in rows}
    answers = [session for session, _ in site.store.sessions("faces") if "gan" in session.models[0]]
    assert answers
    assert site.ask("/api/studies/faces/submissions").json["limit"]["left"] == 0
    shown = CliRunner().invoke(main, ["status", "faces", "--data", str(site.data.root)])
    assert "ann@lab.example gan (withdrawn)" in shown.output


def test_what_is_withdrawn_before_it_joined_costs_nothing_and_frees_its_name(site):
    site.set_terms(limit={"count": 1, "days": 7})
    upload, digest = site.upload(pictures(3))
    one = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": digest}).json
    path = f"/api/submissions/{one['submission']}"
    site.ask(f"{path}/pictures", {"upload": upload})

    assert site.ask(f"{path}/withdraw", {}).json["state"] == "withdrawn"
    site.worker.run_once()

    assert site.store.study("faces").models == ("base",)
    assert site.ask("/api/studies/faces/submissions").json["limit"]["left"] == 1
    other = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": "1" * 64})
    assert other.status_code == 201


def test_what_is_withdrawn_while_it_is_checked_does_not_join_and_costs_nothing(site, monkeypatch):
    site.set_terms(limit={"count": 1, "days": 7})
    upload, digest = site.upload(pictures(3))
    one = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": digest}).json
    path = f"/api/submissions/{one['submission']}"
    site.ask(f"{path}/pictures", {"upload": upload})
    unpack_upload = join_job.unpack_pictures

    def withdrawn_meanwhile(*given):
        assert site.ask(f"{path}/withdraw", {}).json["state"] == "withdrawn"
        return unpack_upload(*given)

    monkeypatch.setattr(join_job, "unpack_pictures", withdrawn_meanwhile)
    before = sorted(each.name for each in site.data.images("faces").iterdir())
    done = site.worker.run_once()

    assert done.state == "done"
    assert site.store.study("faces").models == ("base",)
    assert sorted(each.name for each in site.data.images("faces").iterdir()) == before
    assert site.ask(path).json["try"] is None
    assert site.ask("/api/studies/faces/submissions").json["limit"]["left"] == 1


def test_a_name_that_is_withdrawn_at_the_last_moment_gives_its_model_to_no_other_pictures(site, monkeypatch):
    """Else those would have the score of the others, or none for ever, since their model is closed."""
    site.set_terms()
    first, second = site.upload(pictures(3)), site.upload(pictures(4))
    path = "/api/studies/faces/submissions"
    sent = []
    grown = join._grown

    def submitted_again_meanwhile(*given):
        if len(sent) == 1:
            assert site.ask(f"{sent[0]}/withdraw", {}).json["state"] == "withdrawn"
            send(second)
        return grown(*given)

    def send(upload):
        made = site.ask(path, {"model": "gan", "digest": upload[1]}).json
        sent.append(f"/api/submissions/{made['submission']}")
        assert site.ask(f"{sent[-1]}/pictures", {"upload": upload[0]}).status_code == 200

    monkeypatch.setattr(join, "_grown", submitted_again_meanwhile)
    send(first)
    for _ in range(2):
        site.worker.run_once()

    assert site.store.study("faces").closed == ("ann@lab.example gan",)
    assert site.ask(sent[0]).json["state"] == "withdrawn"
    again = site.ask(sent[1]).json
    assert again["state"] == "refused"
    assert again["reason"] == "no model can be called gan in this study; choose another name"


def test_what_is_withdrawn_while_pictures_are_published_does_not_join(site):
    site.set_terms()
    upload, digest = site.upload(pictures(3))
    one = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": digest}).json
    path = f"/api/submissions/{one['submission']}"
    site.ask(f"{path}/pictures", {"upload": upload})
    site.worker.publish = lambda *_: site.ask(f"{path}/withdraw", {})

    site.worker.run_once()

    assert site.store.study("faces").models == ("base",)
    assert site.ask(path).json["state"] == "withdrawn"


def test_a_badge_names_its_model_however_long_the_title_is():
    data = {"title": "Faces " * 30, "unit": "percent", "method_title": "HYPE-infinity"}
    row = {"model": "m" * 39 + "1", "ranks": [1, 2], "score": 41.3}

    drawn = badge(data, row)

    assert f">Faces Faces Faces F…: {row['model']}</text>" in drawn


def test_what_joins_while_it_is_withdrawn_gets_no_evaluators(site, monkeypatch):
    site.set_terms()
    upload, digest = site.upload(pictures(3))
    one = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": digest}).json
    path = f"/api/submissions/{one['submission']}"
    site.ask(f"{path}/pictures", {"upload": upload})
    withdraw = submissions.withdraw

    def after_it_joined(*given):
        site.worker.run_once()
        return withdraw(*given)

    monkeypatch.setattr(submissions, "withdraw", after_it_joined)

    assert site.ask(f"{path}/withdraw", {}).json["state"] == "withdrawn"

    study = site.store.study("faces")
    assert study.models == ("base", "ann@lab.example gan")
    assert study.closed == ("ann@lab.example gan",)


def test_the_command_says_that_a_check_failed(site):
    site.set_terms()
    upload, digest = site.upload(pictures(3))
    one = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": digest}).json
    site.ask(f"/api/submissions/{one['submission']}/pictures", {"upload": upload})
    for stored in site.data.images("faces").iterdir():
        stored.unlink()
    site.worker.run_once()

    shown = CliRunner().invoke(main, ["competition", "faces", "--data", str(site.data.root)])

    assert "gan  awaiting_pictures: the check was not finished" in shown.output


def test_a_failed_check_is_done_again_once_though_the_pictures_are_sent_twice_at_once(site):
    site.set_terms()
    upload, digest = site.upload(pictures(3))
    one = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": digest}).json
    study, sent = submissions.submission(site.store, one["submission"], None)
    record = competition_of(site.store, study)

    def give(one):
        return submissions.give_pictures(
            site.store, study, record, one, upload, site.clock(), lambda known: known.sent == 1
        )

    sent = give(sent)

    again = [give(sent) for _ in range(2)]

    assert [each.sent for each in again] == [2, 2]


@pytest.mark.parametrize("counts", ["best", "last"])
def test_one_model_of_a_submitter_stands_in_the_table(site, counts):
    site.set_terms(counts=counts)
    ids = []
    for i, model in enumerate(("one", "two")):
        ids.append(submitted(site, model, seed=20 + i)["submission"])
        site.clock.move(hours=1)
    site.judge(6)
    scores = [site.ask(f"/api/submissions/{one}").json["result"]["score"] for one in ids]

    rows = site.ask("/api/competitions/faces", member=None).json["models"]

    (row,) = [row for row in rows if row["submitter"]]
    wanted = "two" if counts == "last" or scores[1] >= scores[0] else "one"  # of equal ones the later
    assert (row["model"], row["tries"]) == (wanted, 2)


def test_dates_and_changed_terms(site):
    site.set_terms(opens_at="2030-01-01", closes_at="2030-02-01T12:00:00+01:00")
    given = {"model": "gan", "digest": "0" * 64}

    early = site.ask("/api/studies/faces/submissions", given)
    site.clock.now = datetime(2030, 1, 15, tzinfo=UTC)
    open_ = site.ask("/api/studies/faces/submissions", given)
    site.clock.now = datetime(2030, 2, 1, 11, tzinfo=UTC)
    late = site.ask("/api/studies/faces/submissions", {**given, "model": "two"})

    assert (early.status_code, early.json["error"]["code"]) == (409, "not_open")
    assert open_.status_code == 201
    assert "closed on 2030-02-01 11:00 UTC" in late.json["error"]["message"]
    hash_before = site.ask("/api/studies/faces/competition", member="owner").json["protocol_sha256"]
    changed = site.set_terms(opens_at="2030-01-01", closes_at="2030-03-01")
    assert [change["terms"] for change in changed["changes"]] == [["closes_at"]]
    assert changed["protocol_sha256"] == hash_before
    assert hashlib.sha256(changed["protocol"].encode()).hexdigest() == hash_before
    assert json.loads(changed["protocol"])["reals"]["count"] == 6


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"title": ""}, "title"),
        ({"title": " "}, "title must say"),
        ({"title": "\ud800"}, "half of a surrogate pair"),
        ({"about": "x" * 5001}, "about"),
        ({"opens_at": "soon"}, "opens_at must be a day such as"),
        ({"opens_at": "2030-01-01T10:00"}, "opens_at must be a day such as"),
        ({"opens_at": "2030-01-02", "closes_at": "2030-01-01"}, "closes_at must be after opens_at"),
        ({"limit": {"count": 0, "days": 1}}, "count"),
        ({"limit": {"count": 10**400, "days": 1}}, "count"),
        ({"counts": "worst"}, "counts"),
        ({"submitters": "some"}, "submitters"),
        ({"published": "yes"}, "published"),
    ],
)
def test_terms_that_are_not_valid_are_refused(site, changes, message):
    reply = site.ask("/api/studies/faces/competition", {**TERMS, **changes}, "owner")

    assert reply.status_code == 400
    assert message in reply.json["error"]["message"]


@pytest.mark.parametrize(
    ("given", "status", "message"),
    [
        ({"model": "<b>", "digest": "0" * 64}, 400, "a model's name must be"),
        ({"model": "x" * 99, "digest": "0" * 64}, 400, "model must be at most 84 characters long, not 99"),
        ({"model": "gan", "digest": "g" * 64}, 400, "digest must be the 64 hexadecimal digits"),
        ({"model": "gan", "digest": "0" * 63}, 400, "digest"),
        ({"model": "gan"}, 400, "digest"),
        ({"model": "\udc00", "digest": "0" * 64}, 400, "half of a surrogate pair"),
    ],
)
def test_submissions_that_are_not_valid_are_refused(site, given, status, message):
    site.set_terms()

    reply = site.ask("/api/studies/faces/submissions", given)

    assert reply.status_code == status
    assert message in reply.json["error"]["message"]
    assert site.ask("/api/studies/faces/submissions").json["submissions"] == []


def test_an_upload_must_be_the_members_own_complete_and_of_the_pictures_submitted(site):
    site.set_terms()
    upload, digest = site.upload(pictures(3))
    others, _ = site.upload(pictures(3), member="bob")
    wrong, _ = site.upload(pictures(4))
    one = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": digest}).json
    path = f"/api/submissions/{one['submission']}/pictures"

    refusals = [site.ask(path, {"upload": each}).json["error"] for each in (others, wrong, "0" * 32)]

    assert [refusal["code"] for refusal in refusals] == ["unknown_upload", "other_pictures", "unknown_upload"]
    # ids follow from member and content: other words would say whether bob has uploaded something
    assert refusals[0]["message"].replace(others, "0" * 32) == refusals[2]["message"]
    assert site.ask(path, {"upload": upload}).status_code == 200


def test_deleting_a_study_forgets_its_submissions(site):
    site.set_terms()
    one = submitted(site)

    deleted = CliRunner().invoke(main, ["delete", "faces", "--yes", "faces", "--data", str(site.data.root)])

    assert deleted.exit_code == 0, deleted.output
    assert site.ask(f"/api/submissions/{one['submission']}").status_code == 404
    assert not [*site.store.entries("submissions faces")]
    assert not [*site.store.entries("competitions")]
    assert not [*site.store.entries("submission_ids")]


def test_a_table_that_could_not_be_made_is_tried_again_within_the_hour(site, monkeypatch):
    monkeypatch.setattr(competition, "_MOST_AT_ONCE", 1)
    site.set_terms()
    site.judge(2)
    woken = []
    with queue.waking(woken.append):
        site.ask("/api/competitions/faces", member=None)
    assert woken == [each.id for each in queue.open_jobs(site.store)]
    queue.cancel(site.store, woken[0], site.clock())

    for _ in range(3):
        site.ask("/api/competitions/faces", member=None)
        site.clock.move(minutes=20)

    assert 1 <= len(queue.open_jobs(site.store)) <= 2
    assert site.worker.run_once().kind == "table"
    assert [row["model"] for row in site.ask("/api/competitions/faces").json["models"]] == ["base"]


def test_a_score_is_shown_from_a_table_that_has_all_evaluators(site):
    """A table may be older than the last evaluator; a client takes the first score for the final one."""
    site.set_terms()
    path = f"/api/submissions/{submitted(site)['submission']}"
    while site.ask(path).json["result"]["evaluators"] < 1:
        site.judge(1)
    site.ask("/api/competitions/faces", member=None)
    table_before = site.store.entry("competition_tables", "faces").data["made_at"]
    site.clock.move(seconds=10)

    while sum("gan" in one.models[0] for one, _ in site.store.sessions("faces")) < 2:  # who gets it is drawn
        site.player().play(right=lambda truth: True)
    site.clock.move(seconds=10)
    early = site.ask(path).json
    site.clock.move(minutes=2)
    late = site.ask(path).json

    assert site.store.entry("competition_tables", "faces").data["made_at"] > table_before
    assert (early["state"], early["result"]["evaluators"]) == ("collecting", 2)
    assert early["reason"] == "all its evaluators have finished, and its score is being computed"
    assert early["result"]["score"] is None
    assert late["state"] == "scored"


def test_what_is_scored_stays_so_though_an_evaluator_withdraws(site):
    """Else its submitter could take it out with its score in hand, and it would leave the table."""
    site.set_terms()
    path = f"/api/submissions/{submitted(site)['submission']}"
    site.judge(4)
    assert site.ask(path).json["state"] == "scored"
    study = site.store.study("faces")
    theirs = next(one for one, _ in site.store.sessions("faces") if "gan" in one.models[0])

    withdrawal.withdraw(site.store, study, theirs.id, "2026-01-02T00:00:00.000Z")
    site.clock.move(minutes=2)

    after = site.ask(path).json
    refused = site.ask(f"{path}/withdraw", {})
    rows = site.ask("/api/competitions/faces", member=None).json["models"]
    assert (after["state"], after["result"]["evaluators"]) == ("scored", 1)
    assert refused.json["error"]["code"] == "already_scored"
    assert {row["model"]: row["evaluators"] for row in rows} == {"base": 2, "gan": 1}


def test_progress_is_read_again_after_the_clock_was_put_back(site):
    site.set_terms()
    path = f"/api/submissions/{submitted(site)['submission']}"
    site.ask(path)
    site.clock.move(days=-1)

    site.judge(4)

    assert site.ask(path).json["result"]["evaluators"] == 2


def test_the_table_of_a_large_competition_is_made_by_the_worker(site, monkeypatch):
    monkeypatch.setattr(competition, "_MOST_AT_ONCE", 1)
    site.set_terms()
    site.judge(2)

    first = site.ask("/api/competitions/faces", member=None).json
    again = site.ask("/competitions/faces", member=None).get_data(as_text=True)

    assert (first["models"], first["made_at"]) == ([], None)
    assert "The table is being made" in again
    assert site.worker.run_once().kind == "table"
    assert site.worker.run_once() is None
    assert [row["model"] for row in site.ask("/api/competitions/faces").json["models"]] == ["base"]


def test_no_submission_and_no_table_names_a_folder_of_the_server(site, tmp_path, monkeypatch):
    seen = Seen(site.app, tmp_path)
    site.set_terms()
    cut = picture(np.random.default_rng(9))[:300]
    real = next((tmp_path / "data/images/faces").iterdir()).read_bytes()
    sent = {
        "gan": pictures(3),
        "twins": {**pictures(7), "9.png": pictures(7)["0.png"]},
        "classes": {**pictures(11), "a b/1.png": picture(np.random.default_rng(8))},
        "cut": {**pictures(11), "cut 1.png": cut},
        "none": {"read me.txt": b"x"},
        "few": pictures(5, 1),
        "theirs": {**pictures(8), "9.png": real},
    }
    submitted = [site.submit(model, files) for model, files in sent.items()]
    monkeypatch.setattr(competition, "_MOST_AT_ONCE", 0)
    site.judge(2)
    site.http.get("/competitions/faces")
    tables = [site.worker.run_once()]
    monkeypatch.setattr(ranking, "scored_rows", out_of_space(site))
    site.judge(1)
    site.clock.move(hours=2)
    site.http.get("/competitions/faces")
    tables.append(site.worker.run_once())

    for member in ("owner", "ann@lab.example", None):
        for path in ("/api/submissions", "/api/studies/faces/submissions", "/api/jobs", "/api/audit"):
            site.ask(path, member=member)
        for each in submitted:
            site.ask(f"/api/submissions/{each['submission']}", member=member)
        for job in queue.jobs(site.store):
            site.ask(f"/api/jobs/{job.id}", member=member)
        site.http.get("/competitions/faces")

    assert [each["state"] for each in submitted] == [*["collecting"] * 2, *["refused"] * 5]
    assert [(job.kind, job.state) for job in tables] == [("table", "done"), ("table", "failed")]
    assert seen.leaks == []


def out_of_space(site):
    def failing(*_args):
        raise OSError(28, "No space left on device", f"{site.data.root}/a b.db")

    return failing


def test_the_table_is_made_again_after_the_clock_was_put_back(site):
    site.set_terms()
    submitted(site)
    site.judge(4)
    assert len(site.ask("/api/competitions/faces", member=None).json["models"]) == 2
    site.clock.move(days=-1)
    path = site.ask("/api/studies/faces/submissions").json["submissions"][0]["submission"]
    study, one = submissions.submission(site.store, path, None)

    submissions.withdraw(site.store, study, one, site.clock())

    assert len(site.ask("/api/competitions/faces", member=None).json["models"]) == 1


def test_who_asks_again_and_again_has_the_table_made_once(site, monkeypatch):
    site.set_terms()
    site.judge(2)
    made = []
    monkeypatch.setattr(ranking, "scored_rows", lambda *given: made.append(given) or {})

    for _ in range(5):
        site.ask("/competitions/faces", member=None)

    assert len(made) == 1


def test_a_member_lists_its_own_submissions_and_the_studies_that_are_open_to_it(site):
    site.set_terms(submitters=["bob"], limit={"count": 2, "days": 7})
    submitted(site, member="bob")
    everybody = site.ask("/api/submissions", member=None)
    ann, bob = (site.ask("/api/submissions", member=name).json for name in ("ann@lab.example", "bob"))

    assert everybody.status_code == 403
    assert ann == {"studies": [], "submissions": []}
    assert [one["model"] for one in bob["submissions"]] == ["gan"]
    assert [(one["study"], one["limit"]["left"]) for one in bob["studies"]] == [("faces", 1)]


def test_pictures_that_are_gone_before_they_were_checked_are_to_be_sent_again(site):
    """As after a backup was restored, which has no uploads; the submitter reads that."""
    site.set_terms()
    upload, digest = site.upload(pictures(3))
    one = site.ask("/api/studies/faces/submissions", {"model": "gan", "digest": digest}).json
    path = f"/api/submissions/{one['submission']}"
    site.ask(f"{path}/pictures", {"upload": upload})
    site.uploads.delete(upload)
    site.worker.run_once()

    gone = site.ask(path).json
    again = site.ask(f"{path}/pictures", {"upload": site.upload(pictures(3))[0]}).json
    site.worker.run_once()

    assert (gone["state"], gone["needs_pictures"]) == ("awaiting_pictures", True)
    assert f"there is no upload '{upload}'" in gone["reason"]
    assert again["state"] == "queued"
    assert site.ask(path).json["state"] == "collecting"


def test_a_submitter_has_a_limited_number_of_checks_at_a_time(site):
    site.set_terms()
    for number in range(queue.MOST_OPEN - 1):
        queue.enqueue(site.store, "join", "faces", "ann@lab.example", {}, site.clock(), str(number))
    paths = []
    for model in ("last", "more"):
        upload, digest = site.upload(pictures(len(model) + len(paths)))
        one = site.ask("/api/studies/faces/submissions", {"model": model, "digest": digest}).json
        paths.append((f"/api/submissions/{one['submission']}/pictures", {"upload": upload}))

    last, more, last_again = (site.ask(*given) for given in (*paths, paths[0]))

    assert (last.status_code, more.status_code, last_again.status_code) == (200, 429, 200)
    assert "20 submissions of yours wait to be checked" in more.json["error"]["message"]
    assert int(more.headers["Retry-After"]) == queue.LEASE_S
    assert site.ask(*paths[1], member="owner").status_code == 200
