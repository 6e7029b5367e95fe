"""Run mutants against the tests that execute the changed line."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.mutation.mutants import Mutant

_START_S = 90
"""Seconds that Python, imports and session fixtures may take beside the tests."""


class Copy:
    """A copy of the project's files in which modules are changed."""

    def __init__(self, root: Path, folder: Path):
        files = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
        for name in files.stdout.splitlines():
            if (root / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, folder / name)
        (folder / "node_modules").symlink_to(root / "node_modules")
        self._folder = folder

    def killer(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> str | None:
        """Return the first test that fails on a mutant, "time" if they do not end, None if all pass.

        Args:
            seconds: how long the tests take by themselves.
        """
        if not tests:
            return None
        path = self._folder / mutant.module
        original = path.read_text("utf-8")
        try:
            path.write_text(mutant.code, "utf-8")
            return self._failing(tests, 10 * seconds + _START_S)
        finally:
            path.write_text(original, "utf-8")

    def _failing(self, tests: Sequence[str], limit_s: float) -> str | None:
        names = self._folder / ".mutation-tests"
        names.write_text("\n".join(tests), "utf-8")
        options = ["-x", "-q", "-n", "0", "--tb=no", "-p", "no:cacheprovider", "-rfE", f"@{names}"]
        try:
            done = subprocess.run(
                [sys.executable, "-B", "-m", "pytest", *options],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=limit_s,
            )
        except subprocess.TimeoutExpired:
            return "time"
        if done.returncode == 0:
            return None
        if "ERROR: not found" in done.stderr + done.stdout:
            raise SystemExit(f"the records are older than the tests; make them anew: {done.stderr[-2000:]}")
        reports = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        return reports[0].split(" ", 1)[1].split(" - ")[0] if reports else "import"
