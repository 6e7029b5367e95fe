"""What callers may give as pictures, and that each becomes the file it should be."""

import io
import os

import numpy as np
import pytest
from PIL import Image

from backend.client.pictures import picture_files
from backend.client.png import png_of_rgb
from backend.client.sending import archive_of
from backend.foundation.errors import InvalidInput, NotFound

PIXELS = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)


def file_of(kind):
    buffer = io.BytesIO()
    Image.fromarray(PIXELS).save(buffer, kind)
    return buffer.getvalue()


def taken(images):
    with picture_files(images) as files:
        return [(file.name, file.path.read_bytes(), file.size) for file in files]


def test_our_own_png_has_the_pixels_that_were_given():
    read = Image.open(io.BytesIO(png_of_rgb(7, 5, PIXELS.tobytes())))

    assert read.mode == "RGB"
    assert np.array_equal(np.asarray(read), PIXELS)


def test_arrays_and_images_become_png_in_their_order():
    found = taken(iter([PIXELS, Image.fromarray(PIXELS[::-1].copy()), PIXELS[:, ::-1]]))

    assert [name for name, _, _ in found] == ["000000.png", "000001.png", "000002.png"]
    assert all(size == len(content) for _, content, size in found)
    read = [np.asarray(Image.open(io.BytesIO(content))) for _, content, _ in found]
    assert np.array_equal(read, [PIXELS, PIXELS[::-1], PIXELS[:, ::-1]])


@pytest.mark.parametrize(
    ("kind", "suffix"), [("PNG", ".png"), ("JPEG", ".jpg"), ("WEBP", ".webp"), ("TIFF", ".tif")]
)
def test_bytes_of_a_file_are_sent_as_they_are(kind, suffix):
    content = file_of(kind)

    assert taken([content]) == [(f"000000{suffix}", content, len(content))]


def test_paths_are_sent_as_they_lie_there(tmp_path):
    (tmp_path / "a b.PNG").write_bytes(b"1")

    assert taken([tmp_path / "a b.PNG", str(tmp_path / "a b.PNG")]) == [
        ("000000.png", b"1", 1),
        ("000001.png", b"1", 1),
    ]


def test_a_folder_gives_its_files_with_their_sub_folders_and_without_hidden_ones(tmp_path):
    for name in ("b/1.png", "a/1.png", ".git/x", "a/.DS_Store", "__MACOSX/1.png", "THUMBS.DB"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    os.mkfifo(tmp_path / "pipe.png")

    assert sorted(name for name, _, _ in taken(str(tmp_path))) == ["a/1.png", "b/1.png"]


def test_links_to_folders_and_files_are_followed_as_create_does(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "1.png").write_bytes(b"1")
    images = tmp_path / "images"
    (images / "dogs").mkdir(parents=True)
    (images / "cats").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (images / "dogs" / "1.png").symlink_to(tmp_path / "elsewhere" / "1.png")

    assert sorted(taken(images)) == [("cats/1.png", b"1", 1), ("dogs/1.png", b"1", 1)]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere.png", "link.* is a link that leads nowhere"),
        (".", "link.* is a link back to a folder that it is in"),
        ("..", "link.* is a link back to a folder that it is in"),
        ("link", "link.* (is a link that leads nowhere|cannot be read)"),
    ],
)
def test_a_link_that_gives_no_pictures_is_refused_and_not_left_out(tmp_path, target, message):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "1.png").write_bytes(b"1")
    (tmp_path / "images" / "link").symlink_to(target)

    with pytest.raises(InvalidInput, match=message):
        taken(tmp_path / "images")


def test_a_folder_that_cannot_be_read_is_refused_and_not_left_out(tmp_path, monkeypatch):
    (tmp_path / "cats").mkdir()
    (tmp_path / "1.png").write_bytes(b"1")
    listed = os.listdir

    def refusing(folder):
        if str(folder).endswith("cats"):
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(os, "listdir", refusing)

    with pytest.raises(InvalidInput, match="cats cannot be read: Permission denied"):
        taken(tmp_path)


def test_pictures_of_an_iterable_are_gone_afterwards():
    with picture_files([PIXELS]) as (file,):
        assert file.path.exists()

    assert not file.path.exists()


@pytest.mark.parametrize(
    ("images", "message"),
    [
        ([], "images is empty"),
        (b"x", "images must be a folder or an iterable of pictures, not bytes"),
        (3, "images must be a folder or an iterable of pictures, not int"),
        ([3], "picture 0 must be a PIL image"),
        ([None], "picture 0 must be a PIL image"),
        ([b"hello"], "picture 0: these 5 bytes are no PNG"),
        (
            [PIXELS, PIXELS / 255],
            "picture 1 must be an array of uint8, height x width x 3, not float64 of 5 x 7 x 3",
        ),
        ([PIXELS[0]], "not uint8 of 7 x 3"),
        ([PIXELS.transpose(2, 0, 1)], "not uint8 of 3 x 5 x 7"),
        ([PIXELS[:0]], "not uint8 of 0 x 7 x 3"),
        ([np.uint8(3)], "of no dimensions"),
        ([Image.new("F", (2, 2))], "an image of mode F cannot be written as PNG"),
    ],
)
def test_what_is_no_picture_is_refused_with_its_place(images, message):
    with pytest.raises(InvalidInput, match=message):
        taken(images)


def test_a_folder_that_is_not_there_and_one_without_files_are_told_apart(tmp_path):
    with pytest.raises(NotFound, match="is not there"):
        taken(tmp_path / "none")
    with pytest.raises(InvalidInput, match="there are no files"):
        taken(tmp_path)
    with pytest.raises(NotFound, match="picture 0: there is no file"):
        taken([tmp_path / "none.png"])


def test_a_file_that_cannot_be_read_is_an_error_of_ours(tmp_path):
    (tmp_path / "1.png").write_bytes(b"x")
    with picture_files(tmp_path) as files:
        (tmp_path / "1.png").unlink()

        with pytest.raises(InvalidInput, match=r"1\.png cannot be read: No such file"):
            archive_of(files)
