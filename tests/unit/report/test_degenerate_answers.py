"""Answers that show little get no interval, rather than one of no width, and no verdict without a test."""

import json
import math
import re

import pytest

from backend.analysis.table.response_rows import answers_of
from backend.foundation.errors import InvalidInput
from backend.report import page, table_files
from backend.report.build import leaderboard_of
from backend.report.compose import compose, compose_scores
from backend.report.findings import FindingsOptions, findings, score_findings
from backend.report.judgment_report import report_of
from backend.report.leaderboard import Entry
from backend.report.text_report import as_brief_text, as_text
from validate.inferences import INFERENCES

from ..texts import INFO
from .degenerate import JUDGMENTS, KINDS, MODELS, NOT_OF, rows_of
from .test_inferences import NOW

METRICS = {
    "FID": dict.fromkeys((*MODELS, "real"), 5.0),
    "KID": dict(zip(MODELS, (1.0, 2.0, 4.0), strict=True)),
}
PERCENTILE = next(one for one in INFERENCES if one.what.startswith("percentile interval")).names.split()
"""Names of the papers' intervals, which have no width where evaluators do not differ."""
INTERVAL = re.compile(r"(.*\.)?(\w+_)?ci(_\w+)?")
NO_NUMBER = re.compile(r"(?<![\w])(nan|NaN|[+-]?inf|Infinity|None(?! of))(?![\w])")


def numbers_of(value, path=""):
    """Yield the dotted name and value of everything in plain data."""
    yield path, value
    if isinstance(value, dict):
        for key, cell in value.items():
            yield from numbers_of(cell, f"{path}.{key}" if path else key)
    elif isinstance(value, list | tuple):
        for cell in value:
            yield from numbers_of(cell, path)


def wrong_in(data):
    """Return the numbers that are not finite, intervals without width, and p-values beyond 0 and 1."""
    return [
        (path, value)
        for path, value in numbers_of(data)
        if (isinstance(value, float) and not math.isfinite(value))
        or (INTERVAL.fullmatch(path) and _has_no_width(value) and not _is_papers(path, data))
        or (re.search(r"(^|[._])p(_\w+)?$", path) and isinstance(value, float) and not 0 <= value <= 1)
    ]


def _has_no_width(value):
    is_pair = isinstance(value, list | tuple) and len(value) == 2
    ends = value if is_pair and all(isinstance(end, int | float) for end in value) else ()
    return bool(ends) and ends[1] - ends[0] <= 1e-9 * abs(ends[1])


def _is_papers(path, data):
    return path in PERCENTILE and data["method"] != "tournament"


def texts_of(report):
    """Yield what a report prints, and its tables' files."""
    yield as_text(report)
    markup = page.html(report)
    yield re.sub(r"<(script|style|svg)\b.*?</\1>", "", markup, flags=re.DOTALL)
    for table in report.tables:
        yield table_files.as_csv(table)
        yield table_files.as_markdown(table)
        yield table_files.as_latex(table)
        assert "{'" not in table_files.as_csv(table)
        json.loads(table_files.as_json(table), parse_constant=pytest.fail)


def check(method, kind, has_pages):
    """Check the numbers of a study, its brief text, and its pages and tables if wanted."""
    answers = answers_of(rows_of(method, kind), method)
    of_items = method in ("2afc", "jnd")
    data = findings(answers, FindingsOptions({} if of_items else METRICS))

    json.dumps(data, allow_nan=False)
    assert wrong_in(data) == []
    if any(_has_no_width(row["ci"]) for row in data["models"]):
        assert "have the same value, so that the percentile interval has no width" in " ".join(
            data["warnings"]
        )
    brief = as_brief_text(compose_scores(score_findings(answers)))
    for text in (brief, *(texts_of(compose(data, INFO)) if has_pages else ())):
        assert NO_NUMBER.findall(text) == []
    if not data["pairs"]:
        assert "significant difference" not in brief
    if has_pages and report_of(method).has_leaderboard:
        usual = findings(answers_of(rows_of(method, "as usual"), method))
        board = leaderboard_of([Entry("a", "", data), Entry("b", "", usual)], "", NOW)
        for text in texts_of(board):
            assert NO_NUMBER.findall(text) == []


FAST = ("all right", "identical evaluators")


@pytest.mark.parametrize("method", JUDGMENTS)
@pytest.mark.parametrize("kind", FAST)
def test_answers_without_differences_have_no_interval_without_width(method, kind):
    data = findings(answers_of(rows_of(method, kind), method))

    json.dumps(data, allow_nan=False)
    assert wrong_in(data) == []


def test_ties_alone_have_no_interval_without_width():
    data = findings(answers_of(rows_of("tournament", "all ties"), "tournament"))

    assert wrong_in(data) == []
    assert [row["ci"] for row in data["models"]] == [None] * 4
    assert "all answers are ties" in data["warnings"][0]


@pytest.mark.slow("scores 160 studies, and writes reports of 40")
@pytest.mark.parametrize("method", JUDGMENTS)
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_shows_little_has_finite_numbers_and_no_interval_without_width(method, kind):
    # pages of two judgments a kind, and of a quarter of the kinds a judgment
    has_pages = ([*JUDGMENTS].index(method) + [*KINDS].index(kind)) % 4 == 0
    if why := NOT_OF.get((method, kind)):
        with pytest.raises(InvalidInput, match=why):
            check(method, kind, has_pages)
    elif rows_of(method, kind):  # there is none of one model in a tournament, or of ties elsewhere
        check(method, kind, has_pages)


def test_such_numbers_would_be_noticed():
    data = {
        "method": "infinity",
        "models": [{"ci": [1, 1], "interval": {"ci": [5.0, 5.0]}, "p": 1.5}],
        "x": math.inf,
    }

    assert [path for path, _ in wrong_in(data)] == ["models.interval.ci", "models.p", "x"]
    assert NO_NUMBER.findall("nan, None, -inf of HYPE-infinity; None of 3 pairs; Inference") == [
        "nan",
        "None",
        "-inf",
    ]
