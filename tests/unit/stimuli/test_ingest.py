"""Folders in: a uniform pool, or one message that says all that is wrong, and nothing left behind."""

import os
import re
import socket

import numpy as np
import pytest
from PIL import Image

from backend.foundation.errors import InvalidInput
from backend.stimuli.ingest import ingest
from backend.stimuli.medium import Refused

RNG = np.random.default_rng(7)


def fill(folder, count=6, size=24, suffix="png", smooth=False):
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(count):
        pixels = RNG.integers(0, 256, (2 if smooth else size, 2 if smooth else size, 3)).astype("uint8")
        Image.fromarray(pixels).resize((size, size)).save(folder / f"{i:03d}.{suffix}")
    return folder


@pytest.fixture
def real(tmp_path):
    return fill(tmp_path / "real")


@pytest.fixture
def gan(tmp_path):
    return fill(tmp_path / "gan", smooth=True)


def size_of(path):
    with Image.open(path) as picture:
        return picture.size


def take(tmp_path, real, models, **options):
    return ingest(real, models, tmp_path / "out", size_px=32, **options)


def test_the_files_tell_nothing_but_their_pictures(tmp_path, real, gan):
    intake = take(tmp_path, real, {"gan": gan})

    files = list((tmp_path / "out").iterdir())
    assert sorted(file.name for file in files) == [stimulus.name for stimulus in intake.stimuli]
    assert len({(f.stat().st_size, f.stat().st_mtime, f.stat().st_mode, f.suffix) for f in files}) == 1
    assert all(len(file.stem) == 32 for file in files)
    assert {size_of(file) for file in files} == {(32, 32)}


def test_the_pool_knows_what_each_picture_is(tmp_path, real, gan):
    intake = take(tmp_path, real, {"gan": gan})

    assert sum(stimulus.truth == "real" for stimulus in intake.stimuli) == 6
    assert {s.source for s in intake.stimuli if s.model == "gan"} == {f"{i:03d}.png" for i in range(6)}


def test_many_pictures_on_all_cores_give_the_same_pool(tmp_path):
    real, gan = fill(tmp_path / "real", 70), fill(tmp_path / "gan", 70)

    many = ingest(real, {"gan": gan}, tmp_path / "a", size_px=16, workers=2)
    one = ingest(real, {"gan": gan}, tmp_path / "b", size_px=16, workers=1)

    assert {(s.source, s.truth) for s in many.stimuli} == {(s.source, s.truth) for s in one.stimuli}
    assert len(list((tmp_path / "a").iterdir())) == 140


def test_sub_folders_are_classes(tmp_path):
    for side in ("real", "gan"):
        for class_ in ("cat", "dog"):
            fill(tmp_path / side / class_, 3)

    intake = take(tmp_path, tmp_path / "real", {"gan": tmp_path / "gan"})

    assert intake.classes == ("cat", "dog")
    assert {s.class_ for s in intake.stimuli} == {"cat", "dog"}


def test_sub_folders_that_do_not_match_are_refused_with_a_remedy_and_ignored_on_request(tmp_path, gan):
    for class_ in ("cat", "dog", "dog/small", " blank"):
        fill(tmp_path / "real" / class_, 3)
    fill(tmp_path / "real", 3)
    (tmp_path / "real" / "dog" / ".cache").mkdir()
    real = tmp_path / "real"

    with pytest.raises(Refused, match="or have sub-folders ignored with --flat"):
        take(tmp_path, real, {"gan": gan}, flat=False)
    intake = take(tmp_path, real, {"gan": gan}, flat=True)

    assert intake.classes == ()
    sources = {stimulus.source for stimulus in intake.stimuli if stimulus.truth == "real"}
    folders = ("", "cat/", "dog/", "dog/small/", " blank/")
    assert sources == {f"{folder}{i:03d}.png" for folder in folders for i in range(3)}
    assert intake.notes[-1] == "1 file that is no picture was left out: real/dog/.cache"


def test_where_nobody_can_have_sub_folders_ignored_no_remedy_is_named(tmp_path, gan):
    fill(tmp_path / "real" / "cat", 3)

    with pytest.raises(Refused, match=r"every model needs the classes of the reals$"):
        take(tmp_path, tmp_path / "real", {"gan": gan})


def test_a_link_back_up_from_any_depth_is_refused_where_sub_folders_are_ignored(tmp_path, gan):
    fill(tmp_path / "real" / "cat" / "small", 3)
    (tmp_path / "real" / "cat" / "small" / "up").symlink_to(tmp_path / "real" / "cat")

    with pytest.raises(Refused, match=r"a link back to a folder that it is in, .*small/up"):
        take(tmp_path, tmp_path / "real", {"gan": gan}, flat=True)


def test_differences_the_pipeline_cannot_hide_are_said(tmp_path):
    real, gan = fill(tmp_path / "real", suffix="jpg", size=64), fill(tmp_path / "gan", size=8)

    intake = take(tmp_path, real, {"gan": gan})

    assert any("the reals were JPEG and the fakes of gan PNG" in note for note in intake.notes)
    assert any("--preprocess jpeg:75" in note for note in intake.notes)
    assert any("enlarged" in note and "--preprocess size:8" in note for note in intake.notes)


def noise_of(intake, folder, truth):
    """Return the mean SD of the pictures of a side, which are noise."""
    names = [stimulus.name for stimulus in intake.stimuli if stimulus.truth == truth]
    return np.mean([np.asarray(Image.open(folder / name).convert("RGB")).std() for name in names])


@pytest.mark.parametrize("size", [245, 257, 270])
def test_a_side_that_lost_noise_by_resampling_is_named_and_can_be_made_equal(tmp_path, size):
    real, gan = fill(tmp_path / "real", size=size), fill(tmp_path / "gan", size=256)

    blurred = ingest(real, {"gan": gan}, tmp_path / "blurred", size_px=256)
    even = ingest(real, {"gan": gan}, tmp_path / "even", size_px=256, preprocess=["size:205"])

    before = "of the reals 100% were resampled by a few pixels, of the fakes of gan 0%"
    remedy = "sharpness can give them away; --preprocess size:205 brings both to one sharpness"
    assert blurred.notes == (f"{before}: {remedy}",)
    assert even.notes == (f"{before}; both went through 205 px",)
    assert noise_of(blurred, tmp_path / "blurred", "real") < 0.93 * noise_of(
        blurred, tmp_path / "blurred", "fake"
    )
    assert noise_of(even, tmp_path / "even", "real") == pytest.approx(
        noise_of(even, tmp_path / "even", "fake"), rel=0.07
    )


def test_sides_that_are_alike_give_no_note(tmp_path, real, gan):
    assert take(tmp_path, real, {"gan": gan}).notes == ()


def copied(tmp_path, real, gan):
    (gan / "copy.png").write_bytes((real / "000.png").read_bytes())
    return {"gan": gan}


def unreadable(tmp_path, real, gan):
    (gan / "text.png").write_text("hello")
    return {"gan": gan}


def missing(tmp_path, real, gan):
    return {"gan": tmp_path / "none"}


def a_file(tmp_path, real, gan):
    return {"gan": gan / "000.png"}


def dead(tmp_path, real, gan):
    (tmp_path / "dead").symlink_to(tmp_path / "dead")
    return {"gan": tmp_path / "dead"}


def empty(tmp_path, real, gan):
    (tmp_path / "empty").mkdir()
    return {"gan": tmp_path / "empty"}


def only_notes(tmp_path, real, gan):
    empty(tmp_path, real, gan)
    (tmp_path / "empty" / "notes.txt").write_text("none yet")
    return {"gan": tmp_path / "empty"}


def inside(tmp_path, real, gan):
    return {"gan": fill(real / "gan")}


def same(tmp_path, real, gan):
    return {"gan": real}


def linked(tmp_path, real, gan):
    (tmp_path / "link").symlink_to(real)
    return {"gan": tmp_path / "link"}


def twice(tmp_path, real, gan):
    return {"gan": gan, "vae": gan}


def mixed(tmp_path, real, gan):
    fill(gan / "cat", 2)
    return {"gan": gan}


def deep(tmp_path, real, gan):
    fill(gan / "cat" / "small", 2)
    return {"gan": gan}


def looped(tmp_path, real, gan):
    (gan / "again").symlink_to(gan)
    return {"gan": gan}


def other_classes(tmp_path, real, gan):
    return {"gan": fill(tmp_path / "classes" / "cat").parent}


def classes_by_case(tmp_path, real, gan):
    for side in (real, gan):
        for path in list(side.iterdir()):
            path.unlink()
        fill(side / "cat"), fill(side / "Cat")
    return {"gan": gan}


def class_of_bytes(tmp_path, real, gan):
    os.mkdir(os.fsencode(gan) + b"/caf\xe9")
    return {"gan": gan}


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (
            copied,
            r"1 file cannot be used: appears on more than one side \(.*000\.png shows .* as .*copy\.png\)",
        ),
        (
            unreadable,
            r"1 file cannot be used: has a picture's ending but holds none \(.*text\.png is not an im",
        ),
        (missing, "the folder of model gan, .*none, does not exist"),
        (a_file, "the folder of model gan, .*000.png, is not a folder"),
        (dead, "the folder of model gan, .*dead, is a link that leads nowhere"),
        (empty, "the folder of model gan, .*empty, has no files"),
        (only_notes, "empty, has no files but .*notes.txt, which are no pictures"),
        (inside, "lies inside that of the reals"),
        (same, "is the same as that of the reals"),
        (linked, "is the same as that of the reals"),
        (twice, "the folder of model vae, .*gan, is the same as that of model gan"),
        (mixed, r"has both files \(000\.png\) and sub-folders with files \(cat/000\.png\)"),
        (deep, "has a folder in a folder, .*small; sub-folders are classes"),
        (looped, "has a link back to a folder that it is in, .*again"),
        (other_classes, "model gan in .* has the classes cat, the reals have no classes"),
        (classes_by_case, "has the classes Cat and cat, which differ by case only"),
        (class_of_bytes, r"has the class 'caf\\\\xe9'; a class must be named in plain text"),
    ],
)
def test_a_bad_folder_is_told_in_one_message_and_leaves_nothing(tmp_path, real, gan, prepare, message):
    models = prepare(tmp_path, real, gan)

    with pytest.raises(InvalidInput, match=message) as refused:
        take(tmp_path, real, models)

    assert "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()


def spoil(real, gan):
    """Put bad files of many kinds on both sides; return how many."""
    whole = (real / "000.png").read_bytes()
    for i in range(7):
        (real / f"cut{i}.png").write_bytes(whole[: len(whole) // 2])
    (gan / "cut.png").write_bytes(whole[:200])
    (gan / "nothing.png").write_bytes(b"")
    (gan / "text.jpg").write_text("hello")
    (gan / "phone.heic").write_bytes(b"ftypheic")
    (gan / "dead.png").symlink_to(gan / "nowhere.png")
    Image.new("RGB", (40, 5)).save(real / "flat.png")
    Image.fromarray(np.ones((20, 20), np.float32)).save(gan / "light.tif")
    (gan / "both.png").write_bytes(whole)
    return 15


BY_NAME = ("phone.heic", "dead.png")


def test_what_names_tell_of_folders_and_files_is_told_at_once_before_any_file_is_read(tmp_path, real, gan):
    spoil(real, gan)

    with pytest.raises(Refused, match=r"the folder of model vae.*; 2 files cannot be used") as refused:
        take(tmp_path, real, {"gan": gan, "vae": tmp_path / "none"})

    message = str(refused.value)
    expected = [
        "1 is a picture in a format that is not read",
        "phone.heic",
        "1 is a link that leads nowhere",
        "--skip-bad",
    ]
    assert [part for part in expected if part not in message] == []
    assert "\n" not in message
    assert not (tmp_path / "out").exists()


def test_bad_files_of_every_kind_on_all_sides_are_told_at_once(tmp_path, real, gan):
    count = spoil(real, gan) - len(BY_NAME)
    for name in BY_NAME:
        (gan / name).unlink()

    with pytest.raises(Refused, match="13 files cannot be used") as refused:
        take(tmp_path, real, {"gan": gan})

    message = str(refused.value)
    expected = [
        f"{count} files cannot be used",
        "8 are cut off or damaged",
        "cut0.png",
        "1 is empty",
        "1 has a picture's ending but holds none",
        "1 is too small",
        "flat.png has 40 x 5 pixels",
        "1 has levels or colours that are not read",
        "light.tif has floating-point levels",
        "1 appears on more than one side",
        "--skip-bad",
    ]
    assert [part for part in expected if part not in message] == []
    assert "\n" not in message
    assert not (tmp_path / "out").exists()


def test_what_tells_the_sides_apart_is_told_with_the_files_that_cannot_be_used(tmp_path, real):
    gan = fill(tmp_path / "soft", suffix="jpg")
    (gan / "text.png").write_text("hello")

    with pytest.raises(
        Refused, match=r"--skip-bad; besides, the reals were PNG .*--preprocess jpeg:\d+ puts"
    ):
        take(tmp_path, real, {"gan": gan})


def test_a_list_too_long_for_the_message_is_given_whole(tmp_path, real, gan):
    count = spoil(real, gan) - len(BY_NAME)
    for name in BY_NAME:
        (gan / name).unlink()

    with pytest.raises(Refused, match="13 files cannot be used") as refused:
        take(tmp_path, real, {"gan": gan})

    assert "cut6.png" not in str(refused.value)
    assert len(refused.value.everything) == count
    assert sum("cut6.png" in line for line in refused.value.everything) == 1


def test_bad_files_can_be_left_out_and_are_listed(tmp_path, real, gan):
    count = spoil(real, gan)

    intake = take(tmp_path, real, {"gan": gan}, skip_bad=True)

    # of the six and six: the one that stands on both sides is neither
    assert len(intake.stimuli) == 11
    assert len(list((tmp_path / "out").iterdir())) == 11
    assert "000.png" not in {s.source for s in intake.stimuli if s.truth == "real"}
    assert any("8 files were left out that are cut off or damaged" in note for note in intake.notes)
    assert any("1 file was left out that appears on more than one side" in note for note in intake.notes)
    assert len(intake.left_out) == count


def test_folders_are_refused_though_bad_files_are_left_out(tmp_path, real, gan):
    with pytest.raises(Refused, match="does not exist"):
        take(tmp_path, real, {"gan": gan, "vae": tmp_path / "none"}, skip_bad=True)


def test_what_a_pool_lacks_is_told_with_the_files_that_cannot_be_used(tmp_path, real, gan):
    (gan / "text.png").write_text("hello")

    def lacking(pool, classes):
        return "" if len(pool) == 13 else f"{len(pool)} and no more"

    with pytest.raises(Refused, match=r"1 file cannot be used: .*; 12 and no more"):
        take(tmp_path, real, {"gan": gan}, lacking=lacking)


def test_duplicates_are_left_out_with_a_note_or_refused(tmp_path, real, gan):
    (gan / "twice.png").write_bytes((gan / "000.png").read_bytes())

    intake = take(tmp_path, real, {"gan": gan})

    assert len(intake.stimuli) == len(list((tmp_path / "out").iterdir())) == 12
    assert "1 duplicate was left out: gan/twice.png shows the same picture as gan/000.png" in intake.notes
    typed = re.escape(f"is a duplicate ({gan}/twice.png shows the same picture as {gan}/000.png)")
    with pytest.raises(Refused, match=typed):
        ingest(real, {"gan": gan}, tmp_path / "again", size_px=32, strict=True)


def test_a_picture_with_an_unknown_ending_is_taken(tmp_path, real, gan):
    names = ("sample_cfg7.5", "a.jpg_large", "b.jpeg?w=100", "c.PNG.part", "d")
    for path, name in zip(sorted(gan.iterdir()), names, strict=False):
        path.rename(gan / name)

    intake = take(tmp_path, real, {"gan": gan})

    assert len(intake.stimuli) == 12
    assert not intake.left_out


def test_what_is_no_picture_is_left_out_with_a_note(tmp_path, real, gan):
    for name in ("README.txt", ".DS_Store", "Thumbs.db", "meta.json", "SHA256SUMS"):
        (gan / name).write_text("samples of March")
    (gan / ".cache").mkdir()
    os.mkfifo(gan / "pipe.png")

    intake = take(tmp_path, real, {"gan": gan})

    assert len(intake.stimuli) == 12
    (note,) = (note for note in intake.notes if "no picture" in note)
    assert note.startswith("7 files that are no pictures were left out: ")
    assert {name.rpartition("/")[2].partition(":")[0] for name in intake.left_out} == {
        *("README.txt", ".DS_Store", "Thumbs.db", "meta.json", "SHA256SUMS", ".cache", "pipe.png"),
    }
    assert intake.left_out_untold == intake.left_out


def test_a_file_without_an_ending_may_be_a_picture(tmp_path, real, gan):
    (gan / "000.png").rename(gan / "first")

    assert len(take(tmp_path, real, {"gan": gan}).stimuli) == 12


def test_any_name_that_a_file_can_have_is_taken(tmp_path, real, gan):
    odd = [b"a\nb.png", b"caf\xe9.png", "\N{GRINNING FACE}.png".encode(), b" .png", b"-rf.png", b"'\".png"]
    for i, name in enumerate(odd):
        os.rename(gan / f"{i:03d}.png", os.fsencode(gan) + b"/" + name)

    intake = take(tmp_path, real, {"gan": gan})

    sources = {s.source for s in intake.stimuli if s.model == "gan"}
    assert sources == {
        *(r"a\nb.png", r"caf\xe9.png", "\N{GRINNING FACE}.png", " .png", "-rf.png", "'\".png"),
    }
    assert all(source.encode() for source in sources)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_and_folders_without_permission_are_told(tmp_path, real, gan):
    (gan / "000.png").chmod(0)
    (closed := fill(tmp_path / "vae")).chmod(0)

    with pytest.raises(Refused, match=r"vae, cannot be read: .*; 1 file .* lack of permission \(.*000\.png"):
        take(tmp_path, real, {"gan": gan, "vae": closed})

    closed.chmod(0o700)


def test_a_socket_is_no_picture(tmp_path, real, gan, monkeypatch):
    monkeypatch.chdir(gan)  # an address is at most 108 bytes long
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.png")

        assert len(take(tmp_path, real, {"gan": gan}).stimuli) == 12


def of_16_bits(path):
    Image.fromarray(RNG.integers(0, 65536, (24, 24)).astype(np.uint16)).save(path)


def in_cmyk(path):
    Image.fromarray(RNG.integers(0, 256, (24, 24, 3)).astype(np.uint8)).convert("CMYK").save(path, "TIFF")


def see_through(path):
    Image.fromarray(RNG.integers(0, 256, (24, 24, 4)).astype(np.uint8)).save(path)


def animated(path):
    frames = [Image.fromarray(RNG.integers(0, 256, (24, 24, 3)).astype(np.uint8)) for _ in range(3)]
    frames[0].save(path, save_all=True, append_images=frames[1:])


def turned(path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(RNG.integers(0, 256, (24, 24, 3)).astype(np.uint8)).save(path, exif=exif)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (of_16_bits, "had 16 bits a channel, scaled to 8"),
        (in_cmyk, "were in CMYK, converted to sRGB"),
        (see_through, "had transparency, laid on white"),
        (animated, "had several frames or pages, of which the first is shown"),
        (turned, "were turned upright as their EXIF says"),
    ],
)
def test_what_became_of_unusual_files_is_told_for_each_side(tmp_path, real, gan, make, told):
    for i in range(2):
        make(gan / f"odd{i}.png")

    intake = take(tmp_path, real, {"gan": gan})

    assert f"0 of 6 reals, 2 of 8 fakes of gan {told}" in intake.notes


def test_jpegs_of_different_quality_are_said(tmp_path):
    for folder, quality in (("real", 95), ("fake", 60)):
        (tmp_path / folder).mkdir()
        rng = np.random.default_rng([quality])
        for i in range(6):
            picture = Image.fromarray(rng.integers(0, 256, (40, 40, 3)).astype("uint8"))
            picture.save(tmp_path / folder / f"{i}.jpg", quality=quality)

    taken = ingest(tmp_path / "real", {"gan": tmp_path / "fake"}, tmp_path / "out", size_px=32)

    assert any("JPEG of quality 95 and the fakes of gan of 60" in note for note in taken.notes)


def test_a_refusal_of_many_equal_pictures_names_a_few_and_the_other_side_first(tmp_path):
    real, gan = fill(tmp_path / "real", 3), fill(tmp_path / "gan", 3)
    picture = next(real.iterdir()).read_bytes()
    for i in range(20):
        (real / f"same{i:02}.png").write_bytes(picture)
    (gan / "same.png").write_bytes(picture)

    with pytest.raises(Refused) as refused:
        ingest(real, {"gan": gan}, tmp_path / "out", size_px=16)

    assert re.search(
        r"shows the same picture as \S*gan/same\.png, (\S+, ){3}\S+ and 16 more", str(refused.value)
    )
