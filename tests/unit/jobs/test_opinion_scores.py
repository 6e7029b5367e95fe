"""The job on opinion scores of others: as the command says, from files in any order, and what it refuses."""

import json

import pytest
from click.testing import CliRunner

from backend.cli import main
from backend.jobs import queue

from .ordered import Orders, noise

MOS = "stimulus,score\n" + "".join(
    f"{name}.bmp,{score}\n" for name, score in zip("abcde", range(5), strict=True)
)
PSNR = "item,d\na,40\nb,30\nc,25\nd,10\ne,12\nf,1\n"


@pytest.fixture
def orders(world):
    return Orders(world)


def job(orders, files, **wish):
    upload = orders.sent(
        {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    )
    reply = orders.call("POST", "/opinion-scores", {"upload": upload, **wish})
    assert reply.status_code == 202, reply.json
    orders.worker.run_once()
    return queue.job(orders.world.store, reply.json["job"])


def test_metrics_are_correlated_as_by_the_command(orders, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {"a folder/psnr.csv": PSNR, "scores of others.csv": MOS}
    for name, text in files.items():
        (tmp_path / name.rpartition("/")[2]).write_text(text)

    done = job(orders, files, level=0.9)

    assert done.state == "done", done.reason
    command = CliRunner().invoke(
        main, ["agree", "scores of others.csv", "--metric", "psnr=psnr.csv", "--level", "0.9", "--json"]
    )
    more = {name: done.result[name] for name in ("file", "points", "sentences", "notes", "remarks")}
    assert {**json.loads(command.stdout), **more} == done.result
    assert more["file"] == "scores of others.csv"
    assert more["points"] == {"scores": [0, 1, 2, 3, 4], "values": {"psnr": [40, 30, 25, 10, 12]}}
    assert more["remarks"] == ["a folder/psnr.csv: 1 item has no opinion score and is left out: f"]
    assert more["sentences"][0].startswith("psnr orders stimuli most as people do: Spearman's ρ = −.900 [")


def test_of_many_stimuli_a_thousand_are_shown_from_the_least_to_the_greatest_score(orders):
    lines = [(f"I{i % 25:02}_{i // 25:02}_1", (i * 7919) % 3001) for i in range(2500)]
    files = {
        f"m{k}.csv": "item,d\n" + "".join(f"{name},{score / 7 + k}\n" for name, score in lines)
        for k in range(6)
    }
    mos = "".join(f"{score} {name}.bmp\n" for name, score in lines)

    done = job(orders, {"mos_with_names.txt": mos, **files})

    assert done.state == "done", done.reason
    assert (done.result["stimuli"], done.result["references"]) == (2500, 25)
    scores = done.result["points"]["scores"]
    assert (len(scores), scores[0], scores[-1]) == (1000, 0, 3000)
    assert len(json.dumps(done.result["points"])) < 7 * 1000 * 11


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"psnr.csv": PSNR}, "one file must have the opinion scores: a table whose header names stimulus and "
         "score, or lines of a score and a name; none has"),
        ({"a.csv": MOS, "b.csv": MOS}, "; 2 have: a.csv, b.csv (a metric"),
        ({"a.csv": MOS, "x/m.csv": PSNR, "y/m.csv": PSNR}, "two files are called m"),
        ({"a.csv": MOS, **{f"m{i}.csv": PSNR for i in range(31)}}, "there are 31 metrics"),
        ({"a.csv": MOS, "m.csv": PSNR.replace("b,30\n", "")}, "m.csv has no distance for 1 of 5 stimuli"),
        ({"a.csv": MOS, "m.csv": "item,d0,d1\na,1,2\n"}, "m.csv line 1: the header must name the columns"),
        ({"a.csv": MOS.replace("3", "many"), "m.csv": PSNR}, "a.csv line 5: score must be a finite number"),
        ({"a.csv": MOS, **noise(3, 1)}, "0.png"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_used_are_refused_by_their_names(orders, files, reason):
    failed = job(orders, files)

    assert failed.state == "failed"
    assert reason in failed.reason
    assert str(orders.world.data.root) not in failed.reason


def test_an_upload_that_is_not_ones_own_is_unknown(orders):
    theirs = Orders(orders.world, "bob").sent({"a.csv": MOS.encode()})

    for upload in (theirs, "0" * 32):
        reply = orders.call("POST", "/opinion-scores", {"upload": upload})
        assert (reply.status_code, reply.json["error"]["code"]) == (404, "unknown_upload")
