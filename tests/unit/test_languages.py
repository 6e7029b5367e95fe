"""Languages as a researcher meets them: the commands, the API, and what is exported."""

import csv

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.administration.catalogues import catalogue
from backend.cli import main
from backend.experiment.browsers import retained
from backend.responses.export import export

from . import sample_studies as studies


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with images in it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for name in ("real", "gan"):
        (tmp_path / name).mkdir()
        for i in range(4):
            Image.fromarray(rng.integers(0, 256, (16, 16, 3), "uint8")).save(tmp_path / name / f"{i}.png")
    return tmp_path


IMAGES = ["--real", "real", "--model", "gan=gan", "--size", "16", "--set", "images=4"]
STUDY = """\
name = "faces"
real = "real"
models = { gan = "gan" }
settings = { size_px = 16, images = 4, language = "choose" }
"""


def run(*arguments, status=0):
    result = CliRunner().invoke(main, arguments, prog_name="openhype")
    assert result.exit_code == status, result.output
    return result


def test_a_language_that_is_not_there_is_refused_and_nothing_is_made(folder):
    result = run("create", "faces", *IMAGES, "--set", "language=nl", status=1)

    assert "language must be en (English), de (German)" in result.stderr
    assert "no studies" in run("status").stdout.lower() or "faces" not in run("status").stdout


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('[texts]\n"answer.fak" = "AI"', "no text is called 'answer.fak'; did you mean `answer.fake`?"),
        ('[texts.de]\n"picture.progress" = "Bild {n}"', "texts.de: the text 'picture.progress' must contain"),
        ('[texts]\n"answer.fake" = 3', "the text 'answer.fake' must be text, not 3"),
        ("texts = 3", "study.toml line 1: texts must be a table, not 3"),
    ],
)
def test_texts_of_a_study_file_that_the_page_cannot_use_are_refused(folder, lines, message):
    place = "" if lines.startswith("texts") else f"\n{lines}"
    (folder / "study.toml").write_text((f"{lines}\n" if not place else "") + STUDY + place)

    assert message in run("create", "study.toml", status=1).stderr


def test_texts_of_a_study_file_are_stored_and_a_text_without_a_language_is_named(folder):
    (folder / "study.toml").write_text(
        f'{STUDY}\n[texts]\n"answer.fake" = "AI"\n[texts.de]\nanswer.fake = "KI"\n'
    )

    made = run("create", "study.toml")
    changed = run("set", "faces", "language=de")

    assert "own texts without a language are shown in every language: answer.fake" in made.output
    assert "language: 'choose' -> 'de'" in changed.stdout
    assert "consent_version: '1' -> '2'" in changed.stdout
    assert "title: 'Real or fake?' -> 'Echt oder Fake?'" in changed.stdout


def test_texts_can_be_changed_from_a_file(folder):
    run("create", "faces", *IMAGES)
    (folder / "texts.toml").write_text('"answer.fake" = "AI"\n')

    assert "texts: () -> (('', 'answer.fake', 'AI'),)" in run("set", "faces", "texts=@texts.toml").stdout


def test_the_page_is_told_the_language_and_the_texts_in_it(world):
    texts = {"answer.fake": "AI", "ja": {"answer.fake": "AI製"}, "de": {"answer.fake": "KI"}}
    world.add(studies.study("faces", images=8, language="ja", texts=texts))
    world.add(studies.study("cars", images=8))

    told, plain = world.http.get("/api/studies/faces").json, world.http.get("/api/studies/cars").json

    assert (told["language"], told["texts"]) == ("ja", {"ja": {"answer.fake": "AI製"}})
    assert (plain["language"], plain["texts"]) == ("en", {})


def test_a_study_in_japanese_shows_japanese_consent_through_the_api(folder):
    from backend.stores.opening import open_store

    run("create", "faces", *IMAGES, "--set", "language=ja")
    store = open_store("sqlite:///openhype.db", folder / "openhype-data")
    consent = store.study("faces").protocol.consent
    store.close()

    assert consent.consent_text == catalogue("ja")["consent.text"]
    assert consent.title == catalogue("ja")["title.study"]


@pytest.mark.parametrize("language", ["choose", "ja"])
def test_the_language_of_each_evaluator_is_exported_where_evaluators_choose(world, tmp_path, language):
    study = world.add(studies.study("faces", images=8, language=language))
    for shown in ("ja", "de", "<b>", None):
        world.player("faces", device={} if shown is None else {"shown_language": shown}).play()

    export(world.store, study, tmp_path)

    with open(tmp_path / "data" / "study-faces_description-evaluators_data.csv") as file:
        found = [row.get("language") for row in csv.DictReader(file)]
    assert sorted(found, key=str) == (["", "", "de", "ja"] if language == "choose" else [None] * 4)


def test_the_language_stays_when_the_facts_of_a_device_are_deleted():
    assert retained({"shown_language": "ja", "language": "de-AT"}) == {"shown_language": "ja"}
    assert retained({"shown_language": "de-AT"}) == {}
    for tag in ("pt-BR", "zh-Hant", "unknown"):
        assert retained({"translated": tag}) == {"translated": tag}
    for other in (None, 7, "a<b", "Polish, please"):
        assert retained({"translated": other}) == {}
