"""Features of picture files: extracted once for each picture, whatever files show it, and interrupted runs go
on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from PIL import Image

from backend.foundation.errors import InvalidInput
from backend.metrics.extractors import extractor_named
from backend.metrics.extractors.feature_extractor import FeatureExtractor
from backend.metrics.features import Extractor
from backend.metrics.picture_features import features_of

LAYOUT = extractor_named("layout")


class Means(FeatureExtractor):
    """Mean colours, in this process and in batches, as extractors on torch work; counts what it is given."""

    identity = Extractor("means", "d" * 64)
    about = ""
    batch: ClassVar[int] = 4
    is_light: ClassVar[bool] = False

    def __init__(self):
        self.batches = []

    def extract(self, pictures):
        assert len({picture.shape for picture in pictures}) == 1
        self.batches.append(len(pictures))
        return np.array([picture.mean(axis=(0, 1)) for picture in pictures], np.float32)


@pytest.fixture
def paths(tmp_path):
    """Ten pictures of two sizes, old enough for the index of files."""
    rng, found = np.random.default_rng(0), []
    for i in range(10):
        size = (16, 16, 3) if i % 3 else (12, 20, 3)
        found.append(tmp_path / "pictures" / f"{i}.png")
        found[-1].parent.mkdir(exist_ok=True)
        Image.fromarray(rng.integers(0, 256, size).astype("uint8")).save(found[-1])
    time.sleep(0.05)
    return found


def pixels(path):
    with Image.open(path) as picture:
        return np.asarray(picture)


def test_features_come_in_the_order_of_the_files(tmp_path, paths):
    means = Means()

    found = features_of(paths, means, tmp_path / "cache")

    assert found.values == pytest.approx(
        np.array([pixels(path).mean(axis=(0, 1)) for path in paths]), abs=1e-4
    )
    assert [(shown.width, shown.height) for shown in found.shown[:2]] == [(20, 12), (16, 16)]
    assert found.extracted == sum(means.batches) == 10
    assert max(means.batches) <= 4


@pytest.mark.parametrize("extractor", [LAYOUT, Means()], ids=["light", "heavy"])
def test_a_second_run_extracts_nothing(tmp_path, paths, extractor):
    first = features_of(paths, extractor, tmp_path / "cache")

    again = features_of(paths[::-1], extractor, tmp_path / "cache")

    assert (first.extracted, again.extracted) == (10, 0)
    assert (again.values == first.values[::-1]).all()


def test_a_picture_is_known_in_another_file_and_format(tmp_path, paths):
    means = Means()
    features_of(paths, means, tmp_path / "cache")
    other = tmp_path / "copy.bmp"
    Image.fromarray(pixels(paths[1])).save(other)

    found = features_of([other, paths[2]], means, tmp_path / "cache")

    assert sum(means.batches) == 10
    assert found.values == pytest.approx(
        np.array([pixels(p).mean(axis=(0, 1)) for p in (other, paths[2])]), abs=1e-4
    )


def test_a_file_that_shows_something_else_is_extracted_again(tmp_path, paths):
    means = Means()
    features_of(paths, means, tmp_path / "cache")
    before = paths[1].stat()
    Image.fromarray(255 - pixels(paths[1])).save(paths[1])
    os.utime(paths[1], ns=(before.st_atime_ns, before.st_mtime_ns))

    found = features_of(paths, means, tmp_path / "cache")

    assert found.extracted == 1
    assert found.values[1] == pytest.approx(pixels(paths[1]).mean(axis=(0, 1)), abs=1e-4)


def test_files_that_are_no_pictures_are_named_or_left_out(tmp_path, paths):
    paths[3].write_bytes(b"no picture")
    paths[5].unlink()

    with pytest.raises(InvalidInput, match=r"2 files cannot be used: .*5\.png.*3\.png"):
        features_of(paths, LAYOUT, tmp_path / "cache")
    found = features_of(paths, LAYOUT, tmp_path / "cache", skip_bad=True)

    assert found.paths == tuple(path for i, path in enumerate(paths) if i not in (3, 5))
    assert len(found.values) == len(found.shown) == 8
    assert {finding.kind for finding in found.left_out} == {"no picture", "gone"}


def test_an_extractor_that_gives_no_numbers_is_found_out(tmp_path, paths):
    class Broken(Means):
        def extract(self, pictures):
            return np.full((len(pictures), 2), np.nan, np.float32)

    with pytest.raises(InvalidInput, match="means gave features that are not finite numbers"):
        features_of(paths, Broken(), tmp_path / "cache")


SLOW = """
import sys, time
from pathlib import Path
from tests.unit.metrics.test_picture_features import Means, features_of
class Slow(Means):
    def extract(self, pictures):
        time.sleep(0.02); print("batch", flush=True)
        return super().extract(pictures)
folder = Path(sys.argv[1])
paths = [folder / "many" / f"{i}.png" for i in range(80)]
print("extracted", features_of(paths, Slow(), folder / "cache", workers=1).extracted)
"""


@pytest.mark.slow("processes are killed and compete")
def test_a_killed_run_goes_on_where_it_was_and_two_at_once_agree(tmp_path):
    rng, many = np.random.default_rng(2), tmp_path / "many"
    many.mkdir()
    for i in range(80):
        Image.fromarray(rng.integers(0, 256, (8, 8, 3)).astype("uint8")).save(many / f"{i}.png")
    command = [sys.executable, "-c", SLOW, str(tmp_path)]
    root = Path(__file__).resolve().parents[3]

    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)
    for _ in range(15):  # 60 pictures, of which 56 or more are in the cache
        first.stdout.readline()
    first.send_signal(signal.SIGKILL)
    first.communicate()
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) for _ in range(2)]
    texts = [each.communicate(timeout=60)[0] for each in both]

    assert [each.returncode for each in both] == [0, 0]
    # 24 pictures at most, in batches of 4; one that begins late finds what the other has done
    assert max(text.count("batch") for text in texts) <= 6
    means = Means()
    found = features_of([many / f"{i}.png" for i in range(80)], means, tmp_path / "cache")
    assert means.batches == []
    assert found.values == pytest.approx(
        np.array([pixels(many / f"{i}.png").mean(axis=(0, 1)) for i in range(80)]), abs=1e-4
    )
