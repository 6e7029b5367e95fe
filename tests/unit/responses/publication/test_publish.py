"""What publishing needs, read by mlcroissant, as YAML, and by pandas as `datasets` uses it."""

import csv
import hashlib
import json
import warnings
from dataclasses import replace
from random import Random

import mlcroissant
import pandas as pd
import pytest
import yaml

from backend.foundation.errors import InvalidInput
from backend.responses.export import export, published
from backend.responses.publication.publish import publish
from backend.responses.publication.rai import rai_fields
from backend.responses.publication.subject import Subject
from backend.responses.publication.terms import Terms, creator_of, licence_of, terms_of
from backend.responses.study_data import study_scores

from ... import sample_studies as studies
from ...task.test_questions import asked_study, post

TERMS = Terms(
    published_on="2026-11-24",
    creators=(creator_of("Lovelace, Ada"), creator_of("Lab of {Vision} & Co_")),
    licence=licence_of("cc-by-4.0"),
    url="https://lab.example/faces",
)
NEURIPS_2026 = {
    "rai:dataLimitations",
    "rai:dataBiases",
    "rai:personalSensitiveInformation",
    "rai:dataUseCases",
    "rai:dataSocialImpact",
    "rai:hasSyntheticData",
    "prov:wasDerivedFrom",
    "prov:wasGeneratedBy",
}
"""The minimal set that NeurIPS asks of data sets (Evaluations and Datasets track, hosting guidelines)."""
NUMPY = {"string": object, "int64": "int64", "float64": "float64", "bool": "bool"}
"""What `datasets` 5.2 hands to pandas for each declared type (packaged_modules/csv/csv.py)."""


@pytest.fixture
def faces(world):
    """Return a study with a model called NA and one with markup, four finished sessions, one broken off."""
    study = world.add(
        studies.study(models=("NA", "vae <b>"), images=10, spare_images=0, evaluators=3, base_usd_cents="150")
    )
    rng = Random(1)
    for _ in range(4):
        world.player().play(right=lambda truth: rng.random() > 0.3)
    broken = world.player()
    broken.begin()
    broken.answer()
    return study


def publication_of(world, study, folder, terms=TERMS, simulated=False):
    export(world.store, study, folder, simulated)
    scores = None if simulated else study_scores(world.store, study)
    return publish(study, folder, terms, scores, simulated)


def loaded(folder):
    """Return the data set as mlcroissant reads it; what it warns of is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the libraries that it uses
        found = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert found.metadata.ctx.issues.warnings == set()
    assert found.metadata.ctx.issues.errors == set()
    return found


def head_of(folder):
    """Return the YAML header of README.md, and the rest."""
    opening, header, rest = (folder / "README.md").read_text("utf-8").split("---\n", 2)
    assert opening == ""
    return yaml.safe_load(header), rest


def rows_of(folder, path):
    with (folder / path).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_croissant_passes_its_validator_and_gives_every_row(world, faces, tmp_path):
    publication_of(world, faces, tmp_path / "out")

    found = loaded(tmp_path / "out")

    assert found.metadata.name == {"en": "faces"} or found.metadata.name == "faces"
    assert found.metadata.ctx.is_v1_1()
    expected = rows_of(tmp_path / "out", "data/study-faces_data.csv")
    records = list(found.records("responses"))
    assert len(records) == len(expected) == 40
    assert [record["responses/stimulus"] for record in records] == [
        (row["stimulus"].encode() if isinstance(records[0]["responses/stimulus"], bytes) else row["stimulus"])
        for row in expected
    ]
    assert [record["responses/rt"] for record in records] == [float(row["rt"]) for row in expected]
    assert len(list(found.records("evaluators"))) == 4
    assert len(list(found.records("unfinished"))) == 1


def test_croissant_says_what_neurips_asks_for_and_the_hashes_of_the_files(world, faces, tmp_path):
    publication_of(world, faces, tmp_path / "out")

    described = json.loads((tmp_path / "out" / "croissant.json").read_text("utf-8"))

    assert described.keys() >= NEURIPS_2026
    assert described["license"] == "https://spdx.org/licenses/CC-BY-4.0"
    for file in described["distribution"]:
        content = (tmp_path / "out" / file["contentUrl"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
        assert file["contentSize"] == f"{len(content)} B"


def test_facts_of_the_study_are_told_and_nothing_that_it_does_not_know(world, faces, tmp_path):
    publication_of(world, faces, tmp_path / "out")

    described = json.loads((tmp_path / "out" / "croissant.json").read_text("utf-8"))

    assert "Demographics were not collected." in described["rai:annotatorDemographics"]
    assert (
        "Pay (USD): $1.50 for taking part and $0.02 for each right answer."
        in described["rai:dataAnnotationProtocol"]
    )
    assert described["rai:dataAnnotationPlatform"][1] == "Prolific"
    assert "Incomplete: 4 of 6 evaluators have finished." in described["rai:dataLimitations"]
    assert described["rai:hasSyntheticData"] is False
    # 4 sessions of 10 answers; the pool has 60 pictures of each side, the two models share the reals
    assert described["rai:annotationsPerItem"].startswith("1 to ")


def test_nothing_personal_is_published(world, tmp_path):
    study = world.add(studies.study(images=10, spare_images=0))
    world.player(panel={"PROLIFIC_PID": "5f3c0ffee", "STUDY_ID": "st77", "SESSION_ID": "su99"}).play()

    publication_of(world, study, tmp_path / "out")

    everything = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"study" in everything
    for secret in (b"5f3c0ffee", b"su99", world.data.keys().researcher.encode()):
        assert secret not in everything


@pytest.mark.parametrize("method", ["2afc", "jnd"])
def test_judgments_of_similarity_are_not_said_to_be_about_what_is_real(method):
    study = studies.study(method=method, models=("blur",))

    fields = rai_fields(Subject(study, "closer", False, (), (), 4, "1.0"))

    said = " ".join(
        str(fields[name]) for name in ("rai:dataSocialImpact", "rai:dataUseCases", "rai:dataLimitations")
    )
    assert "between pictures" in said
    assert not {"real", "rank", "models"} & set(said.replace(",", "").split())


def test_answers_about_a_person_are_called_personal_and_load(world, tmp_path):
    study = world.add(asked_study(models=("gan",), evaluators=10))
    player = world.player()
    post(player, "before", {"glasses": "yes", "strength": 2})
    player.play()
    post(player, "after", {"effort": 6, "tools": ["eyes", "hair"], "why": "I am\nJane"})

    publication_of(world, study, tmp_path / "out")

    found = loaded(tmp_path / "out")
    assert len(list(found.records("questions"))) == 1
    described = json.loads((tmp_path / "out" / "croissant.json").read_text("utf-8"))
    personal = " ".join(described["rai:personalSensitiveInformation"])
    assert "Answers to the study's own questions are in the data" in personal
    assert "in the evaluators' own words" in personal


def test_who_publishes_is_warned_of_names_of_submitters_in_those_of_models(world, faces, tmp_path):
    submitted = replace(faces, models=(*faces.models, "ada@lab.example gan"), joined=(len(faces.models),))
    export(world.store, faces, tmp_path)

    notes = []
    for study in (faces, submitted):
        publish(study, tmp_path, TERMS, None, False)
        described = json.loads((tmp_path / "croissant.json").read_text("utf-8"))
        notes.append(" ".join(described["rai:personalSensitiveInformation"]))

    assert "e-mail address" not in notes[0]
    assert "begin with the name of the member who submitted them" in notes[1]


def test_the_header_declares_types_by_which_pandas_reads_every_cell_as_written(world, faces, tmp_path):
    publication_of(world, faces, tmp_path / "out")

    header, rest = head_of(tmp_path / "out")

    assert rest.startswith("# faces\n")
    assert header["license"] == "cc-by-4.0"
    assert [config["config_name"] for config in header["configs"] if config.get("default")] == ["responses"]
    features = {
        config["config_name"]: {each["name"]: each["dtype"] for each in config["features"]}
        for config in header["configs"]
    }
    for config in header["configs"]:
        (part,) = config["data_files"]
        dtypes = {name: NUMPY[dtype] for name, dtype in features[config["config_name"]].items()}
        read = pd.read_csv(
            tmp_path / "out" / part["path"],
            dtype=dtypes,
            keep_default_na=config["keep_default_na"],
            na_values=config["na_values"],
        )
        expected = rows_of(tmp_path / "out", part["path"])
        assert list(read.columns) == list(expected[0])
        for name, dtype in features[config["config_name"]].items():
            cells = [row[name] for row in expected]
            texts = ["" if pd.isna(cell) else cell for cell in read[name]]
            if dtype == "string":
                assert texts == cells
            elif dtype == "bool":
                assert [{True: "true", False: "false"}[cell] for cell in texts] == cells
            else:
                assert [cell and float(cell) for cell in cells] == [
                    text if text == "" else float(text) for text in texts
                ]
    assert features["responses"]["session"] == "string"
    assert features["responses"]["trial_index"] == "int64"
    assert "NA" in {row["model"] for row in rows_of(tmp_path / "out", "data/study-faces_data.csv")}


def test_model_cards_have_the_scores_of_the_study(world, faces, tmp_path):
    paths = publication_of(world, faces, tmp_path / "out")

    cards = {path.name: path.read_text("utf-8") for path in paths if path.parent.name == "model-cards"}

    scores = {row["model"]: row for row in study_scores(world.store, faces)["models"]}
    assert len(cards) == 2
    for card in cards.values():
        _, header, text = card.split("---\n", 2)
        (entry,) = yaml.safe_load(header)["model-index"]
        (result,) = entry["results"]
        (metric,) = result["metrics"]
        row = scores[entry["name"]]
        assert metric["value"] == round(row["score"], 2)
        assert metric["type"] == "hype-infinity"
        assert result["dataset"] == {"type": "openhype", "name": "faces"}
        assert f"{row['score']:.1f}%" in text
    assert "vae \\<b\\>" in cards["NA.md"]


def test_the_citation_is_of_the_format_and_names_its_authors(world, faces, tmp_path):
    publication_of(world, faces, tmp_path / "out")

    cited = yaml.safe_load((tmp_path / "out" / "CITATION.cff").read_text("utf-8"))

    # required by the schema of Citation File Format 1.2.0
    assert cited.keys() >= {"cff-version", "message", "title", "authors"}
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] == "dataset"
    assert cited["authors"] == [
        {"family-names": "Lovelace", "given-names": "Ada"},
        {"name": "Lab of {Vision} & Co_"},
    ]
    assert cited["date-released"] == "2026-11-24"
    assert cited["license"] == "CC-BY-4.0"
    bibtex = json.loads((tmp_path / "out" / "croissant.json").read_text("utf-8"))["citeAs"]
    assert bibtex.startswith("@misc{Lovelacefaces2026,")
    assert "Lovelace, Ada and {Lab of \\{Vision\\} \\& Co\\_}" in bibtex


def test_a_citation_names_a_licence_only_as_its_schema_knows_it(world, faces, tmp_path):
    declared = terms_of("2026-11-24", ["Lab", "Lab"], "CDLA-Permissive-2.0")  # younger than the schema's list
    publication_of(world, faces, tmp_path / "out", declared)

    cited = yaml.safe_load((tmp_path / "out" / "CITATION.cff").read_text("utf-8"))

    assert "license" not in cited
    assert cited["license-url"] == "https://spdx.org/licenses/CDLA-Permissive-2.0"
    assert cited["authors"] == [{"name": "Lab"}]  # the schema wants each once


def test_simulated_answers_are_called_so_and_score_no_model(world, tmp_path):
    study = world.add(studies.study(images=10, spare_images=0))
    world.player(simulated=True).play()

    publication_of(world, study, tmp_path / "out", simulated=True)

    described = json.loads((tmp_path / "out" / "croissant.json").read_text("utf-8"))
    assert described["name"] == "faces (simulated)"
    assert "Nobody looked at the pictures" in described["description"]
    assert described["rai:hasSyntheticData"] is True
    assert described["rai:personalSensitiveInformation"] == ["None: no person took part."]
    assert not (tmp_path / "out" / "model-cards").exists()
    assert "simulated" in (tmp_path / "out" / "CITATION.cff").read_text("utf-8")


def test_what_is_not_declared_is_left_out(world, faces, tmp_path):
    publication_of(world, faces, tmp_path / "out", Terms("2026-11-24"))

    described = json.loads((tmp_path / "out" / "croissant.json").read_text("utf-8"))
    assert described.keys().isdisjoint({"license", "creator", "url", "citeAs"})
    assert not (tmp_path / "out" / "CITATION.cff").exists()
    assert "license" not in head_of(tmp_path / "out")[0]


def test_a_plain_export_leaves_no_description_of_the_one_before(world, faces, tmp_path):
    publication_of(world, faces, tmp_path / "out")
    assert len(published(tmp_path / "out")) == 4

    export(world.store, faces, tmp_path / "out")

    assert published(tmp_path / "out") == []
    assert (tmp_path / "out" / "README.md").read_text("utf-8").startswith("# faces")


@pytest.mark.parametrize("text", ["", ",Ada", "Lovelace,", "a\nb", "x" * 501])
def test_a_creator_that_is_none_is_refused(text):
    with pytest.raises(InvalidInput, match="a creator must be a person as `Lovelace, Ada`"):
        creator_of(text)


@pytest.mark.parametrize("text", ["CC-BY", "free", "ftp://x/y", "https://", "https://a b/", "https://[x/"])
def test_a_licence_that_is_none_is_refused(text):
    with pytest.raises(InvalidInput, match="licence must be"):
        licence_of(text)


@pytest.mark.parametrize("release", ["1", "1.0", "01.0.0", "1.0.0-a", "v1.0.0", "1.\u0661.0"])
def test_a_release_that_is_none_is_refused(release):
    with pytest.raises(InvalidInput, match=r"MAJOR\.MINOR\.PATCH"):
        Terms("2026-11-24", release=release)
