"""Files of a zip archive, with data stored or deflated (PKWARE, APPNOTE.TXT 6.3.10).

Python's `zipfile` reads the directory of an archive whole into memory, however long it is, and looks at
nothing that entries share. This reads one entry at a time, and refuses what no ordinary program writes:
entries that overlap (Fifield, 2019, A better zip bomb), bytes that belong to none before the first.
"""

import re
import stat
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from backend.uploads.archive_entries import ArchiveEntry, bad_archive, copied, exactly
from backend.uploads.entry_names import LONGEST_STATED, refused, too_long
from backend.uploads.limits import Limits

_CHUNK = 256 * 1024
_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_LONGEST_COMMENT = 65_535  # its length has two bytes
_IN_64, _COUNT_IN_64 = 0xFFFFFFFF, 0xFFFF  # stand where a length or count is in the ZIP64 fields
# Flags, bits 0, 6, 11 and 13 (APPNOTE 4.4.4).
_ENCRYPTED, _STRONGLY, _UTF8, _MASKED = 0x1, 0x40, 0x800, 0x2000
_STORED, _DEFLATED = 0, 8  # compression methods (APPNOTE 4.4.5)
_DOS, _UNIX, _NTFS, _MACOS = 0, 3, 10, 19  # hosts that wrote an entry (APPNOTE 4.4.2)
_CYRILLIC = re.compile(r"([\x00-\x7f]|(?<![a-z])[\u0400-\u045f№]++(?![a-z]))*", re.I)
_CODE_PAGES = (
    ("cp866", re.compile(rb"[\xa0-\xaf\xe0-\xef]{2}"), _CYRILLIC),
    (
        "cp932",
        re.compile(rb"[\x80-\xff]{2}|(\x83[\x40-\x7e]){2}|[\x81-\x9f]\\\."),
        re.compile(r"([\x00-\x7f]|(?<![a-z])[\u3000-ヿ①-⑳一-鿿！-ﾟ]++(?![a-z]))*", re.I),
    ),
    ("cp866", re.compile(rb"[\xa6-\xef]|[\x80-\x9f]{4}"), _CYRILLIC),
)
"""Code pages of Windows in Russia and Japan; the bytes that speak for them (two small Cyrillic
letters; in 437 two accents, or signs, or an accent before a name that begins with a dot); and what names then
consist of: letters of these alphabets, not within Latin words."""


@dataclass(frozen=True)
class _Directory:
    offset: int
    bytes: int
    count: int


def entries(file: BinaryIO, limits: Limits) -> Iterator[ArchiveEntry]:
    directory = _directory(file)
    if directory.count > limits.files * 2:  # folders are entries too
        raise bad_archive(f"it has {directory.count} entries; at most {limits.files} files are allowed")
    accepted = []
    at = directory.offset
    for _ in range(directory.count):
        file.seek(at)
        entry, at = _entry(file, at, directory)
        if entry is not None:
            accepted.append(entry)
    if at != directory.offset + directory.bytes:
        raise bad_archive("its directory is not as long as it states")
    _check_overlaps(accepted, directory.offset)
    yield from accepted


def content(file: BinaryIO, entry: ArchiveEntry) -> Iterator[bytes]:
    file.seek(entry.offset)
    magic, *_, name_bytes, extra_bytes = _LOCAL.unpack(exactly(file, _LOCAL.size, "an entry"))
    if magic != b"PK\3\4":
        raise refused(entry.name, "is not where the archive's directory says")
    file.seek(name_bytes + extra_bytes, 1)
    length, checksum = 0, 0
    for piece in _inflated(file, entry) if entry.is_deflated else copied(file, entry):
        length += len(piece)
        if length > entry.size:
            break
        checksum = zlib.crc32(piece, checksum)
        yield piece
    if length != entry.size:
        raise refused(entry.name, f"has not the {entry.size} bytes that the archive states")
    if checksum != entry.crc32:
        raise refused(entry.name, "is damaged: its checksum is wrong")


def _directory(file: BinaryIO) -> _Directory:
    length = file.seek(0, 2)
    begin = file.seek(max(0, length - _END.size - _LONGEST_COMMENT))
    tail = file.read(_END.size + _LONGEST_COMMENT)
    place = tail.rfind(b"PK\5\6", 0, len(tail) - _END.size + 4)
    if place < 0:
        raise bad_archive("it is no zip archive, or its end is missing")
    _, disk, _, _, count, size, offset, _ = _END.unpack(tail[place : place + _END.size])
    end = begin + place
    if _IN_64 in (size, offset) or count == _COUNT_IN_64:
        count, size, offset, end = _directory_64(file, end) or (count, size, offset, end)
    if disk not in (0, _COUNT_IN_64) or offset + size != end:
        raise bad_archive("it is one of several volumes, or has bytes before its first entry")
    return _Directory(offset, size, count)


def _directory_64(file: BinaryIO, end: int) -> tuple[int, int, int, int] | None:
    """Return count, size and offset of a directory from the record for large archives, and its place.

    None if there is no such record: an archive of exactly 65,535 entries needs none.
    """
    file.seek(max(0, end - _LOCATOR.size))
    magic, _, place, _ = _LOCATOR.unpack(exactly(file, _LOCATOR.size, "its end"))
    if magic != b"PK\6\7":
        return None
    if place > end:
        raise bad_archive("its end is damaged")
    file.seek(place)
    magic, *_, count, size, offset = _END_64.unpack(exactly(file, _END_64.size, "its end"))
    if magic != b"PK\6\6":
        raise bad_archive("its end is damaged")
    return count, size, offset, place


def _entry(file: BinaryIO, at: int, directory: _Directory) -> tuple[ArchiveEntry | None, int]:
    """Return an entry of the directory, None for a folder, and where the next one lies."""
    fields = _ENTRY.unpack(exactly(file, _ENTRY.size, "its directory"))
    magic, made_by, _, flags, method, _, _, crc32, packed, size, name_bytes, extra_bytes, comment_bytes = (
        fields[:13]
    )
    attributes, offset = fields[15], fields[16]
    if magic != b"PK\1\2":
        raise bad_archive("its directory is damaged")
    text = exactly(file, name_bytes, "its directory")
    extra = exactly(file, extra_bytes, "its directory")
    name = _name(text, bool(flags & _UTF8))
    if made_by >> 8 in (_DOS, _NTFS):
        name = name.replace("\\", "/")  # Compress-Archive of PowerShell 5.1
    if name_bytes > LONGEST_STATED:
        raise too_long(name)
    size, packed, offset = _large(extra, size, packed, offset, name)
    following = at + _ENTRY.size + name_bytes + extra_bytes + comment_bytes
    mode = attributes >> 16 if made_by >> 8 in (_UNIX, _MACOS) else 0
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise refused(name, f"is {'a symbolic link' if stat.S_ISLNK(mode) else 'a device'}, not a file")
    if name.endswith("/") or stat.S_ISDIR(mode):
        return None, following
    if flags & (_ENCRYPTED | _STRONGLY | _MASKED):
        raise refused(name, "is encrypted; make the archive without a password")
    if method not in (_STORED, _DEFLATED):
        raise refused(name, f"is compressed by method {method}; stored and deflated files can be read")
    if method == _STORED and packed != size:
        raise refused(name, f"states {size} bytes, and takes {packed} uncompressed")
    if offset + _LOCAL.size + packed > directory.offset:
        raise refused(name, "reaches beyond the archive's entries")
    return ArchiveEntry(name, size, offset, packed, crc32, method == _DEFLATED), following


def _name(text: bytes, is_utf8: bool) -> str:
    """Return a name; macOS writes UTF-8 without saying so, other programs then mean a code page.

    That is 437 by the standard; Windows in Japan and Russia writes its own (`_CODE_PAGES`).
    """
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        if is_utf8:
            return text.decode("utf-8", "surrogateescape")
    for page, sign, letters in _CODE_PAGES:
        if sign.search(text) and letters.fullmatch(name := text.decode(page, "replace")):
            return name
    return text.decode("cp437")


def _large(extra: bytes, size: int, packed: int, offset: int, name: str) -> tuple[int, int, int]:
    """Return sizes and offset, those of 4 GiB and more from the extra field of a large file."""
    values = [size, packed, offset]
    if _IN_64 not in values:
        return size, packed, offset
    while len(extra) >= 4:
        kind, length = struct.unpack("<HH", extra[:4])
        if kind == 1:
            data = extra[4 : 4 + length]
            numbers = iter([number for (number,) in struct.iter_unpack("<Q", data[: len(data) // 8 * 8])])
            size, packed, offset = (next(numbers, value) if value == _IN_64 else value for value in values)
            if _IN_64 not in (size, packed, offset):
                return size, packed, offset
        extra = extra[4 + length :]
    raise refused(name, "has a size of 4 GiB or more that is not stated")


def _check_overlaps(entries: list[ArchiveEntry], end: int) -> None:
    """Refuse entries that share bytes, of which a small archive could unpack to any length."""
    ordered = sorted(entries, key=lambda entry: entry.offset)
    starts = [*(entry.offset for entry in ordered), end]
    for entry, following in zip(ordered, starts[1:], strict=True):
        if entry.offset + _LOCAL.size + entry.packed > following:
            raise refused(entry.name, "shares bytes with another entry")


def _inflated(file: BinaryIO, entry: ArchiveEntry) -> Iterator[bytes]:
    """Yield the content of a deflated entry in pieces of bounded length."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        for packed in copied(file, entry):
            while packed and not inflater.eof:
                yield inflater.decompress(packed, _CHUNK)
                packed = inflater.unconsumed_tail
        yield inflater.flush()
    except zlib.error:
        raise refused(entry.name, "is damaged: it cannot be inflated") from None
