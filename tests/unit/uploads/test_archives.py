"""Unpacking archives: what ordinary programs make, and what an attacker does."""

import bz2
import gzip
import io
import lzma
import stat
import struct
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.foundation.errors import InvalidInput, StoreFailed
from backend.uploads.archives import unpack
from backend.uploads.limits import Limits
from tests.unit.uploads.hostile_archives import (
    PNG,
    deflated,
    raw_zip,
    zip_info,
    zipped,
)
from tests.unit.uploads.streams import listed

MOST = Limits(files=50, bytes=20_000_000, file_bytes=10_000_000, ratio_from=1_000_000, free=0)
MADE = {"files": listed, "zip": zipped}


def unpacked(folder, content, format, limits=MOST):
    archive = folder / "archive"
    archive.write_bytes(content)
    made = unpack(archive, format, folder / "into", limits)
    files = {
        str(path.relative_to(folder / "into")): path.read_bytes()
        for path in (folder / "into").rglob("*")
        if path.is_file()
    }
    return made, files


def refuse(folder, content, format, match, limits=MOST, error=InvalidInput):
    """Check that an archive is refused for a reason, and that nothing of it is left."""
    with pytest.raises(error, match=match) as refused:
        unpacked(folder, content, format, limits)
    assert {path.name for path in folder.iterdir()} == {"archive"}
    str(refused.value).encode()  # it can be printed and sent
    return str(refused.value)


@pytest.mark.parametrize("format", MADE)
def test_files_are_unpacked_with_their_folders(tmp_path, format):
    files = {"cats/1.png": PNG, "cats/2.png": b"", "dogs/\U0001f436 ü.png": bytes(700_000)}

    made, found = unpacked(tmp_path, MADE[format](files), format)

    assert found == files
    assert (made.files, made.bytes, made.skipped, made.wrapping) == (3, len(PNG) + 700_000, 0, "")


@pytest.mark.parametrize("format", MADE)
def test_a_wrapping_folder_and_what_systems_add_are_left_out(tmp_path, format):
    files = {
        "reals/1.png": PNG,
        "reals/cats/2.PNG": PNG,
        "reals/.DS_Store": b"x",
        "reals/._1.png": b"x",
        "__MACOSX/reals/._1.png": b"x",
        "Thumbs.db": b"x",
    }

    made, found = unpacked(tmp_path, MADE[format](files), format)

    assert found == {"1.png": PNG, "cats/2.PNG": PNG}
    assert (made.skipped, made.wrapping) == (4, "reals")


@pytest.mark.parametrize("format", MADE)
def test_a_file_beside_a_folder_keeps_the_folder(tmp_path, format):
    _, found = unpacked(tmp_path, MADE[format]({"cats/1.png": PNG, "2.png": PNG}), format)

    assert set(found) == {"cats/1.png", "2.png"}


@pytest.mark.parametrize("program", ["zip -r", "streamed"])
def test_zips_of_other_programs_are_unpacked(tmp_path, program):
    path, content = f"./{'c' * 60}/{'x' * 90}.png", PNG * 1000
    folder = (zip_info("./cats/", stat.S_IFDIR | 0o755), b"")
    data = streamed_zip(path, content) if program == "streamed" else zipped({path: content}, [folder])

    _, found = unpacked(tmp_path, data, "zip")

    assert list(found.values()) == [content]


def streamed_zip(path, content):
    """A zip written to a pipe: lengths stand behind the data."""

    class Pipe(io.RawIOBase):
        data = b""

        def writable(self):
            return True

        def write(self, piece):
            self.data += bytes(piece)
            return len(piece)

    with zipfile.ZipFile(pipe := Pipe(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(path, content)
    return pipe.data


@pytest.mark.parametrize("format", MADE)
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../x.png", r"climbs out of its folder"),
        ("a/../../x.png", r"climbs out of its folder"),
        ("/etc/x.png", r"has an absolute path"),
        ("C:/x.png", r"has a path of Windows"),
        ("a\\..\\x.png", r"has a path of Windows"),
        ("a\x07.png", r"has a control character"),
        ("x" * 256 + ".png", r"has a name of more than 255 bytes"),
        ("/".join(["d"] * 30), r"lies in more than 16 folders"),
        ("../.DS_Store", r"climbs out of its folder"),
    ],
)
def test_names_that_are_not_safe_are_refused(tmp_path, format, name, why):
    message = refuse(tmp_path, MADE[format]({"fine.png": PNG, name: PNG}), format, why)

    assert message.startswith("the archive was not unpacked: its entry '")


@pytest.mark.parametrize("format", MADE)
@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("a.png", "A.PNG", r"differs from 'a\.png' only in upper and lower case"),
        ("\u00e9.png", "e\u0301.png", r"differs from .* only in .* how letters are encoded"),
        ("Cats/1.png", "cats/2.png", r"differs from 'Cats' only in"),
        ("cats", "cats/1.png", r"is a file, and another entry lies in it"),
        ("a.png", "./a.png", r"stands in it twice"),
        ("stra\u00dfe.png", "STRASSE.png", r"differs from"),
    ],
)
def test_names_that_collide_are_refused(tmp_path, format, one, other, why):
    refuse(tmp_path, MADE[format]({one: PNG, other: PNG}), format, why)


@pytest.mark.parametrize("format", MADE)
def test_an_archive_of_nothing_is_refused(tmp_path, format):
    refuse(tmp_path, MADE[format]({"__MACOSX/x": b""}), format, r"it holds no files")


@pytest.mark.parametrize("format", MADE)
@pytest.mark.parametrize("content", [b"", b"GIF89a" * 300, bytes(5000), b"PK\5\6" + bytes(18)])
def test_what_is_no_archive_is_refused(tmp_path, format, content):
    refuse(
        tmp_path, content, format, r"line 1 of its list|no zip archive|holds no files|cut off|bytes before"
    )


@pytest.mark.parametrize("format", MADE)
@pytest.mark.parametrize(
    ("content", "what"),
    [
        (gzip.compress(bytes(3000), mtime=0), "compressed by gzip"),
        (bz2.compress(PNG), "compressed by bzip2"),
        (lzma.compress(PNG), "compressed by xz"),
        (b"7z\xbc\xaf\x27\x1c\0\4" + bytes(300), "a 7z archive"),
        (b"Rar!\x1a\x07\x01\0" + bytes(300), "a RAR archive"),
    ],
)
def test_another_archive_is_named(tmp_path, format, content, what):
    refuse(tmp_path, content, format, f"it is {what}, and was sent as {format}; pack the pictures as a zip")


@pytest.mark.parametrize("format", MADE)
def test_too_many_files_are_refused(tmp_path, format):
    files = {f"{number}.png": b"" for number in range(51)}

    refuse(tmp_path, MADE[format](files), format, r"more than 50 files|at most 50 files")


@pytest.mark.parametrize("format", MADE)
def test_too_many_folders_are_refused(tmp_path, format):
    files = {f"{number}/{'/'.join('abcdefghij')}/1.png": b"" for number in range(5)}

    refuse(tmp_path, MADE[format](files), format, r"its files lie in more than 50 folders")
    assert unpacked(tmp_path, MADE[format](files), format, replace(MOST, files=55))[0].files == 5


@pytest.mark.parametrize("format", MADE)
def test_a_file_of_too_many_bytes_is_refused(tmp_path, format):
    refuse(tmp_path, MADE[format]({"a.png": bytes(10_000_001)}), format, r"'a\.png' has 10000001 bytes")


@pytest.mark.parametrize("format", MADE)
def test_an_archive_that_the_disk_cannot_hold_is_refused(tmp_path, format):
    limits = Limits(free=10**18)

    refuse(tmp_path, MADE[format]({"a.png": PNG}), format, r"are to stay free", limits, StoreFailed)


def test_a_zip_of_endless_names_is_refused_at_the_first(tmp_path):
    """The directory of a zip is read whole, so that long names would fill the memory."""
    entries = [{"name": b"x" * 2049}, {"name": b"../y"}]

    refuse(tmp_path, raw_zip(entries), "zip", r"has a name of more than 255 bytes")
    refuse(tmp_path, raw_zip(entries[::-1]), "zip", r"has a name of more than 255 bytes")


def test_a_zip_bomb_is_refused_before_anything_is_written(tmp_path):
    bomb = zipped({"a.png": bytes(9_000_000), "b.png": bytes(9_000_000)})

    assert len(bomb) < 20_000
    refuse(tmp_path, bomb, "zip", r"it unpacks to 1,0[0-9]+ times its own length")


def test_a_terabyte_of_declared_zeros_is_refused(tmp_path):
    extra = struct.pack("<HHQ", 1, 8, 10**12)
    large = {"name": b"a.png", "data": deflated(bytes(1000)), "size": 0xFFFFFFFF, "extra": extra, "method": 8}
    many = [{"name": b"%d.png" % n, "data": b"\3\0", "size": 9 * 10**6, "method": 8} for n in range(40)]

    refuse(tmp_path, raw_zip([large]), "zip", r"'a\.png' has 1000000000000 bytes")
    refuse(tmp_path, raw_zip(many), "zip", r"unpacks to more than 0\.02 GB")


@pytest.mark.parametrize("stated", [999, 1001])
def test_a_zip_entry_that_lies_of_its_length_is_refused(tmp_path, stated):
    lying = {"name": b"a.png", "data": deflated(bytes(1000)), "size": stated, "method": 8}

    refuse(tmp_path, raw_zip([lying]), "zip", rf"has not the {stated} bytes")


def test_a_zip_entry_that_is_damaged_is_refused(tmp_path):
    damaged = {"name": b"a.png", "data": b"\xff" * 30, "size": 30, "method": 8}
    changed = {"name": b"a.png", "data": PNG, "crc": 1}

    refuse(tmp_path, raw_zip([damaged]), "zip", r"cannot be inflated")
    refuse(tmp_path, raw_zip([changed]), "zip", r"its checksum is wrong")


def test_zip_entries_that_share_bytes_are_refused(tmp_path):
    data = deflated(bytes(1000))
    kernel = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 0, 0, len(data), 1000, 5, 0) + b"0.png" + data
    entries = [
        {"name": b"%d.png" % n, "packed": len(data), "size": 1000, "method": 8, "at": 0} for n in range(3)
    ]

    refuse(tmp_path, raw_zip(entries, kernel), "zip", r"shares bytes with another entry")


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"flags": 0x1}, r"is encrypted"),
        ({"flags": 0x2041}, r"is encrypted"),
        ({"method": 14}, r"is compressed by method 14"),
        ({"size": 10**6}, r"states 1000000 bytes, and takes"),
        ({"name": b"a\0.png"}, r"has a control character"),
        ({"name": b"\xff\xfe.png", "flags": 0x800}, r"invalid text in its name"),
        ({"at": 10**6}, r"reaches beyond the archive's entries"),
        ({"at": 1}, r"is not where the archive's directory says"),
        ({"size": 0xFFFFFFFF, "method": 8}, r"has a size of 4 GiB or more that is not stated"),
        ({"size": 0xFFFFFFFF, "method": 8, "extra": b"\1\0\xff\xff"}, r"that is not stated"),
    ],
)
def test_zip_entries_that_are_no_ordinary_files_are_refused(tmp_path, entry, why):
    refuse(tmp_path, raw_zip([{"name": b"a.png", "data": PNG, **entry}]), "zip", why)


def test_zip_names_without_a_declared_encoding_are_read(tmp_path):
    entries = [{"name": "ü1.png".encode(), "data": PNG}, {"name": "ü2.png".encode("cp437"), "data": PNG}]

    _, found = unpacked(tmp_path, raw_zip(entries), "zip")

    assert set(found) == {"ü1.png", "ü2.png"}


@pytest.mark.parametrize("kind", ["symbolic link", "device"])
def test_links_and_devices_in_a_zip_are_refused(tmp_path, kind):
    mode = stat.S_IFLNK if kind == "symbolic link" else stat.S_IFCHR
    entries = [(zip_info("a.png", mode | 0o777), b"/etc/passwd")]

    refuse(tmp_path, zipped(infos=entries), "zip", f"is a {kind}, not a file")


def test_a_zip_with_something_before_it_or_in_its_comment_is_refused(tmp_path):
    good = raw_zip([{"name": b"a.png", "data": PNG}])
    inner = raw_zip([{"name": b"b.png", "data": PNG}], comment=good)

    refuse(tmp_path, b"MZ" * 100 + good, "zip", r"bytes before its first entry")
    refuse(tmp_path, inner, "zip", r"bytes before its first entry")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"3 a.png\n\nab", r"have 3 bytes by their list, and it holds 2"),
        (b"3 a.png\n\nabcd", r"have 3 bytes by their list, and it holds 4"),
        (b"1000000000000 a.png\n\nabc", r"have 1000000000000 bytes by their list, and it holds 3"),
        (b"3 a.png\nabc", r"line 2 of its list of files is not BYTES and a path"),
        (b"3 a.png\n", r"line 2 of its list"),
        (b"1 a.png\n1 b.png", r"line 2 of its list"),
        (b"-3 a.png\n\n", r"line 1 of its list"),
        (b"+3 a.png\n\nabc", r"line 1 of its list"),
        (b"03 a.png\n\nabc", r"line 1 of its list"),
        ("\u0663 a.png\n\nabc".encode(), r"line 1 of its list"),
        (b"3\n\nabc", r"line 1 of its list"),
        (b"3 \n\nabc", r"line 1 of its list"),
        (b"9" * 400 + b" a.png\n\n", r"line 1 of its list"),
        (b"3 " + b"a" * 3000 + b"\n\nabc", r"line 1 of its list"),
        (b"9" * 10**6, r"line 1 of its list"),
        (b"\n", r"it holds no files"),
        (b"0 a.png\n" * 101 + b"\n", r"its list has more than 100 files; at most 50"),
        (b"0 a.png\n" * 10**6 + b"\n", r"its list has more than 100 files; at most 50"),
        (b"3 \xff.png\n\nabc", r"invalid text in its name"),
        (b"3 a\r\n\nabc", r"has a control character"),
    ],
    ids=range(20),
)
def test_a_list_that_is_not_of_the_files_is_refused(tmp_path, content, why):
    refuse(tmp_path, content, "files", why)


def test_an_upload_of_an_older_version_is_refused_in_words(tmp_path):
    refuse(tmp_path, b"a.png" + bytes(2000), "tar", r"tar is of an older version; send the pictures again")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_damage_does_more_than_refuse(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    format = data.draw(st.sampled_from(["files", "zip"]))
    content = bytearray(MADE[format]({"cats/1.png": PNG * 9, "ü/2.png": bytes(99)}))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))

    try:
        unpacked(folder, bytes(content), format)
    except InvalidInput:
        assert {path.name for path in folder.iterdir()} == {"archive"}


MEASURED = """
import resource, sys
from pathlib import Path
from backend.uploads.archives import unpack
from backend.uploads.limits import Limits
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
unpack(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), Limits(ratio=1e9, free=0))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("format", MADE)
def test_memory_does_not_grow_with_a_file(tmp_path, format):
    (tmp_path / "archive").write_bytes(MADE[format]({"a.png": bytes(60_000_000)}))
    command = [sys.executable, "-c", MEASURED, tmp_path / "archive", format, tmp_path / "into"]

    grown_kb = int(subprocess.run(command, capture_output=True, check=True).stdout)

    assert grown_kb < 8_000


@pytest.mark.parametrize("system", [0, 10])
def test_folders_are_divided_by_backslashes_where_windows_made_the_archive(tmp_path, system):
    infos = [zip_info("x", 0, system) for _ in range(2)]
    for info, name in zip(infos, ("cats\\1.png", "cats\\old\\2.png"), strict=True):
        info.filename = name

    assert set(unpacked(tmp_path, zipped(infos=[(info, PNG) for info in infos]), "zip")[1]) == {
        "1.png", "old/2.png",
    }  # fmt: skip


def test_a_backslash_of_windows_climbs_out_of_no_folder(tmp_path):
    info = zip_info("x", 0, 0)
    info.filename = "..\\x.png"

    refuse(tmp_path, zipped(infos=[(info, PNG)]), "zip", "climbs out")


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("ネコ/ソ1.png", "cp932"), ("猫の写真.png", "cp932"), ("кошки/Белая кошка 1.png", "cp866"),
        ("写真（１）①.png", "cp932"), ("猫ソ.png", "cp932"), ("фото_1.png", "cp866"), ("КОШКА.png", "cp866"),
        ("Кошка №2.png", "cp866"), ("Größe.png", "cp437"),
        ("Köln/öl.png", "cp437"), ("Ménagerie/été.png", "cp437"), ("äö.png", "cp437"),
    ],
)  # fmt: skip
def test_names_in_code_pages_are_read(tmp_path, name, page):
    entries = [{"name": b"x.png", "data": PNG}, {"name": name.encode(page), "data": PNG}]

    assert set(unpacked(tmp_path, raw_zip(entries), "zip")[1]) == {"x.png", name}


def test_an_archive_of_exactly_65_535_entries_is_read(tmp_path):
    folders = [{"name": b"%d/" % i} for i in range(65_534)]  # more than that need a record that says so
    archive = raw_zip([*folders, {"name": b"1.png", "data": PNG}])

    assert unpacked(tmp_path, archive, "zip", replace(MOST, files=40_000))[1] == {"1.png": PNG}


def test_a_colon_in_a_name_is_no_drive(tmp_path):
    assert set(unpacked(tmp_path, zipped({"a:b.png": PNG, "c.png": PNG}), "zip")[1]) == {"a:b.png", "c.png"}
