"""An AWS of this machine's own: a moto server, and clients for it through the usual environment."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from cfnlint.decode import cfn_yaml

from deploy.template import text_of
from tests.isolation import NO_AWS_ACCOUNT, ROOT
from tests.moto_process import COPY, END

REGION = "eu-central-1"
ACCOUNT = "123456789012"
_SECONDS = 60


@contextmanager
def moto_server() -> Iterator[str]:
    """Run a moto server; gives its URL. It checks no permission until `enforce_permissions`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    environment = {**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": "inf", "MOTO_PORT": str(port)}
    command = [sys.executable, "-W", "ignore", "-m", "tests.moto_process", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stdin=subprocess.PIPE, **quiet)
    try:
        until = time.monotonic() + _SECONDS
        while not _answers(f"{url}/moto-api/data.json"):
            assert time.monotonic() < until, "the moto server does not answer"
            time.sleep(0.1)
        yield url
    finally:
        process.communicate()  # the end of its input ends it, and its copies


@contextmanager
def copied(url: str) -> Iterator[str]:
    """Run a server that goes on from all that the one at `url` holds now; gives its URL."""
    port = json.loads(_post(f"{url}{COPY}"))["port"]
    copy = f"http://127.0.0.1:{port}"
    try:
        yield copy
    finally:
        with suppress(OSError):  # it ends without a reply
            _post(f"{copy}{END}")


def reset(url: str) -> None:
    """Forget everything, and check no permission."""
    _post(f"{url}/moto-api/reset")
    enforce_nothing(url)


def enforce_nothing(url: str) -> None:
    """Check no permission from now on."""
    _post(f"{url}/moto-api/reset-auth", b"inf")


def enforce_permissions(url: str) -> None:
    """Check each request from now on against the policies of its caller."""
    _post(f"{url}/moto-api/reset-auth", b"0")


def environment(url: str) -> dict[str, str]:
    """Return the variables that lead boto3 to the server at `url`."""
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        **NO_AWS_ACCOUNT,
    }


_UNKNOWN = (
    "AWS::CloudFront::",
    "AWS::Budgets::",
    "AWS::S3::BucketPolicy",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::Url",
    "AWS::Lambda::Permission",
)


def template(name: str, has_panel: bool = False, **set_conditions: bool) -> dict[str, Any]:
    """Return a template of the deployment as data, with its short functions (`!Ref`) written out.

    Args:
        has_panel: whether its condition `HasPanel` holds; the parts that depend on it are resolved.
        set_conditions: the same of others, which do not hold by default.
    """
    conditions = defaultdict(bool, HasPanel=has_panel, **set_conditions)
    made = json.loads(json.dumps(cfn_yaml.loads(text_of(name))))
    made.pop("Conditions", None)
    made["Resources"] = {
        name: {key: part for key, part in resource.items() if key != "Condition"}
        for name, resource in made["Resources"].items()
        if "Condition" not in resource or conditions[resource["Condition"]]
    }
    return _resolved(made, conditions)


_NO_VALUE = {"Ref": "AWS::NoValue"}


def _resolved(part: Any, conditions: Mapping[str, bool]) -> Any:
    if isinstance(part, dict) and "Fn::If" in part:
        condition, if_true, if_false = part["Fn::If"]
        return _resolved(if_true if conditions[condition] else if_false, conditions)
    if isinstance(part, dict):
        values = {key: _resolved(value, conditions) for key, value in part.items()}
        return {key: value for key, value in values.items() if value != _NO_VALUE}
    if isinstance(part, list):
        return [value for value in (_resolved(value, conditions) for value in part) if value != _NO_VALUE]
    return part


def known_to_moto(template: dict[str, Any]) -> dict[str, Any]:
    """Return a template without the resources that moto's CloudFormation does not have."""
    resources = {
        name: part for name, part in template["Resources"].items() if not part["Type"].startswith(_UNKNOWN)
    }
    missing = set(template["Resources"]) - set(resources)

    def is_known(part: Any) -> bool:
        text = json.dumps(part)
        return not any(f'"{one}' in text or f"${{{one}" in text for one in missing)

    def known(parts: Mapping[str, Any]) -> dict[str, Any]:
        return {name: part for name, part in parts.items() if is_known(part)}

    for part in resources.values():
        if variables := part["Properties"].get("Environment", {}).get("Variables"):
            part["Properties"]["Environment"]["Variables"] = known(variables)
        for policy in part["Properties"].get("Policies", ()):
            policy["PolicyDocument"]["Statement"] = [*filter(is_known, policy["PolicyDocument"]["Statement"])]
    return {**template, "Resources": resources, "Outputs": known(template.get("Outputs", {}))}


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return reply.status == 200
    except OSError:
        return False


def _post(url: str, data: bytes = b"") -> bytes:
    request = urllib.request.Request(url, data, {"Content-Type": "text/plain"}, method="POST")
    with urllib.request.urlopen(request, timeout=20) as reply:
        return reply.read()
