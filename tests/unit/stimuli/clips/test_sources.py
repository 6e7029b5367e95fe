import re
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("av")

from backend.stimuli.clips import sources
from backend.stimuli.images import BadPicture
from tests.unit.stimuli.clips.made_clips import moving, write_animation, write_video

FRAMES = moving(1, 10)


@pytest.mark.parametrize("ending", ["mp4", "mov", "mkv", "avi", "webm"])
def test_containers_are_read_with_rate_length_and_size(tmp_path, ending):
    codec = "libvpx-vp9" if ending == "webm" else "mpeg4"
    path = write_video(tmp_path / f"a.{ending}", FRAMES, 25, codec)

    facts = sources.probe(path)
    shown = list(sources.frames(path, 9))

    assert (facts.width, facts.height, facts.frames) == (64, 48, 10)
    assert facts.fps == pytest.approx(25, rel=1e-3)
    assert facts.seconds == pytest.approx(0.4, abs=0.005)
    assert [round(frame.at_s * 25) for frame in shown] == [*range(10)]
    assert not facts.is_variable
    assert not facts.has_sound


@pytest.mark.parametrize("fps", [Fraction(24000, 1001), 24, 30, 48, 50, Fraction(60000, 1001), 60, 120])
def test_a_file_that_rounds_times_to_milliseconds_keeps_its_rate(tmp_path, fps):
    path = write_video(tmp_path / "a.webm", moving(1, 30), fps, "libvpx-vp9")

    facts = sources.probe(path)

    assert facts.fps == pytest.approx(float(fps), rel=1e-4)
    assert not facts.is_variable


@pytest.mark.parametrize("ending", ["gif", "webp", "png"])
def test_animations_are_clips(tmp_path, ending):
    path = write_animation(tmp_path / f"a.{ending}", FRAMES)

    facts = sources.probe(path)
    shown = list(sources.frames(path, 9))

    assert (facts.frames, facts.fps, facts.seconds) == (10, pytest.approx(12.5), pytest.approx(0.8))
    assert [frame.at_s for frame in shown] == pytest.approx([0.08 * i for i in range(10)])
    assert shown[3].picture.size == (64, 48)


def test_colours_of_limited_range_are_those_of_the_pictures(tmp_path):
    path = write_video(tmp_path / "a.mp4", FRAMES)

    shown = [*sources.frames(path, 9)]

    for before, after in zip(FRAMES, shown, strict=True):
        assert np.abs(np.asarray(before, float) - np.asarray(after.picture, float)).mean() < 6


def test_sound_and_a_rate_that_varies_are_found(tmp_path):
    path = write_video(
        tmp_path / "a.mkv", FRAMES, 12, times=[0, 1, 2, 3, 7, 8, 13, 14, 15, 20], with_sound=True
    )

    facts = sources.probe(path)

    assert facts.is_variable
    assert facts.has_sound


def test_a_clip_on_its_side_is_turned_upright(tmp_path):
    path = write_video(tmp_path / "a.mp4", FRAMES)
    _turn_by_90_degrees(path)

    shown = [*sources.frames(path, 9)]

    assert shown[0].is_turned
    assert shown[0].picture.size == (48, 64)
    upright = FRAMES[0].rotate(-90, expand=True)  # the matrix turns clockwise
    assert np.abs(np.asarray(upright, float) - np.asarray(shown[0].picture, float)).mean() < 6


def _turn_by_90_degrees(path):
    """Write a rotation by 90 degrees clockwise into the header of the track (ISO 14496-12, tkhd)."""
    data = bytearray(path.read_bytes())
    at = data.index(b"tkhd") + 4 + 4 + 20 + 8 + 8
    one = 0x10000
    matrix = (0, one, 0, -one, 0, 0, 0, 0, 0x40000000)
    for i, value in enumerate(matrix):
        data[at + 4 * i : at + 4 * i + 4] = value.to_bytes(4, "big", signed=True)
    path.write_bytes(data)


def test_pixels_that_are_not_square_become_so(tmp_path):
    def widen(stream):
        stream.codec_context.sample_aspect_ratio = Fraction(2, 1)

    path = write_video(tmp_path / "a.mp4", FRAMES, change=widen)

    assert sources.probe(path).width == 128
    assert next(sources.frames(path, 9)).picture.size == (128, 48)


def _png(path):
    FRAMES[0].save(path, "PNG")


def _one_frame(path):
    write_video(path, FRAMES[:1])


def _text(path):
    path.write_text("no clip at all" * 100)


def _empty(path):
    path.touch()


def _beginning(path):
    write_video(path, FRAMES)
    path.write_bytes(path.read_bytes()[:300])


def _end_cut_off(path, suffix):
    write_video(path.with_suffix(suffix), moving(1, 48)).rename(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 6 // 10])


def _matroska_cut_off(path):
    _end_cut_off(path, ".mkv")


def _avi_cut_off(path):
    _end_cut_off(path, ".avi")


def _sound(path):
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=44_100, layout="mono")
        quiet = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        quiet.sample_rate = 44_100
        container.mux([*stream.encode(quiet), *stream.encode(None)])


def _unknown_codec(path):
    write_video(path.with_suffix(".avi"), FRAMES).rename(path)
    path.write_bytes(path.read_bytes().replace(b"FMP4", b"ZZZZ"))


def _playlist(path):
    path.write_text("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n")


def _hdr(path):
    def of_hdr(stream):
        stream.codec_context.color_trc = 16
        stream.codec_context.options = {"lossless": "1"}

    write_video(path.with_suffix(".webm"), FRAMES, 12, "libvpx-vp9", change=of_hdr).rename(path)


def _wide(path):
    write_video(path, [FRAMES[0].resize((4100, 16))] * 2)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (_png, "still", "is a still picture: a study shows clips or pictures, never both"),
        (_one_frame, "still", "has one frame"),
        (_text, "broken", "is broken or cut off, or no clip: Invalid data found when processing input"),
        (_empty, "empty", "is empty"),
        (_beginning, "broken", "is broken or cut off, or no clip"),
        (_matroska_cut_off, "broken", "is cut off or damaged: it states that it ends at"),
        (_avi_cut_off, "broken", "is cut off or damaged: it states 48 frames and has"),
        (_sound, "codec", "has sound or text alone"),
        (_unknown_codec, "codec", "has a codec that is not read"),
        (_playlist, "broken", "is broken or cut off, or no clip"),
        (_hdr, "unsupported", "is in HDR"),
        (_wide, "large", "has 4100 x 16 pixels, more than the limit of 4,096 a side"),
    ],
)
def test_what_is_no_clip_is_refused_with_its_reason(tmp_path, make, kind, message):
    path = tmp_path / "a.mp4"
    make(path)

    with pytest.raises(BadPicture, match=re.escape(message)) as refused:
        sources.probe(path)

    assert refused.value.kind == kind
