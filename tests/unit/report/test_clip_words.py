"""Reports on clips say clips where those on pictures say pictures."""

from types import SimpleNamespace

from backend.report.clip_words import of_clips
from backend.report.elements import Column, Report, Section, Table


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
