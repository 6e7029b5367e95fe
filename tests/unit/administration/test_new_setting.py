"""A new setting is declared in one product file: it is then stored, documented, checked and in every form."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FILE = "backend/experiment/protocol.py"
BEFORE = "    largest_css_px: int"
DECLARED = """\
    glow: str = _setting(
        "off", "light around pictures", choices=("off", "on"), label="Glow", asked=13, fixed="it is baked in"
    )
    largest_css_px: int"""
ASKED = """
import json
from dataclasses import asdict
from backend.administration.setting_forms import fields
from backend.administration.setting_list import as_markdown
from backend.administration.revise import _FIXED
from backend.experiment import protocol as protocols
from backend.foundation.errors import InvalidInput

made = protocols.with_settings(protocols.INFINITY, {"glow": "on"})
stored = json.loads(json.dumps(protocols.to_json(made)))
try:
    protocols.with_settings(protocols.INFINITY, {"glow": "dim"})
except InvalidInput as error:
    refused = str(error)
print(json.dumps({
    "restored": protocols.from_json(stored) == made,
    "refused": refused,
    "field": next(asdict(field) for field in fields("time") if field.name == "glow"),
    "documented": "| `glow` | light around pictures |" in as_markdown(),
    "fixed": _FIXED["glow"],
}))
"""


@pytest.fixture
def product(tmp_path):
    """A copy of the product with one more setting, in one file."""
    shutil.copytree(ROOT / "backend", tmp_path / "backend", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "frontend", tmp_path / "frontend")
    source = (tmp_path / FILE).read_text("utf-8")
    assert source.count(BEFORE) == 1
    source = source.replace(BEFORE, DECLARED)
    (tmp_path / FILE).write_text(source, "utf-8")
    return tmp_path


def test_a_new_setting_takes_one_file(product):
    environment = {**os.environ, "PYTHONPATH": str(product)}
    told = subprocess.run(
        [sys.executable, "-c", ASKED],
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
    assert (field["applies"], field["doc"], field["default"]) == (True, "light around pictures", "off")
    assert found["documented"]
    assert found["fixed"] == "it is baked in"
