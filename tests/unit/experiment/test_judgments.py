"""Every judgment and every medium is one module on each side, of one name."""

import re

import pytest

from backend.experiment.judgment import Method
from backend.experiment.judgments import ANSWERS, JUDGMENTS, METHODS, either, judgment_of
from backend.experiment.protocol import Protocol
from backend.experiment.settings import declared
from backend.foundation.errors import InvalidInput
from backend.stimuli.media import MEDIA, TYPES, medium_of_file
from backend.web import assets


@pytest.mark.parametrize(("kind", "found"), [("judgment", JUDGMENTS), ("medium", MEDIA)])
def test_each_has_the_name_of_its_modules(kind, found):
    assert [each.name for each in found.values()] == list(found)
    pages = {path.stem for path in (assets.FRONTEND / "task").glob(f"{kind}_*.js")}
    assert pages == {f"{kind}_{name}" for name in found}


@pytest.mark.parametrize("judgment", JUDGMENTS.values(), ids=list(JUDGMENTS))
def test_the_page_gives_the_answers_that_the_server_takes(judgment):
    text = (assets.FRONTEND / "task" / f"judgment_{judgment.name}.js").read_text("utf-8")

    assert sorted(re.findall(r'answer: "(\w+)"', text)) == sorted(judgment.answers)
    assert set(judgment.answers) <= set(ANSWERS)
    assert {*judgment.media} <= {*MEDIA}


def test_a_method_belongs_to_one_judgment_and_its_settings_say_so():
    assert {name: judgment.name for name, judgment in METHODS.items()} == {
        "infinity": "real_or_fake",
        "time": "real_or_fake",
        "exposures": "real_or_fake",
        "2afc": "closer",
        "tournament": "more_real",
        "jnd": "same_or_different",
        "pair": "which_is_real",
    }
    for name, judgment in METHODS.items():
        assert judgment.methods[name].protocol.method == name
        assert all(declared(setting).by_method for setting in judgment.methods[name].takes)


def test_a_method_without_a_consent_text_of_its_own_is_not_made():
    with pytest.raises(ValueError, match="the protocol of Odd must have a title and a consent_text"):
        Method("Odd", "Odd, share wrong", "percent", Protocol("odd").changed(title="Which one is odd?"))


@pytest.mark.parametrize("method", ["", "pairs", "INFINITY", None])
def test_another_method_is_refused(method):
    with pytest.raises(InvalidInput, match=f"^method must be {either(METHODS)}, not {method!r}$"):
        judgment_of(method)


def test_files_are_of_the_medium_of_their_suffix():
    assert {suffix: medium_of_file(f"a{suffix}").name for suffix in TYPES} == {
        ".webp": "picture",
        ".png": "picture",
        ".jpg": "picture",
        ".clip": "clip",
    }
