"""A new setting, of a judgment too, takes one file: it is then stored, documented, checked, and asked for."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DECLARED = """\
    glow: str = {}(
        "off", "light around pictures", choices=("off", "on"), label="Glow", asked=13, fixed="it is baked in"
    )
"""
ASKED = """
import json, sys
from dataclasses import asdict
from backend.administration.setting_forms import fields
from backend.administration.setting_list import as_markdown
from backend.administration.revise import _FIXED
from backend.experiment.judgments import method_named
from backend.experiment.protocol import to_json
from backend.experiment.settings import from_json, with_settings
from backend.foundation.errors import InvalidInput

method, doc = sys.argv[1:]
usual = method_named(method).protocol
made = with_settings(usual, {"glow": "on"})
stored = json.loads(json.dumps(to_json(made)))
try:
    with_settings(usual, {"glow": "dim"})
except InvalidInput as error:
    refused = str(error)
print(json.dumps({
    "restored": from_json(stored) == made,
    "refused": refused,
    "field": next(asdict(field) for field in fields(method) if field.name == "glow"),
    "documented": f"| `glow` | {doc} |" in as_markdown(),
    "fixed": _FIXED["glow"],
}))
"""


def product_with_one_more(tmp_path, file, before, declared):
    """Return a copy of the product with one more setting, declared in one file."""
    shutil.copytree(ROOT / "backend", tmp_path / "backend", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "frontend", tmp_path / "frontend")
    source = (tmp_path / file).read_text("utf-8")
    assert source.count(before) == 1
    source = source.replace(before, declared + before)
    (tmp_path / file).write_text(source, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "before", "declare", "method", "doc"),
    [
        (
            "groups/stimuli.py",
            "    largest_css_px: int",
            "setting",
            "infinity",
            "light around pictures",
        ),
        (
            "judgments/more_real.py",
            "    real_contestant: bool",
            "setting",
            "tournament",
            "with `tournament`: light around pictures",
        ),
    ],
)
def test_a_new_setting_takes_one_file(tmp_path, file, before, declare, method, doc):
    product = product_with_one_more(tmp_path, f"backend/experiment/{file}", before, DECLARED.format(declare))
    environment = {**os.environ, "PYTHONPATH": str(product)}
    told = subprocess.run(
        [sys.executable, "-c", ASKED, method, doc],
        cwd=product,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    found = json.loads(told)
    assert found["restored"]
    assert found["refused"] == "glow must be one of off, on, not 'dim'"
    field = found["field"]
    assert (field["kind"], field["choices"], field["label"], field["asked"]) == (
        "choice",
        ["off", "on"],
        "Glow",
        13,
    )
    in_the_console = doc.replace("`tournament`", "Tournament")
    assert (field["applies"], field["doc"], field["default"]) == (True, in_the_console, "off")
    assert found["documented"]
    assert found["fixed"] == "it is baked in"
