"""Packages that only some commands need: named as pyproject.toml has them, with a command that works."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from backend.foundation import optional_packages
from backend.foundation.errors import NotInstalled

ROOT = Path(__file__).resolve().parents[3]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_packages_of_an_extra_are_those_of_the_project(extra):
    own = [name for name in EXTRAS[extra] if not name.startswith("openhype")]

    found = optional_packages.requirements(extra)

    assert set(own) <= set(found)
    assert not any("openhype" in name for name in found)


def test_every_module_has_an_extra_that_there_is():
    assert set(optional_packages._EXTRA_OF.values()) == set(EXTRAS)


def test_what_is_missing_is_named_with_the_command_that_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    with pytest.raises(NotInstalled, match="needs matplotlib") as raised:
        optional_packages.check("a report", "json", "matplotlib")

    assert str(raised.value) == (
        "a report needs matplotlib, which is not installed; "
        f"run: {sys.executable} -m pip install '{EXTRAS['report'][0]}'"
    )


def test_the_command_is_one_that_pip_takes():
    words = optional_packages.install_command("zappa").replace("'", "").split()

    asked = subprocess.run([*words, "--dry-run", "--no-deps", "--quiet", "--no-index"], capture_output=True)

    assert asked.returncode == 0, asked.stderr  # the packages are here already
