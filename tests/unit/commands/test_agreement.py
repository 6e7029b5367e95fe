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


def test_opinion_scores_of_others_are_correlated_with_metrics():
    rows = [("a", 1, 40), ("b", 2, 30), ("c", 3, 25), ("d", 4, 10), ("e", 5, 12)]
    Path("mos.csv").write_text(
        "stimulus,score\n" + "".join(f"{name}.bmp,{score}\n" for name, score, _ in rows)
    )
    Path("mos.txt").write_text("".join(f"{score} {name}.bmp\n" for name, score, _ in rows))
    Path("d.csv").write_text("item,d\n" + "".join(f"{name}.png,{d}\n" for name, _, d in rows) + "f,1\n")

    found, lines = (agree(name, "--metric", "psnr=d.csv", "--json") for name in ("mos.csv", "mos.txt"))
    page = agree("mos.csv", "--metric", "psnr=d.csv", "-o", "out")

    assert found.stdout == lines.stdout
    (row,) = json.loads(found.stdout)["metrics"]
    assert (row["rho"], row["tau"]) == (pytest.approx(-0.9), pytest.approx(-0.8))
    assert found.stderr == "note: d.csv: 1 item has no opinion score and is left out: f\n"
    assert page.exit_code == 0, page.output
    assert "−.900" in Path("out/tables/opinion_scores.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--distance", "l2"], "opinion scores take metrics as --metric"),
        (["--simulated"], "opinion scores take metrics as --metric"),
        (["--metric", "l2=l2.csv"], "l2.csv line 1: the header must name the columns item, d; d missing"),
        (["--metric", "d=few.csv"], "no distance for 1 of 2 stimuli with opinion scores: b"),
    ],
)
def test_what_opinion_scores_do_not_take_is_refused(arguments, message):
    Path("mos.csv").write_text("stimulus,score\na,1\nb,2\n")
    Path("few.csv").write_text("item,d\na,1\n")

    found = agree("mos.csv", *arguments)

    assert (found.exit_code, found.stdout) == (1, "")
    assert message in found.stderr


METRICS = {"good": 0.1, "fair": 0.5, "poor": 2.0, "useless": 50.0}


@pytest.fixture
def both():
    """Trees of a 2AFC and of a JND study with one set in common, and the options of four metrics for both."""
    rng, options = np.random.default_rng(2), []
    distances = {name: {"2afc": ["item,d0,d1"], "jnd": ["item,d"]} for name in METRICS}
    for kind, sets, folder in (("2afc", ("cnn", "blur"), "judge"), ("jnd", ("cnn", "noise"), "same")):
        for name in sets:
            for i in range(12):
                truth = rng.normal()
                path = Path(f"two/{kind}/val/{name}/{folder}/{i:06}.npy")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(share_bytes(1 / (1 + np.exp(-3 * truth))))
                for metric, noise in METRICS.items():
                    value = truth + noise * rng.normal()
                    cells = f"0,{-value}" if kind == "2afc" else f"{-value}"
                    distances[metric][kind].append(f"{name}/{i:06},{cells}")
    for metric, tables in distances.items():
        for kind, lines in tables.items():
            Path(f"{metric}-{kind}.csv").write_text("\n".join([*lines, ""]))
            options += ["--metric", f"{metric}={metric}-{kind}.csv"]
    return ["two/2afc/val", "two/jnd/val"], options


def test_metrics_are_correlated_over_a_2afc_and_a_jnd_study_on_their_common_sets(both):
    studies, metrics = both

    found = agree(*studies, *metrics, "--json")
    other = agree(*studies[::-1], *metrics, "-o", "out")

    data = json.loads(found.stdout)
    assert "two/2afc/val: blur, which the other study does not have, is left out" in found.stderr
    assert [row["items"] for row in data["studies"]] == [12, 12]
    spearman = next(row for row in data["correlations"] if row["coefficient"] == "spearman")
    assert spearman["value"] > 0.5
    assert spearman["ci"][0] < spearman["value"] <= spearman["ci"][1]
    assert other.exit_code == 0, other.output
    assert (
        "Correlation of 2AFC and JND scores over 4 metrics, with 95% intervals over metrics" in other.stdout
    )
    assert Path("out/figures/across_judgments.svg").exists()


def test_scores_of_both_are_those_of_each_study_alone(both):
    studies, metrics = both

    data = json.loads(agree(*studies, *metrics, "--json").stdout)

    for kind, name in (("2afc", "two_afc"), ("jnd", "jnd")):
        alone = agree(f"two/{kind}/val/cnn", "--metric", f"good=good-{kind}.csv", "--json")
        (row,) = json.loads(alone.stdout)["metrics"]
        assert data["metrics"][0][name] == row["score"]
        assert data["metrics"][0][f"{name}_ci"] == row["ci"]


@pytest.mark.parametrize(
    ("studies", "metrics", "message"),
    [
        ([0, 0], slice(None), "two/2afc/val is named twice"),
        ([0, 2], slice(None), "two/2afc/val and two/2afc/val/cnn are both 2AFC"),
        ([0, 1], slice(0, 0), "name metrics by --distance, or --metric with a file for each of the studies"),
        (
            [0, 1],
            slice(0, 2),
            "the metric good has no distances for two/jnd/val; name a CSV with item, d as well",
        ),
        (
            [1, 0],
            slice(2, 4),
            "the metric good has no distances for two/2afc/val; name a CSV with item, d0, d1",
        ),
    ],
)
def test_two_studies_that_cannot_be_correlated_are_refused(both, studies, metrics, message):
    names, options = both

    found = agree(*([*names, "two/2afc/val/cnn"][i] for i in studies), *options[metrics])

    assert (found.exit_code, found.stdout) == (1, "")
    assert message in found.stderr


def test_a_file_for_neither_kind_a_metric_twice_and_three_studies_are_refused(both):
    studies, metrics = both
    Path("neither.csv").write_text("item,x\na,1\n")

    neither = agree(*studies, "--metric", "x=neither.csv")
    twice = agree(*studies, *metrics, *metrics[:2])
    votes = agree(*studies, *metrics, "--votes", 5)
    three = agree(*studies, "votes.csv")

    assert "neither.csv line 1: the header must name item, and d0 and d1 (2AFC) or d (JND)" in neither.stderr
    assert "the metric good is named twice for 2AFC" in twice.stderr
    assert "--votes is for the ceiling of one BAPPS tree" in votes.stderr
    assert three.exit_code == 2
