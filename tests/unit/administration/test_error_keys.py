"""Every entry of a study.toml, broken: the error names its line and carries its keys, whatever its words."""

import shutil
import tomllib
from datetime import UTC, datetime

import pytest

from backend.administration.create import create
from backend.administration.spec_checks import check
from backend.administration.study_spec import read_spec, spec_of_order
from backend.experiment.settings import documented_settings, type_of
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.stores.datadir import DataDir
from tests.unit.administration.test_create import fill
from tests.unit.memory import MemoryStore

WORDS = (
    "be",
    "real",
    "reals",
    "models",
    "images",
    "to",
    "size_px",
    "a",
    "the",
    "of",
    "cannot",
    "folder",
    "1",
)
"""Names of models that are words of messages, and of entries."""
PANEL = {
    "name": "campus",
    "evaluator": "person",
    "submission": "visit",
    "keeps": ["wave"],
    "redirect": "https://panel.example/?cc={code}",
}
BAD_PANEL = [
    ("evaluator", "a real", ("evaluator",)),
    ("submission", "to be", ("submission",)),
    ("keeps", ["models", "size px"], ("keeps", 1)),
    ("redirect", "models", ("redirect",)),
    ("back", "real", ("back",)),
    ("early_redirect", "be", ("early_redirect",)),
    ("preview", "images", ("preview",)),
    ("form_origin", "to be", ("form_origin",)),
    ("form_origins", ["real"], ("form_origins", 0)),
    ("frame_origins", ["https://models.example", "be"], ("frame_origins", 1)),
    ("codes", {"real": "D"}, ("codes", "real")),
    ("pays", "models", ("pays",)),
    ("models", "real", ("models",)),
    ("like", "real", ("like",)),
    ("signature", {"parameter": "a b", "keys": "k", "claims": {}}, ("signature", "parameter")),
    ("signature", {"parameter": "to"}, ("signature",)),
]
"""Entries of a panel's record, what makes them bad, and their keys."""
STUDY = """\
name = "faces"
method = "{method}"
real = "real"
practice = "aside"
checks = "sure"
masks = "masks"
preprocess = ["jpeg:90", "size:8"]
panel = "link"

[models]
{models}

[settings]
title = "Which reals must be from 16 to 2048"
images = 4
size_px = 16
practice_images = 2
instructed_checks = 2
image_format = "png"
consent_text = "To be a model of the images"
{settings}

[texts]
"answer.fake" = "AI"

[texts.de]
"answer.real" = "Echt"

[[pages]]
title = "Before"
text = "The models must be images"

[[questions]]
name = "glasses"
when = "before"
kind = "choice"
text = "Do you wear glasses?"
choices = ["yes", "no"]

[[questions]]
name = "strength"
when = "before"
kind = "number"
text = "How strong are they?"
min = 1
max = 20
if = {{ question = "glasses", is = "yes" }}
"""
BAD = {
    'name = "faces"': 'name = "Real"',
    'method = "infinity"': 'method = "models"',
    'real = "real"': 'real = "no models"',
    'practice = "aside"': 'practice = "no images"',
    'checks = "sure"': 'checks = "no to"',
    'masks = "masks"': 'masks = "real/0.png"',
    'preprocess = ["jpeg:90", "size:8"]': 'preprocess = ["jpeg:90", 5]',
    'panel = "link"': 'panel = "models"',
    '"answer.fake" = "AI"': '"answer.models" = "AI"',
    '"answer.real" = "Echt"': '"answer.real" = "{images}"',
    'title = "Before"': 'title = ""',
    'text = "The models must be images"': "text = 5",
    'name = "glasses"': 'name = "the models"',
    'when = "before"\nkind = "choice"': 'when = "images"\nkind = "choice"',
    'kind = "choice"': 'kind = "real"',
    'choices = ["yes", "no"]': 'choices = ["real"]',
    "max = 20": "max = 0",
    'if = { question = "glasses", is = "yes" }': 'if = { question = "glasses", is = "models" }',
}
"""What each entry is replaced by; of two lines, the first is the one that is broken."""


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    root = tmp_path_factory.mktemp("pictures")
    for name in ("aside/real", "aside/fake", "sure/real", "sure/fake", "masks", *WORDS):
        fill(root / name, 7 if name == "real" else 6)
    return root


@pytest.fixture
def folders(pictures, tmp_path):
    shutil.copytree(pictures, tmp_path, dirs_exist_ok=True)
    return tmp_path


def written(folders, settings="", models='gan = "be"', method="infinity"):
    text = STUDY.format(settings=settings, models=models, method=method)
    (folders / "study.toml").write_text(text, encoding="utf-8")
    return text


def line_of(text, part):
    """Return the number of the line on which a part that occurs once begins."""
    assert text.count(part) == 1, part
    return text.count("\n", 0, text.index(part)) + 1


def refused(folders):
    """Return the error about the study.toml, after the checks that read no picture."""
    with pytest.raises((InvalidInput, NotFound, Conflict), match=r".") as caught:
        check(MemoryStore(), read_spec(folders / "study.toml"))
    return caught.value


def made(folders):
    """Return the error about the study.toml once pictures are read."""
    spec = read_spec(folders / "study.toml")
    with pytest.raises(InvalidInput, match=r".") as caught:
        create(MemoryStore(), DataDir(folders / "data"), spec, datetime(2026, 1, 1, tzinfo=UTC))
    return caught.value


def named(folders, line):
    return f"{folders / 'study.toml'} line {line}: "


def test_the_study_is_accepted_as_it_is(folders):
    written(folders)

    assert check(MemoryStore(), read_spec(folders / "study.toml")).stimuli.images == 4


@pytest.mark.parametrize("old", BAD)
def test_each_broken_entry_is_named_by_its_line(folders, old):
    text = written(folders)
    place = line_of(text, old)
    (folders / "study.toml").write_text(text.replace(old, BAD[old]), encoding="utf-8")

    error = refused(folders)

    assert str(error).startswith(named(folders, place)), error
    assert error.keys


@pytest.mark.parametrize(
    "method",
    ["infinity", pytest.param("time", marks=pytest.mark.slow("the same settings under another method"))],
)
@pytest.mark.parametrize("name", [name for name in documented_settings() if name not in ("panel", "texts")])
def test_each_setting_is_named_by_its_line_if_its_value_is_bad(folders, name, method):
    """Settings that take any text are given no text."""
    is_any_text = name in ("consent_text", "consent_version", "also_admit", "title")
    bad = {int: "-1", float: "-1", bool: '"models"'}.get(type_of(name), '"\\u0001 be, a real"')
    before, after = written(folders, method=method).split("[settings]\n")
    kept = [line for line in after.splitlines() if not line.startswith((f"{name} = ", '"answer.fake"'))]
    lines = [*before.splitlines(), "[settings]", f"{name} = {'{}' if is_any_text else bad}", *kept]
    (folders / "study.toml").write_text("\n".join(lines), encoding="utf-8")

    error = refused(folders)

    place = lines.index("[settings]") + 2
    assert str(error).startswith(named(folders, place)), error
    assert error.keys == ("settings", name)


@pytest.mark.parametrize("word", [word for word in WORDS if word != "the"])  # that is the other model
@pytest.mark.parametrize("how", ["broken", "empty", "missing", "few", "twice"])
def test_a_model_is_named_by_its_line_whatever_it_is_called(folders, word, how):
    text = written(folders, models='gan = "the"\n' + f'"{word}" = "{word if word != "real" else "cannot"}"')
    folder = folders / (word if word != "real" else "cannot")
    files = sorted(folder.iterdir())
    spec = read_spec(folders / "study.toml")
    if how == "broken":
        files[0].write_bytes(b"no picture, to be sure, of the reals and a model")
    elif how == "twice":
        files[0].write_bytes((folders / "real/0.png").read_bytes())
    else:
        for file in files[how == "few" :]:
            file.unlink()
        if how == "missing":
            folder.rmdir()

    with pytest.raises(InvalidInput, match=r".") as caught:
        create(MemoryStore(), DataDir(folders / "data"), spec, datetime(2026, 1, 1, tzinfo=UTC))

    assert str(caught.value).startswith(named(folders, line_of(text, f'"{word}" = '))), caught.value
    assert caught.value.keys == ("models", word)


def test_broken_reals_are_named_by_their_line_whatever_models_are_called(folders):
    text = written(folders, models="\n".join(f'"{word}" = "{word}"' for word in WORDS if word != "real"))
    (folders / "real/0.png").write_bytes(b"no picture")

    error = made(folders)

    assert str(error).startswith(named(folders, line_of(text, 'real = "real"'))), error
    assert error.keys == ("real",)


@pytest.mark.parametrize(
    ("folder", "entry"),
    [("aside/real", "practice"), ("aside/fake", "practice"), ("sure/real", "checks"), ("masks", "masks")],
)
def test_broken_pictures_of_other_folders_are_named_by_their_line(folders, folder, entry):
    timed = {"masks": ("exposures", "mask_count = 1\nexposures_ms = [100, 1000]")}
    method, settings = timed.get(entry, ("infinity", ""))
    text = written(folders, method=method, settings=settings.replace("[100, 1000]", '"100,1000"'))
    (folders / folder / "0.png").write_bytes(b"to be a real")

    error = made(folders)

    assert str(error).startswith(named(folders, line_of(text, f"\n{entry} = ") + 1)), error
    assert error.keys == (entry,)


@pytest.mark.parametrize(
    ("step", "keys"), [("jpeg:90", ("preprocess", 1)), ("size:16", ("preprocess", 1))], ids=["twice", "large"]
)
def test_a_step_of_equalise_is_named(folders, step, keys):
    text = written(folders).replace(
        '["jpeg:90", "size:8"]', f'["jpeg:90",\n"{step[:-1]}{"x" if step[0] == "j" else "6"}"]'
    )
    (folders / "study.toml").write_text(text, encoding="utf-8")

    error = made(folders)

    assert str(error).startswith(named(folders, line_of(text, "preprocess = ") + 1)), error
    assert error.keys == keys


@pytest.mark.parametrize(("entry", "value", "keys"), BAD_PANEL)
def test_each_entry_of_a_panel_s_record_is_named(entry, value, keys, tmp_path):
    data = {"name": "faces", "real": "r", "models": {"be": "b"}, "panel": {**PANEL, entry: value}}

    with pytest.raises(InvalidInput, match=r".") as caught:
        check(MemoryStore(), spec_of_order(data, tmp_path))

    assert caught.value.keys == ("panel", *keys)


@pytest.mark.parametrize(
    ("settings", "keys"),
    [
        ({"images": 5, "title": "models"}, ("settings", "images")),
        ({"max_refresh_hz": 20}, ("settings", "max_refresh_hz")),
        ({"redirect_url": "images"}, ("settings", "redirect_url")),
        ({"images": "size_px"}, ("settings", "images")),
    ],
)
def test_an_order_s_errors_carry_keys_without_naming_a_line(settings, keys, tmp_path):
    data = tomllib.loads('name = "faces"\nreal = "r"\n[models]\nbe = "b"\n') | {"settings": settings}

    with pytest.raises(InvalidInput, match=str(settings[keys[1]])) as caught:
        check(MemoryStore(), spec_of_order(data, tmp_path))

    assert caught.value.keys == keys
    assert "line" not in str(caught.value)
