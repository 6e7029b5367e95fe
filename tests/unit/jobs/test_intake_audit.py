"""The audit: what tells the sides apart, which files cannot be used, and that the steps it suggests help."""

import base64
import io

import pytest
from PIL import Image

from backend.jobs import queue

from ..web.members import as_member, token
from .ordered import Orders, noise, picture


@pytest.fixture
def orders(world):
    return Orders(world)


def jpegs(first, quality, **options):
    return noise(first, suffix="jpg", form="JPEG", quality=quality, **options)


def test_sides_that_are_alike_have_no_differences(orders, world):
    found = orders.audit(name=None)

    assert [(side["side"], side["files"], side["pictures"]) for side in found["sides"]] == [
        ("real", 30, 30),
        ("gan", 30, 30),
    ]
    assert (found["differences"], found["refused"], found["problems"]) == ([], [], [])
    assert found["suggested"] == {"preprocess": [], "flat": False}
    assert world.store.studies() == []
    assert [*world.data.root.glob("images/*"), *world.data.root.glob("jobs/[!.]*")] == []


def test_what_differs_is_found_and_the_suggested_steps_help(orders):
    """The reals are JPEGs of quality 60 of 32 px; one model has PNGs, the other small ones."""
    sides = {
        "real": orders.sent(jpegs(0, 60, size=(32, 32))),
        "models": [
            {"model": "gan", "upload": orders.sent(noise(1000, size=(32, 32)))},
            {"model": "vae", "upload": orders.sent(jpegs(2000, 60, size=(16, 16)))},
        ],
        "settings": {"images": 20, "size_px": 32},
    }

    found = orders.audit(**sides)
    again = orders.audit(**sides, preprocess=found["suggested"]["preprocess"])

    assert [(each["what"], each["model"], each["remedy"]) for each in found["differences"]] == [
        ("Compression", "gan", "jpeg:60"),
        ("Sharpness", "vae", "size:16"),
    ]
    assert found["differences"][0]["models"] == "gan: PNG"
    assert "--" not in found["differences"][0]["sentence"]
    assert found["suggested"] == {"preprocess": ["size:16", "jpeg:60"], "flat": False}
    assert (again["differences"], again["suggested"]["preprocess"]) == ([], [])
    assert any("both went through JPEG of quality 60" in note for note in again["notes"])


def test_a_study_made_with_the_suggested_steps_notes_that_they_were_taken(orders, world):
    sides = {"real": orders.sent(jpegs(0, 60)), "preprocess": ["jpeg:60"]}

    job = orders.done(orders.faces(**sides))

    assert job["state"] == "done", job
    assert any("both went through JPEG of quality 60" in note for note in job["result"]["notes"])


def test_a_finer_loss_than_that_of_the_files_is_not_enough(orders):
    """A JPEG of quality 60 that is compressed again at 95 has the traces of 60 still."""
    found = orders.audit(real=orders.sent(jpegs(0, 60)), preprocess=["jpeg:95"])

    assert [each["remedy"] for each in found["differences"]] == ["jpeg:60"]
    assert found["suggested"] == {"preprocess": ["jpeg:60"], "flat": False}


def test_files_that_cannot_be_used_are_listed_and_shown_where_they_can_be(orders):
    gan = {
        **noise(1000),
        "again.png": picture(1003),
        "both <b>.png": picture(7),
        "cut.png": picture(9)[:200],
        "draw.svg": b"<svg onload='alert(1)'/>",
        "notes.txt": b"hello",
    }

    found = orders.audit(models=[{"model": "gan", "upload": orders.sent(gan)}])

    refused = {each["file"]: each for each in found["refused"]}
    assert set(refused) == {"7.png", "again.png", "cut.png", "draw.svg"}
    assert {each["side"] for each in found["refused"]} == {"real", "gan"}
    assert refused["7.png"]["reason"] == (
        "appears on more than one side: shows the same picture as gan/both <b>.png"
    )
    assert refused["cut.png"]["thumbnail"] is refused["draw.svg"]["thumbnail"] is None
    kind, _, data = refused["again.png"]["thumbnail"].partition(",")
    with Image.open(io.BytesIO(base64.b64decode(data))) as shown:
        assert (kind, shown.format, max(shown.size)) == ("data:image/jpeg;base64", "JPEG", 16)
    assert any("notes.txt" in note for note in found["notes"])
    assert not any("cut.png" in note for note in found["notes"])  # it was not left out
    assert (found["refused_count"], found["stopping_count"]) == (4, 3)
    assert str(orders.world.data.root) not in str(found)


def test_files_that_are_left_out_stop_no_study_and_are_noted(orders):
    gan = {**noise(1000), "again.png": picture(1003), "cut.png": picture(9)[:200]}
    sides = {"models": [{"model": "gan", "upload": orders.sent(gan)}]}

    without = orders.audit(**sides, skip_bad=True)
    strict = orders.audit(**sides, strict=True)

    assert (without["refused_count"], without["stopping_count"]) == (2, 0)
    assert any("cut.png" in note for note in without["notes"])
    assert (strict["refused_count"], strict["stopping_count"]) == (2, 2)


def test_many_refused_files_are_counted_and_the_first_ones_listed(orders):
    files = {f"{i}.png": b"x" for i in range(600)}

    found = orders.audit(real=orders.sent({**noise(0), **files}))

    assert (found["refused_count"], len(found["refused"])) == (600, 500)


def test_what_a_pool_lacks_and_folders_that_do_not_fit_are_problems(orders):
    few = orders.audit(name="audit", settings={"images": 100, "size_px": 16})
    mixed = orders.audit(real=orders.sent({**noise(0), "cats/1.png": picture(77)}))

    assert len(few["problems"]) == 1
    assert few["problems"][0].startswith("the study lacks")
    assert "gan" in few["problems"][0] or "real" in few["problems"][0]
    assert "has both files (0.png) and sub-folders with files (cats/1.png)" in mixed["problems"][0]


def test_sides_cropped_unlike_each_other_are_noted(orders):
    found = orders.audit(real=orders.sent(noise(0, size=(24, 16))))

    assert any("30 of 30 reals, 0 of 30 fakes of gan were cropped to squares" in n for n in found["notes"])
    assert [side["not_square"] for side in found["sides"]] == [30, 0]


def test_items_are_audited(orders):
    pairs = {f"p{part}/{i}.png": picture(100 * i + part) for part in range(2) for i in range(12)}
    pairs["p0/alone.png"] = picture(5)
    body = {
        "method": "jnd",
        "items": [{"set": "blur", "upload": orders.sent(pairs)}],
        "settings": {"images": 8, "picture_checks": 0},
    }

    found = orders.done(body, "/audits")["result"]

    assert [(side["side"], side["pictures"]) for side in found["sides"]] == [("blur", 12)]
    assert found["refused"] == [
        {"side": "blur", "file": "alone", "reason": "lacks a part: has p0, and no p1", "thumbnail": None}
    ]


def test_the_same_order_is_audited_once_for_every_member_and_after_a_restart(orders, world):
    body = orders.faces(name=None)
    first = orders.done(body, "/audits")
    later = Orders(world)  # a server that was started anew
    ana = Orders(world, "ana")
    hers = as_member(token(world, "ana", "researcher"))

    again = later.ordered({**body, "name": "b", "pages": [{"title": "Before", "text": "Sit"}]}, "/audits")
    same = world.http.post("/api/audits", json=ana.faces(name=None), headers=hers)

    assert (again, same.json["job"]) == (first["job"], first["job"])
    assert later.worker.run_once() is None
    assert orders.ordered({**body, "skip_bad": True}, "/audits") != first["job"]


def test_other_settings_are_compared_with_the_pictures_of_the_audit_before_without_reading_them(orders):
    body = orders.faces(name=None)
    first = orders.done(body, "/audits")["result"]
    job = orders.ordered({**body, "settings": {"images": 100, "size_px": 16}}, "/audits")
    for upload in (body["real"], body["models"][0]["upload"]):
        orders.uploads.delete(upload)
    orders.worker.run_once()

    found = orders.call("GET", f"/jobs/{job}").json

    assert found["state"] == "done", found
    assert (first["problems"], len(found["result"]["problems"])) == ([], 1)
    assert "it has 30 of 50 reals, 30 of 50 fakes of gan" in found["result"]["problems"][0]
    assert {**found["result"], "problems": []} == first


def test_an_audit_that_failed_is_done_again(orders):
    body = orders.faces(name=None)
    job = orders.ordered(body, "/audits")
    orders.uploads.delete(body["real"])
    orders.worker.run_once()
    failed = orders.call("GET", f"/jobs/{job}").json["state"]

    again = orders.done(orders.faces(name=None), "/audits")

    assert (failed, again["job"], again["state"]) == ("failed", job, "done")


TOO_MANY = [
    ({"images": 100}, "images", "it has 30 of 50 reals, 30 of 50 fakes of gan"),
    ({"practice_images": 70}, "practice_images", "lacks pictures for practice: it has 30 of 35 reals"),
    ({"models_per_session": 2}, "models_per_session", "must be at most 1"),
    ({"class_design": "between"}, "class_design", "needs classes"),
    ({"picture_checks": 2}, "picture_checks", "beyond doubt"),
]
"""Settings, the one that is named, and what is said, of 30 pictures a side."""


@pytest.mark.parametrize(("settings", "setting", "words"), TOO_MANY)
def test_what_an_audit_counted_binds_the_plan_and_the_order(orders, world, settings, setting, words):
    orders.audit(name=None)
    body = orders.faces(settings={"images": 20, "size_px": 16, **settings})
    wish = {"method": "infinity", "settings": body["settings"], "order": body}
    jobs = len(queue.jobs(world.store))

    for reply in (orders.call("POST", "/plan", wish), orders.call("POST", "/studies", body)):
        error = reply.json["error"]
        assert (reply.status_code, error["keys"][:2]) == (400, ["settings", setting]), error
        assert words in error["message"]
        assert "--" not in error["message"]
    assert len(queue.jobs(world.store)) == jobs


def test_a_plan_of_an_order_is_of_as_many_pictures_as_its_audit_counted(orders):
    body = orders.faces(settings={"images": 20, "size_px": 16})
    wish = {"method": "infinity", "settings": body["settings"], "difference": 10}
    before = orders.call("POST", "/plan", {**wish, "order": body}).json
    orders.audit(name=None, settings=body["settings"])

    after = orders.call("POST", "/plan", {**wish, "order": body}).json

    assert before == orders.call("POST", "/plan", wish).json
    assert after == orders.call("POST", "/plan", {**wish, "pictures": 30}).json
    assert after != before


def test_a_plan_goes_on_while_an_upload_is_gone(orders):
    body = orders.faces(real="0" * 32)

    reply = orders.call("POST", "/plan", {"method": "infinity", "order": body})

    assert reply.status_code == 200, reply.json


def test_items_are_counted_for_their_plan(orders):
    pairs = {f"p{part}/{i}.png": picture(100 * i + part) for part in range(2) for i in range(12)}
    body = {
        "name": "blurred",
        "method": "jnd",
        "items": [{"set": "blur", "upload": orders.sent(pairs)}],
        "settings": {"images": 8, "picture_checks": 4},
    }
    orders.done(body, "/audits")
    more = {**body, "settings": {"images": 13, "picture_checks": 4}}

    fits = orders.call("POST", "/plan", {"method": "jnd", "settings": body["settings"], "order": body})
    reply = orders.call("POST", "/plan", {"method": "jnd", "settings": more["settings"], "order": more})
    error = reply.json["error"]

    assert fits.status_code == 200, fits.json
    assert error["keys"] == ["settings", "images"]
    assert "it has 12" in error["message"]


def test_masks_that_cannot_be_read_are_a_problem(orders):
    found = orders.audit(masks=orders.sent({"0.png": b"no picture"}))

    assert ["0.png" in problem for problem in found["problems"]] == [True]


def test_sub_folders_that_are_in_the_way_are_told_with_what_helps(orders):
    real = {f"{('cat', 'dog')[i % 2]}/{name}": content for i, (name, content) in enumerate(noise(0).items())}
    changes = {"real": orders.sent(real)}

    found = orders.audit(**changes)
    flat = orders.audit(**changes, flat=True)

    assert found["suggested"]["flat"]
    assert found["problems"] == [
        "model gan in gan has no classes, the reals have the classes cat, dog; every model needs the classes "
        "of the reals, or have sub-folders ignored with flat"
    ]
    assert (flat["problems"], flat["suggested"]["flat"]) == ([], False)
    assert orders.done(orders.faces(**changes, flat=True))["state"] == "done"
