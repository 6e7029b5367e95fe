"""A second judgment, one module on each side, and a copy of the product that has it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SIZE = 64
_FOLDERS = ("backend", "frontend", "deploy")
_NEEDLESS = shutil.ignore_patterns("__pycache__")


class Product:
    """A copy of the product in `folder`, with the second judgment added and nothing else changed."""

    def __init__(self, folder):
        self.folder = folder
        for name in _FOLDERS:
            shutil.copytree(ROOT / name, folder / name, ignore=_NEEDLESS)
        shutil.copy(HERE / "odd_one_out.py", folder / "backend" / "experiment" / "judgments")
        shutil.copy(HERE / "judgment_odd_one_out.js", folder / "frontend" / "task")

    def changed_files(self):
        """Return the files that differ from the product's, or that it does not have."""
        files = (path for name in _FOLDERS for path in (self.folder / name).rglob("*") if path.is_file())
        return {
            name
            for path in files
            if path.suffix != ".pyc"
            and not _is_same(path, ROOT / (name := path.relative_to(self.folder).as_posix()))
        }

    def asked(self, program):
        """Return the JSON that a Python program prints in the product's folder."""
        command = [sys.executable, "-c", program]
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, *words):
        """Start a command of `openhype`; return its process."""
        return subprocess.Popen(
            [sys.executable, "-m", "backend", *words],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words, status=0):
        """Run a command of `openhype`; return what it prints, or its errors where it is to fail."""
        process = self.start(*words)
        printed, errors = process.communicate(timeout=120)
        assert process.returncode == status, errors
        return errors if status else printed

    def create(self, name, models, *words):
        """Make a study of rows of three: reals are red, fakes are blue."""
        for seed, side in enumerate(("real", *models)):
            is_real = side == "real"
            _write_pictures(self.folder / side, 24 if is_real else 12, seed, is_real)
        named = [word for model in models for word in ("--model", f"{model}={model}")]
        asked = ["--method", "odd", "--real", "real", *named, "--size", str(SIZE)]
        self.run("create", name, *asked, *words)


def _is_same(path, original):
    return original.is_file() and original.read_bytes() == path.read_bytes()


def _write_pictures(folder, count, seed, is_real):
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(seed)
    for i in range(count):
        pixels = np.zeros((SIZE, SIZE, 3), np.uint8)
        pixels[..., 0 if is_real else 2] = rng.integers(120, 255, (SIZE, SIZE))
        Image.fromarray(pixels).save(folder / f"{i}.png")
