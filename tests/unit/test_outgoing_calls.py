"""Every module that connects to another machine is known, with what bounds its calls."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

ONE_DEADLINE = {
    "backend/client/connection.py": "deadlines.Deadline",
    "backend/foundation/deadlines.py": "itself",
    "backend/foundation/public_fetch.py": "deadlines.Deadline",
    "backend/panels/bounded_http.py": "deadlines.Deadline",
    "backend/panels/prolific_http.py": "bounded_http.BoundedSession",
}
"""What reads from servers that others run."""
OWN = {
    "backend/administration/simulated_sessions.py": "the server that simulated evaluators answer to",
    "backend/commands/deployment.py": "AWS, by botocore's timeouts and tries",
    "backend/foundation/own_addresses.py": "sends nothing: the addresses of this machine",
    "backend/jobs/locks.py": "sends nothing: the name of this machine",
    "backend/panels/signed_links.py": "names of errors; keys come by `public_fetch`",
    "backend/stores/dynamodb/client.py": "AWS, by botocore's timeouts and tries",
    "backend/stores/served_at.py": "whether this machine's own server listens",
    "backend/web/server.py": "listens",
}
"""What reaches only this installation's own machines, or AWS."""
_CONNECTING = {"requests", "urllib.request", "http.client", "socket", "urllib3", "boto3", "botocore"}


def connecting(path: Path) -> bool:
    """Return whether a module imports what can connect to another machine."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{each.name}" for each in node.names)]
        else:
            continue
        if any(name in _CONNECTING or name.partition(".")[0] in _CONNECTING for name in names):
            return True
    return False


def test_modules_that_connect_to_other_machines_are_known():
    found = {str(path.relative_to(ROOT)) for path in (ROOT / "backend").rglob("*.py") if connecting(path)}

    assert found == {*ONE_DEADLINE, *OWN}


@pytest.mark.parametrize("module", [name for name, by in ONE_DEADLINE.items() if by != "itself"])
def test_what_reads_from_servers_of_others_has_one_deadline(module):
    text = (ROOT / module).read_text("utf-8")

    assert ONE_DEADLINE[module].rpartition(".")[2] in text
