"""Every setting in every form that the docs promise, by every way in which settings are given.

What the text of `--set` gives is the reference: a number, truth value, list or table in an order, a draft, a
change or a study.toml is the same setting.
"""

import json
import re
from pathlib import Path

import msgspec
import pytest

from backend.administration.setting_forms import fields, posted
from backend.administration.setting_list import PROTOCOLS, typed
from backend.administration.study_spec import read_spec, spec_of_order, with_texts
from backend.experiment.judgments import judgment_of
from backend.experiment.settings import SETTINGS, value_of, with_settings
from backend.foundation.errors import InvalidInput
from backend.jobs.study_orders import study_order
from backend.web.job_types import StudyBody, plain
from tests.isolation import ROOT

RECORD = {"name": "campus", "evaluator": "person", "keeps": ["person", "room"], "codes": {"done": "a"}}
OTHERS = {
    "panel": json.dumps(RECORD),
    "reasons": "colour|hands",
    "exposures_ms": "50,100.5,unlimited",
    "texts": 'real = "Echt"\n[de]\nfake = "Falsch"\n',
    "staircase": "right_to_descend:2,down_ms:20,up_ms:20,start_ms:400,min_ms:100,max_ms:900",
    "contact": "lab@example.org",
}
"""Values by `--set` that are no default."""
FORMS = {
    "panel": [RECORD],
    "reasons": [["colour", "hands"]],
    "exposures_ms": [[50, 100.5, "unlimited"], ["50", "100.5", None]],
    "texts": [{"real": "Echt", "de": {"fake": "Falsch"}}],
}
"""The same as JSON has them."""
PROMISED = sorted(SETTINGS)


def reference(name):
    """Return method, text and value of a setting, which is another than the default where that is valid."""
    for method in (each for each in PROTOCOLS if each != "qualification"):
        field = next(each for each in fields(method) if each.name == name)
        usual = typed(name, value_of(PROTOCOLS[method], name))
        for text in candidates(field, usual):
            try:
                value = value_of(with_settings(PROTOCOLS[method], as_given({name: text})), name)
            except InvalidInput:
                continue
            if value != value_of(PROTOCOLS[method], name):
                return method, text, value
    return "infinity", usual, value_of(PROTOCOLS["infinity"], name)


def candidates(field, usual):
    if field.name in OTHERS:
        return [OTHERS[field.name]]
    if field.kind == "truth_value":
        return ["false" if usual == "true" else "true"]
    if field.kind in ("whole", "number"):
        return [f"{float(usual or 0) + step:g}" for step in (1, -1, 0.25, 10)]
    return [*field.choices, "words of one's own"]


def forms(name, text):
    """Return the forms of a value: its text, and what a program would post."""
    if name in FORMS:
        return [text, *FORMS[name]]
    kind = next(each.kind for each in fields("infinity") if each.name == name)
    return [text, json.loads(text)] if kind in ("whole", "number", "truth_value") and text else [text]


def as_given(settings):
    return with_texts(settings, Path("nowhere"))


def by_order(method, name, form, is_entry=False):
    has_items = judgment_of(method).has_items
    pictures = (
        {"items": [{"set": "blur", "upload": "1"}]}
        if has_items
        else {"real": "1", "models": [{"model": "gan", "upload": "2"}]}
    )
    own = {name: form} if is_entry else {"settings": {name: form}}
    draft = plain(msgspec.convert({"name": "faces", "method": method, **pictures, **own}, StudyBody))
    again = msgspec.convert(json.loads(json.dumps(draft)), StudyBody)
    return spec_of_order(study_order(plain(again)).entries, Path("pictures")).settings


def by_file(method, name, form, folder, is_entry=False):
    (folder / "images").mkdir(exist_ok=True)
    has_items = judgment_of(method).has_items
    pictures = 'items = "images"\n' if has_items else 'real = "images"\nmodels = { gan = "images" }\n'
    head = f'name = "faces"\nmethod = "{method}"\n{pictures}'
    written = f"{name} = {toml(form)}\n"
    (folder / "study.toml").write_text(head + (written if is_entry else f"[settings]\n{written}"))
    return read_spec(folder / "study.toml").settings


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value)


def has_null(form):
    return isinstance(form, list) and None in form


@pytest.mark.parametrize("name", PROMISED)
def test_a_setting_is_the_same_in_every_form_on_every_way_in(name, tmp_path):
    method, text, value = reference(name)

    for form in forms(name, text):
        ways = [by_order(method, name, form), posted({name: form})]
        if isinstance(form, str):
            ways.append(as_given({name: form}))
        if not isinstance(form, dict) and not has_null(form):
            ways.append(by_file(method, name, form, tmp_path))
        if name in ("panel", "texts") and isinstance(form, dict):
            ways.append(by_order(method, name, form, is_entry=True))
        if name == "texts" and isinstance(form, dict):
            ways.append(by_file(method, name, form, tmp_path, is_entry=True))
        for settings in ways:
            assert value_of(with_settings(PROTOCOLS[method], settings), name) == value, (form, settings)


@pytest.mark.parametrize("method", [each for each in PROTOCOLS if each != "qualification"])
def test_a_study_of_each_method_can_be_ordered_with_a_panel_as_a_table(method):
    assert by_order(method, "panel", RECORD, is_entry=True)["panel"].evaluator == "person"


def test_a_panels_file_is_read_for_a_setting_as_for_the_option(tmp_path):
    (tmp_path / "campus.toml").write_text('name = "campus"\nevaluator = "person"\n')

    assert with_texts({"panel": "campus.toml"}, tmp_path)["panel"].evaluator == "person"
    assert by_file("infinity", "panel", "campus.toml", tmp_path)["panel"].evaluator == "person"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "panel begins as a record in JSON, and is none"),
        ("{" * 100_000, "panel begins as a record in JSON, and is none"),
        ('{"name": "campus", "colour": 1}', "panel has an unknown entry 'colour'"),
        ("/etc/passwd.toml", "panel must be one of"),
    ],
)
def test_a_panel_that_is_none_is_refused_as_text(text, message):
    with pytest.raises(InvalidInput, match=message):
        posted({"panel": text})


def test_forms_have_a_heading_for_every_group_of_settings():
    page = (ROOT / "frontend/console/setting_groups.js").read_text()
    headings = page.partition("const GROUPS")[2].partition("});")[0]
    groups = {field.group for method in PROTOCOLS for field in fields(method)}

    assert groups == set(re.findall(r"^  (\w+): ", headings, re.MULTILINE))
