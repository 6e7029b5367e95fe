"""Text files of people: what cannot be read is told by name, with the reason in words."""

import pytest

from backend.foundation.errors import InvalidInput, NotFound, reason
from backend.foundation.text_files import read_text


def test_a_text_is_read_without_its_byte_order_mark(tmp_path):
    (tmp_path / "t").write_bytes(b"\xef\xbb\xbfgr\xc3\xbcn\n")

    assert read_text(tmp_path / "t") == "grün\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"one\ntwo\xff\n", r"t line 2: must be UTF-8 text, not the byte 0xff"),
        (b"long " * 10, "must be a text of at most 40 bytes"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path, data, message):
    (tmp_path / "t").write_bytes(data)

    with pytest.raises(InvalidInput, match=message):
        read_text(tmp_path / "t", most_bytes=40)


def test_what_cannot_be_opened_is_named_with_the_reason(tmp_path):
    with pytest.raises(NotFound, match=r"there is no file .*/none\.toml"):
        read_text(tmp_path / "none.toml")
    with pytest.raises(InvalidInput, match="cannot be read: it is a folder"):
        read_text(tmp_path)
    with pytest.raises(InvalidInput, match="cannot be read: no file can be called so"):
        read_text(tmp_path / "a\0b")


def test_a_reason_has_words_and_no_number():
    assert reason(OSError(28, "No space left on device")) == "the disk is full"
    assert reason(OSError(99, "Cannot assign requested address")) == "Cannot assign requested address"
    assert reason(TimeoutError()) == "TimeoutError"
