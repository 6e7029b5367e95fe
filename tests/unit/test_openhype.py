"""The public face: a handful of names that cost nothing until they are used."""

import copy
import inspect
import pickle
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import openhype
from backend import __version__
from backend.foundation.errors import InvalidInput, OpenhypeError
from backend.scoring import score

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    {"model": model, "evaluator": f"{model}{i}", "truth": "fake", "response": "real" if k < i else "fake"}
    for model, first in (("gan", 1), ("diffusion", 4))
    for i in range(first, first + 4)
    for k in range(10)
]


def test_importing_it_imports_nothing_heavy():
    program = "import sys, openhype; dir(openhype); print({'numpy', 'scipy', 'flask'} & set(sys.modules))"

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )

    assert found.stdout.strip() == "set()"


def test_every_name_that_it_lists_is_there():
    assert all(hasattr(openhype, name) for name in dir(openhype))
    assert openhype.__version__ == __version__
    assert openhype.OpenhypeError is OpenhypeError


def test_no_other_name_is_promised_than_the_page_lists_and_the_types_have():
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    types = (ROOT / "openhype-stubs" / "__init__.pyi").read_text("utf-8")

    typed = re.findall(r"^from (\S+) import (\w+) as \2$", types, re.M)
    assert sorted(name for _, name in typed) == sorted([*openhype.__all__, "__version__"])
    assert all(getattr(import_module(home), name) is getattr(openhype, name) for home, name in typed)
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.M)) == sorted(openhype.__all__)
    assert sorted(re.findall(r":: openhype\.(\w+)", page)) == sorted(openhype.__all__)


@pytest.mark.parametrize("name", openhype.__all__)
def test_every_name_has_a_docstring(name):
    assert inspect.getdoc(getattr(openhype, name))


def test_a_notebook_shows_scores_as_tables_and_figures_and_plans_as_text():
    scores = openhype.score([{**row, "model": "<b>" + row["model"]} for row in ROWS])

    shown = scores._repr_html_()
    assert "<td>55.0</td>" in shown
    assert "&lt;b&gt;diffusion" in shown
    assert "<b>" not in shown
    assert "data:image/svg+xml" in shown
    assert "for 1 model" in openhype.plan(ROWS)._repr_html_()
    assert type(copy.copy(scores)) is dict
    assert pickle.loads(pickle.dumps(scores)) == scores


def test_a_report_of_a_file_is_a_page_with_its_tables(tmp_path):
    path = tmp_path / "responses.csv"
    path.write_text("\n".join([",".join(ROWS[0]), *(",".join(row.values()) for row in ROWS)]), "utf-8")

    page = openhype.report(path, tmp_path / "report", title="Two models")

    assert page == tmp_path / "report" / "index.html"
    assert "Two models" in page.read_text("utf-8")
    assert "55.0" in (tmp_path / "report" / "tables" / "models.md").read_text("utf-8")


def test_a_name_that_it_has_not_is_refused_with_those_it_has():
    with pytest.raises(AttributeError, match="no 'scores'; it has score, report, bootstrap"):
        openhype.scores  # noqa: B018


def test_rows_and_a_file_of_them_have_the_same_scores(tmp_path):
    path = tmp_path / "responses.csv"
    path.write_text(
        "\n".join([",".join(ROWS[0]), *(",".join(row.values()) for row in ROWS)]), encoding="utf-8"
    )

    from_rows = openhype.score(ROWS)

    assert from_rows == openhype.score(path) == openhype.score(str(path)) == score(ROWS, "infinity")
    # evaluators wrong on 4 to 7 of 10 fakes
    assert from_rows["models"][0]["score"] == 55.0


def test_a_bad_row_is_refused():
    with pytest.raises(InvalidInput, match="row 2: truth must be 'real' or 'fake', not 'maybe'"):
        openhype.score([ROWS[0], ROWS[1] | {"truth": "maybe"}])


def test_the_bootstrap_of_two_values_is_as_worked_by_hand():
    # means of two draws from {0, 1}: 0, 1/2, 1 with 1/4, 1/2, 1/4
    interval = openhype.bootstrap([0, 1], level=0.5)

    assert (interval.low, interval.high, interval.way) == (0.0, 0.5, "exact")


def test_the_default_staircase_settles_at_63_percent():
    assert openhype.equilibrium_accuracy(openhype.StaircaseRule()) == pytest.approx(0.25 ** (1 / 3))


@pytest.mark.parametrize("cell", [True, "true", "TRUE"])
def test_rows_of_simulated_sessions_are_scored_apart(cell):
    rows = [{**row, "simulated": cell if row["model"] == "gan" else None} for row in ROWS]

    real, simulated = openhype.score(rows), openhype.score(rows, simulated=True)

    assert [row["model"] for row in real["models"]] == ["diffusion"]
    assert [row["model"] for row in simulated["models"]] == ["gan"]
    assert (real["simulated"], simulated["simulated"]) == (False, True)


def test_a_row_that_is_simulated_perhaps_is_refused():
    with pytest.raises(InvalidInput, match="row 1: simulated must be true or false, not 'perhaps'"):
        openhype.score([{**ROWS[0], "simulated": "perhaps"}])


def test_a_plan_from_simulated_sessions_says_so():
    rows = [{**row, "simulated": True} for row in ROWS]

    assert openhype.plan(rows)["assumptions"][0].startswith("the pilot's sessions are simulated")
    assert not openhype.plan(ROWS)["assumptions"][0].startswith("the pilot's sessions are simulated")
