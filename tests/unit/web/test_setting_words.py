"""What the console says of settings: nothing about options of the command line, which it does not have."""

import re

from backend.experiment.protocol import documented_settings
from tests.node import ROOT, evaluate

OF_COMMAND_LINE = re.compile(r"`openhype|--\w|@FILE|\[\[?\w|\.toml")
MEANINGS = re.compile(r"^const MEANINGS = .*?^\}\);$", re.MULTILINE | re.DOTALL)


def test_settings_described_by_options_of_the_command_line_have_words_of_their_own():
    module = (ROOT / "frontend" / "console_setting_groups.js").read_text("utf-8")
    meanings = evaluate(f"{MEANINGS.search(module)[0]}; MEANINGS")
    foreign = {name for name, doc in documented_settings().items() if OF_COMMAND_LINE.search(doc)}

    assert foreign - {*meanings} == set()
    assert {*meanings} - {*documented_settings()} == set()
    assert [name for name, words in meanings.items() if OF_COMMAND_LINE.search(words)] == []
