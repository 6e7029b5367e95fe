"""Exports have no e-mail address of a submitter, and the same numbers as the study."""

import csv
from dataclasses import replace
from random import Random

import pytest

import openhype
from backend.responses.export import export, write_responses
from backend.responses.publication.publish import publish
from backend.responses.publication.terms import Terms, creator_of
from backend.responses.published_names import published_names, published_rows, published_study
from backend.responses.study_data import study_scores

from .. import sample_studies as studies


def joined(study, *models):
    """Return a study that models joined one after the other."""
    first = len(study.models)
    return replace(study, models=(*study.models, *models), joined=tuple(range(first, first + len(models))))


def test_an_address_is_cut_at_the_at_sign_in_names_of_models_that_joined():
    study = joined(
        studies.study(models=("a@b.org own",)), "ada@lab.example gan@4000", "bob vae@2.pt x", "gan@4.5 x"
    )

    names = published_names(study)

    assert names == {"ada@lab.example gan@4000": "ada gan@4000"}


def test_two_that_would_be_called_the_same_stay_two():
    study = joined(studies.study(models=("ada gan",)), "ada@a.org gan", "Ada@b.org gan", "ada@c.org vae")

    names = published_names(study)

    assert [*names.values()] == ["ada gan (2)", "Ada gan (3)", "ada vae"]


def test_notes_name_the_model_as_the_tables_do():
    study = joined(studies.study(models=("vae",)), "ada@a.org gan", "ada@a.org gan 2")
    study = replace(
        study, notes=("ada@a.org gan joined on 2026-11-01", "ada@a.org gan 2 joined on 2026-11-02")
    )

    found = published_study(study)

    assert found.models == ("vae", "ada gan", "ada gan 2")
    assert found.notes == ("ada gan joined on 2026-11-01", "ada gan 2 joined on 2026-11-02")


def test_contestants_of_a_tournament_are_named_on_both_sides_and_stay_in_alphabetical_order():
    row = {
        "model": "ada@a.org gan, ada b",
        "left": "ada@a.org gan",
        "right": "ada b",
        "response": "left",
    }

    (found,) = published_rows([row], {"ada@a.org gan": "ada gan"})

    assert found == {"model": "ada b, ada gan", "left": "ada gan", "right": "ada b", "response": "left"}


@pytest.fixture
def faces(world):
    """Return a study that two models of an e-mail address's joined, with four finished sessions."""
    study = joined(
        studies.study(models=("vae",), images=10, spare_images=0, evaluators=2), "ada@lab.example gan"
    )
    study = world.add(replace(study, notes=("ada@lab.example gan joined on 2026-11-01",)))
    rng = Random(1)
    for _ in range(4):
        world.player().play(right=lambda truth: rng.random() > 0.3)
    return study


def test_no_file_of_a_published_data_set_has_the_address_and_scores_are_the_same(world, faces, tmp_path):
    scores = study_scores(world.store, faces)

    files = export(world.store, faces, tmp_path / "out")
    publish(faces, tmp_path / "out", Terms("2026-11-24", (creator_of("Lab"),)), scores)
    write_responses(world.store, faces, tmp_path / "responses.csv")

    for path in [*(tmp_path / "out").rglob("*"), tmp_path / "responses.csv"]:
        assert not path.is_file() or b"lab.example" not in path.read_bytes(), path
    with files[0].open(encoding="utf-8", newline="") as file:
        assert {row["model"] for row in csv.DictReader(file)} == {"vae", "ada gan"}
    found = {row["model"]: row["score"] for row in openhype.score(files[0])["models"]}
    assert found == {row["model"].replace("@lab.example", ""): row["score"] for row in scores["models"]}
