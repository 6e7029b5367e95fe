"""A second judgment is one module on each side: made, simulated, scored and exported with no other change."""

import csv
import json
import sqlite3

import numpy as np
import pytest

from ... import second_judgment

MODELS = ("gan", "vae")
SIMULATED = "--simulated"


@pytest.fixture(scope="module")
def product(tmp_path_factory):
    """A copy of the product with the second judgment, and a study of it that was simulated and exported."""
    product = second_judgment.Product(tmp_path_factory.mktemp("product"))
    product.create("rows", MODELS, "--evaluators", "6", "--set", "bonus_usd_cents=2")
    product.run("simulate", "rows", "--accuracy", "gan=0.95", "--accuracy", "vae=0.4")
    product.run("export", "rows", SIMULATED, "-o", "out")
    return product


SERVED = """
import json
from pathlib import Path
from backend.handlers import create_app
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

data = DataDir(Path("openhype-data"))
store = open_store("sqlite:///openhype.db", data.root)
app = create_app(store, data, data.keys())
http, me = app.test_client(), {"X-Openhype-Token": data.keys().researcher}
get = lambda path: http.get(path, headers=me).json
print(json.dumps({
    "public": get("/api/studies/rows"),
    "methods": get("/api/methods")["methods"],
    "settings": get("/api/settings/odd"),
    "module": http.get("/assets/any/task/judgment_odd_one_out.js").status_code,
}))
"""


@pytest.fixture(scope="module")
def served(product):
    """What the server of the product says of it to an evaluator's browser and to the console."""
    return product.asked(SERVED)


def test_it_takes_two_files(product):
    assert product.changed_files() == {
        "backend/experiment/judgments/odd_one_out.py",
        "frontend/task/judgment_odd_one_out.js",
    }


def test_evaluators_are_asked_for_consent_in_its_words(served):
    public = served["public"]

    assert "You will see pictures, three at a time, and say which one does not belong." in json.dumps(public)
    assert "real picture or one made by a computer" not in json.dumps(public)
    assert public["title"] == "Which one is the odd one out?"
    assert served["module"] == 200


def test_the_console_offers_its_method_and_asks_for_its_setting(served):
    (method,) = [each for each in served["methods"] if each["method"] == "odd"]
    fields = {each["name"]: each for each in served["settings"]["settings"]}

    assert (method["title"], method["parts"]) == ("Odd one out of three", [])
    assert method["about"].startswith("Evaluators see rows of three pictures")
    assert (method["unit"], method["difference"], method["without_pilot"]) == ("percent", None, "")
    places = fields["places"]
    assert (places["default"], places["low"], places["high"], places["applies"]) == (3, 2, 3, True)
    # settings that only some methods have are those of methods that name them
    assert not any(fields[name]["applies"] for name in ("staircase", "exposures_ms", "not_sure", "gap_ms"))


@pytest.fixture(scope="module")
def rows(product):
    with (product.folder / "out" / "data" / "study-rows_data.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow("a study is played, measured and scored whole")
def test_its_scores_are_the_shares_of_its_answers_with_intervals_and_tests(product, rows):
    scores = json.loads(product.run("score", "rows", SIMULATED, "--json"))

    assert [row["model"] for row in scores["models"]] == ["vae", "gan"]
    for row in scores["models"]:
        own = [each for each in rows if each["model"] == row["model"]]
        wrong = [each["response"] != each["truth"] for each in own]
        assert row["score"] == pytest.approx(100 * np.mean(wrong))
        assert (row["responses"], row["evaluators"]) == (len(own), 6) == (60, 6)
        assert row["ci"][0] <= row["score"] <= row["ci"][1]
    assert (scores["method"], scores["unit"], scores["settings"]["bootstrap"]) == ("odd", "percent", "exact")
    assert scores["ttest"]["p"] == pytest.approx(scores["pairs"][0]["p"])
    assert scores["ttest"]["p"] < 0.05


@pytest.mark.slow("makes and plays whole studies")
def test_an_export_scores_as_the_study_does(product):
    of_study = product.run("score", "rows", SIMULATED, "--json")

    assert product.run("score", "out", SIMULATED, "--json") == of_study


@pytest.mark.slow("runs a copy of the product in processes of its own")
def test_its_rows_name_all_pictures_and_the_place_that_was_right(product, rows):
    with sqlite3.connect(next((product.folder / "openhype-data").rglob("*.db"))) as db:
        truths = dict(db.execute("SELECT name, truth FROM stimuli"))

    assert {row["response"] for row in rows} == {row["truth"] for row in rows} == {"first", "second", "third"}
    for row in rows:
        sides = [truths[name] for name in row["stimulus"].split(" ")]
        assert sides.count("real") == 2
        assert sides.index("fake") == ("first", "second", "third").index(row["truth"])


def test_an_export_describes_its_columns_and_leaves_out_what_it_has_none_of(product):
    out = product.folder / "out"
    told = json.loads((out / "dataset_description.json").read_text("utf-8"))
    columns = {each["name"]: each["description"] for each in told["variableMeasured"]}

    assert "which of three images is generated" in told["description"]
    assert columns["truth"] == "At which place the fake picture stood"
    assert sorted(path.name for path in (out / "data").iterdir()) == [
        "study-rows_data.csv",
        "study-rows_description-evaluators_data.csv",
        "study-rows_description-events_data.csv",
        "study-rows_description-replaced_data.csv",
        "study-rows_description-unfinished_data.csv",
    ]
    assert "images" not in (out / "README.md").read_text("utf-8").split("\n- ", 1)[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", "--pilot", "out"], "and Tournament; these responses are of Odd one out; `openhype"),
        (["leaderboard", "rows", SIMULATED, "-o", "board"], "rows is a study of Odd one out, whose scores"),
        (["set", "rows", "debrief=true"], "Odd one out has no debrief; leave debrief=false"),
        (["set", "rows", "models_per_session=2"], "shows one model a session; leave models_per_session=1"),
        (["set", "rows", "mark=click"], "Odd one out has no marks; leave mark=none"),
        (["set", "rows", "comment=optional"], "Odd one out has no answer 'fake'; set reasons_for=all"),
        (["set", "rows", "places=4"], "places must be from 2 to 3, not 4"),
        (
            ["create", "faces", "--real", "real", "--model", "gan=gan", "--set", "places=2"],
            "places goes with method 'odd', and only with it",
        ),
        (["set", "rows", "images=40"], "lacks pictures for 40 rows: it has 24 of 80 reals"),
        (["score", "rows", SIMULATED, "--exposures", "shown"], "Odd one out has no exposures to score on"),
        (["site", "rows", "-o", "site"], "a demo shows real-or-fake studies; rows asks for something else"),
    ],
)  # fmt: skip
@pytest.mark.slow("another judgment is checked against all that it lacks")
def test_what_it_does_not_have_is_refused_in_plain_words(product, words, message):
    assert message in product.run(*words, status=1)


def test_another_judgments_answer_is_refused_by_line(product):
    text = "method,model,evaluator,truth,response\nodd,gan,e1,first,third\nodd,gan,e1,first,fake\n"
    (product.folder / "wrong.csv").write_text(text, "utf-8")

    assert "line 3: response must be 'first', 'second' or 'third', not 'fake'" in product.run(
        "score", "wrong.csv", status=1
    )


def test_models_that_everybody_judged_are_compared_within_evaluators(product):
    rows = [
        f"odd,{model},e{i},first,{'third' if i < wrong else 'first'}"
        for model, wrong in (("gan", 3), ("vae", 1))
        for i in range(4)
    ]
    text = "\n".join(["method,model,evaluator,truth,response", *rows])
    (product.folder / "both.csv").write_text(f"{text}\n", "utf-8")

    scores = json.loads(product.run("score", "both.csv", "--json"))

    assert (scores["design"], scores["pairs_method"], scores["people"]) == ("within", "paired", 4)
    # by hand: differences 0, 100, 100, 0 have mean 50 and SD 57.74, so that t = 50 / (57.74 / 2)
    assert scores["ttest"]["t"] == pytest.approx(50 / (100 / 3**0.5 / 2))


@pytest.mark.slow("reads a report of thousands of answers")
def test_it_has_a_report_of_scores_and_evaluators(product, rows):
    product.run("report", "rows", SIMULATED, "-o", "report")
    product.run("report", "out", SIMULATED, "-o", "of-file")

    found = json.loads((product.folder / "report" / "report.json").read_text("utf-8"))
    of_file = json.loads((product.folder / "of-file" / "report.json").read_text("utf-8"))
    page = (product.folder / "report" / "index.html").read_text("utf-8")
    assert found["models"] == of_file["models"]
    assert [row["began"] for row in found["findings"]["attrition"]["models"]] == [6, 6]
    for row in found["findings"]["evaluators"]:
        own = [each for each in rows if each["evaluator"] == row["evaluator"]]
        assert row["accuracy"] == pytest.approx(np.mean([each["response"] == each["truth"] for each in own]))
        assert row["said_second"] == pytest.approx(np.mean([each["response"] == "second" for each in own]))
    for title in ("Scores", "Differences between models", "Evaluators", "Who began and who finished"):
        assert f"<h2>{title}" in page or f">{title}</h2>" in page


@pytest.mark.slow("runs a copy of the product in processes of its own")
def test_its_findings_are_told_in_the_terminal(product):
    text = product.run("score", "rows", "--full", SIMULATED)

    assert "share of rows judged wrong" in text
    assert "Who began and who finished" in text


def test_its_status_and_settings_are_told(product):
    lines = product.run("settings", "odd").splitlines()

    assert "study rows (Odd one out)" in product.run("status", "rows")
    assert "images = 10" in lines
    # of its own, with the method that has it
    assert lines[lines.index("places = 3") + 1].strip().startswith("with `odd`: places, from the left")


def test_a_setting_of_its_own_reaches_the_sessions(product):
    product.create("two", MODELS, "--evaluators", "1", "--set", "places=2")
    product.run("simulate", "two")
    product.run("export", "two", SIMULATED, "-o", "of-two")

    path = product.folder / "of-two" / "data" / "study-two_data.csv"
    with path.open(encoding="utf-8") as file:
        truths = {row["truth"] for row in csv.DictReader(file)}
    assert truths == {"first", "second"}
