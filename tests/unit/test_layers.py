"""The layer rule of docs/architecture.md: which room imports which; lazy imports count as well."""

import ast
import functools
import graphlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

LAYERS = (
    {"backend"},  # the version
    {"backend.foundation"},
    {"backend.client"},
    {"backend.experiment"},
    {"backend.analysis"},
    {"backend.scoring"},
    {"backend.stores", "backend.stimuli", "backend.panels"},
    {"backend.metrics"},
    {"backend.members", "backend.uploads"},
    {"backend.studies"},
    {"backend.payment"},
    {"backend.recruitment"},
    {"backend.task"},
    {"backend.responses"},
    {"backend.report"},
    {"backend.administration"},
    {"backend.competitions"},
    {"backend.jobs"},
    {"backend.web"},
    {"backend.handlers"},
    {"deploy"},
    {"backend.commands"},
    {"backend.cli"},
    {"backend.__main__"},
)
"""Each imports what stands before it, and nothing that stands beside or after it."""
ALONE = {"scoring", "handlers", "cli", "__main__"}
"""Modules that are a room of their own."""
VALUES = {"backend.experiment", "backend.analysis", "backend.scoring"}
"""Values in, values out: no files, clock, network, or random generator of their own."""
OUTSIDE = {
    "PIL", "boto3", "botocore", "datetime", "flask", "http", "os", "pathlib", "random", "requests", "secrets",
    "socket", "sqlite3", "subprocess", "threading", "time", "urllib.request", "waitress",
}  # fmt: skip


def source_files():
    return [*(ROOT / "backend").rglob("*.py"), *(ROOT / "deploy").glob("*.py")]


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in source_files()}


@functools.cache
def room_of(module):
    first, *rest = module.split(".")
    if first == "backend" and rest and (len(rest) > 1 or rest[0] in ALONE or f"backend.{rest[0]}" in ROOMS):
        return f"backend.{rest[0]}"
    return first


ROOMS = {name for layer in LAYERS for name in layer}


def imported(tree, module, has_types=False):
    """Yield every module that one imports, wherever in its text; with or without what type checkers read."""
    for node in ast.iter_child_nodes(tree):
        is_for_types = isinstance(node, ast.If) and isinstance(node.test, ast.Name)
        if is_for_types and node.test.id == "TYPE_CHECKING" and not has_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports by a relative name"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in MODULES else node.module
        elif not isinstance(node, ast.expr):  # which has no statements
            yield from imported(node, module, has_types)


@functools.cache
def imports(has_types=False):
    """What each module imports."""
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}
    return {name: set(imported(tree, name, has_types)) for name, tree in trees.items()}


@functools.cache
def layer_of(module):
    return next(place for place, rooms in enumerate(LAYERS) if room_of(module) in rooms)


def arrows():
    return [(name, other) for name, others in imports().items() for other in others if other in MODULES]


def test_every_module_stands_in_a_room():
    assert {room_of(name) for name in MODULES} == ROOMS


def test_no_import_runs_against_the_layer_rule():
    assert [
        f"{name} -> {other}"
        for name, other in arrows()
        if room_of(name) != room_of(other) and layer_of(name) <= layer_of(other)
    ] == []


def test_no_imports_form_a_circle_nor_do_those_for_types():
    loaded = {name: others & MODULES.keys() for name, others in imports(has_types=True).items()}

    graphlib.TopologicalSorter(loaded).prepare()  # CycleError where there is one


def test_no_modules_of_the_page_form_a_circle():
    page = [*(ROOT / "frontend").rglob("*.js")]
    texts = {path: re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL) for path in page}
    loaded = {
        path: {(path.parent / other).resolve() for other in re.findall(r'"(\.[^"]*\.js)"', text)}
        for path, text in texts.items()
    }

    assert {*page} >= {other for others in loaded.values() for other in others}
    graphlib.TopologicalSorter(loaded).prepare()  # CycleError where there is one


def test_the_state_of_a_study_is_what_several_services_share():
    users = {name: set() for name in MODULES if name.startswith("backend.studies.")}
    for name, other in arrows():
        if other in users and room_of(name) != "backend.studies":
            users[other].add(room_of(name))

    assert [name for name, rooms in users.items() if len(rooms) < 2] == []


@pytest.mark.parametrize("name", [name for name in MODULES if room_of(name) in VALUES])
def test_the_experiment_and_its_analysis_import_nothing_of_the_outside_world(name):
    found = imports()[name] | {module.partition(".")[0] for module in imports()[name]}

    assert found & OUTSIDE == set()


def test_nothing_inside_imports_the_public_face():
    assert [name for name, others in imports().items() if "openhype" in others] == []


def test_a_trial_request_imports_nothing_heavy_and_nothing_of_other_requests():
    heavy = ("numpy", "scipy", "PIL", "matplotlib", "sklearn", "tqdm", "cachetools")
    others = (
        "tomllib",
        "backend.experiment.published",
        "backend.recruitment.sync",
        "backend.uploads.uploads",
    )
    program = (
        "import sys, backend.handlers, backend.stores.sqlite;"
        f"print([m for m in {(*heavy, *others)} if m in sys.modules])"
    )

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"


MAY_LOAD = {"texts": set(), "shared": set(), "console": {"shared", "texts"}, "task": {"shared", "texts"}}
"""The folders of the page, and which others their modules import, as programs or as types."""


def test_a_folder_of_the_page_imports_those_that_it_may():
    loaded = {
        folder: {
            other
            for path in (ROOT / "frontend" / folder).glob("*.js")
            for other in re.findall(r'"\.\./(\w+)/', path.read_text("utf-8"))
        }
        for folder in MAY_LOAD
    }

    assert loaded == MAY_LOAD
    assert {path.name for path in (ROOT / "frontend").iterdir() if path.is_dir()} == set(MAY_LOAD)
    assert [path.name for path in (ROOT / "frontend").glob("*.js")] == ["staircase.js"]


def test_the_folders_of_the_analysis_and_the_modules_beside_them_form_no_circle():
    def part(name):
        return ".".join(name.split(".")[:3])

    loaded = {}
    for name, other in arrows():
        if name.startswith("backend.analysis.") and other.startswith("backend.analysis."):
            loaded.setdefault(part(name), set()).update({part(other)} - {part(name)})

    graphlib.TopologicalSorter(loaded).prepare()  # CycleError where there is one
