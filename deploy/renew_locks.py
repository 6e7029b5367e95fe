"""`python -m deploy.renew_locks`: locks of the newest packages that openhype and Lambda's system allow."""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import click

from backend.foundation.errors import InvalidInput
from deploy import locks, package


def lines(report: Mapping[str, Any]) -> Iterable[str]:
    """Yield the lines of a lock for the packages in a report of pip's (`pip install --report`)."""
    for each in report["install"]:
        name, version = each["metadata"]["name"].lower(), each["metadata"]["version"]
        yield f"{name}=={version} --hash=sha256:{each['download_info']['archive_info']['hashes']['sha256']}"


def _resolved(python: locks.Python, *wanted: str) -> Iterable[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--dry-run"]
    command += ["--ignore-installed", "--report", "-", *locks.pip_options(python), *wanted]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise InvalidInput(f"pip found no packages for Python {python}: {done.stderr.strip()}")
    return lines(json.loads(done.stdout))


@click.command()
def main() -> None:
    """Write the locks of all stages and runtimes anew."""
    for stage in package.STAGES:
        for python in locks.RUNTIMES:
            needed = [*_resolved(python, *package.requirements(stage))]
            needed += _resolved(python, "--no-deps", *package.RUNTIME_DEPENDENCIES)
            path = locks.FOLDER / locks.name_of(stage, python)
            path.write_text("\n".join(sorted(needed)) + "\n", "utf-8")
            click.echo(f"{path.name}: {len(needed)} packages")


if __name__ == "__main__":
    main()
