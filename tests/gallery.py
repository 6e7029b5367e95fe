"""The gallery of the documentation site: sample reports of simulated studies, and the demo as plain files."""

from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from backend.cli import main

STUDIES = {
    "infinity": [
        "create", "infinity", "--real", "images/real", "--model", "stylegan=images/stylegan",
        "--model", "began=images/began",
    ],
    "time": [
        "create", "time", "--method", "time", "--real", "images/real", "--model", "stylegan=images/stylegan",
        "--model", "began=images/began", "--set", "images=40", "--set", "masks=phase", "--set", "blocks=2",
    ],
    "tournament": [
        "create", "tournament", "--method", "tournament", "--real", "images/real",
        "--model", "stylegan=images/stylegan", "--model", "began=images/began",
        "--set", "real_contestant=true",
    ],
}  # fmt: skip
"""The command that makes each study, by the report's name."""
_PEOPLE = {
    "infinity": ["--accuracy", "stylegan=0.62", "--accuracy", "began=0.93", "--sd", "0.06"],
    "time": ["--accuracy", "stylegan=threshold=320,slope=3", "--accuracy", "began=threshold=130,slope=3"],
    "tournament": ["--strength", "stylegan=0.4", "--strength", "began=-0.8"],
}
_EVALUATORS = 24


def write(folder: Path) -> None:
    """Write three reports and a demo site to a folder, from the demo's pictures."""
    folder = folder.resolve()
    with TemporaryDirectory() as place, CliRunner().isolated_filesystem(place):
        _run("demo", "--folders", "images")
        for name, creation in STUDIES.items():
            _run(*creation)
            _run("simulate", name, "--evaluators", _EVALUATORS, "--seed", 1, *_PEOPLE[name])
            _run("report", name, "--simulated", "-o", folder / name)
        _run("site", "infinity", "-o", folder / "demo")


def _run(*arguments: object) -> None:
    done = CliRunner().invoke(main, [*map(str, arguments)])
    if done.exit_code:
        raise SystemExit(f"openhype {' '.join(map(str, arguments))}: {done.output}")
