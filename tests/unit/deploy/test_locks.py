"""The locks of the packages for AWS: complete, exact, of versions that openhype takes, without addresses."""

import re
import sys

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from backend.foundation.errors import InvalidInput
from deploy import locks, package, renew_locks, zappa_callbacks

LINE = re.compile(r"([a-z0-9._-]+)==([0-9][0-9a-z.]*) --hash=sha256:[0-9a-f]{64}")
CASES = [(stage, python) for stage in package.STAGES for python in locks.RUNTIMES]


def locked(stage, python):
    """Return the versions in a lock by name; each line is a name, a version and a hash."""
    matches = [LINE.fullmatch(line) for line in locks.path_of(stage, python).read_text().splitlines()]
    assert all(matches)
    return {canonicalize_name(match[1]): match[2] for match in matches}


@pytest.mark.parametrize(("stage", "python"), CASES)
def test_a_lock_has_what_the_stage_needs_in_a_version_that_openhype_takes(stage, python):
    versions = locked(stage, python)

    for requirement in map(Requirement, package.requirements(stage)):
        assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)])
    assert set(package.RUNTIME_DEPENDENCIES) < set(versions)


@pytest.mark.parametrize("stage", list(package.STAGES))
def test_a_lock_has_all_that_its_packages_need_in_turn(stage):
    needed = {canonicalize_name(each.name) for each in zappa_callbacks._distributions(stage)}

    assert set(locked(stage, sys.version_info[:2])) == needed


def test_every_lock_belongs_to_a_stage_and_a_runtime():
    assert {path.name for path in locks.FOLDER.iterdir()} == {locks.path_of(*case).name for case in CASES}


def test_a_runtime_without_a_lock_is_refused_with_what_to_do():
    with pytest.raises(
        InvalidInput, match=r"no lock of api for Python 3\.10, only for 3\.11.*-m deploy\.renew_locks"
    ):
        locks.path_of("api", (3, 10))


def test_a_line_has_name_version_and_hash_of_what_pip_chose_and_no_address():
    """The report of `pip install --report`, as pip's documentation describes it."""
    chosen = {
        "metadata": {"name": "MarkupSafe", "version": "3.0.4"},
        "download_info": {
            "url": "https://a.example/x.whl",
            "archive_info": {"hashes": {"sha256": "0a" * 32}},
        },
    }

    assert [*renew_locks.lines({"install": [chosen]})] == [f"markupsafe==3.0.4 --hash=sha256:{'0a' * 32}"]


def test_a_package_is_built_anew_when_its_lock_changes(tmp_path, monkeypatch):
    name = locks.path_of("api", sys.version_info[:2]).name
    monkeypatch.setattr(locks, "FOLDER", tmp_path)
    keys = []
    for text in ("flask==3.1.3\n", "flask==3.1.4\n"):
        (tmp_path / name).write_text(text)
        keys.append(package._key("api"))

    assert keys[0] != keys[1]


@pytest.mark.parametrize(("python", "newest"), [((3, 11), 26), ((3, 12), 34), ((3, 14), 34)])
def test_pip_is_asked_for_wheels_that_lambdas_system_runs(python, newest):
    """PEP 600: manylinux2014 is manylinux_2_17; glibc by AWS' release notes of Amazon Linux 2 and 2023."""
    offered = locks.platforms(python)

    assert {"manylinux1_x86_64", "manylinux2010_x86_64", "manylinux2014_x86_64"} < set(offered)
    assert offered[-1] == f"manylinux_2_{newest}_x86_64"
