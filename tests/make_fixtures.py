"""What a release stores, exports and offers, kept so that later releases are tested to read it.

`python -m tests.make_fixtures BIN`, where BIN has the programs of an environment with the release's wheel,
writes tests/fixtures/VERSION.zip: a backup, exports, scores, settings, and the description of the API.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

FIXTURES = Path(__file__).parent / "fixtures"
_PICTURES, _SIZE_PX = 8, 16
_FACTS = """
import json
from backend import __version__
from backend.experiment.settings import documented_settings
from backend.web.openapi import document
facts = {"settings": sorted(documented_settings()), "api": json.loads(document())}
print(json.dumps({"version": __version__, **facts}))
"""


def make(programs: Path) -> Path:
    """Write the fixture of the release whose programs are in a folder; return its file."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        for side, seed in (("real", 1), ("gan", 2), ("vae", 3)):
            _write_pictures(folder / "images" / side, seed)
        openhype = programs / "openhype"
        studies = {"faces": (), "flashes": ("--method", "time", "--set", "masks=phase", "--set", "blocks=1")}
        for name, options in studies.items():
            sides = ("--real", "images/real", "--model", "gan=images/gan", "--model", "vae=images/vae")
            sizes = ("--size", _SIZE_PX, "--set", "images=8", "--set", "spare_images=4", "--evaluators", 4)
            _run(folder, openhype, "create", name, *sides, *sizes, *options)
            _run(folder, openhype, "simulate", name, "--seed", 1)
            _run(folder, openhype, "export", name, "-o", f"kept/export-{name}", "--simulated")
            scores = _run(folder, openhype, "score", name, "--simulated", "--json")
            (folder / "kept" / f"scores-{name}.json").write_text(scores)
        _run(folder, openhype, "backup", "kept/backup")
        facts = json.loads(_run(folder, programs / "python", "-c", _FACTS))
        (folder / "kept" / "facts.json").write_text(json.dumps(facts))
        FIXTURES.mkdir(exist_ok=True)
        return Path(shutil.make_archive(str(FIXTURES / facts["version"]), "zip", folder / "kept"))


def _write_pictures(folder: Path, seed: int) -> None:
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    for number in range(_PICTURES):
        pixels = rng.integers(0, 256, (_SIZE_PX, _SIZE_PX, 3)).astype("uint8")
        Image.fromarray(pixels).save(folder / f"{number}.png")


def _run(folder: Path, *command: object) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    print(make(Path(sys.argv[1]).absolute()))  # noqa: T201
