"""What the console says of settings: nothing about options of the command line, which it does not have."""

import re

from backend.administration.setting_forms import PROTOCOLS, fields

OF_COMMAND_LINE = re.compile(r"`openhype|--\w|@FILE|\[\[?\w|\.toml")


def test_no_field_speaks_of_the_command_line():
    found = [field for method in PROTOCOLS for field in fields(method)]

    assert [field.name for field in found if OF_COMMAND_LINE.search(field.doc)] == []
    assert all(field.label and field.doc for field in found)
