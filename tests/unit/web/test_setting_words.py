"""What the console says of settings: words, no options of the command line, no names of the API."""

import re
from collections import Counter

from backend.administration.setting_forms import PROTOCOLS, fields, names_in_words
from backend.experiment.settings import documented_settings

OF_COMMAND_LINE = re.compile(r"`openhype|--\w|@FILE|\[\[?\w|\.toml|=\w")
NAMES = {name for name in documented_settings() if "_" in name}


def test_no_field_speaks_of_the_command_line():
    found = [field for method in PROTOCOLS for field in fields(method)]

    assert [field.name for field in found if OF_COMMAND_LINE.search(field.doc)] == []
    assert all(field.label and field.doc for field in found)


def test_no_field_has_the_name_of_a_setting_or_a_code_in_backticks():
    found = [field for method in PROTOCOLS for field in fields(method)]

    for field in found:
        words = {*re.findall(r"[a-z_0-9]+", f"{field.label} {field.doc} {' '.join(field.choice_labels)}")}
        assert not words & NAMES, field.name
        assert not {*re.findall(r"`([^`]*)`", field.doc)} - {"{code}"}, field.name


def test_every_setting_has_a_label_of_its_own_and_every_choice_its_words():
    names = names_in_words()

    assert Counter(words["label"] for words in names.values()).most_common(1)[0][1] == 1
    assert [name for name, words in names.items() if words["label"] in ("", name)] == []
    assert names["language"]["choices"]["de"] == "German"
    assert names["panel"]["choices"]["mturk"] == "Amazon Mechanical Turk"
