"""The terminal prints what the page shows: the same sections, with every number in the same form."""

import re
from collections import Counter
from functools import cache
from html import unescape
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import backend.report
from backend.analysis.agreement.across_judgments import across_judgments
from backend.analysis.agreement.item_agreement import agreement
from backend.analysis.agreement.opinion_scores import OpinionScores, opinion_agreement
from backend.analysis.table.response_rows import answers_of
from backend.report import across_judgments as across_report
from backend.report import agreement as agreement_report
from backend.report import calibration, opinion_scores, page, published
from backend.report.build import ReportOptions, study_info
from backend.report.compose import compose, compose_scores
from backend.report.drawing import Drawing
from backend.report.elements import Column, Report, Section, Table
from backend.report.findings import FindingsOptions, findings, score_findings
from backend.report.study_findings import study_findings
from backend.report.text_report import as_brief_text, as_sections, as_text
from backend.responses.study_looks import decide
from validate.agreement import Judges
from validate.calibration import votes_of_judges

from .. import answered, follow_ups, unscored_studies
from .. import sample_studies as studies
from ..analysis.test_constant_stimuli import simulated
from ..analysis.test_repeated import TABLE, judged
from ..metrics.test_study_metrics import kept_run
from ..responses.test_mixed_files import rows_of
from ..task.test_questions import AFTER, BEFORE, PAGES, QUESTIONS, post
from ..texts import INFO
from .test_calibration import data_of
from .test_judgment_reports import SEEN, TRIPLETS, looked, pairs
from .test_metrics import MODELS, tournament
from .test_picture_metrics import run

REPORT = Path(backend.report.__file__).parent
METRICS = {
    "FID": {"gan": 5.0, "vae": 8.0, "flow": 20.0, "net": 40.0},
    "recall": {"gan": 0.5, "vae": 0.75, "flow": 0.25},
}


def infinity():
    models = {**MODELS, "net@4000": 0.2, "net@9000": 0.45}
    rows = answered.infinity(models, 6, 24, **{"class": ["cat", "dog"]})
    return [
        {
            **row,
            "flags": "same_answer_notice" if i % 40 == 0 else "",
            "browser": ("chromium", "firefox")[int(row["evaluator"][-1]) % 2],
        }
        for i, row in enumerate(rows)
    ]


def unlike():
    """Return answers on models of which one varies far more between evaluators than the others."""
    rows = answered.infinity({"gan": 0.5, "vae": 0.2}, 12, 30, spread=0.0)
    return [*rows, *answered.infinity({"flow": 0.4}, 12, 30, spread=0.4)]


def of_pairs():
    return [
        {**row, "model": model, "evaluator": f"{model}-{row['evaluator']}"}
        for wrong, model in enumerate(MODELS)
        for row in pairs({"a": 2 * wrong, "b": 2 * wrong + 1, "c": 0}, pictures=8)
    ]


def unsure(rows):
    return [{**row, "response": "not_sure"} if i % 7 in (0, 2) else row for i, row in enumerate(rows)]


ANSWERS = {
    "infinity": lambda: answers_of(infinity(), "infinity"),
    "not sure": lambda: answers_of(unsure(infinity()), "infinity"),
    "pair, not sure": lambda: answers_of(unsure(of_pairs()), "pair"),
    "unlike": lambda: answers_of(unlike(), "infinity"),
    "one": lambda: answers_of(answered.infinity({"gan": 0.5}, 1, 20), "infinity"),
    "within": lambda: answers_of(judged(TABLE, each=20), "infinity"),
    "mixed": lambda: answers_of(rows_of(), "infinity"),
    "follow-ups": lambda: answers_of(follow_ups.rows(evaluators=4), "infinity"),
    "time": lambda: answers_of(
        answered.time({"gan": 2500, "vae": 300, "flow": 30}, 4, blocks=2, images=60), "time"
    ),
    "exposures": lambda: simulated(np.random.default_rng(1), evaluators=8, each=8),
    "pair": lambda: answers_of(of_pairs(), "pair"),
    "2afc": lambda: answers_of(TRIPLETS, "2afc"),
    "jnd": lambda: answers_of([*SEEN, *(looked(e, "t/1", "same") for e in "abc")], "jnd"),
    "jnd of two sets": lambda: answers_of(
        [
            looked(f"e{i}", f"{of}/{k}", "same" if (i + k) % n else "different")
            for of, n in (("s", 2), ("t", 4))
            for i in range(6)
            for k in range(4)
        ],
        "jnd",
    ),
    "tournament": lambda: answers_of(
        tournament({"gan": 3, "vae": 2, "flow": 1, "net": 0, "real": 4}, 12), "tournament"
    ),
}


def of_answers(answers):
    chosen = FindingsOptions({} if answers.method in ("2afc", "jnd") else METRICS)
    return compose(findings(answers, chosen), INFO)


def of_pictures():
    classes = [{"class": name, "models": run()["models"]} for name in ("cats", "dogs")]
    answers = answers_of(answered.infinity(MODELS, 3, 20), "infinity")
    runs = [run(classes=classes), kept_run()]
    return compose(findings(answers), type(INFO)(**{**vars(INFO), "picture_metrics": runs}))


def of_agreement():
    votes = votes_of_judges(np.full(20, 0.7), 3, np.random.default_rng(1))
    distances = {name: np.random.default_rng(i).random((20, 2)) for i, name in enumerate("ab")}
    return agreement_report.report(agreement(votes, distances), "lab", "2026-01-01", "1", True)


def of_areas():
    judges = Judges("jnd", mean=-0.9, noise=(2.0, 3.0))
    votes, distances = judges.study(60, 12, 3, np.random.default_rng(3), sets=2)
    data = agreement(votes, distances | {"tied": np.round(distances["a"])})
    return agreement_report.report(data, "lab", "2026-01-01", "1", True)


def of_opinions():
    rng = np.random.default_rng(1)
    scores, more = rng.random(40), {"sds": np.full(40, 0.5), "votes": np.full(40, 30.0)}
    opinions = OpinionScores(tuple(map(str, range(40))), scores, references=tuple("abcde" * 8), **more)
    metrics = {name: scores + rng.random(40) for name in ("a", "b", "c", "d", "e")}
    return opinion_scores.report(opinion_agreement(opinions, metrics), "lab", "2026-01-01", "1")


def of_two_judgments():
    rng, found = np.random.default_rng(3), {}
    for kind, mean in (("2afc", 0.0), ("jnd", -0.9)):
        votes, distances = Judges(kind, mean=mean, noise=(0.3, 0.8, 1.5, 3.0)).study(40, 8, 3, rng)
        found[kind] = agreement(votes, distances)
    studies = [{"name": kind, "kind": kind, "items": 40, "evaluators": 8} for kind in found]
    data = {**across_judgments(found), "studies": studies, "simulated": True}
    return across_report.report(data, "2026-01-01", "1")


REPORTS = {
    **{name: lambda make=make: of_answers(make()) for name, make in ANSWERS.items()},
    "metrics of pictures": of_pictures,
    "agreement": of_agreement,
    "areas": of_areas,
    "opinions": of_opinions,
    "two judgments": of_two_judgments,
    "calibration": lambda: calibration.report(data_of(), "2026-01-01", "1"),
    "published": published.report,
}


@cache
def report_named(name):
    return REPORTS[name]()


def of_study(world):
    """Return the report of a stored study with checks, a rule, questions, looks, and people who left."""
    counts = {"practice_images": 2, "picture_checks": 2, "instructed_checks": 2}
    rule = {"exclude_checks_below": 0.6}
    study = studies.replaced(
        studies.study(images=8, looks="5,6", **counts, **rule), pages=PAGES, questions=QUESTIONS
    )
    unscored_studies.add(world, study)
    for i in range(8):
        player = world.player()
        post(player, "before", BEFORE)
        if i in (3, 6):
            player.begin()
            player.answer()
            continue
        turns = count(i)
        unscored_studies.play(
            player,
            lambda kind, i=i, turns=turns: next(turns) % 4 != i % 3 if kind == "test" else i != 2,
            **({"surround": "forced_colors filter"} if i == 0 else {}),
        )
        post(player, "after", AFTER)
    decide(world.store, world.store.study(study.name), world.clock.now.isoformat(), is_closed=True)
    found = study_findings(world.store, study, world.clock.now)
    now = world.store.study(study.name)
    return compose(found, study_info(world.store, now, world.clock.now, ReportOptions()))


def sections_of_page(report):
    """Return the texts of the sections of a page by title, without drawings, pictures and markup."""
    drawn = {
        figure.name: Drawing(figure.name, "<svg></svg>", "<svg></svg>", b"") for figure in report.figures
    }
    found = {}
    for text in re.findall(r"<section .*?</section>", page.html(report, drawn=drawn), re.S):
        title = re.search(r"<h2[^>]*>(.*?)</h2>", text)[1]
        text = re.sub(
            r"<summary>.*?</summary>|<h[23].*?</h[23]>|<ul class=\"gallery.*?</ul>", "", text, flags=re.S
        )
        text = re.sub(r"</?(strong|span)\b[^>]*>", "", text)
        found[unescape(title)] = unescape(re.sub(r"<[^>]*>", " ", text))
    return found


def sections_of_text(text):
    """Return the sections that a terminal prints, by title."""
    parts = re.split(r"^(.+)\n=+\n", text.partition("\n\nTo bear in mind\n")[0], flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def numbers_of(text):
    """Return the words of a text that hold a digit, without the marks around them."""
    return {word.strip("()[],;:.“”") for word in text.split() if re.search(r"\d", word)}


def check(report):
    shown, printed = sections_of_page(report), sections_of_text(as_text(report))
    assert [*shown] == [*printed] == [section.title for section in report.sections]
    for title, text in shown.items():
        assert numbers_of(text) == numbers_of(printed[title]), title
        assert Counter(text.split()) == Counter(printed[title].split()), title
    assert len(numbers_of(" ".join(shown.values()))) > 20


@pytest.mark.parametrize("name", REPORTS)
def test_every_number_of_a_section_is_on_the_page_and_in_the_terminal_in_one_form(name):
    check(report_named(name))


def test_so_it_is_for_a_stored_study_with_checks_questions_and_people_who_left(world):
    report = of_study(world)

    check(report)
    titles = {section.title for section in report.sections}
    assert {
        "Attention checks and exclusion",
        "Questions to the evaluators",
        "Who began and who finished",
    } <= titles


def test_all_sections_that_there_are_have_been_compared(world):
    """A section of a new module needs a sample here."""
    reports = [*map(report_named, REPORTS), of_study(world)]

    seen = {section.id for report in reports for section in report.sections}
    source = "".join(path.read_text("utf-8") for path in REPORT.rglob("*.py"))
    assert seen == {*re.findall(r'\bSection\(\s*"([a-z-]+)"', source)}


def test_the_bias_of_an_area_from_few_pairs_is_said_with_the_average_precision():
    report = report_named("areas")

    text = as_sections(report, 200)

    data = report.data["agreement"]
    best = max((row for row in data["metrics"] if row["column"] == "average"), key=lambda row: row["score"])
    assert f"From 60 pairs, this area is expected to be about {best['bias']:.0f} points too high" in text
    assert f"the average precision is {best['average_precision']['score']:.1f} [" in text


@pytest.mark.parametrize("name", ANSWERS)
def test_the_short_text_is_a_part_of_the_whole_one(name):
    answers = ANSWERS[name]()

    brief = as_brief_text(compose_scores(score_findings(answers)))
    report = report_named(name)
    whole = as_text(report).splitlines()

    head, *lines = brief.partition("\n\nTo bear in mind\n")[0].splitlines()
    assert head == dict(report.facts)["Method"]
    assert [line for line in lines if line not in whole] == []
    assert sum(map(len, lines)) < sum(map(len, whole)) / 2


def table_of(*texts, **more):
    columns = (Column("name", lambda row: row["text"], is_number=False), Column("n", lambda row: row["n"]))
    return Table("t", "Names.", columns, [{"text": text, "n": "7"} for text in texts], **more)


def printed(*tables, width=None, **more):
    return as_sections(Report("", "", (), (), (Section("s", "Some", (), tables=tables, **more),)), width)


def test_numbers_are_aligned_to_the_right_and_names_to_the_left():
    assert printed(table_of("a", "longer")).splitlines()[3:] == [
        "Names.", "name    n", "a       7", "longer  7",
    ]  # fmt: skip


def test_rows_that_the_page_leaves_out_are_counted():
    assert printed(table_of("a", "b", "c", shown=2)).splitlines()[-2:] == ["b     7", "2 of 3 rows."]
    assert printed(table_of("a", shown=0)).splitlines()[3:] == ["Names."]


def test_texts_of_others_cannot_control_the_terminal():
    text = printed(table_of("a\x1b[2J\nb"), notes=("\x9b31m\r",))

    assert text.isascii() is False
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    assert "a�[2J b" in text


def test_sentences_are_wrapped_at_the_width_of_a_terminal_and_tables_are_not():
    text = printed(table_of("a" * 30), width=20, notes=("one two three four five six",))

    assert text.splitlines()[-2:] == ["one two three four", "five six"]
    assert "a" * 30 + "  7" in text.splitlines()
