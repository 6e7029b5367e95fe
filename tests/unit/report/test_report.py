"""Reports say what the findings say: every number, every name, whatever the data."""

import csv
import gzip
import io
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from backend.analysis.models.psychometric import limited
from backend.analysis.table.response_rows import answers_of
from backend.report import comparisons, drawing, formatting, page, table_files
from backend.report.compose import compose
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import LONG, Column, Table
from backend.report.findings import findings
from backend.report.images import extremes
from backend.report.leaderboard import Entry, leaderboard
from backend.report.write import write
from validate.studies import InfinityPopulation, multi_model_study

from .. import answered

ABOUT = SourceInfo("Faces", "responses.csv", "2026-03-01", "0.1.0")
METRICS = {"fid": {"stylegan": 5.0, "progan": 8.0, "began": 40.0}}
HOSTILE = '<script>alert(1)</script> & "$5_000" \\input{x} 100% [a](b) | c'


def report_of(rows, method="infinity", metrics=None, **options):
    about = SourceInfo(**{**vars(ABOUT), "metrics": metrics or {}})
    return compose(answered.found(rows, method, metrics, **options), about)


@pytest.fixture(scope="module")
def infinity():
    models = {**answered.INFINITY, "net@4000": 0.2, "net@9000": 0.45}
    return report_of(answered.infinity(models, evaluators=20, **{"class": ["cat", "dog"]}), metrics=METRICS)


@pytest.fixture(scope="module")
def time():
    return report_of(answered.time(evaluators=4, blocks=2, images=100), "time")


@pytest.fixture(scope="module")
def pages(infinity, time):
    """The pages of both."""
    return page.html(infinity), page.html(time)


class Reader(HTMLParser):
    """What a page holds: its text, its tags, and what they would load."""

    def __init__(self, text):
        super().__init__()
        self.text, self.tags, self.loads, self.ids, self.style = [], [], [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.style = tag == "style"
        for name, value in attributes:
            if name in ("src", "srcset", "poster", "data", "action") or (name == "href" and tag == "link"):
                self.loads.append(value)
            if name == "id":
                self.ids.append(value)

    def handle_data(self, data):
        if not self.style:
            self.text.append(data)


def test_the_page_has_every_section_figure_and_table_of_its_data(infinity, time):
    assert [section.id for section in infinity.sections] == [
        "scores", "pairs", "chance", "progress", "metrics", "classes", "precision", "pictures", "difficulty",
        "drift", "evaluators",
        "settings",
    ]  # fmt: skip
    assert [figure.name for figure in infinity.figures] == [
        "scores", "pairs", "progress", "metrics", "width", "evaluators",
    ]  # fmt: skip
    assert [figure.name for figure in time.figures] == [
        "scores", "pairs", "staircases", "psychometric", "width", "evaluators",
    ]  # fmt: skip


@pytest.mark.slow("draws every figure")
def test_every_figure_has_its_table_on_the_page(infinity, time, pages):
    for report, html in zip((infinity, time), pages, strict=True):
        text = "".join(Reader(html).text)

        for figure in report.figures:
            assert figure.table.rows
            assert figure.table.caption in text
            first = figure.table.cells[0]
            assert all(cell in text for cell in first)


def test_a_long_table_is_written_once_and_compressed(tmp_path):
    rows = [
        {"model": "m", "evaluator": f"e{i % 3}", "truth": "fake", "response": "real", "stimulus": f"{i}.png"}
        for i in range(LONG + 1)
    ]
    report = compose(findings(answers_of(rows, "infinity"), in_columns=True), ABOUT)

    write(report, tmp_path)

    assert [path.name for path in tmp_path.glob("tables/images.*")] == ["images.csv.gz"]
    packed = (tmp_path / "tables" / "images.csv.gz").read_bytes()
    written = [*csv.DictReader(io.StringIO(gzip.decompress(packed).decode()))]
    assert [row["image_path"] for row in written] == [
        row["image_path"] for row in report.data["findings"]["images"]
    ]
    (table,) = (table for table in report.tables if table.name == "images")
    assert table_files.as_compressed_csv(table) == packed
    data = json.loads((tmp_path / "report.json").read_text())
    assert data["files"] == {"images": "tables/images.csv.gz"}
    assert "images" not in data["findings"]
    assert data["models"] == report.data["models"]
    assert 'href="tables/images.csv.gz"' in (tmp_path / "index.html").read_text()


@pytest.mark.slow("draws every figure")
def test_a_short_table_stands_in_the_json_of_a_report(infinity, tmp_path):
    write(infinity, tmp_path)

    assert json.loads((tmp_path / "report.json").read_text()) == infinity.data


def test_the_table_of_models_says_the_numbers_of_the_json(infinity):
    (table,) = (table for table in infinity.tables if table.name == "models")
    rows = infinity.data["models"]

    written = [*csv.DictReader(io.StringIO(table_files.as_csv(table)))]
    assert [row["model"] for row in written] == [row["model"] for row in rows]
    assert [float(row["score"]) for row in written] == [row["score"] for row in rows]
    assert [float(row["ci_low"]) for row in written] == [row["ci"][0] for row in rows]
    assert [cells[1] for cells in table.cells] == [f"{row['score']:.1f}" for row in rows]
    assert [row["score"] for row in json.loads(table_files.as_json(table))["rows"]] == [
        row["score"] for row in rows
    ]


@pytest.mark.slow("draws every figure")
def test_the_page_prints_the_tests_of_the_json(infinity, pages):
    anova = infinity.data["anova"]
    text = "".join(Reader(pages[0]).text)

    assert anova["df"] == [4, 5 * 20 - 5]
    assert f"F(4, 95) = {anova['F']:.2f}, p < .001" in text
    assert "4 × 30 − 4 = 116" in text


def test_a_page_loads_nothing_and_runs_nothing(pages):
    for text in pages:
        reader = Reader(text)

        assert [url for url in reader.loads if not url.startswith("data:")] == []
        assert "script" not in reader.tags
        assert "@import" not in text
        assert re.findall(r"url\((?!#)[^)]*\)", text) == []
        assert "default-src 'none'" in text


@pytest.mark.slow("draws every figure")
def test_ids_of_a_page_are_its_own(infinity):
    ids = Reader(page.html(infinity, files=True)).ids

    assert len(ids) == len(set(ids))


@pytest.mark.slow("makes two whole reports")
def test_the_same_data_give_the_same_bytes(infinity, pages):
    figure = infinity.figures[0]

    assert drawing.svg(figure) == drawing.svg(figure)
    assert drawing.png(figure) == drawing.png(figure)
    assert page.html(infinity) == pages[0]


def test_text_of_a_figure_is_text_and_its_colours_are_the_pages(infinity):
    figure = infinity.figures[0]

    inline, alone = drawing.inline_svg(figure), drawing.svg(figure)
    assert ">stylegan</text>" in alone
    assert "#1f5f8b" in alone
    assert "var(--accent)" in inline
    assert re.findall(r"(?:fill|stroke): #[0-9a-f]{6}", inline) == []


@pytest.mark.slow("draws every figure")
def test_drawing_leaves_the_settings_of_matplotlib_alone(infinity):
    import matplotlib

    before = dict(matplotlib.rcParams)
    drawing.svg(infinity.figures[0])

    assert dict(matplotlib.rcParams) == before
    program = (
        "import sys; from tests.unit import answered; from backend.report import drawing;"
        "from tests.unit.report.test_report import report_of;"
        "drawing.svg(report_of(answered.infinity(evaluators=2, images=10)).figures[0]);"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_there_is_a_page_of_one_model_and_one_evaluator_with_a_hostile_name(tmp_path):
    report = report_of(answered.infinity({HOSTILE: 0.3}, evaluators=1))

    files = write(report, tmp_path)

    assert files[-1] == tmp_path / "index.html"
    assert "nan" not in (tmp_path / "index.html").read_text("utf-8").replace("nance", "")
    names = {figure.name for figure in report.figures}
    assert {path.stem for path in tmp_path.glob("figures/*")} == names


@pytest.mark.parametrize(
    "rows",
    [
        answered.infinity({"only": 0.3}, evaluators=5),
        answered.infinity({"only": 0.3}, evaluators=1),
        answered.infinity({"a": 0.3, "b": 0.5}, evaluators=1),
        answered.infinity({"a": 0.0, "b": 0.0}, evaluators=3, spread=0),
        answered.infinity({"a": 1.0}, evaluators=2, spread=0, images=2),
        answered.infinity({HOSTILE: 0.3, "b": 0.4}, evaluators=3),
        [
            {name: row[name] for name in ("model", "evaluator", "truth", "response")}
            for row in answered.infinity(evaluators=2)
        ],
    ],
    ids=["one model", "one evaluator", "no tests", "constant", "all wrong", "hostile", "bare columns"],
)  # fmt: skip
@pytest.mark.slow("writes a whole report of each")
def test_whatever_the_data_there_is_a_page_with_its_files(rows, tmp_path):
    report = report_of(rows)

    files = write(report, tmp_path)

    assert files[-1] == tmp_path / "index.html"
    assert all(path.stat().st_size for path in files)
    assert "nan" not in (tmp_path / "index.html").read_text("utf-8").replace("nance", "")
    assert {path.suffix for path in tmp_path.glob("tables/*")} == {".csv", ".json", ".md", ".tex"}
    names = {figure.name for figure in report.figures}
    assert {path.stem for path in tmp_path.glob("figures/*")} == names


@pytest.mark.parametrize(
    "rows",
    [
        answered.time({"only": 300}, evaluators=1, blocks=1, images=40),
        answered.time({"a": 300, "b": 90}, evaluators=2, blocks=1, images=20),
    ],
    ids=["one evaluator", "few trials"],
)  # fmt: skip
@pytest.mark.slow("draws every figure")
def test_whatever_the_exposures_there_is_a_page(rows):
    text = page.html(report_of(rows, "time"))

    assert "HYPE-time" in text


@pytest.mark.slow("draws forty models")
def test_forty_models_are_drawn_as_a_matrix_and_a_bundle():
    models = {f"model {i}": i / 80 for i in range(40)}
    report = report_of(answered.infinity(models, evaluators=2, images=2))

    text = page.html(report)
    assert "780 pairs" in text
    assert "(widest)" in text


def test_a_hostile_name_is_a_name_everywhere():
    report = report_of(answered.infinity({HOSTILE: 0.3, "b": 0.4}, evaluators=3))
    (table,) = (table for table in report.tables if table.name == "models")

    text = page.html(report)
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    latex = table_files.as_latex(table)
    assert r"\textless{}script\textgreater{}" in latex
    assert r"\& \textquotedbl{}\$5\_000\textquotedbl{} \textbackslash{}input\{x\} 100\%" in latex
    assert "&lt;script&gt;" in table_files.as_markdown(table)
    assert r"\[a\](b) \| c" in table_files.as_markdown(table)


def test_a_name_that_is_a_formula_is_text_in_a_csv_and_itself_in_json():
    formula = '=HYPERLINK("http://x.example")'
    report = report_of(answered.infinity({formula: 0.3, "-2+3": 0.4}, evaluators=3))
    (table,) = (table for table in report.tables if table.name == "models")

    rows = list(csv.DictReader(io.StringIO(table_files.as_csv(table))))

    assert {row["model"] for row in rows} == {f"'{formula}", "'-2+3"}
    assert {row["model"] for row in json.loads(table_files.as_json(table))["rows"]} == {formula, "-2+3"}


def test_a_negative_number_of_a_table_stays_one_in_csv():
    table = Table("t", "", (), [{"difference": -3.2, "ci": (-5.0, -1e-05), "at_ms": (-1, 2)}])

    assert table_files.as_csv(table).splitlines()[1] == "-3.2,-5.0,-1e-05,-1 2"


def table_of(*cells):
    columns = tuple(
        Column(f"c{i}", lambda row, i=i: row["cells"][i], is_number=i > 0) for i in range(len(cells))
    )
    return Table("t", "A caption: 50% & more", columns, [{"cells": cells}])


def test_a_latex_table_has_its_rules_and_as_many_cells_as_columns():
    text = table_files.as_latex(table_of("[0, 1]", "−3.2", "< .001"))

    lines = text.splitlines()
    assert r"\begin{tabular}{lrr}" in lines
    assert [line for line in lines if line.endswith("rule")] == [r"\toprule", r"\midrule", r"\bottomrule"]
    assert r"{[0, 1]} & $-$3.2 & \textless{} .001 \\" in lines
    assert r"\caption{A caption: 50\% \& more}" in lines


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex here")
def test_latex_tables_compile(infinity, tmp_path):
    body = "\n".join(table_files.as_latex(table) for table in infinity.tables if len(table.rows) < 40)
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs}\begin{document}"
    document = rf"{head}{body}\end{{document}}"
    (tmp_path / "t.tex").write_text(document, "utf-8")

    done = subprocess.run(["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.parametrize(
    ("p", "words"),
    [(0.0000001, "p < .001"), (0.0234, "p = .023"), (0.0999, "p = .10"), (0.4, "p = .40"), (1, "p > .99")],
)
def test_p_values_are_printed_as_journals_print_them(p, words):
    assert formatting.p_value(p) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (formatting.amount(-0.04), "0.0"),
        (formatting.amount(-3.25, "percent"), "−3.2%"),
        (formatting.interval([48.2, 53.1], "percent"), "48.2 to 53.1%"),
        (formatting.interval([350.0, None], "ms"), "350.0 ms or more"),
        (formatting.interval(None), "–"),
        (formatting.brackets([None, 512.0], 0), "[?, 512]"),
        (formatting.coefficient(-0.6), "−.60"),
        (formatting.coefficient(1.0), "1.00"),
        (formatting.degrees(116), "116"),
        (formatting.degrees(89.6), "89.6"),
        (formatting.listing(["a"]), "a"),
        (formatting.listing(["a", "b", "c"]), "a, b and c"),
        (formatting.short("a very long name@4000", 12), "a very…@4000"),
    ],
)
def test_numbers_read_well(text, words):
    assert text == words


def test_no_significant_difference_is_never_called_equal():
    report = report_of(answered.infinity({"a": 0.4, "b": 0.4}, evaluators=10))

    assert report.data["pairs"][0]["p"] > 0.05
    assert "do not differ significantly, which does not show them equal" in report.summary


def test_indistinguishable_is_said_only_by_the_test_of_equivalence():
    narrow = report_of(answered.infinity({"a": 0.5}, evaluators=40, spread=0.02))
    wide = report_of(answered.infinity({"a": 0.5}, evaluators=4, spread=0.2, seed=3))

    assert narrow.data["findings"]["models"][0]["chance"]["equivalence"]["p"] < 0.05
    assert "indistinguishable from real within 5 points" in narrow.summary
    assert wide.data["findings"]["models"][0]["chance"]["equivalence"]["p"] > 0.05
    assert "indistinguishable within" not in page.html(wide)


def test_verdicts_against_50_percent_follow_the_p_values_corrected_for_the_number_of_models():
    """53.57% of 700 answers: z = 1.91 and one-sided p = .028 alone, .056 of two models."""
    shares = (53, 54, 53, 54, 53, 54, 54)
    rows = [
        {"model": model, "evaluator": f"{model}{e}", "truth": truth, "response": said}
        for model in "ab"
        for e, wrong in enumerate(shares)
        for k in range(100)
        for truth in [("real", "fake")[k % 2]]
        for said in [truth if k >= wrong else ("fake", "real")[k % 2]]
    ]

    sections = [
        next(section for section in report_of(some).sections if section.id == "chance")
        for some in (rows, rows[: len(rows) // 2])
    ]

    of_two, alone = (dict(section.model_notes)["a"] for section in sections)
    assert alone.endswith("above 50% (p = .028): hyper-realistic to these people.")
    assert "neither shown to differ from 50%" in of_two
    assert [column.head for column in sections[0].tables[0].columns].count("p (Holm)") == 2
    assert not any(column.head == "p (Holm)" for column in sections[1].tables[0].columns)


def test_where_spreads_differ_games_and_howell_decide():
    rows = answered.infinity({"a": 0.5}, 20, spread=0.25) + answered.infinity({"b": 0.3}, 20, spread=0.01)
    found = FindingsView(answered.found([{**row, "stimulus": ""} for row in rows]))

    assert found.is_unequal
    assert found.deciding == "Games–Howell"
    assert found.pairs[0]["deciding_p"] == found.findings["games_howell"][0]["p"]
    assert found.pairs[0]["is_apart"] == (found.pairs[0]["deciding_p"] < 0.05)


def test_where_evaluators_saw_the_same_pictures_the_test_over_both_decides_and_is_told():
    population = InfinityPopulation(0.4, pictures=0.8, pool=30)
    found = FindingsView(findings(multi_model_study(population, 2, 20, np.random.default_rng(1))))

    over = found.data["over_pictures"]
    assert over["advised"]
    assert found.deciding == "over pictures too"
    assert found.pairs[0]["is_apart"] == (over["pairs"][0]["p"] < 0.05)
    assert "over people and pictures" in comparisons.section(found).paragraphs[0]


def test_a_picture_is_not_both_most_and_least_fooling():
    def row(name, wrong, of):
        error = wrong / of
        return {
            "model": "m", "generated": True, "image_path": name, "number_guesses": of,
            "number_guesses_generated": of - wrong, "error": error, "ci": [error - 1 / of, error + 1 / of],
        }  # fmt: skip

    rows = [row("a", 9, 10), row("b", 3, 3), row("c", 0, 9), row("d", 0, 3), row("e", 1, 2)]
    most, least = extremes(rows, "m")

    assert [one["image_path"] for one in most] == ["a", "b"]  # the sure one before the lucky one
    assert [one["image_path"] for one in least] == ["c", "d"]


def test_a_leaderboard_keeps_methods_apart_and_orders_by_score():
    entries = [
        Entry("first", "2026-01-01", answered.found(answered.infinity({"a": 0.5, "b": 0.2}, 4))),
        Entry("second", "", answered.found(answered.infinity({"a": 0.35}, 4))),
        Entry("flashes", "", answered.found(answered.time({"a": 200}, 3, 1, 60), "time")),
    ]

    board = leaderboard(entries, "Board", "2026-03-01", "0.1.0")

    infinity, time = board.sections
    assert [(row["model"], row["study"]) for row in infinity.lead.rows] == [
        ("a", "first"), ("a", "second"), ("b", "first"),
    ]  # fmt: skip
    assert [row["study"] for row in time.lead.rows] == ["flashes"]
    assert "%" not in time.lead.columns[3].head
    assert "Between studies the evaluators differ" in page.html(board)


def test_a_leaderboard_says_in_which_studies_people_could_be_not_sure():
    rows = answered.infinity({"a": 0.5}, 4)
    unsure = [{**row, "response": "not_sure"} if i % 4 == 0 else row for i, row in enumerate(rows)]
    entries = [Entry("decided", "", answered.found(rows)), Entry("doubted", "", answered.found(unsure))]

    (section,) = leaderboard(entries, "Board", "2026-03-01", "0.1.0").sections

    (column,) = (column for column in section.lead.columns if column.head == "not sure (%)")
    assert {row["study"]: column.text(row) for row in section.lead.rows} == {
        "decided": "–",
        "doubted": "25.0",
    }
    assert "could say so in doubted; it counts there as half an error, elsewhere" in section.notes[-1]
    (alone,) = leaderboard(entries[:1], "Board", "2026-03-01", "0.1.0").sections
    assert "not sure" not in " ".join([*alone.notes, *(column.head for column in alone.lead.columns)])


def test_where_half_do_not_come_to_the_threshold_that_of_all_answers_is_told():
    report = report_of(answered.time({"slow": 450, "fast": 120}, evaluators=8), "time")
    (table,) = (table for table in report.tables if table.name == "thresholds")

    slow, fast = table.rows
    own = [row["exposures"]["threshold_ms"] for row in report.data["findings"]["models"]]
    assert [one["advised"] for one in own] == ["pooled", "median"]
    pooled = report.data["findings"]["models"][0]["exposures"]["pooled"]
    shown = limited(pooled["threshold_ms"], pooled["ci"], pooled["shortest_ms"], pooled["longest_ms"])
    assert (slow["threshold_ms"], slow["threshold_ci"]) == (shown["ms"], shown["ci"])
    assert (fast["threshold_ms"], fast["threshold_censored"]) == (own[1]["median"], None)


def simulated_of(rows):
    return [{**row, "simulated": True} for row in rows]


@pytest.mark.slow("draws every figure")
def test_a_report_of_simulated_sessions_says_so_on_every_part(time, tmp_path):
    models = {"net@4000": 0.2, "net@9000": 0.45}
    report = report_of(simulated_of(answered.infinity(models, evaluators=5)), metrics=METRICS)

    assert "nobody looked at these pictures" in report.banner
    assert report.title == "Faces (simulated)"
    parts = [*report.tables, *report.figures]
    assert [part.name for part in parts if not part.caption.startswith("Simulated sessions. ")] == []
    assert "Simulated sessions. " in table_files.as_latex(report.tables[0])
    for figure in report.figures:
        assert ">simulated sessions</text>" in drawing.svg(figure)
    assert (time.banner, time.figures[0].stamp) == ("", "")
    assert "simulated sessions" not in drawing.svg(time.figures[0])
    assert json.loads(write(report, tmp_path)[-2].read_text())["simulated"] is True


def test_ranks_of_a_leaderboard_are_what_all_intervals_allow_at_once():
    clear = report_of(answered.infinity({"first": 0.6, "last": 0.1}, evaluators=20)).data
    close = report_of(answered.infinity({"a": 0.35, "b": 0.35}, evaluators=8, seed=2)).data
    alone = report_of(answered.infinity({"one": 0.3}, evaluators=1)).data
    entries = [
        Entry(name, "", data) for name, data in zip(("x", "y", "z"), (clear, close, alone), strict=True)
    ]

    board = leaderboard(entries, "Board", "2026-03-01", "0.1.0")

    (table,) = (section.lead for section in board.sections)
    assert {row["model"]: row["ranks"] for row in table.rows} == {
        "first": [1, 1], "a": [2, 3], "b": [2, 3], "last": [4, 4], "one": None,
    }  # fmt: skip
    assert {table.columns[0].text(row) for row in table.rows} == {"1", "2 to 3", "4", "–"}


def test_a_leaderboard_tells_the_simulated_studies_from_the_real_ones():
    def entry(name, rows):
        return Entry(name, "", answered.found(rows, "infinity"))

    rows = answered.infinity(evaluators=3)
    both = [entry("real", rows), entry("rehearsed", simulated_of(rows))]
    board = leaderboard(both, "Board", "2026-03-01", "0.1.0")
    all_simulated = leaderboard(both[1:], "Board", "2026-03-01", "0.1.0")

    assert {row["study"] for row in board.tables[0].rows} == {"real", "rehearsed (simulated)"}
    assert (board.title, "Simulated sessions in rehearsed" in board.banner) == ("Board", True)
    assert (all_simulated.title, all_simulated.figures[0].stamp) == (
        "Board (simulated)",
        "simulated sessions",
    )
