"""The audit: what tells the sides apart, which files cannot be used, and that the steps it suggests help."""

import base64
import io

import pytest
from PIL import Image

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
    assert found["suggested"] == {"equalise": []}
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
    again = orders.audit(**sides, equalise=found["suggested"]["equalise"])

    assert [(each["what"], each["model"], each["remedy"]) for each in found["differences"]] == [
        ("Compression", "gan", "jpeg:60"),
        ("Sharpness", "vae", "size:16"),
    ]
    assert found["differences"][0]["models"] == "gan: PNG"
    assert "--" not in found["differences"][0]["sentence"]
    assert found["suggested"] == {"equalise": ["size:16", "jpeg:60"]}
    assert (again["differences"], again["suggested"]["equalise"]) == ([], [])
    assert any("both went through JPEG of quality 60" in note for note in again["notes"])


def test_a_study_made_with_the_suggested_steps_notes_that_they_were_taken(orders, world):
    sides = {"real": orders.sent(jpegs(0, 60)), "equalise": ["jpeg:60"]}

    job = orders.done(orders.faces(**sides))

    assert job["state"] == "done", job
    assert any("both went through JPEG of quality 60" in note for note in job["result"]["notes"])


def test_a_finer_loss_than_that_of_the_files_is_not_enough(orders):
    """A JPEG of quality 60 that is compressed again at 95 has the traces of 60 still."""
    found = orders.audit(real=orders.sent(jpegs(0, 60)), equalise=["jpeg:95"])

    assert [each["remedy"] for each in found["differences"]] == ["jpeg:60"]
    assert found["suggested"] == {"equalise": ["jpeg:60"]}


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
