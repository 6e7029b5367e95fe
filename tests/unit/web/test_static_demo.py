"""A demo as plain files: a study's page and pictures, and nothing that belongs to the study's people."""

import json
from pathlib import Path

import pytest

from backend.foundation.errors import Conflict, InvalidInput
from backend.stores.opening import open_store
from backend.web.static_demo import write_site

from .. import sample_studies as studies


@pytest.fixture
def store(tmp_path):
    store = open_store("sqlite:///openhype.db", tmp_path)
    yield store
    store.close()


@pytest.fixture
def faces(store, tmp_path):
    study = studies.study(images=8, redirect_url="https://panel.example/?cc={code}")
    stimuli = studies.pool(study, each=20)
    store.add_study(study, stimuli)
    (tmp_path / "images").mkdir()
    for stimulus in stimuli:
        (tmp_path / "images" / stimulus.name).write_bytes(stimulus.name.encode())
    return study


def test_a_site_holds_the_page_and_as_many_pictures_as_asked_for(store, faces, tmp_path):
    page = write_site(store, faces, tmp_path / "images", tmp_path / "out", each=6)

    described = json.loads((tmp_path / "out" / "study.json").read_text())
    kinds = [picture["model"] for picture in described["pictures"]]
    assert page == tmp_path / "out" / "index.html"
    assert {kinds.count(kind) for kind in (None, *faces.models)} == {6}
    for picture in described["pictures"]:
        assert (tmp_path / "out" / picture["url"]).read_bytes().decode() in picture["url"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"assets", "i", "index.html", "study.json"}


def test_every_address_is_relative_so_that_any_folder_will_do(store, faces, tmp_path):
    page = write_site(store, faces, tmp_path / "images", tmp_path / "out")

    text = page.read_text()
    assert 'href="/' not in text
    assert 'src="/' not in text
    assert "frame-ancestors" not in text
    assert "default-src &#x27;self&#x27;" in text


def test_nothing_of_pay_panel_or_sources_goes_along(store, faces, tmp_path):
    write_site(store, faces, tmp_path / "images", tmp_path / "out")

    text = (tmp_path / "out" / "study.json").read_text()
    assert not any(word in text for word in ("PROLIFIC", "panel.example", "source"))
    assert '"base_usd_cents":0,"bonus_usd_cents":0' in text
    assert "This is a demo" in text


def test_a_folder_with_something_in_it_is_left_alone(store, faces, tmp_path):
    with pytest.raises(Conflict, match="is not empty; choose a new folder"):
        write_site(store, faces, tmp_path / "images", tmp_path)


@pytest.mark.parametrize(("each", "message"), [(3, "--each must be 4 or more"), (0, "--each must be 4")])
def test_too_few_pictures_are_refused(store, faces, tmp_path, each, message):
    with pytest.raises(InvalidInput, match=message):
        write_site(store, faces, tmp_path / "images", tmp_path / "out", each=each)

    assert not Path(tmp_path / "out").exists()
