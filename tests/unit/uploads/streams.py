"""Uploads in tests: files as they are sent, written down from the format and not by the product's code."""

import io
import zlib

PART_BYTES = 5 * 1024 * 1024


def stream_of(files):
    """Return the list of files (contents by path) and their contents."""
    return listed({path: files[path] for path in sorted(files, key=lambda path: path.encode("utf-16-be"))})


def listed(files):
    """Return the same of files in the order in which they are given."""
    lines = "".join(f"{len(content)} {path}\n" for path, content in files.items())
    return f"{lines}\n".encode() + b"".join(files.values())


def parts_of(content):
    return [content[start : start + PART_BYTES] for start in range(0, len(content), PART_BYTES)]


def checksums(parts):
    return [f"{zlib.crc32(part):08x}" for part in parts]


def send(uploads, member, files, now):
    """Upload files whole; return the completed upload."""
    content = stream_of(files)
    parts = parts_of(content)
    begun = uploads.begin(member, "files", len(content), checksums(parts), now)
    for number, part in enumerate(parts):
        uploads.write(begun.id, number, io.BytesIO(part), now)
    return uploads.complete(begun.id, now)
