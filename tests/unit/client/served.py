"""`openhype serve` as its users have it: a process of its own, which tests kill and start again."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np
from click.testing import CliRunner
from PIL import Image

from backend.cli import main
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[3]
SOON_S = 180
"""The worker has the lowest priority: beside other tests it takes its time."""


class Served:
    """A data directory and the server of it, with the researcher's key."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    @property
    def key(self):
        return json.loads((self.folder / "openhype-data" / "keys.json").read_text())["researcher"]

    def run(self, *arguments, **environment):
        """Run a command of openhype in the folder; return what it printed."""
        with contextlib.chdir(self.folder):
            done = CliRunner().invoke(main, arguments, env=environment)
        assert done.exit_code == 0, done.output
        return done.output

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "backend", "serve", "--port", str(self.port)],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + SOON_S
        while True:
            try:
                urlopen(f"{self.url}/api/competitions", timeout=5).close()
                return
            except HTTPError:
                return
            except (URLError, OSError):
                assert time.monotonic() < deadline, "the server did not start"
                time.sleep(0.05)

    def kill(self):
        """Kill the server as a power failure would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def post(self, path, body, token=None):
        request = Request(
            f"{self.url}{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "X-Openhype-Token": token or self.key},
        )
        with urlopen(request, timeout=30) as reply:
            return json.loads(reply.read())


def write_pictures(folder, count, seed, size=64):
    """Write pictures of noise into a folder, different ones for each seed."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    for index in range(count):
        pixels = rng.integers(0, 256, (size, size, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{index:03}.png")
