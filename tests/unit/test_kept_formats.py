"""What earlier releases stored, exported and offered is read as it was (`tests.make_fixtures`)."""

import json
import shutil

import pytest
from click.testing import CliRunner

from backend.cli import main
from backend.experiment.settings import documented_settings
from backend.web.openapi import document
from tests.make_fixtures import FIXTURES

RELEASES = sorted(FIXTURES.glob("*.zip"))
EXACT_TO = 1e-9
"""Relative: versions of numpy and scipy may differ in the last digits."""


@pytest.fixture(params=RELEASES, ids=lambda file: file.stem)
def kept(request, tmp_path):
    shutil.unpack_archive(request.param, tmp_path)
    return tmp_path


def facts(kept):
    return json.loads((kept / "facts.json").read_text("utf-8"))


def scored(*arguments):
    done = CliRunner().invoke(main, ["score", *map(str, arguments), "--simulated", "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def numbers(scores):
    return {
        row["model"]: (row["score"], row["std"], *row["ci"], *(row["interval"]["ci"] or ()))
        for row in scores["models"]
    }


def test_there_is_a_release():
    assert RELEASES


@pytest.mark.parametrize("study", ["faces", "flashes"])
def test_a_stored_study_and_its_export_have_the_scores_that_they_had(kept, study):
    restored = CliRunner().invoke(main, ["restore", str(kept / "backup"), "--data", str(kept / "data")])
    assert restored.exit_code == 0, restored.output
    before = numbers(json.loads((kept / f"scores-{study}.json").read_text("utf-8")))

    for place in (("--data", kept / "data", study), (kept / f"export-{study}",)):
        now = numbers(scored(*place))
        assert {*now} == {*before} == {"gan", "vae"}
        assert all(now[model] == pytest.approx(before[model], rel=EXACT_TO) for model in before)


def test_settings_and_routes_of_a_release_are_still_there(kept):
    then, now = facts(kept), json.loads(document())

    assert {*then["settings"]} <= {*documented_settings()}
    routes, kept_routes = (
        {(path, way) for path, ways in api["paths"].items() for way in ways} for api in (now, then["api"])
    )
    assert kept_routes <= routes
