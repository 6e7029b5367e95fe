"""Archives as an attacker would make them, by hand where no library does."""

import io
import stat
import struct
import zipfile
import zlib

PNG = b"\x89PNG\r\n\x1a\n not a whole one"


def zipped(files=(), infos=(), method=zipfile.ZIP_DEFLATED):
    """Return a zip of files by path, and of entries given as `ZipInfo` with content."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for path, content in dict(files).items():
            archive.writestr(path, content)
        for info, content in infos:
            archive.writestr(info, content)
    return out.getvalue()


def zip_info(path, mode=stat.S_IFREG | 0o644, system=3):
    info = zipfile.ZipInfo(path)
    info.create_system, info.external_attr = system, mode << 16
    return info


def raw_zip(entries, kernel=None, comment=b""):
    """Return a zip from raw parts.

    Args:
        entries: dictionaries with `name` (bytes), `data`, and any of `size`, `packed`, `crc`, `flags`,
            `method`, `at` (offset stated in the directory), `extra`.
        kernel: bytes to which all entries point, in place of data of their own.
    """
    body, directory = b"", b""
    if kernel is not None:
        body = kernel
    for each in entries:
        name, data = each["name"], each.get("data", b"")
        packed, size = each.get("packed", len(data)), each.get("size", len(data))
        crc, method, flags = each.get("crc", zlib.crc32(data)), each.get("method", 0), each.get("flags", 0)
        extra = each.get("extra", b"")
        at = each.get("at", len(body) if kernel is None else 0)
        if kernel is None:
            body += struct.pack(
                "<4s5H3L2H", b"PK\3\4", 20, flags, method, 0, 0, crc, packed, size, len(name), 0
            )
            body += name + data
        directory += struct.pack(
            "<4s6H3L5H2L", b"PK\1\2", 20, 20, flags, method, 0, 0, crc, packed, size,
            len(name), len(extra), 0, 0, 0, 0, at,
        ) + name + extra  # fmt: skip
    end = struct.pack(
        "<4s4H2LH", b"PK\5\6", 0, 0, len(entries), len(entries), len(directory), len(body), len(comment)
    )
    return body + directory + end + comment


def deflated(data, level=9):
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()
