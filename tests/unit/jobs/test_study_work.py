"""Jobs on the pictures of a study: its metrics, and distances against people's votes."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.cli import main
from backend.metrics.study_metrics import stored_metrics
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

from ..conftest import World
from ..web.researcher import Researcher


def run(*arguments):
    found = CliRunner().invoke(main, [*map(str, arguments)])
    assert found.exit_code == 0, found.output
    return found


def draw(folder, count, noise, seed):
    rng, x = np.random.default_rng(seed), np.arange(32) / 32
    Path(folder).mkdir(parents=True)
    for i in range(count):
        stripes = 128 + 80 * np.sin(2 * np.pi * (rng.integers(1, 5) * x + rng.random()))
        pixels = stripes[None, :, None] + rng.normal(0, noise, (32, 32, 3))
        Image.fromarray(pixels.clip(0, 255).astype("uint8")).save(f"{folder}/{i:03}.png")


@pytest.fixture
def me(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = open_store("sqlite:///openhype.db", tmp_path / "openhype-data")
    yield Researcher(World(store, DataDir(tmp_path / "openhype-data")))
    store.close()


def test_metrics_are_computed_and_kept_with_the_study(me):
    for seed, (name, noise) in enumerate({"real": 5, "gan": 8, "vae": 60}.items()):
        draw(f"images/{name}", 12, noise, seed)
    folders = ("--real", "images/real", "--model", "gan=images/gan", "--model", "vae=images/vae")
    run("create", "faces", *folders, "--size", 32, "--set", "images=8")

    job = me.job("studies/faces/metrics")

    assert job.state == "done", job.reason
    (found,) = job.result["runs"]
    worse, better = ({row["model"]: row for row in found["models"]}[name]["kid"] for name in ("vae", "gan"))
    assert worse["value"] > better["value"]
    store = me.world.store
    assert stored_metrics(me.world.data, store.study("faces"))


def test_distances_are_scored_against_votes(me):
    for part, noise in (("ref", 5), ("p0", 20), ("p1", 60)):
        draw(f"sets/faces/{part}", 8, noise, 1)
    run("create", "sim", "--method", "2afc", "--items", "sets", "--size", 32, "--set", "images=6",
        "--set", "picture_checks=2")  # fmt: skip
    run("simulate", "sim", "--evaluators", 2)

    job = me.job("studies/sim/agree", {"distances": ["l2", "ssim"], "simulated": True})

    assert job.state == "done", job.reason
    assert [row["metric"] for row in job.result["metrics"]] == ["l2", "ssim"]
    assert job.result["votes"] == 12
    none = me.job("studies/sim/agree")
    assert (none.state, "no finished session" in none.reason) == ("failed", True)


def similarity(name, method, seed=1):
    """Make a study of four items in the set `faces`, with two simulated evaluators."""
    parts = {"2afc": ("ref", "p0", "p1"), "jnd": ("p0", "p1")}[method]
    for part, noise in zip(parts, (5, 20, 60), strict=False):
        draw(f"{name}/faces/{part}", 5, noise, seed)
    run("create", name, "--method", method, "--items", name, "--size", 32, "--set", "images=4",
        "--set", "picture_checks=1")  # fmt: skip
    run("simulate", name, "--evaluators", 2)


def test_scores_of_distances_are_correlated_over_both_judgments_as_by_the_command(me):
    similarity("triplets", "2afc")
    similarity("pairs", "jnd")
    body = {"other": "pairs", "distances": ["l2", "psnr", "ssim"], "simulated": True}

    job = me.job("studies/triplets/correlate", body)
    back = me.job("studies/pairs/correlate", {**body, "other": "triplets"})

    assert job.state == "done", job.reason
    options = [part for name in body["distances"] for part in ("--distance", name)]
    command = run("agree", "triplets", "pairs", *options, "--simulated", "--json")
    shown = {name: job.result.pop(name) for name in ("sentences", "notes", "remarks")}
    assert job.result == json.loads(command.stdout)
    assert back.result["correlations"] == job.result["correlations"]
    text = " ".join(run("agree", "triplets", "pairs", *options, "--simulated").output.split())
    assert all(words in text for words in [*shown["sentences"], *shown["notes"]])
    assert shown["notes"][0] == "an interval takes 4 metrics"

    real = me.job("studies/triplets/correlate", {"other": "pairs"})
    assert (real.state, "no finished session" in real.reason) == ("failed", True)
    ordered = me.post("studies/triplets/correlate", body, 202)
    run("delete", "pairs", "--yes", "pairs")
    gone = me.done(ordered["job"])
    assert (gone.state, "pairs" in gone.reason) == ("failed", True)


def test_studies_whose_metrics_cannot_be_correlated_are_refused(me):
    similarity("triplets", "2afc")
    similarity("others", "2afc")
    draw("images/real", 4, 5, 1)
    draw("images/gan", 4, 9, 2)
    run(
        "create",
        "hype",
        "--real",
        "images/real",
        "--model",
        "gan=images/gan",
        "--size",
        32,
        "--set",
        "images=4",
    )

    def refused(other, code="invalid", study="triplets", status=400, **more):
        return me.refused(f"studies/{study}/correlate", {"other": other, **more}, status, code)

    assert refused("triplets").startswith("triplets is named twice")
    assert refused("others").startswith("triplets and others are both 2AFC; the correlation is over one 2AFC")
    assert "votes of the methods 2afc and jnd, and hype is of" in refused("hype")
    assert "and hype is of" in refused("triplets", study="hype")
    assert "distances is empty" in refused("others", distances=[])
    assert "nobody" in refused("nobody", "unknown_study", status=404)
