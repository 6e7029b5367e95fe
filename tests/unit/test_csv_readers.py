"""Every reader of CSV: a damaged file is refused with its line, or read whole; never in part."""

import ast
import csv
import io
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from backend.foundation.csv_tables import CsvTable
from backend.foundation.errors import InvalidInput, OpenhypeError
from backend.payment import manual
from backend.responses.item_pictures import pictures_at
from backend.responses.publication import data_files, publish
from backend.responses.readers import read_answers
from backend.responses.reading.bapps import read_bapps, share_bytes
from backend.responses.reading.distances import read_distances
from backend.responses.reading.metrics import read_metrics
from backend.responses.reading.opinion_scores import read_opinion_scores
from backend.responses.reading.votes_file import read_votes
from backend.stimuli.ingest_items import ingest_items
from tests.unit.response_rows import read_responses

from .stimuli.items import TRIPLET

ROOT = Path(__file__).resolve().parents[2]
HOME = "backend/foundation/csv_tables.py"
LISTS = json.loads((Path(__file__).parent / "damaged_lists.json").read_text("utf-8"))


def columns(header, *rows):
    return [header.split(","), *(row.split(",") for row in rows)]


RESPONSES = columns("model,evaluator,truth,response,note", *(f"g,{who},{truth},real,x" for who in "abcd"
                    for truth in ("real", "fake")))  # fmt: skip
VOTES = columns("item,model,evaluator,response,left,right,note", *(f"s/{i},s,{who},left,p0,p1,x" for who in
                "abcd" for i in "12"))  # fmt: skip


def picture(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    seed = int.from_bytes(str(path.name).encode(), "big") % 2**32
    pixels = np.random.default_rng(seed).integers(0, 256, (24, 24, 3)).astype("uint8")
    Image.fromarray(pixels).save(path)


def tree(folder):
    for stem in "1234":
        for part in ("p0", "p1"):
            picture(folder / f"jnd/s/{part}/{stem}.png")
        (folder / "jnd/s/same").mkdir(exist_ok=True)
        (folder / f"jnd/s/same/{stem}.npy").write_bytes(share_bytes(0.5))


def answers_of(path):
    answers = read_answers(path, details=True)
    names = [answers.evaluator.names[code] for code in answers.evaluator.codes]
    return names, answers.is_fake.tolist(), len([*read_responses(path)])


def votes_of(path):
    votes = read_votes(path)
    return sorted(votes.items), votes.share.tolist(), votes.evaluators


def opinions_of(path):
    opinions = read_opinion_scores(path)
    return opinions.stimuli, opinions.scores.tolist()


def pictures_of(path):
    tree(path.parent / "out/bapps")
    (path.parent / "out/data").mkdir()
    path.rename(path.parent / "out/bapps/items.csv")
    return sorted(pictures_at(path.parent / "out").files)


def is_simulated(path):
    tree(path.parent / "out")
    path.rename(path.parent / "out/items.csv")
    return read_bapps(path.parent / "out").is_simulated


def triplets_of(path):
    folder = path.parent / "nights"
    for i in "1234":
        for name in (f"ref/{i}", f"distort/{i}_0", f"distort/{i}_1"):
            picture(folder / f"{name}.png")
    path.rename(folder / "data.csv")
    return sorted(
        item.source for item in ingest_items({"n": folder}, path.parent / "pool", parts=TRIPLET).stimuli
    )


def table_of(path):
    described = {
        name: SimpleNamespace(description="", kind="", unit="") for name in ("number_guesses", "note")
    }
    table = data_files.read_table(path.parent, path, "images", "", described)
    return table.rows, [column.name for column in table.columns]


def guesses_of(path):
    return publish._answers_an_item(path.parent, {"images": SimpleNamespace(path=path.name, bytes=2**20)})


def paid_by(path):
    return manual._keys(path, SimpleNamespace(take=lambda where, paid: (paid.evaluator, paid.usd_cents)))


READERS = {
    "responses": ("backend/responses/reading/chunks.py", answers_of, RESPONSES),
    "votes": ("backend/responses/reading/chunks.py", votes_of, VOTES),
    "distances": (
        "backend/responses/reading/distances.py",
        lambda path: read_distances(path, "jnd", [f"s/{i}" for i in "1234"]).values.tolist(),
        columns("item,d,note", *(f"s/{i},0.{i},x" for i in "1234")),
    ),
    "opinion scores": (
        "backend/responses/reading/opinion_scores.py", opinions_of,
        columns("stimulus,score,note", "a_1,1,x", "b_1,2,x", "c_1,3,x", "d_1,4,x"),
    ),
    "metrics": (
        "backend/responses/reading/metrics.py", read_metrics,
        columns("model,fid,kid", "a,1,1", "b,2,1", "c,3,1", "d,4,1"),
    ),
    "pictures of items": (
        "backend/responses/item_pictures.py", pictures_of,
        columns("set,stem,item", *(f"s,{i},s/{i}" for i in "1234")),
    ),
    "simulated items": (
        "backend/responses/reading/bapps.py", is_simulated,
        columns("set,stem,simulated,note", "s,1,false,x", "s,2,false,x", "s,3,false,x", "s,4,true,x"),
    ),
    "NIGHTS": (
        "backend/stimuli/item_folders.py", triplets_of,
        columns("ref_path,left_path,right_path,note",
                *(f"ref/{i}.png,distort/{i}_0.png,distort/{i}_1.png,x" for i in "1234")),
    ),
    "table of an export": (
        "backend/responses/publication/data_files.py", table_of,
        columns("number_guesses,note", "1,x", "2,x", "3,x", "4,x"),
    ),
    "guesses of an export": (
        "backend/responses/publication/publish.py", guesses_of,
        columns("number_guesses,note", "1,x", "2,x", "3,x", "4,x"),
    ),
    "payments": (
        "backend/payment/manual.py", paid_by,
        columns("evaluator,usd_cents,note", "a,1,x", "b,2,x", "c,3,x", "d,4,x"),
    ),
}  # fmt: skip
"""By what is read: the module that reads, how, and a table of at least four rows."""


def as_text(rows, delimiter=",", end="\n", quoting=csv.QUOTE_MINIMAL):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    return file.getvalue()


def with_row(rows, change, at=2):
    return as_text([*rows[:at], change(rows[at]), *rows[at + 1 :]])


def swallowing(rows):
    """A quote opens in the last cell of the third row and closes in the last of the fourth."""
    lines = as_text(rows).splitlines()
    lines[3] = ",".join([*rows[3][:-1], '"x'])
    lines[4] = ",".join([*rows[3][:1], *rows[4][1:-1], '"'])
    return "\n".join(lines) + "\n"


def zeroed(rows):
    """The line end between two rows is lost with the cells around it, leaving one row of full width."""
    lines = as_text(rows).splitlines()
    merged = ",".join([*rows[2][:-1], 8 * "\0"])
    return "\n".join([*lines[:2], merged, *lines[4:]]) + "\n"


def cut(rows):
    text = as_text(rows)
    return text[: text.rindex(",")]


DAMAGES = {
    "a quote stays open": lambda rows: as_text(rows).replace(",x\n", ',"x\n', 2).replace(',"x\n', ",x\n", 1)
    if rows[2][-1] == "x" else as_text(rows).replace(f"\n{rows[2][0]}", f'\n"{rows[2][0]}', 1),
    "a quote closes in another row": swallowing,
    "text behind a quote": lambda rows: with_row(rows, lambda row: row).replace(
        f"\n{rows[2][0]},", f'\n"{rows[2][0]}"y,', 1
    ),
    "a short row": lambda rows: with_row(rows, lambda row: row[:-1]),
    "a long row": lambda rows: with_row(rows, lambda row: [*row, "more"]),
    "zero bytes": zeroed,
    "cut in a row": cut,
    "Latin-1": lambda rows: with_row(rows, lambda row: [*row[:-1], "é"]).encode("latin-1"),
    "UTF-16": lambda rows: as_text(rows).encode("utf-16"),
    "a column twice": lambda rows: as_text([[*row, row[0]] for row in rows]),
}  # fmt: skip
HARMLESS = {
    "two byte order marks": lambda rows: "\ufeff\ufeff" + as_text(rows),
    "all in quotes": lambda rows: "\ufeff" + as_text(rows, quoting=csv.QUOTE_ALL),
    "empty rows": lambda rows: as_text([rows[0], [], *rows[1:3], ["" for _ in rows[0]], *rows[3:], ["", ""]]),
    "old line ends": lambda rows: as_text(rows, end="\r"),
    "semicolons": lambda rows: "sep=;\r\n" + as_text(rows, delimiter=";", end="\r\n"),
    "tabs": lambda rows: as_text(rows, delimiter="\t"),
    "blanks in the header": lambda rows: as_text([[f" {name} " for name in rows[0]], *rows[1:]]),
    "row names": lambda rows: as_text([["", *rows[0]], *([i, *row] for i, row in enumerate(rows[1:]))]),
}


def written(folder, text):
    path = folder / "table.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_every_reader_of_csv_is_tried_here_and_reads_in_one_way():
    readers, others = set(), set()
    for path in (*ROOT.glob("backend/**/*.py"), *ROOT.glob("deploy/**/*.py"), ROOT / "openhype.py"):
        name = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            is_csv = isinstance(called, ast.Attribute) and ast.unparse(called.value) in ("csv", "pd", "np")
            if is_csv and called.attr in ("reader", "DictReader", "read_csv", "loadtxt", "genfromtxt"):
                others.add(name)
            if isinstance(called, ast.Name) and called.id in ("CsvTable", "read_rows"):
                readers.add(name)

    assert others == {HOME}
    assert readers - {HOME} == {module for module, _, _ in READERS.values()}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("reader", READERS)
def test_a_damaged_file_is_refused_with_its_line(tmp_path, reader, damage):
    _, read, rows = READERS[reader]
    path = written(tmp_path, DAMAGES[damage](rows))
    if damage == "a column twice" and reader in ("table of an export", "simulated items"):
        return  # reads by place, or one column that is there once

    with pytest.raises(OpenhypeError, match=r"\.csv line [0-9]+: "):
        read(path)


@pytest.mark.parametrize("change", HARMLESS)
@pytest.mark.parametrize("reader", READERS)
def test_what_programs_add_changes_nothing(tmp_path, reader, change):
    _, read, rows = READERS[reader]
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    if change == "row names" and reader == "table of an export":
        return  # written by openhype, whose columns are all described

    assert read(written(tmp_path / "2", HARMLESS[change](rows))) == read(
        written(tmp_path / "1", as_text(rows))
    )


@pytest.mark.parametrize("case", LISTS, ids=lambda case: case["what"])
def test_lists_of_payments_are_read_as_by_the_console(tmp_path, case):
    path = written(tmp_path, case["text"])

    if case["is_read"]:
        assert paid_by(path) == [("e001", "110"), ("e002", "114")]
    else:
        with pytest.raises(InvalidInput, match=r"line [0-9]: "):
            paid_by(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,b\n1,2\n3,"4\n5,6\n', "line 3: must be CSV; a quote in this row is not closed"),
        ('a,b\n1,2\n\n3,"4"x\n5,6\n', "line 4: must be CSV; ',' expected after '\"'"),
        ('a,b\n1,"x\ny"\n3\n', "line 4: expected 2 cells, got 1"),
        ('a,b\n1,"x\n1,"\n', "line 2: must be CSV; a quote in this row closes in another row"),
        ("sep=;\na;b\n1;2;3\n", "line 3: expected 2 cells, got 3"),
    ],
)
@pytest.mark.parametrize("size", [None, 1, 100])
def test_the_line_is_that_at_which_the_row_begins(tmp_path, text, message, size):
    path = written(tmp_path, text)

    with path.open(newline="") as file:
        table = CsvTable(path, file)
        with pytest.raises(InvalidInput, match=re.escape(message)):
            [*(table.numbered() if size is None else table.batches(size))]


def test_a_comment_of_several_lines_is_one_cell(tmp_path):
    path = written(tmp_path, 'model,note\ng,"cats, dogs\nhands, feet\n\nthe end"\n')

    with path.open(newline="") as file:
        assert [*CsvTable(path, file).numbered()] == [(2, ["g", "cats, dogs\nhands, feet\n\nthe end"])]


def test_a_zero_byte_is_refused_with_its_line(tmp_path):
    path = written(tmp_path, "a,b\n1,2\n3,\0\n")

    with (
        path.open(newline="") as file,
        pytest.raises(InvalidInput, match="line 3: must be text, without zero"),
    ):
        CsvTable(path, file)
