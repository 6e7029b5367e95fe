"""`openhype agree` in an empty folder: the example of the docs, files and trees, and what is refused."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from backend.cli import main
from backend.responses.reading.bapps import share_bytes

DOCS = (Path(__file__).resolve().parents[3] / "docs" / "agreement.md").read_text("utf-8")


@pytest.fixture(autouse=True)
def example(tmp_path, monkeypatch):
    """The files of the worked example, in an empty folder."""
    blocks = re.findall(r"^```\n(item,.*?)^```", DOCS, re.M | re.S)
    for name, text in zip(("votes.csv", "l2.csv", "lpips.csv"), blocks, strict=True):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)


def agree(*arguments):
    return CliRunner().invoke(main, ["agree", *map(str, arguments)])


def test_the_example_of_the_docs_prints_what_they_show():
    command, output = re.search(r"^```console\n\$ openhype ([^\n]+)\n(.*?)^```", DOCS, re.M | re.S).groups()

    found = CliRunner().invoke(main, shlex.split(command))

    assert (found.exit_code, found.output) == (0, output)


def test_json_has_every_number_unrounded():
    found = json.loads(agree("votes.csv", "--metric", "l2=l2.csv", "--json").stdout)

    scores = {row["column"]: row["score"] for row in found["metrics"]}
    assert scores == pytest.approx({"cnn": 200 / 3, "blur": 175 / 3, "average": 62.5})
    assert (found["evaluators"], found["votes"], found["items"]) == (3, 12, 4)


def test_a_page_with_figure_and_tables_is_written():
    found = agree("votes.csv", "--metric", "l2=l2.csv", "--metric", "lpips=lpips.csv", "-o", "out")

    assert found.exit_code == 0, found.output
    assert Path(found.stderr.strip().splitlines()[-1]) == Path("out/index.html")
    assert "lpips" in Path("out/index.html").read_text("utf-8")
    assert Path("out/figures/agreement.svg").stat().st_size > 1000
    table = Path("out/tables/agreement.md").read_text("utf-8").splitlines()
    assert table[2] == "| human | 66.7 | 66.7 | 66.7 |"
    assert table[-1] == "| lpips | 83.3 | 83.3 | 83.3 |"
    assert json.loads(Path("out/report.json").read_text("utf-8"))["agreement"]["kind"] == "2afc"


def test_the_ceiling_alone_needs_no_metric():
    found = agree("votes.csv", "-o", "out")

    assert found.exit_code == 0, found.output
    assert "human" in found.stdout
    assert Path("out/index.html").exists()


def test_sets_and_metrics_of_any_name_are_shown_as_text():
    for name in ("votes.csv", "l2.csv"):
        text = Path(name).read_text().replace("blur", "<b>ci</b> $x$").replace("cnn", "foci")
        Path(name).write_text(text)

    found = agree("votes.csv", "--metric", "human=l2.csv", "--metric", "=cmd|' /C=l2.csv", "-o", "out")
    other = agree("votes.csv", "--metric", "human=l2.csv", "--metric", "<i>=l2.csv", "-o", "out")

    assert found.exit_code == 2
    assert other.exit_code == 0, other.output
    assert "<i>" not in Path("out/index.html").read_text("utf-8")
    assert "<b>ci" not in Path("out/index.html").read_text("utf-8")
    assert json.loads(agree("votes.csv", "--metric", "human=l2.csv", "--json").stdout)["metrics"]


def test_a_study_that_is_not_there_and_a_metric_that_is_none():
    assert "there is no study 'nothing'" in agree("nothing").stderr
    assert agree("votes.csv", "--metric", "l2").exit_code == 2
    twice = agree("votes.csv", "--metric", "l2=l2.csv", "--metric", "l2=lpips.csv")
    assert (twice.exit_code, "the metric l2 is named twice" in twice.stderr) == (1, True)
    assert not Path("openhype-data").exists()


def test_a_bad_distance_is_refused_with_file_and_line_and_nothing_is_written():
    Path("bad.csv").write_text(Path("l2.csv").read_text().replace("0.25", "nan"))

    found = agree("votes.csv", "--metric", "l2=bad.csv", "-o", "out")

    assert found.exit_code == 1
    assert found.stderr == "openhype: bad.csv line 2: d1 must be a finite number, not 'nan'\n"
    assert found.stdout == ""
    assert not Path("out").exists()


def test_items_without_votes_are_noted():
    with Path("l2.csv").open("a") as file:
        file.write("cnn/000099,1,2\n")

    found = agree("votes.csv", "--metric", "l2=l2.csv")

    assert found.stderr == "note: l2.csv: 1 item has no vote and is left out: cnn/000099\n"


def test_simulated_votes_are_marked():
    lines = Path("votes.csv").read_text().splitlines()
    Path("votes.csv").write_text(
        "\n".join([f"{lines[0]},simulated", *(f"{line},true" for line in lines[1:])])
    )

    found = agree("votes.csv", "--metric", "l2=l2.csv", "-o", "out")

    assert found.stdout.startswith("Simulated sessions: nobody looked at these pictures. ")
    assert "Simulated sessions" in Path("out/index.html").read_text("utf-8")


@pytest.fixture
def bapps():
    for name, shares in (("cnn", (0.2, 1.0)), ("blur", (0.0, 0.6))):
        for i, share in enumerate(shares):
            path = Path(f"dataset/2afc/val/{name}/judge/{i:06}.npy")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(share_bytes(share))
    return Path("dataset/2afc/val")


@pytest.mark.parametrize("folder", ["dataset", "dataset/2afc", "dataset/2afc/val"])
def test_the_public_data_set_is_scored_without_a_study(bapps, folder):
    found = json.loads(agree(folder, "--metric", "l2=l2.csv", "--votes", 5, "--json").stdout)

    # l2 takes p1 of both of cnn; ties on the first of blur and takes p1 of the second
    scores = {row["column"]: row["score"] for row in found["metrics"]}
    assert scores == pytest.approx({"cnn": 60, "blur": 55, "average": 57.5}, abs=1e-5)
    # 1 of 5: 12 of 20 pairs agree; 5 of 5 and 0 of 5: all; 3 of 5: 8 of 20
    human = {row["column"]: row["unbiased"] for row in found["human"]}
    assert human == pytest.approx({"cnn": 80, "blur": 70, "average": 75})


def test_without_the_number_of_votes_the_ceiling_is_the_printed_one(bapps):
    text = agree(bapps, "--metric", "l2=l2.csv").stdout

    assert "95% intervals over 4 items" in text
    assert "the unbiased ceiling needs the number of votes behind each share: --votes N" in text
    assert re.search(r"^human  +–  +–  +–$", text, re.M)


def test_a_share_that_the_number_of_votes_cannot_give_is_refused(bapps):
    found = agree(bapps, "--votes", 2)

    assert (found.exit_code, found.stdout) == (1, "")
    assert "cnn/000000: a share of 0.2 cannot come from 2 votes" in found.stderr


def test_a_judge_file_of_another_shape_is_named(bapps):
    np.save(bapps / "cnn/judge/000001.npy", np.zeros((2, 1), np.float32))

    found = agree(bapps)

    assert (found.exit_code, found.stdout) == (1, "")
    assert (
        "cnn/judge/000001.npy must hold one 32-bit float, shape (1,), not float32 of shape (2, 1)"
        in found.stderr
    )


def test_votes_of_single_people_need_no_number():
    found = agree("votes.csv", "--votes", 3)

    assert (found.exit_code, "--votes is for shares" in found.stderr) == (1, True)
