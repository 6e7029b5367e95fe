"""Someone who has the README, an empty folder and a fresh home, and types what it says."""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from tests.isolation import interruptible
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
LEFT_OUT = (
    ".*",
    "node_modules",
    "openhype-data",
    "build",
    "dist",
    "*.egg-info",
    "tests",
    "bench",
    "validate",
)
"""Folders of the clone that no wheel is made of."""
PATIENCE_S = 600
"""More than a busy machine takes for anything that is waited for."""


def documented_commands(text: str = README) -> list[str]:
    """Return the lines of the README's fenced blocks that run `openhype` or `make`, in order."""
    blocks = re.findall(r"^```\n(.*?)^```", text, re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if re.match(r"(openhype|make)\b", line)]


def recipe(target: str) -> list[str]:
    """Return what `make` runs for a target itself, without what it depends on and what is not given."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    lines = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.M)
    return [
        re.sub(r" \$\(if .*\)$", "", line.strip().removeprefix("$(BIN)/")) for line in lines[1].splitlines()
    ]


def install_wheel(folder: Path) -> Path:
    """Build a wheel of this clone, install it in an environment of its own; return where its programs are.

    What it depends on is taken from this environment.
    """
    source, place = folder / "source", folder / "environment"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*LEFT_OUT))
    _checked("-m", "build", "--wheel", "--no-isolation", "--outdir", folder, source)
    shutil.rmtree(source)  # the wheel holds all that is needed
    (wheel,) = folder.glob("*.whl")
    _checked("-m", "venv", "--without-pip", place)
    programs = place / "bin"
    _checked("-m", "pip", "--python", programs / "python", "install", "--no-deps", "--no-index", wheel)
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return programs


def _checked(*arguments) -> None:
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


class Stranger:
    """Runs documented commands in one folder; nothing of the developer's environment is left."""

    def __init__(self, folder: Path, home: Path, programs: Path = Path(sys.executable).parent):
        self.folder = folder
        self._environment = {
            "PATH": os.pathsep.join([str(programs), "/usr/bin", "/bin"]),
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "BROWSER": "true",  # a program that opens nothing
        }
        self._serving: subprocess.Popen | None = None
        self._log = folder.parent / "served.txt"

    def run(self, command: str) -> str:
        """Run a command to its end and return what it printed; it must succeed."""
        done = subprocess.run(
            shlex.split(command), cwd=self.folder, env=self._environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout

    def serve(self, command: str) -> str:
        """Start a command that serves, at its own port if that is free; return its address."""
        port = _default_port(command)
        if not _is_free(port):
            port = free_port()
            command = f"{command} --port {port}"
        with self._log.open("w") as log, interruptible():
            self._serving = subprocess.Popen(
                shlex.split(command), cwd=self.folder, env=self._environment, stdout=log, stderr=log
            )
        until = time.monotonic() + PATIENCE_S
        while f"http://127.0.0.1:{port}/" not in self.served():
            assert self._serving.poll() is None, self.served()
            assert time.monotonic() < until, f"{command} serves nothing: {self.served()}"
            time.sleep(0.1)
        return f"http://127.0.0.1:{port}"

    def served(self) -> str:
        """Return what the command that serves has printed so far."""
        return self._log.read_text()

    def stop(self) -> None:
        """Stop what serves, as its last line says: by Ctrl-C."""
        process, self._serving = self._serving, None
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE_S) == 0, self.served()
        assert "Traceback" not in self.served(), self.served()

    def leave(self) -> None:
        """End what still serves after a test that failed."""
        if self._serving is not None:
            self._serving.kill()
            self._serving.wait()


def _default_port(command: str) -> int:
    from backend.cli import main

    name, *arguments = shlex.split(command)[1:]
    return main.get_command(None, name).make_context(name, arguments).params["port"]


def _is_free(port: int) -> bool:
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False
