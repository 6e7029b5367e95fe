"""Automatic metrics in reports: every judgment that scores models has the section, others do not."""

import json
from dataclasses import replace
from random import Random

import pytest

from backend.analysis.scores import Options
from backend.analysis.table.response_rows import answers_of
from backend.report import metrics, page, table_files
from backend.report.compose import compose
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Report
from backend.report.figures import relations
from backend.report.findings import FindingsOptions, findings
from backend.scoring import score_answers

from .. import answered, texts
from ..metrics.test_study_metrics import kept_run
from .test_judgment_reports import TRIPLETS, looked, pairs

INFO = SourceInfo("title", "source", "2026-01-01", "0")
MODELS = {"gan": 0.5, "vae": 0.35, "flow": 0.2, "net": 0.05}
HOSTILE = '<script>x</script> & "$5_000" \\input{x} [a](b) | c'


def found_of(rows, values, method=None, **options):
    answers = answers_of(rows, method or rows[0]["method"])
    return findings(answers, FindingsOptions(values), **options)


def section_of(found):
    (one,) = [section for section in compose(found, INFO).sections if section.id == "metrics"] or [None]
    return one


def unnamed(rows):
    """Return answers that name no stimuli, for which findings take less time."""
    return [{**row, "stimulus": ""} for row in rows]


def light(models, values, **options):
    """Return scores with no other findings than metrics."""
    answers = answers_of(unnamed(answered.infinity(models, **options)), "infinity")
    scores = score_answers(answers)
    made = metrics.metric_rows(answers, scores, values, Options())
    return FindingsView({**scores, "findings": {"models": scores["models"], "metrics": made}})


def tournament(strengths, evaluators=30):
    """Return rows of a tournament of the models with the reals; the stronger wins more often."""
    rng, rows = Random(3), []
    names = [*strengths]
    for person in range(evaluators):
        for i, left in enumerate(names):
            for right in names[i + 1 :]:
                wins = rng.random() < 0.5 + 0.12 * (strengths[left] - strengths[right])
                rows.append(
                    {
                        "method": "tournament",
                        "model": left,
                        "evaluator": f"e{person}",
                        "truth": "",
                        "response": "left" if wins else "right",
                        "left": left,
                        "right": right,
                    }
                )
    return rows


def constant_stimuli():
    return [
        {**row, "exposure_ms": (100, 500)[i % 4 // 2], "block": 0}
        for i, row in enumerate(unnamed(answered.infinity(MODELS, evaluators=4, images=40)))
    ]


ROWS = {
    "infinity": lambda: unnamed(answered.infinity(MODELS, evaluators=6, images=60)),
    "time": lambda: unnamed(
        answered.time({name: 900 * rate + 100 for name, rate in MODELS.items()}, 4, blocks=1, images=60)
    ),
    "exposures": constant_stimuli,
    "pair": lambda: [
        {**row, "model": model, "evaluator": f"{model}-{row['evaluator']}"}
        for wrong, model in enumerate(reversed(MODELS))
        for row in pairs({"a": 2 * wrong, "b": 2 * wrong + 1, "c": 2 * wrong}, pictures=8)
    ],
    "tournament": lambda: tournament({"gan": 3, "vae": 2, "flow": 1, "net": 0, "real": 4}),
}


@pytest.mark.parametrize("method", ROWS)
def test_every_judgment_of_models_has_the_section_with_table_figure_and_text(method):
    values = {"FID": {"gan": 5.0, "vae": 8.0, "flow": 20.0, "net": 40.0}}

    found = found_of(ROWS[method](), values, method)
    section = section_of(found)

    (row,) = found["findings"]["metrics"]
    assert (row["rho"], row["models"], row["without"]) == (-1, 4, [])  # the reals are no model
    assert row["resamples"] == 2000
    assert row["models_ci"] == [-1, pytest.approx(0.19, abs=0.04)]
    assert [figure.name for figure in section.figures] == ["metrics"]
    assert section.tables[0].cells[0][:2] == ["FID ↓", "−1.00"]
    assert section.figures[0].draw(3.5).axes
    assert "over 4 models" in section.paragraphs[0]
    assert "FID ↓: Spearman's ρ = −1.00, p " in texts.of_findings(found)
    assert json.loads(json.dumps(found["findings"]["metrics"], allow_nan=False)) == [row]


@pytest.mark.parametrize("rows", [TRIPLETS, [looked("a", "s/1", "same"), looked("b", "s/1", "same")]])
def test_sets_of_items_have_no_metrics_of_models(rows):
    found = found_of(rows, {"FID": {"s": 1.0}})

    assert "metrics" not in found["findings"]
    assert section_of(found) is None
    assert metrics.TITLE not in texts.of_findings(found)


def test_without_metrics_there_is_no_section():
    assert metrics.section(light(MODELS, {}, evaluators=3, images=20)) is None


def test_two_models_are_shown_and_said_to_be_too_few():
    found = light({"gan": 0.5, "vae": 0.2}, {"FID": {"gan": 5.0, "vae": 9.0}}, evaluators=4, images=30)

    section = metrics.section(found)

    assert section.paragraphs == (
        "How far each metric orders the models as people do, over 2 models. A rank correlation takes three "
        "models.",
    )
    assert (section.tables, section.model_notes) == ((), ())
    assert len(section.figures[0].table.rows) == 2


def test_what_all_metrics_share_is_said_once():
    models = {"gan": 0.5, "vae": 0.3, "net": 0.1}
    values = {
        name: dict(zip(models, numbers, strict=True))
        for name, numbers in {
            "FID": (1.0, 2.0, 3.0),
            "KID": (2.0, 1.0, 3.0),
            "recall": (3.0, 2.0, 1.0),
        }.items()
    }

    found = light(models, values, evaluators=4, images=30)
    section = metrics.section(found)

    shown = " ".join(
        [*section.paragraphs, *(sentence for _, sentence in section.model_notes), *section.notes]
    )
    why = "3 models are too few; it takes 4"
    assert shown.count(why) == 1
    assert section.paragraphs[0].endswith(
        "Agreement is a negative ρ for a metric marked ↓, of which lower is better, and a positive ρ for a "
        "metric marked ↑, of which higher is better."
    )
    assert [name for name, _ in section.model_notes] == ["FID ↓", "KID ↓", "recall ↑"]


def test_a_reason_of_one_metric_alone_stands_beside_it():
    rates = {"gan": 0.5, "vae": 0.3, "net": 0.1, "flow": 0.2}
    all_four = {"gan": 1.0, "vae": 2.0, "net": 4.0, "flow": 3.0}
    three = {model: value for model, value in all_four.items() if model != "flow"}

    found = light(
        rates, {"m": all_four, "n": three, "same": dict.fromkeys(rates, 1.0)}, evaluators=4, images=30
    )
    notes = dict(metrics.section(found).model_notes)

    why = "3 models are too few; it takes 4"
    assert [why in notes[name] for name in ("m", "n")] == [False, True]
    assert notes["same"] == "no rank correlation from 4 models: all models have the same value."
    assert " ".join(notes.values()).count(why) == 1


def test_pictures_values_stand_before_scores_beside_metrics():
    found = found_of(ROWS["infinity"](), {"FID": {"gan": 5.0, "vae": 8.0, "flow": 20.0}}, "infinity")

    ids = [section.id for section in compose(found, replace(INFO, picture_metrics=[kept_run()])).sections]

    assert ids.index("picture-metrics") + 1 == ids.index("metrics")


def test_names_beside_points_run_over_fewer_intervals_of_others():
    points = [
        {"model": "a", "value": 0.0, "score": 40.5, "ci": [39.0, 52.0]},  # at its left there is no room
        {"model": "b", "value": 0.25, "score": 37.0, "ci": [35.0, 42.0]},
        {"model": "c", "value": 0.5, "score": 41.0, "ci": [36.0, 46.0]},
        {"model": "d", "value": 1.0, "score": 20.0, "ci": [18.0, 22.0]},
    ]

    drawn = relations.metrics(
        [{"metric": "Kernel distance (layout-1)", "rho": -1.0, "points": points}] * 3, "", 7
    )

    sides = {text.get_text(): text.get_ha() for text in drawn.axes[0].texts}
    assert sides == {"a": "left", "b": "right", "c": "left", "d": "right"}  # right-aligned ones run left
    assert drawn.axes[0].get_title().startswith("Kernel distance (layout-1)\n")


def test_hostile_names_are_text_everywhere():
    models = {f"{HOSTILE} {i}": rate for i, rate in enumerate((0.5, 0.3, 0.1))}
    values = {HOSTILE: dict(zip(models, (1.0, 2.0, 3.0), strict=True))}

    section = metrics.section(light(models, values, evaluators=4, images=30))

    report = Report("title", "", (), (), (section,))
    assert "<script" not in page.html(report)
    assert "\\input{x}" not in table_files.as_latex(section.tables[0])


def test_sixty_metrics_draw_twelve_and_list_all():
    rng = Random(1)
    values = {f"metric {i}": {model: rng.random() for model in MODELS} for i in range(60)}

    section = metrics.section(light(MODELS, values, evaluators=4, images=40))

    assert len(section.tables[0].rows) == 60
    assert "The first 12 of 60 metrics." in section.figures[0].caption
    assert len(section.figures[0].draw(7).axes) == 12
    assert len(section.figures[0].table.rows) == 240


@pytest.mark.parametrize(("models", "marks"), [(6, "m0"), (7, "7"), (30, "")])
def test_points_have_names_numbers_or_nothing(models, marks):
    rates = {f"m{i}": 0.02 * i for i in range(models)}
    found = light(rates, {"m": {model: i for i, model in enumerate(rates)}}, evaluators=3, images=40)

    drawn = metrics.section(found).figures[0].draw(7)

    assert marks in [text.get_text() for text in drawn.axes[0].texts]
    assert bool(drawn.legends) == (marks == "7")


def test_a_table_in_a_paper_has_greek_letters_arrows_and_full_precision_beside_it():
    values = {"FID": {"gan": 5.0, "vae": 8.0, "flow": 20.0, "net": 40.0}}

    section = metrics.section(light(MODELS, values, evaluators=6, images=60))

    latex, sheet = (form(section.tables[0]) for form in (table_files.as_latex, table_files.as_csv))
    assert "FID $\\downarrow$" in latex
    assert "Kendall's $\\tau$" in latex
    head, line = sheet.splitlines()
    cells = dict(zip(head.split(","), line.split(","), strict=True))
    assert (cells["direction"], cells["rho"], cells["models"]) == ("lower", "-1.0", "4")
    assert {"evaluators_ci_low", "models_ci_high", "tau_models_ci_low", "stability"} <= {*cells}


def test_the_same_data_give_the_same_numbers():
    values = {"m": {"gan": 2.0, "vae": 1.0, "flow": 3.0, "net": 4.0}}

    first, again = (
        light({**MODELS, "vae": 0.45}, values, evaluators=8, images=30).findings["metrics"] for _ in range(2)
    )

    assert first == again
    assert first[0]["evaluators_ci"][0] < first[0]["evaluators_ci"][1]
