"""What a judgment is stays in its own modules: nothing else asks for a method or a judgment by its name."""

import ast
import re
from pathlib import Path

from backend.experiment.judgments import JUDGMENTS, METHODS

ROOT = Path(__file__).resolve().parents[2]
NAMES = {*METHODS, *JUDGMENTS}
ASKS = re.compile(rf"method [!=]== \"({'|'.join(NAMES)})\"|\"(2afc|jnd|tournament)\"[,\]]")
PYTHON = [*(ROOT / "backend").rglob("*.py"), *(ROOT / "deploy").glob("*.py")]
PAGES = [*(ROOT / "frontend").rglob("*.js")]
OF_HYPE = {
    "backend/responses/publication/citation.py": "cites HYPE's paper",
    "backend/report/methods.py": "cites HYPE's paper",
    "backend/report/published.py": "has the papers' tables",
    "backend/experiment/published.py": "has the papers' tables",
    "backend/web/study_record.py": "offers HYPE's demo for downloading",
    "frontend/task/start.js": "lists the samples of the demo",
    "frontend/task/demonstration.js": "leads to the sample without flashes",
    "frontend/task/trials.js": "has texts of flashes",
    "frontend/console/study_correlation.js": "correlates 2AFC with JND, as LPIPS' paper does",
}
"""Files that name HYPE's own methods, and why."""


def is_own(path):
    return path.stem.removeprefix("judgment_") in JUDGMENTS


def questions(path):
    """Return the comparisons of a file of which one side is the name of a method or a judgment."""
    text = path.read_text("utf-8")
    if path.suffix == ".js":
        return [line for line in text.splitlines() if ASKS.search(line)]
    compared = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Compare)]
    texts = [ast.unparse(node) for node in compared if names_one(node)]
    return [text for text in texts if re.search("method|name", text)]


def names_one(node):
    return any(isinstance(each, ast.Constant) and each.value in NAMES for each in ast.walk(node))


def test_no_other_module_compares_with_the_name_of_a_method():
    asking = {
        path.relative_to(ROOT).as_posix(): found
        for path in (*PYTHON, *PAGES)
        if not is_own(path) and (found := questions(path))
    }

    assert asking.keys() == OF_HYPE.keys(), asking


def test_services_import_no_single_judgment_of_models_or_items():
    names = "|".join(JUDGMENTS.keys() - {"real_or_fake"})
    imports = re.compile(rf"^\s*from backend\.\w+\.judgments\.({names})\b", re.MULTILINE)
    others = [path for path in PYTHON if not is_own(path)]

    assert [path.name for path in others if imports.search(path.read_text("utf-8"))] == []
