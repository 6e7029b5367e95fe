"""Names that look the same are the same: é is one letter (NFC) or, from macOS, e and an accent (NFD)."""

import unicodedata

import numpy as np
import pytest
from PIL import Image

from backend.responses.item_pictures import pictures_of_two
from backend.responses.reading.bapps import read_bapps, share_bytes
from backend.responses.reading.distances import read_distances
from backend.responses.reading.metrics import read_metrics
from backend.responses.reading.votes_file import read_votes
from backend.stimuli.ingest import ingest
from backend.stimuli.ingest_items import ingest_items

from .stimuli.items import TRIPLET, fill

NFC = unicodedata.normalize("NFC", "é")
NFD = unicodedata.normalize("NFD", "é")


def picture(path, seed=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (24, 24, 3)).astype("uint8")
    Image.fromarray(pixels).save(path)


def test_parts_of_items_pair(tmp_path):
    for part, letter in zip(TRIPLET, (NFC, NFD, NFC), strict=True):
        fill(tmp_path / "s", [f"{letter}{i}" for i in range(3)], [part], seed=len(part))

    found = ingest_items({"s": tmp_path / "s"}, tmp_path / "out", parts=TRIPLET).stimuli

    assert sorted(item.source for item in found) == [f"s/{NFC}{i}" for i in range(3)]


def test_the_index_of_nights_finds_its_files(tmp_path):
    for part in ("ref", "distort"):
        for i in range(2):
            picture(tmp_path / f"n/{part}/{NFD}_{i}.png", 10 * i + len(part))
    picture(tmp_path / f"n/ref/{NFD}.png", 5)
    row = f"ref/{NFC}.png,distort/{NFC}_0.png,distort/{NFC}_1.png"
    (tmp_path / "n/data.csv").write_text(f"ref_path,left_path,right_path\n{row}\n", "utf-8")

    (only,) = ingest_items({"n": tmp_path / "n"}, tmp_path / "out", parts=TRIPLET).stimuli

    assert only.source == f"n/{NFC}"


def test_files_of_two_folders_pair(tmp_path):
    picture(tmp_path / f"a/{NFC}.png")
    picture(tmp_path / f"b/{NFD}.png")

    assert [*pictures_of_two(tmp_path / "a", tmp_path / "b").files] == [NFC]


def test_judgments_pair_with_pictures(tmp_path):
    for part, letter in (("p0", NFC), ("p1", NFD)):
        picture(tmp_path / f"jnd/s/{part}/{letter}.png")
    (tmp_path / "jnd/s/same").mkdir()
    (tmp_path / f"jnd/s/same/{NFD}.npy").write_bytes(share_bytes(0.5))

    assert read_bapps(tmp_path).items == (f"s/{NFC}",)


def test_votes_and_distances_name_items_people_and_sets(tmp_path):
    rows = [f"s{one}/{two},s{two},{three},same" for one, two, three in ((NFC, NFC, NFD), (NFD, NFD, NFC))]
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(["item,model,evaluator,response", *rows]), "utf-8")
    (tmp_path / "d.csv").write_text(f"item,d\ns{NFD}/{NFC},0.5\n", "utf-8")

    votes = read_votes(path)

    assert (votes.items, votes.sets, votes.evaluators) == ((f"s{NFC}/{NFC}",), (f"s{NFC}",), 1)
    assert votes.repeated == 1
    assert read_distances(tmp_path / "d.csv", "jnd", votes.items).values.tolist() == [0.5]
    assert read_distances(tmp_path / "d.csv", "jnd", [f"s{NFD}/{NFD}"]).extra == ()


def test_models_of_metrics_are_those_of_scores(tmp_path):
    (tmp_path / "m.csv").write_text(f"model,fid\nK{NFD}se,1\n", "utf-8")

    assert read_metrics(tmp_path / "m.csv") == {"fid": {f"K{NFC}se": 1.0}}


def test_classes_of_models_are_those_of_the_reals(tmp_path):
    for side, letter in (("real", NFC), ("gan", NFD)):
        for i in range(4):
            picture(tmp_path / f"{side}/{letter}/{i}.png", [i, len(side)])
            picture(tmp_path / f"{side}/other/{i}.png", [i, 9, len(side)])

    intake = ingest(tmp_path / "real", {"gan": tmp_path / "gan"}, tmp_path / "out", size_px=16)

    assert set(intake.classes) == {NFC, "other"}


@pytest.mark.slow("writes and reads 100,000 votes")
def test_votes_take_a_few_times_the_memory_of_their_file(tmp_path):
    import tracemalloc

    path = tmp_path / "votes.csv"
    rows = (f"s/{i % 2000},s,e{i // 2000},same" for i in range(100_000))
    path.write_text("\n".join(["item,model,evaluator,response", *rows]), "utf-8")

    tracemalloc.start()
    votes = read_votes(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert len(votes.vote) == 100_000
    assert peak < 6 * path.stat().st_size  # 3.8, and 34 where each row was kept as a dictionary
