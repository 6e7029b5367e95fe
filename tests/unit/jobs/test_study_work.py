"""Jobs on the pictures of a study: its metrics, and distances against people's votes."""

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
