"""Files of features: what is written is read, and what is no such file is refused in one line."""

import io
import pickle
import zipfile

import numpy as np
import pytest

from backend.foundation.errors import InvalidInput, OpenhypeError
from backend.metrics.feature_files import read_features, write_features
from backend.metrics.features import Extractor, Features

VALUES = np.arange(12, dtype=np.float32).reshape(4, 3)


def test_what_is_written_is_read(tmp_path):
    one = Features(VALUES, Extractor("dino", "c" * 64, "224 px"), ("cat", "dog", "cat", "été"))

    write_features(tmp_path / "a.npz", one)

    found = read_features(tmp_path / "a.npz")
    assert (found.values == VALUES).all()
    assert (found.extractor, found.classes) == (one.extractor, one.classes)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


@pytest.mark.parametrize("dtype", [">f4", "<f2", "float64", "longdouble"])
def test_numbers_of_other_machines_and_precisions_are_read(tmp_path, dtype):
    np.savez_compressed(tmp_path / "a.npz", features=VALUES.astype(dtype))

    found = read_features(tmp_path / "a.npz", "mine")

    assert (found.values == VALUES).all()
    assert found.values.dtype in (np.dtype(np.float32), np.dtype(np.float64))


def test_a_name_that_is_given_is_an_identity(tmp_path):
    np.savez(tmp_path / "a.npz", features=VALUES, classes=[1, 2, 1, 2])
    np.savez(tmp_path / "b.npz", features=VALUES, extractor="mine")

    a, b = read_features(tmp_path / "a.npz", "mine"), read_features(tmp_path / "b.npz")

    assert a.extractor == b.extractor
    assert a.classes == ("1", "2", "1", "2")


class Program:
    """Would write a file if it were unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def npy(shape, dtype="<f4", data=b""):
    """Return an array file with any header."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue() + data


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def twice(content, name, other):
    """Return an archive with another array of a name that it has; the ending `.npy` is no part of names."""
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(name, other)
    return file.getvalue()


def saved(**arrays):
    file = io.BytesIO()
    np.savez(file, **{"extractor": "mine", **arrays})
    return file.getvalue()


WHOLE = saved(features=VALUES)
WHOLE_TWICE = twice(WHOLE, "features", npy((2, 3), data=VALUES[:2].tobytes()))
_NO_ARRAY = "cannot be read as an array"
BAD = {
    "empty": (b"", "is no zip archive"),
    "text": (b"hello", "is no zip archive"),
    "cut off": (WHOLE[:300], "is no zip archive"),
    "damaged": (WHOLE.replace(VALUES.tobytes(), b"\0" * 48), _NO_ARRAY),
    "statistics": (saved(mu=np.zeros(3), sigma=np.eye(3)), "has only mean and covariance"),
    "other arrays": (saved(arr_0=VALUES), "must have the array features"),
    "a row": (saved(features=VALUES[0]), "shape (3,)"),
    "whole numbers": (saved(features=VALUES.astype(int)), "int64"),
    "complex": (saved(features=VALUES.astype(complex)), "complex128"),
    "NaN": (saved(features=np.where(VALUES == 5, np.nan, VALUES)), "1 of 4 pictures have NaN"),
    "too large": (saved(features=VALUES.astype("longdouble") * np.longdouble("1e4000")), "NaN or infinity"),
    "a claim": (zipped(features=npy((10**9, 10**6))), "more than the limit"),
    "a bomb": (zipped(features=npy((10**5, 10), data=b"\0" * 10**6)), "its header states 4,000,000"),
    "negative": (zipped(features=npy((-1, 3))), "cut off or damaged"),
    "no header": (zipped(features=b"hello"), _NO_ARRAY),
    "a long header": (zipped(features=b"\x93NUMPY\x02\0\xff\xff\xff\x7f{"), _NO_ARRAY),
    "a program as header": (zipped(features=b"\x93NUMPY\x01\0\x10\0__import__('os')"), _NO_ARRAY),
    "classes": (saved(features=VALUES, classes=["a"]), "a class for each of 4 pictures, got 1"),
    "classes as numbers": (saved(features=VALUES, classes=VALUES[:, 0]), "must be one text or whole number"),
    "a class of markup": (saved(features=VALUES, classes=["a\nb"] * 4), "must be plain text"),
    "half a letter": (saved(features=VALUES, classes=["\ud800"] * 4), "must be plain text"),
    "bytes": (saved(features=VALUES, classes=[b"\xff"] * 4), "must be UTF-8"),
    "a hash": (saved(features=VALUES, hash="abc"), "64 hexadecimal digits"),
    "two names": (saved(features=VALUES, extractor=["a", "b"]), "extractor must be one text"),
    "a long name": (saved(features=VALUES, extractor="a" * 1000), "at most 100 characters"),
    "a class of a page": (saved(features=VALUES, classes=["a" * 1000] * 4), "at most 100 characters"),
    "two arrays of one name": (
        WHOLE_TWICE, "has two arrays called 'features'"
    ),
    "no name": (zipped(features=npy((4, 3), data=VALUES.tobytes())), "--extractor-name"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_file_of_features_is_refused_in_one_line(tmp_path, what):
    content, why = BAD[what]
    path = tmp_path / "bad.npz"
    path.write_bytes(content)

    with pytest.raises(OpenhypeError) as refused:
        read_features(path)

    assert str(refused.value).startswith(str(path))
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("name", ["a\nb", "a" * 101, " ", "a\x1b[31m"])
def test_a_name_that_is_given_is_held_to_the_same_rules(tmp_path, name):
    (tmp_path / "a.npz").write_bytes(zipped(features=npy((4, 3), data=VALUES.tobytes())))

    with pytest.raises(InvalidInput, match="--extractor-name must be"):
        read_features(tmp_path / "a.npz", name)


@pytest.mark.parametrize("array", ["features", "classes", "extractor"])
def test_nothing_is_unpickled(tmp_path, array):
    program = np.array([Program(str(tmp_path / "ran"))] * 4, object)
    arrays = {"features": VALUES, "classes": ["a"] * 4, "extractor": "mine", array: program}
    with (tmp_path / "bad.npz").open("wb") as file:
        np.savez(file, **arrays)
    assert b"ran" in pickle.dumps(program)

    with pytest.raises(OpenhypeError, match="pickled Python objects, which are never loaded"):
        read_features(tmp_path / "bad.npz")

    assert not (tmp_path / "ran").exists()


def test_files_that_are_not_there(tmp_path):
    for path, why in (
        (tmp_path / "none.npz", "there is no file"),
        (tmp_path, "cannot be read: it is a folder"),
    ):
        with pytest.raises(OpenhypeError, match=why):
            read_features(path)
