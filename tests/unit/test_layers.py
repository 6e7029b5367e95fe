"""The house rules that imports can break: the experiment is pure, and trials import nothing heavy."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

BACKEND = Path(__file__).resolve().parents[2] / "backend"

PURE = {
    "errors", "staircase", "protocol", "records", "sampling", "session", "replies", "wire",
    "answers", "ledger", "scoring", "tables", "shown", "observer", "settling", "flashes",
    "reading.columns", "panels.record",
}  # fmt: skip
WORLD = {
    "stores", "stores.sqlite", "stores.codec", "datadir", "images", "folders", "differences",
    "parallel", "intake", "uniform", "masks", "masks.cache", "masks.luminance", "masks.phase",
    "masks.products", "masks.projection", "masks.pyramid", "masks.sheet", "masks.statistics", "masks.texture",
    "owing", "panels", "panels.events", "panels.prolific", "paying", "paying_by_hand",
    "photosensitivity",
    "responses", "reading", "reading.careful", "reading.chunks", "reading.plain", "reading.cells",
    "demo_images",
}  # fmt: skip
DOORS = {
    "handlers", "cli", "commands", "commands.world", "commands.studies", "commands.service",
    "commands.scores", "commands.panels", "commands.pay", "commands.recruit", "__main__", "server",
    "simulation", "demo", "creation", "visits", "progress", "results", "admission", "recruiting", "stamps",
    "places", "watching", "export", "notebook",
}  # fmt: skip
OUTSIDE = {"flask", "boto3", "waitress", "sqlite3", "PIL", "http", "socket", "os", "time", "datetime"}


def is_pure(name):
    return name in PURE or name.partition(".")[0] == "analysis"


def modules():
    for path in sorted(BACKEND.rglob("*.py")):
        parts = path.relative_to(BACKEND).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if name:
            yield name, ast.parse(path.read_text("utf-8"))


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own(names):
    return {name.removeprefix("backend.") for name in names if name.startswith("backend.")}


def test_every_module_has_its_layer():
    assert {name for name, _ in modules() if not is_pure(name)} - WORLD - DOORS == set()


@pytest.mark.parametrize(("name", "tree"), [(n, t) for n, t in modules() if is_pure(n)])
def test_the_experiment_imports_nothing_of_the_world(name, tree):
    names = set(imported(tree))

    assert {module.partition(".")[0] for module in names} & OUTSIDE == set()
    assert own(names) & (WORLD | DOORS) == set()


@pytest.mark.parametrize(("name", "tree"), [(n, t) for n, t in modules() if n in WORLD])
def test_the_world_imports_no_door(name, tree):
    assert own(imported(tree)) & DOORS == set()


def test_nothing_inside_imports_the_public_face():
    assert not any("openhype" in set(imported(tree)) for _, tree in modules())


def test_a_trial_request_imports_nothing_heavy():
    program = (
        "import sys, backend.handlers, backend.stores.sqlite;"
        "print([m for m in ('numpy', 'scipy', 'PIL', 'matplotlib', 'sklearn', 'tqdm') if m in sys.modules])"
    )

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"
