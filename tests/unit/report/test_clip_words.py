"""Reports on clips say clips where those on pictures say pictures."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from backend.report.clip_words import of_clips
from backend.report.elements import Column, Figure, Report, Section, Table
from backend.stimuli.media import MEDIA

VECTORS = Path(__file__).resolve().parents[1] / "clip_word_vectors.json"


@pytest.mark.parametrize(("text", "names", "said"), json.loads(VECTORS.read_text("utf-8")))
def test_words_of_a_medium(text, names, said):
    assert MEDIA["clip"].said(text, names) == said
    assert MEDIA["picture"].said(text, names) == text


def test_cells_of_words_and_axes_of_figures_say_clips_too():
    pyplot = pytest.importorskip("matplotlib.figure")

    def draw(width_in):
        plot = pyplot.Figure((width_in, 2))
        axes = plot.subplots()
        axes.set_xlabel("pictures judged wrong (%)")
        axes.set_yticks([0], ["pictures of cats"])
        return plot

    columns = (Column("what", lambda row: row["what"], is_number=False), Column("n", lambda row: row["what"]))
    table = Table("t", "T", columns, [{"what": "evaluators and pictures"}])
    figure = Figure("f", "F", "", "", draw, table)
    report = Report("T", "", (), (), (Section("s", "S", (), figures=(figure,)),))

    ((said,),) = (
        section.figures
        for section in of_clips(report, SimpleNamespace(models=[{"model": "pictures of cats"}])).sections
    )

    axes = said.draw(3).axes[0]
    assert axes.get_xlabel() == "clips judged wrong (%)"
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["pictures of cats"]
    assert said.table.cells == [["evaluators and clips", "evaluators and pictures"]]


def test_sentences_captions_and_headers_say_clips_and_names_and_values_stay():
    rows = [{"model": "old pictures", "file": "pictures/one picture.mp4"}]
    table = Table("pictures", "Pictures judged", (Column("picture", lambda row: row["file"]),), rows)
    paragraph = "Of real pictures, old pictures fools; see --pictures, over_pictures and pictures/a.mp4."
    section = Section("pictures", "Difficulty of pictures", (paragraph,), tables=(table,))
    report = Report("Pictures of cats", "A picture is worth a look.", (), (), (section,))

    said = of_clips(report, SimpleNamespace(models=rows))

    (told,) = said.sections
    assert (said.title, said.summary) == ("Pictures of cats", "A clip is worth a look.")
    assert (told.id, told.title) == ("pictures", "Difficulty of clips")
    assert told.paragraphs == (paragraph.replace("real pictures", "real clips"),)
    (shown,) = told.tables
    assert (shown.name, shown.caption, shown.columns[0].head) == ("pictures", "Clips judged", "clip")
    assert shown.cells == [["pictures/one picture.mp4"]]
