"""The house rules that imports can break: the experiment is pure, and trials import nothing heavy."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

BACKEND = Path(__file__).resolve().parents[2] / "backend"

PURE = {
    "answers", "browsers", "codebook", "errors", "findings", "flashes", "formulas", "headers", "json_text",
    "ledger", "money", "observer", "origins", "panels.record", "picture_names", "plan_table", "protocol",
    "reading.columns", "recent", "records", "replies", "report", "report.attrition", "report.browsers",
    "report.chance",
    "report.colours", "report.comparisons", "report.compose",
    "report.drawing", "report.exposures", "report.figures", "report.figures.exposures",
    "report.figures.plan", "report.figures.precision", "report.figures.relations",
    "report.figures.scores", "report.figures.style", "report.found", "report.images",
    "report.leaderboard", "report.models", "report.page", "report.parts", "report.people",
    "report.precision", "report.settings", "report.simulated", "report.training", "report.wording",
    "report.writing", "retainer", "sampling", "scoring", "sections", "session", "setting_list",
    "settling", "shown", "staircase", "suggest", "tables", "wire",
}  # fmt: skip
WORLD = {
    "assets", "backups", "clearing", "connections", "control", "datadir", "debrief", "demo_images",
    "demo_photographs", "differences", "estimates", "extras", "folders", "images", "intake",
    "ledger_copies", "lifecycle", "masks", "masks.cache", "masks.luminance", "masks.phase",
    "masks.products", "masks.projection", "masks.pyramid", "masks.sheet", "masks.statistics",
    "masks.texture", "openings", "owing",
    "panel_health", "panel_wallet", "panels", "panels.events", "panels.prolific",
    "panels.prolific_http", "panels.prolific_webhooks", "panels.signed", "parallel", "paying",
    "paying_by_hand", "permissions", "photosensitivity", "printable", "quilting", "reading",
    "reading.careful", "reading.cells", "reading.chunks", "reading.metrics", "reading.plain", "reading.texts",
    "report.directory", "report.thumbnails", "responses", "retention", "screened", "stamps", "stores",
    "stores.books", "stores.calls", "stores.codec", "stores.compact", "stores.dynamodb", "stores.heads",
    "stores.items", "stores.plans", "stores.sqlite", "stores.tally", "uniform", "unmatched", "uploads",
    "usage", "waiting", "webhooks", "withdrawal",
}  # fmt: skip
DOORS = {
    "__main__", "admission", "attrition", "cli", "commands", "commands.changes", "commands.demonstration",
    "commands.deployment", "commands.live", "commands.moves", "commands.panels", "commands.pay",
    "commands.people", "commands.plans", "commands.recruit", "commands.reports", "commands.scores",
    "commands.service", "commands.settings", "commands.studies", "commands.world", "copying",
    "creation", "deletion", "demo", "demo_making", "demo_page", "export", "handlers", "live",
    "notebook", "place_check", "places", "progress", "proxies", "recruiting", "recruitment_plan", "reporting",
    "researcher", "researcher.dashboard", "researcher.entry", "researcher.kept", "researcher.routes",
    "results", "revision", "server", "simulation", "site", "visits", "watching",
}  # fmt: skip
OUTSIDE = {
    "PIL", "boto3", "botocore", "datetime", "flask", "http", "os", "socket", "sqlite3", "time",
    "waitress",
}  # fmt: skip


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
