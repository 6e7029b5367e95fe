"""A second judgment is one module on each side: made, simulated, scored and exported with no other change."""

import csv
import json
import sqlite3

import numpy as np
import pytest

from ... import second_judgment

MODELS = ("gan", "vae")
NO_REPORT = "Odd one out has scores (`openhype score`), but no findings and no report"
SIMULATED = "--simulated"


@pytest.fixture(scope="module")
def product(tmp_path_factory):
    """A copy of the product with the second judgment, and a study of it that was simulated and exported."""
    product = second_judgment.Product(tmp_path_factory.mktemp("product"))
    product.create("rows", MODELS, "--evaluators", "6", "--set", "bonus_usd_cents=2")
    product.run("simulate", "rows", "--accuracy", "gan=0.95", "--accuracy", "vae=0.4")
    product.run("export", "rows", SIMULATED, "-o", "out")
    return product


@pytest.fixture(scope="module")
def rows(product):
    with (product.folder / "out" / "data" / "study-rows_data.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


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


def test_an_export_scores_as_the_study_does(product):
    of_study = product.run("score", "rows", SIMULATED, "--json")

    assert product.run("score", "out", SIMULATED, "--json") == of_study


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
        (["report", "rows", SIMULATED, "-o", "report"], NO_REPORT),
        (["score", "rows", "--full", SIMULATED], NO_REPORT),
        (["score", "out", "--full", SIMULATED], NO_REPORT),
        (["plan", "--pilot", "out"], NO_REPORT),
        (["set", "rows", "debrief=true"], "Odd one out has no debrief; leave debrief=false"),
        (["set", "rows", "models_per_session=2"], "shows one model a session; leave models_per_session=1"),
        (["set", "rows", "mark=click"], "Odd one out has no marks; leave mark=none"),
        (["set", "rows", "comment=optional"], "Odd one out has no answer 'fake'; set reasons_for=all"),
        (["set", "rows", "images=40"], "lacks pictures for 40 rows: it has 24 of 80 reals"),
        (["score", "rows", SIMULATED, "--exposures", "shown"], "Odd one out has no exposures to score on"),
        (["site", "rows", "-o", "site"], "a demo shows real-or-fake studies; rows asks for something else"),
    ],
)  # fmt: skip
def test_what_it_does_not_have_is_refused_in_plain_words(product, words, message):
    assert message in product.run(*words, status=1)


def test_another_judgments_answer_is_refused_by_line(product):
    text = "method,model,evaluator,truth,response\nodd,gan,e1,first,third\nodd,gan,e1,first,fake\n"
    (product.folder / "wrong.csv").write_text(text, "utf-8")

    assert "line 3: response must be 'first', 'second' or 'third', not 'fake'" in product.run(
        "score", "wrong.csv", status=1
    )


def test_somebody_who_judged_two_models_is_refused(product):
    text = "method,model,evaluator,truth,response\nodd,gan,e1,first,third\nodd,vae,e1,first,first\n"
    (product.folder / "both.csv").write_text(text, "utf-8")

    message = "an evaluator must judge one model (Odd one out); e1 judged gan, vae"
    assert message in product.run("score", "both.csv", status=1)


def test_its_status_and_settings_are_told(product):
    images = next(line for line in product.run("settings", "odd").splitlines() if line.startswith("images"))

    assert "study rows (Odd one out)" in product.run("status", "rows")
    assert "10" in images
