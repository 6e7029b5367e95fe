import re
from fractions import Fraction
from random import Random

import numpy as np
import pytest

pytest.importorskip("av")

from PIL import Image, ImageDraw

from backend.experiment.records import FAKE, REAL
from backend.foundation.errors import InvalidInput
from backend.stimuli.clips.clip_file import read, strip_of
from backend.stimuli.clips.encoding import decoded
from backend.stimuli.clips.ingest import ingest, stated_rate
from backend.stimuli.medium import Refused
from tests.unit.stimuli.clips.made_clips import moving, write_animation, write_sides, write_video


def _ingest(real, models, tmp_path, **options):
    return ingest(real, models, tmp_path / "out", **{"size_px": 32, "workers": 1, "rng": Random(1)} | options)


@pytest.fixture(scope="module")
def taken(tmp_path_factory):
    root = tmp_path_factory.mktemp("clips")
    real, models = write_sides(root)
    return _ingest(real, models, root), root / "out"


def test_all_files_are_alike_in_all_but_what_they_show(taken):
    intake, out = taken

    files = [*out.iterdir()]
    heads = [read(path.read_bytes())[0] for path in files]

    assert {path.name for path in files} == {stimulus.name for stimulus in intake.stimuli}
    assert [stimulus.truth for stimulus in intake.stimuli].count(REAL) == 4
    assert [stimulus.truth for stimulus in intake.stimuli].count(FAKE) == 4
    assert len({path.stat().st_size for path in files}) == 1
    assert len({(path.stat().st_mtime, path.stat().st_mode) for path in files}) == 1
    assert len({*heads}) == 1
    assert (heads[0].frames, heads[0].fps, heads[0].width, heads[0].height) == (12, (12, 1), 32, 32)
    assert (intake.clip.frames, intake.clip.fps, intake.clip.seconds) == (12, (12, 1), 1.0)


def test_each_packet_is_one_frame_in_the_order_of_showing(taken):
    _, out = taken
    frames = [read(path.read_bytes())[1] for path in out.iterdir()]

    shown = [[*decoded(each)] for each in frames]

    assert {len(each) for each in shown} == {12}
    assert all([frame.is_key for frame in each] == [True] + [False] * 11 for each in frames)


def test_frames_are_those_of_the_source_in_colour_and_order(tmp_path):
    sources = moving(7, 8, (64, 64))
    real = write_animation(tmp_path / "real" / "a.webp", sources).parent
    fake = write_animation(tmp_path / "gan" / "b.webp", moving(8, 8, (64, 64))).parent
    intake = _ingest(real, {"gan": fake}, tmp_path, size_px=64)

    name = next(stimulus.name for stimulus in intake.stimuli if stimulus.truth == REAL)
    shown = [*decoded(read((tmp_path / "out" / name).read_bytes())[1])]

    for i, picture in enumerate(shown):
        errors = [np.abs(_gray(picture) - _gray(source)).mean() for source in sources]
        assert np.argmin(errors) == i
        assert errors[i] < 2  # colours have half the resolution
        means = [np.asarray(one, float).mean(axis=(0, 1)) for one in (picture, sources[i])]
        assert np.abs(means[0] - means[1]).max() < 2.5


def _gray(picture):
    return np.asarray(picture.convert("L"), float)


def test_a_film_strip_shows_the_first_frame_and_three_later_ones(taken):
    import io

    intake, out = taken
    data = (out / intake.stimuli[0].name).read_bytes()
    strip = Image.open(io.BytesIO(strip_of(data)))
    shown = [*decoded(read(data)[1])]

    assert strip.size == (384, 96)
    for i, frame in enumerate((0, 3, 6, 9)):
        part = np.asarray(strip.crop((96 * i, 0, 96 * i + 96, 96)).resize((32, 32)), float)
        assert np.abs(part - np.asarray(shown[frame], float)).mean() < 12


def test_names_depend_on_the_key_alone_so_that_a_pool_can_be_made_again(tmp_path):
    real, models = write_sides(tmp_path, count=2)

    names = [
        [
            stimulus.name
            for stimulus in ingest(real, models, tmp_path / str(i), size_px=32, rng=Random(seed)).stimuli
        ]
        for i, seed in enumerate((1, 1, 2))
    ]

    assert names[0] == names[1]
    assert not {*names[0]} & {*names[2]}


def test_clips_are_brought_to_the_rate_of_most_and_cut_to_the_shortest(tmp_path):
    real, models = write_sides(tmp_path, frames=12, fps=12)
    write_video(models["sora"] / "slow.mp4", moving(50, 5), 6)

    intake = _ingest(real, models, tmp_path)

    assert (intake.clip.frames, intake.clip.fps) == (10, (12, 1))
    notes = " | ".join(intake.notes)
    assert "0 of 4 reals, 1 of 5 fakes of sora were brought to 12 frames a second from another rate" in notes


def test_a_rate_in_thousandths_and_a_length_can_be_asked_for(tmp_path):
    real, models = write_sides(tmp_path, frames=12, fps=12)

    intake = _ingest(real, models, tmp_path, fps=24000 / 1001, seconds=0.5)

    assert (intake.clip.frames, intake.clip.fps) == (11, (24000, 1001))


@pytest.mark.parametrize(
    ("measured", "rate"),
    [
        (24.0001, Fraction(24)),
        (23.976, Fraction(24000, 1001)),
        (29.97003, Fraction(30000, 1001)),
        (17.3, Fraction(173, 10)),
    ],
)
def test_measured_rates_stand_for_usual_ones(measured, rate):
    assert stated_rate(measured) == rate


def test_shorter_clips_than_asked_for_are_refused_or_left_out(tmp_path):
    real, models = write_sides(tmp_path, frames=12)
    write_video(real / "short.mp4", moving(9, 4), 12)

    with pytest.raises(Refused, match=re.escape("short.mp4 is shorter than 1 s")):
        _ingest(real, models, tmp_path, seconds=1)
    assert not (tmp_path / "out").exists()

    intake = _ingest(real, models, tmp_path, seconds=1, skip_bad=True)
    assert len(intake.stimuli) == 8


def test_a_clip_that_shortens_all_is_named(tmp_path):
    real, models = write_sides(tmp_path, frames=12)
    write_video(real / "short.mp4", moving(9, 4), 12)

    intake = _ingest(real, models, tmp_path)

    assert intake.clip.frames == 4
    assert any(
        "real/short.mp4 has 0.333 s, and half of the clips 1 s or more" in note for note in intake.notes
    )


def test_stills_among_clips_are_refused(tmp_path):
    real, models = write_sides(tmp_path)
    moving(1, 1)[0].save(real / "still.png")

    with pytest.raises(Refused, match=re.escape("still.png is a still picture")):
        _ingest(real, models, tmp_path)


def test_clips_that_would_take_too_much_memory_are_refused_with_what_fits(tmp_path):
    real, models = write_sides(tmp_path, count=1, frames=40)

    with pytest.raises(InvalidInput, match=r"take 671 MB once decoded, more than 400; .* clip_seconds=1.9"):
        _ingest(real, models, tmp_path, size_px=2048)
    with pytest.raises(InvalidInput, match=r"trials of 2 clips of 3.33 s.* clip_seconds=1.9"):
        _ingest(real, models, tmp_path, size_px=1024, fps=24, at_once=2, seconds=3.34)


def test_an_odd_size_is_refused(tmp_path):
    real, models = write_sides(tmp_path, count=1)

    with pytest.raises(InvalidInput, match="size_px must be 32 or 34, not 33"):
        _ingest(real, models, tmp_path, size_px=33)


def test_the_same_clip_on_both_sides_is_neither(tmp_path):
    real, models = write_sides(tmp_path)
    (models["sora"] / "copy.mp4").write_bytes((real / "0.mp4").read_bytes())

    with pytest.raises(Refused, match="appears on more than one side"):
        _ingest(real, models, tmp_path)


def _black_first(frames):
    return [Image.new("RGB", frames[0].size), *frames[1:]]


def _faded_in(frames):
    return [Image.eval(frame, lambda v, i=i: v * min(i / 6, 1)) for i, frame in enumerate(frames)]


def _frozen_end(frames):
    return [*frames[:-5], *[frames[-5]] * 5]


def _marked(frames):
    marked = []
    for frame in frames:
        copy = frame.copy()
        ImageDraw.Draw(copy).rectangle((44, 32, 63, 47), fill="white")
        marked.append(copy)
    return marked


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (
            _black_first,
            "0 of 4 reals, 4 of 4 fakes of sora begin with a black frame; --set clip_skip_seconds=S",
        ),
        (_faded_in, "0 of 4 reals, 4 of 4 fakes of sora fade in; --set clip_skip_seconds=S"),
        (_frozen_end, "0 of 4 reals, 4 of 4 fakes of sora end with a frozen picture; --set clip_seconds=S"),
        (_marked, "most of the fakes of sora have a region that never changes (bottom right)"),
    ],
)
def test_what_gives_a_side_away_is_told_with_what_takes_it_away(tmp_path, change, note):
    for i in range(4):
        write_video(tmp_path / "real" / f"{i}.mp4", moving(i, 16))
        write_video(tmp_path / "sora" / f"{i}.mp4", change(moving(100 + i, 16)))

    intake = _ingest(tmp_path / "real", {"sora": tmp_path / "sora"}, tmp_path)

    assert any(note in each for each in intake.notes), intake.notes


def test_alike_sides_differ_in_nothing_that_is_told(tmp_path):
    real, models = write_sides(tmp_path, count=6)

    intake = _ingest(real, models, tmp_path)

    assert len(intake.notes) == 2
    assert intake.notes[0].startswith(
        "clips have 12 frames: 12 frames a second (the rate of most), cut to 1 s"
    )
    assert re.search(
        r"42 dB or more .* are the reals 100% of frames, .*; the fakes of sora 100%", intake.notes[1]
    )


def test_sound_on_one_side_is_told(tmp_path):
    for i in range(3):
        write_video(tmp_path / "real" / f"{i}.mp4", moving(i, 8), with_sound=True)
        write_video(tmp_path / "sora" / f"{i}.mp4", moving(10 + i, 8))

    intake = _ingest(tmp_path / "real", {"sora": tmp_path / "sora"}, tmp_path)

    assert any(
        "3 of 3 reals, 0 of 3 fakes of sora had sound, which is left out" in note for note in intake.notes
    )


def test_noisy_clips_get_the_quality_that_keeps_nine_frames_in_ten_good(tmp_path):
    rng = np.random.default_rng(3)
    noisy = [
        Image.fromarray(np.clip(np.asarray(frame) + rng.normal(0, 12, (48, 64, 3)), 0, 255).astype(np.uint8))
        for frame in moving(1, 8)
    ]
    real = write_animation(tmp_path / "real" / "a.png", moving(2, 8)).parent
    fake = write_animation(tmp_path / "gan" / "b.png", noisy).parent

    intake = _ingest(real, {"gan": fake}, tmp_path, size_px=48)

    assert intake.clip.quality < 16
    shares = [int(share) for share in re.findall(r"(\d+)% of frames", intake.notes[1])]
    assert min(shares) >= 90


def test_a_file_of_many_frames_within_a_moment_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("backend.stimuli.clips.ingest._LEAST_READ", 10)
    monkeypatch.setattr("backend.stimuli.clips.ingest._MOST_READ", 1)
    real, models = write_sides(tmp_path)
    write_video(models["sora"] / "dense.mkv", moving(50, 100), 100)

    with pytest.raises(InvalidInput, match=r"dense\.mkv has more than 12 frames in 1 s; thin them out"):
        _ingest(real, models, tmp_path, fps=12)
