"""The top-level `zappa_settings.json` with plain Zappa: what it packs, and what it deploys to."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import boto3
import pytest

from backend.foundation.errors import InvalidInput
from deploy import zappa_callbacks
from deploy.deployment import check_name
from tests import aws, function

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENT = Path(sys.prefix)
OURS = ("backend/", "deploy/", "frontend/")
ZAPPA = "import sys; from zappa.cli import handle; sys.exit(handle())"


@pytest.fixture(scope="module")
def deployed(tmp_path_factory):
    """What plain Zappa makes of a checkout in an empty account: the package, and the functions there."""
    project = checkout(tmp_path_factory.mktemp("zappa") / "checkout")
    settings = json.loads((project / "zappa_settings.json").read_text())
    role = f"arn:aws:iam::{aws.ACCOUNT}:role/openhype-zappa"
    settings["base"] |= {"s3_bucket": "packages", "aws_region": aws.REGION, "role_arn": role}
    settings["base"]["delete_local_zip"] = False
    (project / "zappa_settings.json").write_text(json.dumps(settings))
    account = {"AWS_ACCESS_KEY_ID": "emulator", "AWS_SECRET_ACCESS_KEY": "emulator"}
    with aws.moto_server() as url:
        session = boto3.Session("emulator", "emulator", region_name=aws.REGION)
        client = lambda name: session.client(name, endpoint_url=url)  # noqa: E731
        trust = json.dumps({"Version": "2012-10-17", "Statement": []})
        client("iam").create_role(RoleName="openhype-zappa", AssumeRolePolicyDocument=trust)
        done = zappa(project, "deploy", "api", AWS_ENDPOINT_URL=url, **account)
        assert done.returncode == 0, done.stderr
        (package,) = project.glob("openhype-zappa-api-*.zip")
        return package, role, client("lambda").list_functions()["Functions"]


def checkout(folder):
    """Make a copy of the project as a checkout has it, with what people leave in one."""
    for name in ("backend", "deploy", "docs", "frontend", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(ROOT / "zappa_settings.json", folder / "zappa_settings.json")
    (folder / "keys.json").write_text("secret")
    (folder / "pictures [1]").mkdir()
    (folder / "pictures [1]" / "a.png").write_bytes(b"picture")
    return folder


def zappa(project, *arguments, **variables):
    environment = {
        **os.environ,
        "VIRTUAL_ENV": str(ENVIRONMENT),
        "AWS_DEFAULT_REGION": aws.REGION,
        "PYTHONPATH": str(project),
        **variables,
    }
    command = [sys.executable, "-W", "ignore", "-c", ZAPPA, *arguments]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


def files_in(package):
    with zipfile.ZipFile(package) as archive:
        return {entry.filename: entry.CRC for entry in archive.infolist()}


@pytest.mark.slow("zappa builds a package with pip")
def test_plain_zappa_packs_what_openhype_deploy_ships(deployed):
    package, _, _ = deployed

    made, ours = files_in(package), files_in(function.built("api").path)

    sources = [name for name in ours if name.startswith(OURS)]
    assert {name.partition("/")[0] for name in made} == {name.partition("/")[0] for name in ours}
    assert {name for name in made if name.startswith(OURS)} == set(sources)
    assert [name for name in sources if made[name] != ours[name] and not name.endswith(".pyc")] == []


@pytest.mark.slow("zappa builds a package with pip")
def test_plain_zappa_deploys_the_guarded_handler_under_names_of_its_own(deployed):
    _, role, (made,) = deployed

    assert made["FunctionName"] == "openhype-zappa-api"
    assert made["Handler"] == "deploy.entry_point.handle"
    assert (made["MemorySize"], made["Timeout"], made["Role"]) == (512, 15, role)


def test_a_dependency_that_is_missing_is_named_before_anything_is_packed(monkeypatch):
    monkeypatch.setattr("deploy.package.requirements", lambda stage: ["no-such-package>=1"])

    with pytest.raises(InvalidInput, match="no-such-package, which the function api needs, is not installed"):
        zappa_callbacks.select_files(Cli("api"))


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a package with a compiled library, that needs symbols of glibc, as wheels of some platforms."""

    def install(platforms, symbols):
        info = tmp_path / "lib-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lib\nVersion: 1.0\n")
        (info / "WHEEL").write_text("".join(f"Tag: cp311-cp311-{platform}\n" for platform in platforms))
        (info / "RECORD").write_text("lib.cpython-311-x86_64-linux-gnu.so,,\nlib-1.0.dist-info/WHEEL,,\n")
        library = b"\x7fELF" + b"".join(b"\0GLIBC_" + symbol.encode() + b"\0" for symbol in symbols)
        (tmp_path / "lib.cpython-311-x86_64-linux-gnu.so").write_bytes(library)
        monkeypatch.syspath_prepend(str(tmp_path))
        return distribution("lib")

    return install


@pytest.mark.parametrize(
    ("platforms", "symbols", "on_311", "on_312"),
    [
        (["any"], [], True, True),
        (["manylinux2014_x86_64"], ["2.17"], True, True),
        (["manylinux1_x86_64"], ["2.2.5"], True, True),
        (["manylinux_2_26_x86_64"], ["2.26"], True, True),
        (["manylinux_2_17_x86_64", "manylinux_2_28_x86_64"], ["2.14"], True, True),
        (["manylinux_2_27_x86_64"], ["2.27"], False, True),
        (["manylinux_2_28_x86_64"], ["2.17"], False, True),
        (["manylinux_2_34_x86_64"], ["2.34"], False, True),
        (["manylinux_2_35_x86_64"], ["2.35"], False, False),
        (["linux_x86_64"], ["2.17", "2.26"], True, True),
        (["linux_x86_64"], ["2.2.5", "2.27"], False, True),
        (["linux_x86_64"], ["2.38"], False, False),
        ([], ["2.34"], False, True),
        (["manylinux2014_aarch64"], [], False, False),
        (["musllinux_1_2_x86_64"], [], False, False),
        (["macosx_11_0_arm64"], [], False, False),
    ],
)
def test_a_wheel_is_for_lambda_if_its_glibc_has_what_it_needs(installed, platforms, symbols, on_311, on_312):
    """Amazon Linux 2 has glibc 2.26, Amazon Linux 2023 2.34 (AWS' release notes)."""
    lib = installed(platforms, symbols)

    found = [zappa_callbacks.runs_on_lambda(lib, python) for python in ((3, 11), (3, 12), (3, 14))]

    assert found == [on_311, on_312, on_312]


def test_wheels_for_a_newer_system_are_refused_with_the_remedy(installed, monkeypatch):
    installed(["manylinux_2_35_x86_64"], ["2.35"])
    monkeypatch.setattr("deploy.package.requirements", lambda stage: ["lib>=1"])

    with pytest.raises(InvalidInput, match=r"as they are installed here: lib 1\.0; .* -r .*-score\.txt"):
        zappa_callbacks.select_files(Cli("score"))


def test_no_deployment_has_the_name_of_plain_zappas_functions():
    name = json.loads((ROOT / "zappa_settings.json").read_text())["base"]["project_name"]

    with pytest.raises(InvalidInput, match="must not be named 'openhype-zappa'"):
        check_name(name)


def test_other_stages_are_left_to_zappa():
    cli = Cli("mine")

    zappa_callbacks.select_files(cli)

    assert cli.zappa_settings == {"mine": {}}


class Cli:
    """What the callbacks read of Zappa's command."""

    def __init__(self, stage):
        self.api_stage, self.zappa_settings = stage, {stage: {}}
        self.stage_config = {"exclude_glob": []}
