"""Models that join running studies of real or fake: sessions, counts, scores, recruitment; and refusals."""

import contextlib
import dataclasses
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.administration import join
from backend.cli import main
from backend.experiment.model_groups import all_groups, groups_of_each, model_groups
from backend.experiment.records import FAKE, REAL, Condition, Stimulus
from backend.responses.study_data import study_scores
from backend.stores import json_codec
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

from . import sample_studies as studies

IMPORTING = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def run(*arguments):
    result = CliRunner().invoke(main, [*map(str, arguments)], prog_name="openhype")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for name in ("real", "ada", "bob", "cyd"):
        for class_ in ("cat", "dog"):
            (tmp_path / name / class_).mkdir(parents=True)
            for i in range(8):
                pixels = rng.integers(0, 255, (16, 16, 3), np.uint8)
                Image.fromarray(pixels).save(tmp_path / name / class_ / f"{i}.png")
    return tmp_path


def create(folder, name="faces", *more, method="infinity", models=("ada", "bob"), settings=()):
    given = [part for model in models for part in ("--model", f"{model}={model}")]
    some = ("images=8", "evaluators=2", "size_px=16", *settings)
    made = run(
        *("create", name, "--method", method, "--real", "real", *given, *more),
        *(part for one in some for part in ("--set", one)),
    )
    assert made.exit_code == 0, made.stderr


def stored(folder):
    return open_store("sqlite:///openhype.db", DataDir(folder / "openhype-data").root)


def scores(name="faces"):
    found = run("score", name, "--simulated", "--json")
    assert found.exit_code == 0, found.stderr
    return json.loads(found.stdout)


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("infinity", ("class_design=between",)),
        ("time", ("images=4", "blocks=2", "masks=phase", "spare_images=4")),
        (
            "exposures",
            ("exposures_ms=100,unlimited", "exposure_design=between", "spare_images=4", "masks=phase"),
        ),
        ("pair", ("images=4",)),
    ],
)
@pytest.mark.slow("makes and plays whole studies")
def test_a_model_joins_and_the_scores_of_the_others_stay_to_the_last_digit(folder, method, settings):
    create(folder, method=method, settings=settings)
    assert run("simulate", "faces", "--seed", 1).exit_code == 0
    before = scores()

    joined = run("join", "faces", "--model", "cyd=cyd")

    assert joined.exit_code == 0, joined.stderr
    assert "cyd joined faces, which has 3 models now" in joined.stdout
    assert re.search(
        "note: cyd joined on .*: a difference between them may come from the time", joined.stdout
    )
    assert json.dumps(scores()["models"]) == json.dumps(before["models"])
    simulated = run("simulate", "faces", "--seed", 2)
    assert simulated.exit_code == 0, simulated.stderr
    after = scores()
    assert {row["model"] for row in after["models"]} == {"ada", "bob", "cyd"}
    others = [row for row in after["models"] if row["model"] != "cyd"]
    assert json.dumps(others) == json.dumps(before["models"])
    store = stored(folder)
    study = store.study("faces")
    assert (study.models, study.joined, study.past_conditions) == (("ada", "bob", "cyd"), (2,), ())
    assert study.joined_at[0][:10] in study.notes[-1] + "".join(study.notes)
    sessions = Counter(session.condition for session, _ in store.sessions("faces", simulated=True))
    assert set(sessions) == {condition.name for condition in study.conditions}
    assert set(sessions.values()) == {study.sessions_a_condition}
    drawn = {name for session, _ in store.sessions("faces", True) for block in session.blocks
             for stimulus in block.stimuli for name in stimulus.split(" ")}  # fmt: skip
    new = {stimulus.name for stimulus in store.stimuli("faces") if stimulus.model == "cyd"}
    assert drawn & new
    store.close()
    assert "before cyd joined" not in run("status", "faces").stdout
    sizes = {path.stat().st_size for path in (folder / "openhype-data" / "images" / "faces").iterdir()}
    assert len(sizes) == 1


@pytest.mark.parametrize("image_format", ["auto", "png", "jpeg:95"])
def test_a_model_joins_in_the_format_of_the_pictures_that_are_there(folder, image_format):
    """Another format would give a fake away."""
    create(folder, settings=(f"image_format={image_format}",))
    store = stored(folder)

    joined = run("join", "faces", "--model", "cyd=cyd")

    assert joined.exit_code == 0, joined.stderr
    assert len({Path(each.name).suffix for each in store.stimuli("faces")}) == 1
    store.close()


@pytest.mark.slow("draws every figure")
def test_the_report_says_when_each_model_was_judged(folder):
    create(folder)
    assert run("join", "faces", "--model", "cyd=cyd").exit_code == 0
    assert run("simulate", "faces").exit_code == 0

    assert run("report", "faces", "--simulated", "-o", "rep").exit_code == 0

    page = (folder / "rep" / "index.html").read_text()
    assert "evaluators of cyd" in page
    assert "cyd joined on" in page


def test_a_mixed_study_keeps_its_groups_and_gets_some_with_the_newcomer(folder):
    create(folder, models=("ada", "bob", "cyd"), settings=("models_per_session=2", "evaluators=4"))
    (folder / "dan").mkdir()
    for class_ in ("cat", "dog"):
        (folder / "dan" / class_).mkdir()
        for i in range(8):
            Image.new("RGB", (16, 16), (i, len(class_), 255 if class_ == "cat" else 0)).save(
                folder / "dan" / class_ / f"{i}.png"
            )
    store = stored(folder)
    before = store.study("faces")

    joined = run("join", "faces", "--model", "dan=dan")

    assert joined.exit_code == 0, joined.stderr
    after = store.study("faces")
    assert after.model_groups[: len(before.model_groups)] == before.model_groups
    new = after.model_groups[len(before.model_groups) :]
    assert [group[-1] for group in new] == ["dan", "dan"]
    assert len({group[0] for group in new}) == 2
    assert after.sessions_a_condition == before.sessions_a_condition == 2
    assert after.past_conditions == ()
    assert run("simulate", "faces").exit_code == 0
    of_each = Counter(model for session, _ in store.sessions("faces", True) for model in session.models)
    assert of_each["dan"] == 4
    assert {row["model"] for row in scores()["models"]} == {"ada", "bob", "cyd", "dan"}
    store.close()


@pytest.mark.parametrize("count", [3, 4, 5, 8, 13])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_each_newcomer_is_in_as_many_groups_as_the_first_models(count, size):
    if size >= count:
        return
    models = tuple(f"m{i}" for i in range(count + 3))
    joined = (count, count + 1, count + 2)

    groups = all_groups(models, size, 30, joined)

    each = groups_of_each(models, size, 30, joined)
    first = model_groups(models[:count], size, 30)
    assert groups[: len(first)] == first
    assert len({*groups}) == len(groups)
    assert {len({*group}) for group in groups} == {size}
    own = Counter(group[-1] for group in groups[len(first) :])
    assert own == dict.fromkeys(models[count:], each)
    assert Counter(model for group in first for model in group) == dict.fromkeys(models[:count], each)
    for newcomer in models[count:]:
        beside = Counter(m for group in groups[len(first) :] if group[-1] == newcomer for m in group[:-1])
        assert size == 1 or max(beside.values()) - min(beside.values()) <= 2


@pytest.mark.parametrize(
    ("settings", "models", "message"),
    [
        (
            ("sampling=least-seen",),
            ("ada", "bob"),
            r"samples its pictures adaptively .*\(sampling=least-seen\).*sampling=random",
        ),
        (("models_per_session=2",), ("ada", "bob"), "shows all its 2 models in every session"),
    ],
)
def test_studies_that_nothing_can_join_say_why(folder, settings, models, message):
    create(folder, models=models, settings=settings)

    refused = run("join", "faces", "--model", "cyd=cyd")

    assert refused.exit_code == 1
    assert re.search("no model can join study faces, which " + message, refused.stderr), refused.stderr


def test_what_differs_from_the_reals_files_is_said_and_losses_are_those_of_the_study(folder):
    create(folder, "plain")
    create(folder, "lossy", "--preprocess", "jpeg:80")
    for class_ in ("cat", "dog"):
        for path in (folder / "cyd" / class_).glob("*.png"):
            Image.open(path).save(path.with_suffix(".jpg"), quality=70)
            path.unlink()

    plain = run("join", "plain", "--model", "cyd=cyd")
    lossy = run("join", "lossy", "--model", "cyd=cyd")
    other = run("join", "lossy", "--model", "dee=cyd", "--preprocess", "jpeg:50")

    assert "the reals were PNG and the fakes of cyd JPEG: traces of compression" in plain.stdout
    assert "JPEG: traces of compression can give them away\n" in lossy.stdout
    assert "--preprocess" not in plain.stdout + lossy.stdout
    assert other.exit_code == 0, other.stderr
    assert "both went through" not in other.stdout
    assert "dee: its pictures went through jpeg:50, and those of the study through jpeg:80" in other.stdout


def test_pictures_that_were_cropped_to_squares_are_counted(folder):
    create(folder)
    for path in (folder / "cyd").rglob("*.png"):
        with Image.open(path) as picture:
            wide = picture.resize((picture.width + 5, picture.height))
        wide.save(path)

    joined = run("join", "faces", "--model", "cyd=cyd")

    count = len([*(folder / "cyd").rglob("*.png")])
    assert f"{count} of {count} fakes of cyd were cropped to squares" in joined.stdout, joined.stdout


def test_other_classes_are_refused_and_nothing_changes(folder):
    create(folder)
    (folder / "cyd" / "dog").rename(folder / "cyd" / "elk")

    refused = run("join", "faces", "--model", "cyd=cyd")

    assert refused.exit_code == 1
    assert "model cyd has the classes cat, elk, and study faces has the classes cat, dog" in refused.stderr
    store = stored(folder)
    assert store.study("faces").models == ("ada", "bob")
    store.close()


def joined_by(store, study, model, at="2026-02-01T00:00:00.000Z"):
    """Let a model join in the store alone, where no pictures are needed."""
    study = store.study(study.name)
    after = dataclasses.replace(
        study,
        models=(*study.models, model),
        joined=(*study.joined, len(study.models)),
        joined_at=(at,),
        version=study.version + 1,
    )
    new = [Stimulus(f"{i:031x}a.png", FAKE, model) for i in range(40)]
    store.add_stimuli(after, new)
    return after, new


def test_a_full_study_reopens_for_the_model_that_joined(each_world):
    world = each_world
    study = world.add(studies.study(images=8, evaluators=1))
    for _ in range(2):
        world.player().play()
    assert world.open().json["error"]["code"] == "study_full"
    before = study_scores(world.store, study)["models"]

    after, new = joined_by(world.store, study, "dit")
    world.pools["faces"] += new

    assert json_codec.load_study(json_codec.dump(after)) == after
    world.player().play()
    assert world.open().json["error"]["code"] == "study_full"
    sessions = [session for session, _ in world.store.sessions("faces")]
    assert Counter(session.models for session in sessions) == {("gan",): 1, ("vae",): 1, ("dit",): 1}
    taken = world.store.taken("faces", "2020-01-01T00:00:00.000Z")
    assert taken == {condition.name: 1 for condition in (Condition((m,)) for m in after.models)}
    assert world.store.finished("faces")[0] == 3
    rows = study_scores(world.store, after)["models"]
    assert [row for row in rows if row["model"] != "dit"] == before
    truths = {truth for session in sessions if session.models == ("dit",)
              for block in session.blocks for truth in block.truths}  # fmt: skip
    assert truths == {REAL, FAKE}


KILLED = """
import os
from pathlib import Path
from backend.administration.join import Newcomer, join
from backend.foundation.timestamps import utc_now
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

data = DataDir(Path("openhype-data").resolve())
store = open_store("sqlite:///openhype.db", data.root)
join(store, data, "faces", Newcomer("cyd", Path("cyd")), utc_now(), publish=lambda *_: os._exit(9))
"""


def test_a_join_that_was_killed_after_its_pictures_were_in_place_leaves_none_of_them(folder):
    create(folder)
    images = folder / "openhype-data" / "images"
    before = {path.name for path in (images / "faces").iterdir()}
    killed = subprocess.run([sys.executable, "-P", "-c", KILLED], check=False, env=IMPORTING)
    assert killed.returncode == 9
    left = {path.name for path in (images / "faces").iterdir()} - before
    assert len(left) == 16

    assert run("join", "faces", "--model", "cyd=cyd").exit_code == 0

    after = {path.name for path in (images / "faces").iterdir()}
    with contextlib.closing(stored(folder)) as store:
        assert after == {stimulus.name for stimulus in store.stimuli("faces")} | before
    assert len(after) == len(before) + 16
    assert [path.name for path in images.iterdir()] == ["faces"]


def test_a_study_that_is_deleted_while_a_model_joins_leaves_no_pictures(folder, monkeypatch):
    create(folder)
    data = DataDir(folder / "openhype-data")
    taken_in = join._taken_in

    def deleted_meanwhile(*given):
        made = taken_in(*given)
        assert run("delete", "faces", "--yes", "faces").exit_code == 0
        (data.images("faces")).mkdir()  # another study of this name is being made
        return made

    monkeypatch.setattr(join, "_taken_in", deleted_meanwhile)
    monkeypatch.setattr(join, "_check_new", lambda *_: None)
    failed = run("join", "faces", "--model", "cyd=cyd")

    assert failed.exit_code == 1
    assert "there is no study 'faces'" in failed.stderr
    assert [*data.images("faces").iterdir()] == []
