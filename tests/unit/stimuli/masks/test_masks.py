"""Masks keep a picture's light and frequencies, and none of its shapes; their files say nothing."""

import io
import re
from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest
from PIL import Image

from backend.cli import main
from backend.experiment.groups.timing import MADE_MASKS
from backend.foundation.errors import InvalidInput
from backend.stimuli.masks import ingest_masks, make_masks
from backend.stimuli.masks.cache import cached, key_of
from backend.stimuli.masks.phase import scramble


def shape(side=64):
    picture = np.full((side, side, 3), 40, dtype=np.uint8)
    picture[side // 4 : side // 2, side // 3 :] = (240, 180, 60)
    return picture


def light(picture):
    """Return the mean light (0 to 1) of each channel: levels by IEC 61966-2-1."""
    levels = picture / 255
    return np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4).mean(axis=(0, 1))


def stroke(side):
    """Return white on black, as of a digit: luminance .1."""
    picture = np.zeros((side, side, 3), dtype=np.uint8)
    picture[:, side // 2 : side // 2 + side // 10] = 255
    return picture


@pytest.mark.parametrize("side", [31, 64])
@pytest.mark.parametrize("drawn", [shape, stroke])
def test_a_mask_has_the_mean_luminance_of_its_picture(side, drawn):
    picture = drawn(side)

    mask = scramble(picture, np.random.default_rng(1))

    assert light(mask) == pytest.approx(light(picture), abs=0.002)


def test_a_mask_keeps_the_frequencies_and_loses_the_shapes():
    rng = np.random.default_rng(2)
    picture = (128 + 30 * np.cumsum(rng.standard_normal((64, 64, 3)), axis=0).clip(-3, 3)).astype(np.uint8)

    mask = scramble(picture, rng)

    before, after = (np.abs(np.fft.rfft2(x.mean(axis=2) - x.mean())).ravel() for x in (picture, mask))
    assert np.corrcoef(before, after)[0, 1] > 0.9
    assert abs(np.corrcoef(picture.mean(axis=2).ravel(), mask.mean(axis=2).ravel())[0, 1]) < 0.3


@pytest.fixture
def pictures(tmp_path):
    """Return five small pictures, on disk."""
    rng = np.random.default_rng(4)
    for i in range(5):
        small = Image.fromarray(rng.integers(0, 256, (8, 8, 3)).astype("uint8"))
        small.resize((24, 24), Image.Resampling.BICUBIC).save(tmp_path / f"{i}.png")
    return sorted(tmp_path.glob("*.png"))


def made(pictures, out, kind="texture", count=6, **options):
    """Return the masks' bytes by name, as a study would have them."""
    out.mkdir()
    names = make_masks(pictures, out, count, kind=kind, rng=Random(5), image_format="png", **options)
    return {name: (out / name).read_bytes() for name in names}


@pytest.mark.parametrize("kind", MADE_MASKS)
def test_masks_of_a_study_follow_from_the_seed_alone_and_their_names_do_not(pictures, tmp_path, kind):
    one, two = (made(pictures, tmp_path / str(n), kind, workers=n) for n in (1, 2))

    assert sorted(one.values()) == sorted(two.values())
    assert len(set(one.values())) == 6
    assert not set(one) & set(two)


@pytest.mark.parametrize("kind", MADE_MASKS)
def test_files_of_masks_say_nothing(pictures, tmp_path, kind):
    masks = made(pictures, tmp_path / "out", kind, workers=1)

    stats = [(tmp_path / "out" / name).stat() for name in masks]
    assert all(re.fullmatch(r"[0-9a-f]{32}\.png", name) for name in masks)
    assert len({(stat.st_size, stat.st_mode, stat.st_mtime) for stat in stats}) == 1


def test_a_texture_made_before_is_taken_from_the_cache(pictures, tmp_path):
    cache = tmp_path / "cache"
    first = made(pictures, tmp_path / "one", workers=1, cache=cache)
    entries = [path for path in cache.rglob("*") if path.is_file()]
    for path in entries:  # a mark that only a cached mask can carry
        path.unlink()
        cached(cache, path.name, lambda: np.zeros((24, 24, 3), np.uint8))

    again = made(pictures, tmp_path / "two", workers=1, cache=cache)

    assert len(entries) == 6
    assert len(again) == len(first)
    assert all(np.asarray(Image.open(io.BytesIO(data))).max() == 0 for data in again.values())


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 3000])
def test_a_damaged_entry_is_made_again(tmp_path, damage):
    mask = shape(16)
    cached(tmp_path, "k" * 64, lambda: mask)
    (entry,) = (path for path in tmp_path.rglob("*") if path.is_file())
    whole = entry.read_bytes()
    entry.write_bytes(damage)

    found = cached(tmp_path, "k" * 64, lambda: mask)

    assert (found == mask).all()
    assert entry.read_bytes() == whole


def test_a_bit_that_fell_over_is_noticed(tmp_path):
    cached(tmp_path, "k" * 64, lambda: shape(16))
    (entry,) = (path for path in tmp_path.rglob("*") if path.is_file())
    data = bytearray(entry.read_bytes())
    data[-20] ^= 1
    entry.write_bytes(data)

    found = cached(tmp_path, "k" * 64, lambda: np.zeros((16, 16, 3), np.uint8))

    assert found.max() == 0


def test_entries_are_told_apart_by_pixels_and_settings():
    one, two = shape(16), shape(16)
    two[0, 0, 0] += 1

    keys = [key_of(one, "texture", 1, 5), key_of(two, "texture", 1, 5), key_of(one, "texture", 2, 5)]

    assert len({*keys, key_of(one, "texture", 1, 6)}) == 4
    assert key_of(one.copy(), "texture", 1, 5) == keys[0]


def test_many_may_write_one_entry_at_once(tmp_path):
    mask = shape(16)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: cached(tmp_path, "k" * 64, lambda: mask), range(64)))

    assert all((one == mask).all() for one in found)
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_own_masks_go_through_the_pictures_pipeline(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "out").mkdir()
    Image.fromarray(shape(90)).save(tmp_path / "mine" / "m.jpg")

    (name,) = ingest_masks(tmp_path / "mine", tmp_path / "out", size_px=32, image_format="png")

    with Image.open(tmp_path / "out" / name) as made:
        assert made.size == (32, 32)


def test_a_missing_folder_of_masks_is_named(tmp_path):
    with pytest.raises(InvalidInput, match=r"the folder of masks, .*none, does not exist"):
        ingest_masks(tmp_path / "none", tmp_path, size_px=32, image_format="png")


def test_the_command_offers_the_kinds_that_there_are():
    (kind,) = [option for option in main.get_command(None, "masks").params if option.name == "kind"]

    assert tuple(kind.type.choices) == MADE_MASKS
