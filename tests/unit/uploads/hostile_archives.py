"""Archives as an attacker would make them, by hand where no library does."""

import io
import stat
import struct
import tarfile
import zipfile
import zlib

PNG = b"\x89PNG\r\n\x1a\n not a whole one"


def tar(files=(), members=(), format=tarfile.PAX_FORMAT):
    """Return a tar of files by path, and of members given as `TarInfo` with content."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as archive:
        for path, content in [*dict(files).items()]:
            info = tarfile.TarInfo(path)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def tar_member(path, kind, size=0, **fields):
    info = tarfile.TarInfo(path)
    info.type, info.size = kind, size
    for name, value in fields.items():
        setattr(info, name, value)
    return info


def tar_headers(*headers):
    """Return raw header blocks of (name as bytes, size, type, data that follow)."""
    out = b""
    for name, size, kind, data in headers:
        block = bytearray(tar_member("x", kind).tobuf(tarfile.USTAR_FORMAT)[:512])
        block[0:100] = name.ljust(100, b"\0")
        block[124:136] = b"%011o\0" % size if size < 8**11 else b"\x80" + size.to_bytes(11, "big")
        block[148:156] = b" " * 8
        block[148:156] = b"%06o\0 " % sum(block)
        out += bytes(block) + data + bytes(-len(data) % 512)
    return out + bytes(1024)


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
