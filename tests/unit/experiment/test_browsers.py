"""Engines of browsers: told from what browsers say, retained without the rest, compared, and counted."""

import csv
from random import Random

import numpy as np
import pytest

from backend.administration import retention
from backend.analysis.browsers import by_browser
from backend.analysis.table.evaluator_values import values_by_model
from backend.analysis.table.response_rows import answers_of
from backend.experiment.browsers import engine_of, retained
from backend.report import formatting
from backend.report.study_findings import study_findings
from backend.responses.export import export
from backend.scoring import score
from backend.web import progress

from .. import sample_studies as studies

MAC = "Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko)"
PHONE = "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 (KHTML, like Gecko)"
LINUX = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
AGENTS = {
    f"{LINUX} Chrome/131.0.0.0 Safari/537.36": "Chromium",
    f"{LINUX} Chrome/131.0 Safari/537.36 Edg/131.0": "Chromium",
    "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0": "Firefox",
    f"{MAC} Version/18.1 Safari/605.1.15": "WebKit",
    f"{PHONE} CriOS/131.0 Mobile/15E148 Safari/604.1": "WebKit",
    f"{PHONE} FxiOS/133.0 Mobile/15E148 Safari/605.1.15": "WebKit",
    "curl/8.0": "",
}  # fmt: skip


@pytest.mark.parametrize(("agent", "engine"), AGENTS.items())
def test_an_engine_is_told_from_what_a_browser_says_of_itself(agent, engine):
    assert engine_of({"user_agent": agent}) == engine
    assert retained({"user_agent": agent, "cores": 8}) == ({"engine": engine} if engine else {})
    assert engine_of(retained({"user_agent": agent})) == engine


@pytest.mark.parametrize("device", [{}, {"user_agent": None}, {"user_agent": 7}, {"engine": ["Firefox"]}])
def test_what_tells_nothing_gives_no_engine(device):
    assert (engine_of(device), retained(device)) == ("", {})


def rows(model, engine, evaluators, wrong, seed):
    rng = Random(f"{model} {engine} {seed}")
    for e in range(evaluators):
        for i in range(100):
            truth = "fake" if i % 2 else "real"
            other = {"fake": "real", "real": "fake"}[truth]
            said = other if rng.random() < wrong else truth
            yield {
                "model": model, "evaluator": f"{model} {engine} {e}", "truth": truth, "response": said,
                "browser": engine,
            }  # fmt: skip


def found_of(all_rows):
    answers = answers_of(all_rows, "infinity")
    return by_browser(answers, values_by_model(answers), 0.95)


def test_engines_are_compared_with_the_models_being_equal():
    # Firefox stands with the better model mostly: the models' difference is none of the browsers'
    data = [
        *rows("a", "Chromium", 20, 0.5, 1), *rows("a", "Firefox", 4, 0.5, 1),
        *rows("b", "Chromium", 4, 0.2, 1), *rows("b", "Firefox", 20, 0.2, 1), *rows("b", "", 3, 0.2, 1),
    ]  # fmt: skip

    found = found_of(data)

    assert [(row["browser"], row["evaluators"]) for row in found["engines"]] == [
        ("Chromium", 24), ("Firefox", 24), ("", 3),
    ]  # fmt: skip
    low, high = found["engines"][1]["ci"]
    assert low < 0 < high < 6
    assert found["engines"][0]["difference"] == pytest.approx(-found["engines"][1]["difference"])
    assert found["engines"][2]["ci"] is None
    assert found["test"]["p"] > 0.05
    assert not any("browsers" in warning for warning in score(data, "infinity")["warnings"])


def test_the_test_of_engines_is_that_of_a_linear_model():
    statsmodels = pytest.importorskip("statsmodels.formula.api")
    pandas = pytest.importorskip("pandas")
    data = [row for model in "ab" for engine in ("Chromium", "Firefox", "WebKit")
            for row in rows(model, engine, 5, 0.3, 3)]  # fmt: skip
    table = pandas.DataFrame(data).assign(wrong=lambda d: 100.0 * (d.truth != d.response))
    people = table.groupby(["model", "browser", "evaluator"], as_index=False).wrong.mean()
    fitted = statsmodels.ols("wrong ~ C(model) + C(browser)", people).fit()
    peer = fitted.compare_f_test(statsmodels.ols("wrong ~ C(model)", people).fit())

    test = found_of(data)["test"]

    assert (test["F"], test["p"]) == pytest.approx(peer[:2], rel=1e-9)


def test_the_test_of_engines_agrees_with_least_squares_by_hand():
    data = [*rows("a", "Chromium", 6, 0.3, 1), *rows("a", "Firefox", 9, 0.35, 1)]
    answers = answers_of(data, "infinity")
    values = dict(
        zip(values_by_model(answers)["a"].evaluators, values_by_model(answers)["a"].numbers, strict=True)
    )
    first, second = (
        np.array([v for k, v in values.items() if name in k]) for name in ("Firefox", "Chromium")
    )
    pooled = (first.var() * 9 + second.var() * 6) / 13
    t = (first.mean() - second.mean()) / np.sqrt(pooled * (1 / 9 + 1 / 6))

    found = found_of(data)

    assert found["test"]["F"] == pytest.approx(t**2)
    assert found["test"]["df"] == [1, 13]
    assert found["engines"][0]["difference"] == pytest.approx(first.mean() - second.mean())


def test_engines_that_differ_are_warned_of():
    data = [*rows("a", "Chromium", 20, 0.3, 1), *rows("a", "Firefox", 20, 0.5, 1)]

    (warning,) = [text for text in score(data, "infinity")["warnings"] if "browsers" in text]

    assert "F(1, 38)" in warning
    assert "Firefox +" in warning


@pytest.mark.parametrize(
    "data",
    [
        [*rows("a", "Chromium", 5, 0.3, 1), *rows("b", "Chromium", 5, 0.3, 1)],
        [*rows("a", "Chromium", 5, 0.3, 1), *rows("a", "Firefox", 1, 0.3, 1)],
        [*rows("a", "Chromium", 5, 0.3, 1), *rows("b", "Firefox", 5, 0.3, 1)],  # a model each
    ],
)
def test_nothing_is_compared_where_nothing_can_be(data):
    found = found_of(data)

    assert found["test"] is None
    assert all(row["ci"] is None for row in found["engines"])


def test_how_shown_times_were_measured_is_told_by_engine():
    data = [*rows("a", "Chromium", 2, 0.3, 1), *rows("a", "Firefox", 1, 0.3, 1), *rows("a", "", 1, 0.3, 1)]
    kinds = {
        "Chromium": ["element", "element", "element", "worker_element"],
        "Firefox": ["worker_video"],
        "": [""],
    }
    counts = dict.fromkeys(kinds, 0)
    for row in data:
        of = kinds[row["browser"]]
        row["evidence"] = of[counts[row["browser"]] % len(of)]
        counts[row["browser"]] += 1

    engines = found_of(data)["engines"]

    assert {row["browser"]: row["evidence"] for row in engines} == {
        "Chromium": {"element": 0.75, "worker_element": 0.25}, "Firefox": {"worker_video": 1.0}, "": {},
    }  # fmt: skip
    assert formatting.evidence(engines[0]["evidence"]) == "browser 75%, clock and browser 25%"
    assert formatting.evidence({"worker": 0.5, "callback": 0.25, "later": 0.25}) == "clock 75%, later 25%"
    assert formatting.evidence({}) == "–"


def test_answers_without_browsers_say_nothing_of_them():
    data = [{k: v for k, v in row.items() if k != "browser"} for row in rows("a", "x", 3, 0.3, 1)]

    assert found_of(data) is None
    assert found_of([*rows("a", "", 3, 0.3, 1)]) is None


def played(world, engine, flags=()):
    agent = next(agent for agent, name in AGENTS.items() if name == engine)
    player = world.player(device={"user_agent": agent, "cores": 4})
    player.begin()
    player.answer(flags=list(flags))
    return player.play()


def test_mistimed_flashes_are_told_by_browser_in_status_scores_and_export(each_world, tmp_path):
    world = each_world
    study = world.add(studies.study(method="time", models=("gan",), images=4, blocks=1, spare_images=4))
    played(world, "Chromium")
    played(world, "Firefox", flags=["mistimed"])
    played(world, "")

    told = progress.progress(world.store, study)["mistimed"]
    found = study_findings(world.store, study, world.clock())["findings"]

    expected = [
        {"browser": "", "sessions": 1, "responses": 4, "mistimed": 0, "share": 0.0},
        {"browser": "Chromium", "sessions": 1, "responses": 4, "mistimed": 0, "share": 0.0},
        {"browser": "Firefox", "sessions": 1, "responses": 4, "mistimed": 1, "share": 0.2},
    ]
    assert told["by_browser"] == expected == found["mistimed"]
    assert "unknown browsers 0.0%, Chromium 0.0%, Firefox 20.0%" in progress.as_text(
        progress.progress(world.store, study)
    )
    assert {row["browser"] for row in found["browsers"]["engines"]} == {"", "Chromium", "Firefox"}
    with open(export(world.store, study, tmp_path / "out")[0], encoding="utf-8") as file:
        assert {row["browser"] for row in csv.DictReader(file)} == {"", "Chromium", "Firefox"}


def test_retention_keeps_the_engine_and_nothing_else_of_a_device(each_world):
    world = each_world
    study = world.add(studies.study(method="time", models=("gan",), images=4, blocks=1, keep_days=1))
    played(world, "Firefox")
    world.clock.move(days=2)

    for _ in range(2):
        due = retention.due(world.store, study, world.clock())
        retention.apply(world.store, due, world.clock())

    ((session, _),) = world.store.sessions("faces")
    assert (session.panel, session.device) == ({}, {"engine": "Firefox"})
    assert len(retention.due(world.store, study, world.clock())) == 0
    assert (
        study_findings(world.store, study, world.clock())["findings"]["mistimed"][0]["browser"] == "Firefox"
    )
