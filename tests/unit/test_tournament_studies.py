"""Tournaments from the command line in an empty folder: made, simulated, joined, exported; bad input."""

import csv
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.cli import main
from backend.experiment.records import FAKE, Condition
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.studies import tournament_counts

ROOT = Path(__file__).resolve().parents[2]
MODELS = ("ada", "bob", "cyd", "dan")


def run(*arguments):
    result = CliRunner().invoke(main, [*map(str, arguments)], prog_name="openhype")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for name in ("real", *MODELS):
        (tmp_path / name).mkdir()
        for i in range(16):
            pixels = rng.integers(0, 255, (32, 32, 3), np.uint8)
            Image.fromarray(pixels).save(tmp_path / name / f"{i}.png")
    return tmp_path


def create(name, models=MODELS[:3], *settings):
    given = [word for model in models for word in ("--model", f"{model}={model}")]
    more = [word for setting in ("images=12", "evaluators=3", *settings) for word in ("--set", setting)]
    return run("create", name, "--method", "tournament", "--real", "real", *given, "--size", 32, *more)


def stored(folder):
    return open_store("sqlite:///openhype.db", DataDir(folder / "openhype-data").root)


def rows_of(folder, name):
    assert run("export", name, "--simulated", "-o", "out").exit_code == 0
    with (folder / "out" / "data" / f"study-{name}_data.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_fakes_of_one_source_stand_side_by_side_also_with_a_model_that_joins(folder):
    """The reals, which take no part, need no partners; sources that a model lacks are named."""
    (folder / "real" / "7.png").rename(folder / "real" / "x.png")
    assert create("cup", MODELS[:3], "pairing=source").exit_code == 0
    (folder / "dan" / "3.png").rename(folder / "dan" / "y.png")
    refused = run("join", "cup", "--model", "dan=dan").output
    (folder / "dan" / "y.png").rename(folder / "dan" / "3.png")
    assert run("join", "cup", "--model", "dan=dan").exit_code == 0
    assert run("simulate", "cup", "--evaluators", "3").exit_code == 0

    rows = rows_of(folder, "cup")

    sources = {one.name: one.source for one in stored(folder).stimuli("cup")}
    by_session = {}
    for row in rows:
        left, right = (sources[name] for name in row["stimulus"].split(" "))
        assert left == right
        by_session.setdefault(row["session"], []).append(left)
    assert all(len({*own}) == len(own) == 12 for own in by_session.values())
    assert {row["left"] for row in rows} == {*MODELS}
    assert (
        "2 names cannot be used, of which ada, bob, cyd, dan must each have one file: 3 (no usable file of "
        "dan), y (no usable file of ada); rename, add or remove files" in refused
    )


def test_sources_must_suffice_for_a_session(folder):
    short = create("cup", MODELS[:3], "pairing=source", "images=17")

    assert "it has 16 of 17 fakes of ada, 16 of 17 fakes of bob, 16 of 17 fakes of cyd" in short.output


def test_each_session_shows_all_equally_often_on_even_sides_and_counts_itself(folder):
    assert create("cup", MODELS[:3], "ties=true", "real_contestant=true").exit_code == 0
    assert run("simulate", "cup", "--strength", "ada=2", "--strength", "bob=-2").exit_code == 0

    rows = rows_of(folder, "cup")

    by_session = {}
    for row in rows:
        by_session.setdefault(row["session"], []).append(row)
        assert row["model"] == ", ".join(sorted((row["left"], row["right"])))
        assert (row["truth"], row["response"] in ("left", "right", "tie")) == ("", True)
    for own in by_session.values():
        left, right = (Counter(row[side] for row in own) for side in ("left", "right"))
        assert {left[name] + right[name] for name in (*MODELS[:3], "real")} == {6}
        assert all(left[name] == right[name] == 3 for name in (*MODELS[:3], "real"))
        pictures = [name for row in own for name in row["stimulus"].split(" ")]
        assert len(set(pictures)) == len(pictures) == 24
    store = stored(folder)
    found = tournament_counts.read(store, store.study("cup"), simulated=True)
    assert found.sessions == 3
    assert sum(map(sum, found.pairs.values())) == len(rows) == 36
    won = [
        row["response"] == side
        for row in rows
        for side in ("left", "right")
        if row[side] == "ada" and "bob" in row["model"]
    ]
    assert sum(won) > len(won) / 2
    store.close()


def test_pictures_of_a_pair_are_of_one_class(folder):
    for name in ("real", *MODELS):
        for class_ in ("cat", "dog"):
            (folder / name / class_).mkdir()
        for i, path in enumerate(sorted((folder / name).glob("*.png"))):
            path.rename(folder / name / ("cat" if i % 2 else "dog") / path.name)
    assert create("cup").exit_code == 0
    assert run("simulate", "cup", "--evaluators", 2).exit_code == 0

    rows = rows_of(folder, "cup")

    store = stored(folder)
    classes = {stimulus.name: stimulus.class_ for stimulus in store.stimuli("cup")}
    store.close()
    assert Counter(row["class"] for row in rows) == {"cat": 12, "dog": 12}
    for row in rows:
        assert {classes[name] for name in row["stimulus"].split(" ")} == {row["class"]}


def test_a_model_joins_and_sessions_of_before_count(folder):
    assert create("cup").exit_code == 0
    assert run("simulate", "cup").exit_code == 0

    joined = run("join", "cup", "--model", "dan=dan")

    assert joined.exit_code == 0, joined.stderr
    assert "dan joined cup, which has 4 models now" in joined.stdout
    assert run("simulate", "cup").exit_code == 0
    rows = rows_of(folder, "cup")
    assert len({row["session"] for row in rows}) == 6
    assert sum("dan" in row["model"] for row in rows) == 3 * 6
    store = stored(folder)
    study = store.study("cup")
    assert (study.models, study.joined) == (MODELS, (3,))
    assert study.past_conditions == (Condition(MODELS[:3]),)
    new = [stimulus for stimulus in store.stimuli("cup") if stimulus.model == "dan"]
    assert {(stimulus.truth, stimulus.role) for stimulus in new} == {(FAKE, "")}
    store.close()
    sizes = {path.stat().st_size for path in (folder / "openhype-data" / "images" / "cup").iterdir()}
    assert len(sizes) == 1
    assert "before dan joined" in run("status", "cup").stdout
    assert run("update-sampling", "cup", "--simulated").stdout.startswith(
        "cup: the answers of 6 finished sessions"
    )
    assert run("report", "cup", "--simulated", "-o", "rep").exit_code in (0, 1)


@pytest.mark.slow("makes and plays whole studies")
def test_a_model_joins_while_evaluators_answer_and_nothing_is_lost(folder):
    assert create("cup").exit_code == 0
    command = [sys.executable, "-m", "backend", "simulate", "cup", "--evaluators", "24", "--at-once", "4"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    simulating = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    store, until = stored(folder), time.monotonic() + 60
    while not store.finished("cup", simulated=True)[0]:
        assert time.monotonic() < until
        time.sleep(0.02)

    joined = run("join", "cup", "--model", "dan=dan")

    assert joined.exit_code == 0, joined.stderr
    _, errors = simulating.communicate(timeout=120)
    assert simulating.returncode == 0, errors
    rows = rows_of(folder, "cup")
    of_session = Counter(row["session"] for row in rows)
    assert len(of_session) == 24
    assert len({*of_session.values()}) == 1
    assert any("dan" in row["model"] for row in rows)
    store.close()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("dan=ada", "16 of the new pictures are in study cup already: .* shows the same picture as"),
        ("ada=dan", "two models are called 'ada' and 'ada'"),
        ("real=dan", "no model can be called 'real'"),
        ("dan=few", "it has 3 of 8 fakes of dan"),
        ("dan=nowhere", "nowhere"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_and_nothing_changes(folder, model, message):
    (folder / "few").mkdir()
    for i in range(3):
        (folder / "dan" / f"{i}.png").rename(folder / "few" / f"{i}.png")
    assert create("cup", MODELS[:3], "images=16").exit_code == 0
    images = folder / "openhype-data" / "images" / "cup"
    before = {path.name: path.read_bytes() for path in images.iterdir()}

    refused = run("join", "cup", "--model", model)

    assert refused.exit_code == 1
    assert re.search(message, refused.stderr), refused.stderr
    store = stored(folder)
    assert store.study("cup").models == MODELS[:3]
    store.close()
    assert {path.name: path.read_bytes() for path in images.iterdir()} == before


@pytest.mark.parametrize(
    ("models", "settings", "message"),
    [
        (("ada",), (), "needs two or more, and study cup has 1"),
        (MODELS, ("feedback=true",), "a tournament has no feedback"),
        (MODELS, ("bonus_usd_cents=2",), "a tournament has no pay for right answers"),
        (MODELS, ("debrief=true",), "a tournament has no debrief"),
        (MODELS, ("models_per_session=2",), "a tournament shows all models in every session"),
        (MODELS, ("sampling=least-seen",), "chooses its pairs itself"),
        (MODELS, ("images=60",), "lacks pictures for a session of 60 pairs: it has 16 of 30 fakes of ada"),
    ],
)
def test_what_a_tournament_cannot_be_is_said_and_nothing_is_stored(folder, models, settings, message):
    refused = create("cup", models, *settings)

    assert refused.exit_code == 1
    assert message in refused.stderr
    assert "there is no study" in run("status", "cup").stderr


def test_ties_are_refused_for_other_methods_and_strengths_for_them(folder):
    given = ["--real", "real", "--model", "ada=ada", "--size", 32, "--set", "images=10"]
    tied = run("create", "faces", *given, "--set", "ties=true")
    assert "ties goes with method 'tournament'" in tied.stderr
    assert run("create", "faces", *given).exit_code == 0
    assert create("cup").exit_code == 0

    assert "--strength is for tournaments" in run("simulate", "faces", "--strength", "ada=1").stderr
    assert "give --strength" in run("simulate", "cup", "--accuracy", "ada=0.8").stderr
    for value in ("nan", "1e400", "\ud800", "99"):
        assert "must be a number of log-odds" in run("simulate", "cup", "--strength", f"ada={value}").stderr
    assert "has no model 'eve'" in run("simulate", "cup", "--strength", "eve=1").stderr


def test_the_page_is_told_the_answers_and_no_model(folder):
    from backend.handlers import create_app

    assert create("cup").exit_code == 0
    assert create("tied", MODELS, "ties=true").exit_code == 0
    data = DataDir(folder / "openhype-data")
    store = stored(folder)
    client = create_app(store, data, data.keys()).test_client()
    assert client.get("/api/studies/cup").json["answers"] == ["left", "right"]
    assert client.get("/api/studies/tied").json["answers"] == ["left", "right", "tie"]

    opened = client.post("/api/studies/cup/sessions", json={"consent_version": "1", "panel": {}}).json
    path, token = (
        f"/api/sessions/{opened['state']['session']}",
        {"Authorization": f"Bearer {opened['token']}"},
    )
    block = client.post(f"{path}/blocks", json={"lease": 1, "block": 0, "display": {}}, headers=token).json
    said = json.dumps([opened, block])
    for model in MODELS:
        assert not re.search(rf"\b{model}\b", said)  # as a word: names of pictures may contain "ada"
    names = [url.rpartition("/")[2] for url in block["images"][0].split(" ")]
    nothing = dict.fromkeys(("exposure_ms", "shown_ms", "frames", "mask_ms"))
    tie = {**nothing, "lease": 1, "trial_index": 0, "stimulus": " ".join(names), "response": "tie"}
    tie |= {"rt": 400.0, "frame_ms": 16.7, "flags": []}
    refused = client.post(f"{path}/answers", json=tie, headers=token)
    assert "response must be 'left' or 'right', not 'tie'" in refused.json["error"]["message"]
    answered = client.post(f"{path}/answers", json={**tie, "response": "left"}, headers=token).json
    assert answered["was_correct"] is None
    store.close()
