"""The sample studies: made once, through the same door as any study, and finished where they were cut off."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from backend.commands import demo_studies as demo
from backend.experiment import sampling
from backend.experiment.judgments import real_or_fake
from backend.experiment.judgments.real_or_fake import JUDGMENT
from backend.experiment.records import CLIPS
from backend.experiment.settings import with_settings
from backend.foundation.errors import Conflict
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

from .. import sample_studies as studies

SMALL = demo.Sample(
    "photos", "infinity", {None: 4, "random-phase": 3}, {**demo.SAMPLES[0].settings, "images": 4}
)


@pytest.fixture
def data(tmp_path):
    return DataDir(tmp_path)


@pytest.fixture
def store(tmp_path):
    store = open_store("sqlite:///openhype.db", tmp_path)
    yield store
    store.close()


@pytest.mark.parametrize("sample", demo.SAMPLES, ids=lambda sample: sample.name)
def test_a_sample_study_has_settings_that_hold_and_pictures_for_a_session(sample):
    base = {"infinity": real_or_fake.INFINITY, "time": real_or_fake.TIME}[sample.method]
    settings = with_settings(base, sample.settings)
    need = settings.stimuli.trials // 2

    assert settings.stimuli.size_px == 256
    assert settings.page.debrief
    assert settings.admission.repeat_visits
    assert min(sample.counts.values()) >= need
    assert len(sample.counts) == 4  # photographs and three models


def test_clips_come_encoded_and_small_and_make_a_study_without_pyav(store, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    (sample,) = (sample for sample in demo.SAMPLES if sample.medium == CLIPS)

    demo.make_missing(store, data, lambda *_: None, [sample])

    study = store.study("clips")
    assert (study.medium, study.clip.frames, study.clip.fps, study.clip.width) == (CLIPS, 36, (24, 1), 176)
    assert len(list(store.stimuli("clips"))) == 40
    assert sum(path.stat().st_size for path in sample.folder.rglob("*.clip")) < 2_000_000
    assert len({path.stat().st_size for path in data.images("clips").iterdir()}) == 1


def test_studies_are_made_once_and_their_share_grows_to_all(store, data):
    told = []

    demo.make_missing(store, data, lambda *news: told.append(news), [SMALL])
    demo.make_missing(store, data, lambda *news: pytest.fail("made again"), [SMALL])

    study = store.study("photos")
    assert study.models == ("random-phase",)
    JUDGMENT.check_pool(study, sampling.pool_of(list(store.stimuli("photos"))))
    shares = [share for _, share in told]
    assert {name for name, _ in told} == {"photos"}
    assert shares == sorted(shares)
    assert shares[0] < 0.2
    assert shares[-1] == 1
    assert not (data.cache("demo") / "photos").exists()


@pytest.mark.slow("makes whole demo studies")
def test_a_run_that_was_cut_off_is_finished_by_the_next(store, data):
    class CutOff(Exception):
        pass

    def cut_off(name, share):
        if share > 0.5:
            raise CutOff

    with pytest.raises(CutOff):
        demo.make_missing(store, data, cut_off, [SMALL])
    made = {path: path.stat().st_mtime_ns for path in data.cache("demo").rglob("*.png")}
    demo.make_missing(store, data, lambda *_: None, [SMALL])

    assert len(made) > len(demo.EXAMPLES)
    assert demo.missing(store, [SMALL]) == []
    assert all(path.stat().st_mtime_ns == at for path, at in made.items() if path.exists())


@pytest.mark.slow("makes and plays whole studies")
def test_the_examples_are_in_no_study(store, data):
    demo.make_missing(store, data, lambda *_: None, [SMALL])

    examples = {demo.example(data, number).read_bytes() for number in range(len(demo.EXAMPLES))}
    pool = {path.read_bytes() for path in data.images("photos").iterdir()}
    assert len(examples) == len(demo.EXAMPLES)
    assert examples & pool == set()


def test_studies_of_other_names_are_left_alone(store, data):
    faces = studies.study("faces")
    store.add_study(faces, studies.pool(faces))

    assert demo.missing(store) == list(demo.SAMPLES)


ROOT = Path(__file__).resolve().parents[3]


def test_the_folders_that_the_readme_names_are_written_and_none_is_overwritten(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text("utf-8")
    (typed,) = re.findall(r"^openhype demo --folders (\S+)$", readme, re.M)
    (create,) = re.findall(r"^openhype create faces (--real .*)$", readme, re.M)

    folders = demo.write_folders(Path(typed), 2)

    named = re.findall(r"--(?:real|model \w+=)\s*(\S+)", create)
    assert [*map(str, folders)] == named == ["images/real", "images/stylegan", "images/began"]
    assert {len([*folder.glob("*.png")]) for folder in folders} == {2}
    assert [path.name for path in tmp_path.iterdir()] == ["images"]
    with pytest.raises(Conflict, match="images exists already; name another folder"):
        demo.write_folders(Path(typed), 2)


@pytest.mark.parametrize(("given", "command"), [((), "demo"), (("PORT=8001",), "demo --port 8001")])
def test_make_serves_the_demo_at_a_port(given, command):
    shown = subprocess.run(
        ["make", "-n", "--no-print-directory", "demo", *given],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert shown.stdout.rstrip().endswith(f"openhype {command}")
