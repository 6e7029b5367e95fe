"""No reply of any route and no file that is handed on names a folder of the server.

Studies are made from uploads with every defect, jobs of every kind succeed and fail, and all that can be
asked for is searched for the folders of data, of temporary files, and of the source.
"""

import io
import json
import re
import tempfile
import zipfile
from pathlib import Path

import pytest

from backend.foundation.errors import StoreFailed
from backend.jobs import queue
from backend.web import openapi
from tests.api_page import example

from ..jobs.ordered import Orders, noise, picture
from .test_authorisation import PAGES

SOURCE = Path(__file__).resolve().parents[3]
SAME = "shows the same picture as"
NOTES = [
    "2 files that are no pictures were left out: real/.thumbs, gan/read me.txt",
    f"1 duplicate was left out: gan/img 2.png {SAME} gan/img 1.png",
    "1 file was left out that is a picture in a format that is not read: gan/b.heic has the ending .heic",
    "1 file was left out that is cut off or damaged: gan/cut.png is broken: its chunk IDAT is cut off or "
    "damaged",
    "1 file was left out that is too small: gan/tiny.png has 4 x 4 pixels, and needs 8 or more on each side",
    f"1 file was left out that appears on more than one side: real/0.png {SAME} gan/of real.png",
]


@pytest.fixture
def orders(world, tmp_path, monkeypatch):
    """Have temporary files below the test's own folder too, and downloads made in this process."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(world.store, "url", None)
    return Orders(world)


class Seen:
    """Every reply and every file in one, and those that name a folder of the server."""

    def __init__(self, app, folder):
        self.count, self.leaks = 0, []
        self._folders = [str(folder).encode(), str(SOURCE).encode()]
        app.after_request(self._look)

    def _look(self, reply):
        reply.direct_passthrough = False
        for name, content in files_of(reply):
            self.count += 1
            self.leaks += [
                (reply.status, name, content[max(content.index(folder) - 200, 0) :][:400])
                for folder in self._folders
                if folder in content
            ]
        return reply


@pytest.fixture
def seen(orders, tmp_path):
    return Seen(orders.world.app, tmp_path)


def files_of(reply):
    """Yield name and content of the files that a reply has, or of itself."""
    body = reply.get_data()
    if not zipfile.is_zipfile(io.BytesIO(body)):
        yield reply.mimetype, body + str(reply.headers).encode()
        return
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        yield from ((name, archive.read(name)) for name in archive.namelist())


def defective(orders, **changes):
    """Return the order of a study of which many files cannot be used."""
    real = {**noise(0, 31), ".thumbs": b"x"}
    gan = {
        **noise(1000, 31),
        "img 1.png": picture(9001),
        "read me.txt": b"samples of March",
        "cut.png": picture(9002)[:300],
        "tiny.png": picture(9003, (4, 4)),
        "b.heic": b"x",
    }
    gan["of real.png"] = real["0.png"]
    gan["img 2.png"] = gan["img 1.png"]
    gan["img 1.png"] = gan.pop("img 1.png")
    uploads = {"real": orders.sent(real), "models": [{"model": "gan", "upload": orders.sent(gan)}]}
    return orders.faces(**{**uploads, "skip_bad": True, **changes})


def in_folders(files, *folders):
    return {f"{folder}/{name}": content for folder in folders for name, content in files.items()}


def bad_orders(orders):
    """Yield orders of which each fails in its own way."""
    many = {f"copy {i}.png": picture(5) for i in range(9)}
    yield defective(orders, name="bad", skip_bad=False)
    yield defective(orders, name="strict", strict=True)
    for name, real in {
        "many": {**noise(0), **many, **{f"cut {i}.png": picture(i)[:300] for i in range(9)}},
        "classes": in_folders(noise(0), "cats and dogs", "birds"),
        "mixed": {**noise(0), "cats/1.png": picture(9)},
        "deep": in_folders(noise(0), "a/b", "c d/e"),
        "blank": in_folders(noise(0), " a", "b"),
        "few": noise(0, 3),
        "none": {"read me.txt": b"x"},
    }.items():
        yield orders.faces(name=name, real=orders.sent(real), strict=name == "many")
    aside = orders.sent({"real/1.png": picture(1), "no side/2.png": picture(2)})
    yield orders.faces(name="aside", practice=aside, settings={"practice_images": 2, "size_px": 16})
    yield orders.faces(name="archive", real=broken_archive(orders))
    pairs = pairs_of_noise()
    yield items(orders, {**pairs, "p1/0.jpg": picture(4, form="JPEG")}, "twins")
    yield items(orders, {**pairs, "p0/1.png": picture(4)[:200], "p1/read me.txt": b"x"}, "cut")
    yield items(orders, {**pairs, "p0/1.png": picture(4, (20, 20))}, "sizes")
    yield items(orders, in_folders(noise(0, 12), "left"), "parts")


def pairs_of_noise():
    return {**in_folders(noise(0, 12), "p0"), **in_folders(noise(50, 12), "p1")}


def items(orders, files, name, **more):
    sets = [{"set": "blur", "upload": orders.sent(files)}]
    settings = {"images": 8, "picture_checks": 0}
    return {"name": name, "method": "jnd", "items": sets, "settings": settings, **more}


def broken_archive(orders):
    """Return an upload of which the server has lost the end."""
    upload = orders.sent(noise(7000))
    for path in (orders.world.data.root / "uploads").rglob("*"):
        if path.is_file() and upload in str(path) and path.suffix != ".json":
            path.write_bytes(path.read_bytes()[:700])
    return upload


def of_study(orders, study):
    """Order every job of a study, do it, and return the kinds with how they ended."""
    upload, bad = orders.sent(noise(3000)), orders.sent({**noise(4000), "cut it.png": picture(5)[:300]})
    wanted = {
        "simulate": {"evaluators": 1},
        "update-sampling": {},
        "metrics": {},
        "agree": {},
        "correlate": {"other": "none"},
        "rerun": {},
        "replicate": {"others": ["none"]},
        "models": {"model": "dit", "upload": upload},
        "models#": {"model": "vae", "upload": bad},
    }
    ended = set()
    for kind, body in wanted.items():
        reply = orders.call("POST", f"/studies/{study}/{kind.strip('#')}", body)
        if reply.status_code == 202:
            while orders.worker.run_once():  # other requests may have left jobs whose turn is earlier
                pass
            ended.add((kind.strip("#"), orders.call("GET", f"/jobs/{reply.json['job']}").json["state"]))
    return ended


def everything(orders, study, kinds=("GET", "POST")):
    """Ask for all that can be asked for, of all things that there are."""
    world = orders.world
    names = {
        "study": [study],
        "job": [job.id for job in queue.jobs(world.store)],
        "draft": ["mine"],
        "session": [each.id for each, _ in world.store.sessions(study)][:1] or ["none"],
        "method": ["infinity"],
    }
    for name, operation in openapi.operations().items():
        verb, _, path = name.partition(" ")
        if verb in kinds and not name.endswith(("/delete", "/sign-out")):
            (parameter, *_) = re.findall(r"\{(\w+)\}", path) or [""]
            for value in names.get(parameter, ["none"]):
                body = None if verb == "GET" else json.loads(json.dumps(example(operation.takes) or {}))
                own = re.sub(r"\{\w+\}", "none", path.replace(f"{{{parameter}}}", value))
                orders.call(verb, own.removeprefix("/api"), body)
    for name in PAGES:
        path = re.sub(r"\{\w+\}", "none", name.removeprefix("GET ").replace("{study}", study))
        headers = {"X-Openhype-Token": world.data.keys().researcher}
        world.http.get(path, headers=headers, buffered=True)
    for kind in ("report.zip", "export.zip?simulated=true", "export.zip?croissant=true&license=CC0"):
        orders.call("GET", f"/studies/{study}/{kind}")


def test_notes_of_uploads_name_files_within_their_sides(orders, world):
    made = orders.done(defective(orders))

    assert made["state"] == "done", made["reason"]
    study = world.store.study("faces")
    assert [note for note in study.notes if "left out" in note] == NOTES
    assert made["result"]["notes"] == [*study.notes]


@pytest.mark.slow("makes studies of many kinds and asks every route about them")
def test_no_reply_and_no_file_names_a_folder_of_the_server(orders, seen, world):
    made = orders.done(defective(orders))
    odd = {"p0/read me.txt": b"x", "p1/odd.png": picture(4), "p0/cut.png": b"x", "p1/cut.png": b"x"}
    pairs = orders.done(items(orders, {**pairs_of_noise(), **odd}, "pairs", skip_bad=True))
    assert (made["state"], pairs["state"]) == ("done", "done"), (made, pairs)
    assert "blur/p0/cut.png" in "".join(pairs["result"]["notes"])
    orders.call("POST", "/drafts/mine", {"name": "x"})
    for study in ("faces", "faces", "pairs"):
        world.player(study).play(lambda truth: truth == "real")

    for order in bad_orders(orders):
        for path in ("/studies", "/audits"):
            reply = orders.call("POST", path, order)
            while orders.worker.run_once():
                pass
            if path == "/studies" and reply.status_code == 202:
                assert orders.call("GET", f"/jobs/{reply.json['job']}").json["state"] == "failed", order
    ended = set()
    for study in ("faces", "pairs"):
        ended |= of_study(orders, study)
        everything(orders, study)
        for stored in world.data.images(study).iterdir():
            stored.unlink()
        ended |= of_study(orders, study)
        everything(orders, study, ("GET",))

    assert {(kind, state) for kind in ("metrics", "models") for state in ("done", "failed")} <= ended
    assert seen.leaks == []
    assert seen.count > 200


def test_an_error_that_names_a_file_of_the_server_names_it_within_the_data_directory(orders, seen, world):
    @world.app.get("/api/broken")
    def broken():
        raise StoreFailed(f"{world.data.root}/images/a b.png is gone from {world.data.root}")

    message = world.http.get("/api/broken").json["error"]["message"]

    assert message == "images/a b.png is gone from the data directory"
    assert seen.leaks == []
