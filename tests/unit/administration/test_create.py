"""Making a study, by the command line as a researcher does: done, or one line and nothing left."""

import dataclasses
import errno
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.administration.create import create
from backend.administration.study_spec import StudySpec
from backend.cli import main
from backend.foundation.errors import Conflict, InvalidInput
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

RNG = np.random.default_rng(3)


def fill(folder, count=30):
    folder.mkdir(parents=True)
    for i in range(count):
        Image.fromarray(RNG.integers(0, 256, (16, 16, 3)).astype("uint8")).save(folder / f"{i}.png")
    return folder


@pytest.fixture
def folders(tmp_path):
    return {name: fill(tmp_path / name) for name in ("real", "gan", "vae")}


@pytest.fixture
def run(tmp_path):
    def run(*args):
        result = CliRunner().invoke(main, [*map(str, args), "--data", str(tmp_path / "data")])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


def sides(folders):
    return ["--real", folders["real"], "--model", f"gan={folders['gan']}", "--model", f"vae={folders['vae']}"]


def test_a_study_is_made_played_by_robots_scored_and_exported_alike(run, folders, tmp_path):
    made = run("create", "faces", *sides(folders), "--size", 16, "--evaluators", 3, "--set", "images=20")
    played = run("simulate", "faces", "--accuracy", "gan=0.6", "--accuracy", "vae=0.95", "--seed", 1)
    exported = run("export", "faces", "-o", tmp_path / "out", "--simulated")
    of_study = run("score", "faces", "--json", "--simulated")
    of_file = run("score", tmp_path / "out" / "data" / "study-faces_data.csv", "--json")

    assert (made.exit_code, played.exit_code, exported.exit_code) == (0, 0, 0)
    assert "6 simulated evaluators finished" in played.output
    assert json.loads(of_study.output) == json.loads(of_file.output)
    assert [model["model"] for model in json.loads(of_study.output)["models"]] == ["gan", "vae"]
    status = json.loads(run("status", "faces", "--json").output)
    assert (status["models"][0]["finished"], status["simulated"]) == (0, 6)


@pytest.mark.parametrize(
    ("panel", "note"),
    [("sona", "anybody can guess one"), ("mturk", "closed on 30 September 2026"), ("prolific", None)],
)
def test_what_to_know_of_a_panel_is_told_when_a_study_is_made_for_it(run, folders, panel, note):
    made = run("create", "faces", *sides(folders), "--size", 16, "--set", "images=20", "--panel", panel)

    notes = [line for line in made.output.splitlines() if line.startswith("note: ")]
    of_panel = [line for line in notes if not line.startswith("note: few pictures")]
    assert [note in line for line in of_panel] == ([True] if note else [])


def test_reals_in_class_folders_and_flat_samples_make_a_study_with_flat(run, folders, tmp_path):
    for i, picture in enumerate(sorted(folders["real"].iterdir())):
        (class_ := folders["real"] / ("cat", "dog")[i % 2]).mkdir(exist_ok=True)
        picture.rename(class_ / picture.name)
    order = ("create", "faces", *sides(folders), "--size", 16, "--set", "images=20")

    refused = run(*order)
    run(*order, "--flat")

    assert "the reals have the classes cat, dog; every model needs the classes of the reals, or have" in (
        refused.stderr
    )
    assert "ignored with --flat" in refused.stderr
    store = open_store("sqlite:///openhype.db", tmp_path / "data")
    assert store.study("faces").classes == ()
    store.close()


def test_a_time_study_gives_milliseconds(run, folders, tmp_path):
    settings = ["--set", "images=16", "--set", "blocks=1", "--set", "masks=phase", "--evaluators", 2]
    run("create", "glimpse", "--method", "time", *sides(folders), "--size", 16, *settings)
    run("simulate", "glimpse", "--accuracy", "all=threshold=300,slope=4")
    run("export", "glimpse", "-o", tmp_path / "out", "--simulated")

    scores = json.loads(run("score", "glimpse", "--json", "--simulated").output)

    assert (scores["method"], scores["unit"]) == ("time", "ms")
    assert all(100 <= model["score"] <= 1000 for model in scores["models"])
    of_file = run("score", tmp_path / "out" / "data" / "study-glimpse_data.csv", "--json")
    assert json.loads(of_file.output) == scores


@pytest.fixture
def gray(tmp_path):
    """Return options for small gray pictures, whose textures are quickly made, and few a session."""
    for name in ("real", "gan"):
        (tmp_path / name).mkdir()
        for i in range(12):
            noise = RNG.integers(0, 256, (16, 16)).astype("uint8")
            Image.fromarray(noise).save(tmp_path / name / f"{i}.png")
    sides = ["--real", tmp_path / "real", "--model", f"gan={tmp_path / 'gan'}", "--size", 16]
    numbers = ["--set", "images=8", "--set", "blocks=1", "--set", "spare_images=2"]
    return ["--method", "time", *sides, *numbers]


def masks_of(tmp_path, study):
    store = open_store("sqlite:///openhype.db", tmp_path / "data")
    found = store.study(study)
    store.close()
    folder = DataDir(tmp_path / "data").images(study)
    return found, {(folder / name).read_bytes() for name in found.masks}


def size_of(path):
    with Image.open(path) as picture:
        return picture.size


@pytest.mark.slow("makes full textures")
def test_masks_are_textures_unless_others_are_asked_for_and_kept_for_the_next_study(run, gray, tmp_path):
    first = run("create", "one", *gray)
    entries = {path.stat().st_ino for path in (tmp_path / "data" / "cache").rglob("*") if path.is_file()}
    run("create", "two", *gray)
    run("create", "three", *gray, "--set", "masks=phase")

    (one, textures), (_, again), (three, phases) = (masks_of(tmp_path, n) for n in ("one", "two", "three"))

    assert first.exit_code == 0
    assert (one.protocol.timing.masks, three.protocol.timing.masks) == ("texture", "phase")
    assert textures == again
    assert not textures & phases
    assert entries == {p.stat().st_ino for p in (tmp_path / "data" / "cache").rglob("*") if p.is_file()}


def test_masks_of_ones_own_are_told_apart(run, gray, tmp_path):
    own = fill(tmp_path / "own", 3)

    made = run("create", "glimpse", *gray, "--masks", own)
    refused = run("create", "other", *gray, "--set", "masks=own")

    assert made.exit_code == 0
    assert masks_of(tmp_path, "glimpse")[0].protocol.timing.masks == "own"
    assert (refused.exit_code, "--masks DIR" in refused.stderr) == (1, True)


def test_masks_are_looked_at_before_and_after_a_study_is_made(run, gray, tmp_path):
    run("create", "glimpse", *gray, "--set", "masks=phase")
    run(
        "create",
        "none",
        "--real",
        tmp_path / "real",
        "--model",
        f"gan={tmp_path / 'gan'}",
        "--set",
        "images=8",
    )

    of_study = run("masks", "glimpse", "-o", tmp_path / "study.png", "--count", 4)
    of_folder = run("masks", tmp_path / "real", "-o", tmp_path / "folder.png", "--size", 16, "--count", 3)
    missing = run("masks", "nothing", "-o", tmp_path / "n.png")
    without = run("masks", "none", "-o", tmp_path / "n.png")

    assert (of_study.exit_code, of_folder.exit_code) == (0, 0)
    assert size_of(tmp_path / "study.png") == (36, 36)  # two by two of 16 px, 4 px apart
    assert size_of(tmp_path / "folder.png") == (56, 36)  # three sources above their masks
    assert (missing.exit_code, without.exit_code) == (1, 1)
    assert "study none has no masks" in without.stderr


def test_a_qualification_stands_before_its_study(run, folders):
    run("qualification", "test", *sides(folders), "--size", 16, "--set", "images=20")
    run(
        "create", "faces", *sides(folders), "--qualification", "test", "--evaluators", 1, "--set", "images=10"
    )

    played = run("simulate", "faces")

    assert played.exit_code == 0
    assert json.loads(run("status", "test", "--json").output)["simulated"] == 2


def test_a_study_is_described_by_a_file(run, folders, tmp_path):
    (tmp_path / "faces.toml").write_text(
        'name = "faces"\nreal = "real"\n[models]\ngan = "gan"\n[settings]\nimages = 20\nsize_px = 16\n'
    )

    made = run("create", tmp_path / "faces.toml")

    assert made.exit_code == 0
    assert "made the study faces" in made.output


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("../x", [], "a study's name must be"),
        (
            "faces",
            ["--set", "images=90"],
            "it has 30 of 45 reals, 30 of 45 fakes of gan, 30 of 45 fakes of vae",
        ),
        ("faces", ["--set", "imags=4"], "no setting is called 'imags'"),
        ("faces", ["--qualification", "none"], "'none' is not one"),
        ("faces", ["--preprocess", "blur"], "--preprocess must be"),
        ("faces", ["--model", "gan=/nowhere"], "two models are called 'gan'"),
        ("faces", ["--model", " gan =/nowhere"], "two models are called 'gan'"),
        ("faces", ["--model", "GAN=/nowhere"], "two models differ by case only: 'gan' and 'GAN'"),
        ("none.toml", [], "wrong usage"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_line_and_nothing_is_left(
    run, folders, tmp_path, name, options, message
):
    result = run("create", name, *sides(folders), *options)

    if message == "wrong usage":
        assert result.exit_code == 2
    else:
        assert result.exit_code == 1
        assert re.search(message, result.stderr)
        assert len(result.stderr.strip().splitlines()) == 1
    assert not any((tmp_path / "data").glob("images/*"))
    assert run("status").output.startswith("no study yet")


@pytest.mark.parametrize(
    "where", ["backend.stimuli.ingest.keep_uniform", "backend.administration.publication.sync_all"]
)
def test_a_full_disk_is_said_in_one_line_and_nothing_is_left(run, folders, tmp_path, monkeypatch, where):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a.png")

    monkeypatch.setattr(where, full)

    made = run("create", "faces", *sides(folders), "--size", 16, "--set", "images=20")

    assert made.exit_code == 1
    assert made.stderr == (
        f"openhype: the disk of {tmp_path / 'data'} is full; nothing of the study faces was left there; free "
        "some space, or choose another data directory with --data DIR\n"
    )
    assert not list((tmp_path / "data" / "images").iterdir())


def test_a_taken_name_is_refused_and_the_first_study_keeps_its_pictures(run, folders, tmp_path):
    options = [*sides(folders), "--size", 16, "--set", "images=20"]
    run("create", "faces", *options)
    before = sorted((tmp_path / "data" / "images" / "faces").iterdir())

    again = run("create", "faces", *options)

    assert again.exit_code == 1
    assert "exists already" in again.stderr
    assert sorted((tmp_path / "data" / "images" / "faces").iterdir()) == before


DIES = """
import os, sys, signal
from datetime import UTC, datetime
from pathlib import Path
from backend.administration.create import create
from backend.administration.study_spec import StudySpec
from backend.experiment import sampling
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

root, moment = Path(sys.argv[1]), sys.argv[2]
data = DataDir(root / "data")
store = open_store("sqlite:///openhype.db", data.root)
order = StudySpec(
    "faces", "study", "infinity", root / "real", (("gan", root / "gan"),), {"images": 20, "size_px": 16}
)

def die(*_):
    if moment == "live":
        print("here", flush=True)
        sys.stdin.readline()
    os.kill(os.getpid(), signal.SIGKILL)

if moment != "published":
    sampling.lack = die
create(store, data, order, datetime.now(UTC), publish=die)
"""
"""A creation that is killed when its pictures are made, or in place and the study not stored."""


def order_of(folders, name="faces"):
    models = (("gan", folders["gan"]),)
    return StudySpec(name, "study", "infinity", folders["real"], models, {"images": 20, "size_px": 16})


@pytest.mark.parametrize("moment", ["made", "published"])
def test_what_a_killed_creation_left_is_no_obstacle_to_the_next_and_goes_with_it(folders, tmp_path, moment):
    data = DataDir(tmp_path / "data")
    died = subprocess.run([sys.executable, "-c", DIES, str(tmp_path), moment], check=False)
    left = {path.name.rpartition("-")[0] for path in (data.root / "images").iterdir()}
    store = open_store("sqlite:///openhype.db", data.root)

    create(store, data, order_of(folders), datetime.now(UTC))

    assert died.returncode == -9
    assert left == ({".partial-faces"} if moment == "made" else {".partial-faces", ".unpublished", ""})
    assert [path.name for path in (data.root / "images").iterdir()] == ["faces"]
    assert {path.name for path in data.images("faces").iterdir()} == {s.name for s in store.stimuli("faces")}
    with pytest.raises(Conflict, match="exists already"):
        create(store, data, order_of(folders), datetime.now(UTC))
    store.close()


def test_a_marker_of_another_store_lets_nobody_remove_its_pictures(folders, tmp_path):
    data = DataDir(tmp_path / "data")
    store, other = (open_store(f"sqlite:///{name}.db", data.root) for name in ("openhype", "other"))
    subprocess.run([sys.executable, "-c", DIES, str(tmp_path), "published"], check=False)
    mark = data.unpublished("faces").read_bytes()
    create(store, data, order_of(folders), datetime.now(UTC))
    data.unpublished("faces").write_bytes(mark)  # as one that was killed after the study was stored leaves it

    with pytest.raises(Conflict, match="holds the pictures of a study faces that is not in this store"):
        create(other, data, order_of(folders), datetime.now(UTC))

    assert {path.name for path in data.images("faces").iterdir()} == {s.name for s in store.stimuli("faces")}
    store.close()
    other.close()


def test_a_new_store_at_the_path_of_one_that_was_moved_leaves_its_pictures(folders, tmp_path):
    data = DataDir(tmp_path / "data")
    subprocess.run([sys.executable, "-c", DIES, str(tmp_path), "published"], check=False)
    mark = data.unpublished("faces").read_bytes()
    store = open_store("sqlite:///openhype.db", data.root)
    create(store, data, order_of(folders), datetime.now(UTC))
    store.close()
    data.unpublished("faces").write_bytes(mark)
    for path in data.root.glob("openhype.db*"):
        path.rename(path.with_name(path.name.replace("openhype", "moved")))
    moved, new = (open_store(f"sqlite:///{name}.db", data.root) for name in ("moved", "openhype"))

    with pytest.raises(Conflict, match="holds the pictures of a study faces that is not in this store"):
        create(new, data, order_of(folders), datetime.now(UTC))

    assert {path.name for path in data.images("faces").iterdir()} == {s.name for s in moved.stimuli("faces")}
    moved.close()
    new.close()


@pytest.mark.parametrize("is_moved", [False, True])
def test_a_killed_creation_is_made_again_wherever_its_store_is_meanwhile(folders, tmp_path, is_moved):
    data = DataDir(tmp_path / "data")
    subprocess.run([sys.executable, "-c", DIES, str(tmp_path), "published"], check=False)
    for path in data.root.glob("openhype.db*") if is_moved else ():
        path.rename(path.with_name(path.name.replace("openhype", "moved")))
    store = open_store(f"sqlite:///{'moved' if is_moved else 'openhype'}.db", data.root)

    create(store, data, order_of(folders), datetime.now(UTC))

    assert [path.name for path in (data.root / "images").iterdir()] == ["faces"]
    assert [*store.entries("publishing")] == []
    store.close()


def test_pictures_are_on_the_disk_before_their_study_is_stored(folders, tmp_path, monkeypatch):
    data = DataDir(tmp_path / "data")
    store = open_store("sqlite:///openhype.db", data.root)
    synced, add = set(), store.add_study
    monkeypatch.setattr("os.fsync", lambda descriptor: synced.add(os.fstat(descriptor).st_ino))

    def stores(study, stimuli):
        place = data.images("faces")
        missing.extend(p for p in (place.parent, place, *place.iterdir()) if p.stat().st_ino not in synced)
        add(study, stimuli)

    missing = []
    monkeypatch.setattr(store, "add_study", stores)
    create(store, data, order_of(folders), datetime.now(UTC))
    store.close()

    assert missing == []


def test_a_live_creation_keeps_its_folder_and_its_name(folders, tmp_path):
    data = DataDir(tmp_path / "data")
    program = [sys.executable, "-c", DIES, str(tmp_path), "live"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as live:
        live.stdout.readline()
        store = open_store("sqlite:///openhype.db", data.root)

        with pytest.raises(Conflict, match="another process is making a study faces at this moment"):
            create(store, data, order_of(folders), datetime.now(UTC))
        create(store, data, order_of(folders, "other"), datetime.now(UTC))

        there = sorted(path.name.rpartition("-")[0] for path in (data.root / "images").iterdir())
        live.communicate(b"\n")
    store.close()
    assert there == ["", ".partial-faces"]


def test_pictures_of_a_study_that_another_store_has_are_never_replaced(folders, tmp_path):
    data = DataDir(tmp_path / "data")
    stores = [open_store(f"sqlite:///{name}.db", data.root) for name in ("one", "two")]
    create(stores[0], data, order_of(folders), datetime.now(UTC))
    before = sorted(data.images("faces").iterdir())

    with pytest.raises(Conflict, match="holds the pictures of a study faces that is not in this store"):
        create(stores[1], data, order_of(folders), datetime.now(UTC))

    assert sorted(data.images("faces").iterdir()) == before
    for store in stores:
        store.close()


def test_names_of_stored_pictures_follow_from_no_key_that_others_know(folders, tmp_path):
    names = []
    for home in ("one", "two"):
        data = DataDir(tmp_path / home)
        store = open_store("sqlite:///openhype.db", data.root)
        settings = {"images": 20, "blocks": 1, "size_px": 16, "masks": "phase"}
        order = dataclasses.replace(order_of(folders), method="time", settings=settings)
        study = create(store, data, order, datetime.now(UTC))
        names.append({*study.masks, *(stimulus.name for stimulus in store.stimuli(study.name))})
        store.close()

    assert len(names[0]) == len(names[1])
    assert not names[0] & names[1]


def test_a_creation_that_cannot_be_stored_leaves_nothing(folders, tmp_path):
    data = DataDir(tmp_path / "data")
    store = open_store("sqlite:///openhype.db", data.root)

    def fail(*_):
        raise InvalidInput("the bucket is not there")

    with pytest.raises(InvalidInput, match="the bucket"):
        create(store, data, order_of(folders), datetime.now(UTC), publish=fail)

    assert list((data.root / "images").iterdir()) == []
    store.close()


def test_what_was_made_and_what_to_do_next_is_told(run, folders, tmp_path):
    one = ["--real", folders["real"], "--model", f"gan={folders['gan']}", "--size", 16, "--set", "images=20"]

    plain = run("create", "one", *one).output
    two = run("create", "two", *sides(folders), "--size", 16, "--set", "images=20").output
    timed = ["--method", "time", "--set", "images=16", "--set", "masks=phase"]
    flashed = run("create", "flashed", *one[:-2], *timed, "--set", "blocks=1").output
    blocks = run("create", "blocks", *one[:-2], *timed, "--set", "blocks=3").output
    test = run("qualification", "test", *one).output
    private = run("create", "private", *one, "--panel", "private").output

    serve = f"openhype serve --data {tmp_path / 'data'}"
    made, note, *following = plain.splitlines()
    assert made == "made the study one: 1 model, 20 pictures a session"
    assert note.startswith("note: few pictures: 30 a side, ")
    assert following == [f"next: {serve}, which prints the link"]
    assert "made the study two: 2 models, 20 pictures a session\n" in two
    assert "made the study flashed: 1 model, 16 pictures a session\n" in flashed
    assert "made the study blocks: 1 model, 48 pictures a session (3 blocks of 16)\n" in blocks
    assert "leave 6 of 30 spare reals and fakes" in blocks
    assert test.endswith(
        f"next: {serve}, which prints the link\nthen: openhype create … --qualification test\n"
    )
    assert f"then: openhype links private --data {tmp_path / 'data'} --count N --url https://…" in private


def test_nothing_is_promised_where_nobody_pays(run, folders, tmp_path):
    options = [*sides(folders), "--size", 16, "--set", "images=20", "--set", "masks=phase"]
    paying = ["--panel", "prolific"]

    run("create", "plain", *options)
    run("create", "private", *options, "--panel", "private")
    run("create", "set", *options, "--set", "base_usd_cents=150")
    run("create", "panel", *options, *paying)
    run("create", "both", *options, *paying, "--set", "base_usd_cents=200", "--set", "bonus_usd_cents=0")
    run("qualification", "test", *options)
    run("qualification", "paid", *options, *paying)

    store = open_store("sqlite:///openhype.db", tmp_path / "data")
    pay = {
        study.name: (study.protocol.pay.base_usd_cents, study.protocol.pay.bonus_usd_cents)
        for study in store.studies()
    }
    panels = {study.name: study.protocol.admission.panel.name for study in store.studies()}
    store.close()
    assert pay == {
        **{"plain": (0, 0), "private": (0, 0), "set": (150, 0), "panel": (0, 2), "both": (200, 0)},
        **{"test": (0, 0), "paid": (100, 0)},
    }
    assert (panels["plain"], panels["private"], panels["panel"]) == ("link", "private", "prolific")


def test_what_recruiting_will_ask_for_is_said_when_its_panel_is_named(run, folders):
    options = [*sides(folders), "--size", 16, "--set", "images=20", "--set", "minutes=10"]

    poor = run("create", "poor", *options, "--panel", "prolific").output
    fair = run("create", "fair", *options, "--panel", "prolific", "--set", "base_usd_cents=200").output
    plain = run("create", "plain", *options).output

    assert "for recruiting: PROLIFIC_TOKEN, or PROLIFIC_TOKEN_FILE, and the server's https:// address" in poor
    assert "a base pay of $8.00 an hour or more, and this study has $0.00" in poor
    assert "--set base_usd_cents=200 ($12.00 an hour)" in poor
    assert ("PROLIFIC_TOKEN" in fair, "base pay" in fair) == (True, False)
    assert "for recruiting" not in plain


def test_people_are_recruited_only_at_the_panel_that_a_study_was_made_for(run, folders):
    run("create", "plain", *sides(folders), "--size", 16, "--set", "images=20")

    recruited = run("recruit", "plain")

    assert recruited.exit_code == 1
    assert recruited.stderr == (
        "openhype: study plain was made for the panel link, not for prolific; make one with "
        "--panel prolific\n"
    )


def test_all_bad_files_are_listed_in_a_file_where_they_are_too_many_to_name(run, folders, tmp_path):
    for i in range(9):
        (folders["gan"] / f"bad{i}.png").write_text("no picture")
    options = [*sides(folders), "--size", 16, "--set", "images=20"]

    refused = run("create", "faces", *options)
    made = run("create", "faces", *options, "--skip-bad")

    listed = tmp_path / "data" / "faces-files.txt"
    assert refused.exit_code == 1
    assert f"all are listed in {listed}" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert made.exit_code == 0
    assert str(listed) in made.stderr
    assert str(listed) not in made.stdout
    lines = listed.read_text().splitlines()
    assert len(lines) == 9
    assert all("bad" in line and "has a picture's ending but holds none" in line for line in lines)


def test_help_imports_nothing_heavy():
    program = (
        "import sys\nfrom backend.cli import main\n"
        "try:\n    main(['score', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numpy', 'scipy', 'PIL', 'flask', 'sklearn') if m in sys.modules])"
    )

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert found.stdout.strip().splitlines()[-1] == "[]"


def test_the_public_face_costs_nothing_to_import_and_scores(tmp_path):
    rows = "model,evaluator,truth,response\nm,a,real,fake\nm,b,real,real\n"
    (tmp_path / "r.csv").write_text(rows)
    program = (
        "import sys, openhype; assert 'numpy' not in sys.modules;"
        f"print(openhype.score({str(tmp_path / 'r.csv')!r})['models'][0]['score']);"
        "assert openhype.bootstrap([0, 1]).std > 0"
    )

    root = Path(__file__).resolve().parents[3]
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=root
    )

    assert found.stdout.split()[0] == "50.0"
