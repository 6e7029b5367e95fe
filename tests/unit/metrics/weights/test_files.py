"""Files of weights are read as data: those of PyTorch 2.13 (in ../files), of numpy, and hostile ones."""

import io
import json
import os
import pickle
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from backend.foundation.errors import InvalidInput, NotFound
from backend.metrics.weights.files import read_weights

FILES = Path(__file__).resolve().parents[1] / "files"
BASE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
FORMATS = pytest.mark.parametrize("form", ["zip", "legacy"])


@FORMATS
def test_state_dicts_of_pytorch_have_the_values_that_pytorch_wrote(form):
    rng = np.random.default_rng(7)  # as the file was made
    widths = (64, 192, 384, 256, 256)

    found = read_weights(FILES / f"alex_linear_{form}.pth")

    assert [*found] == [f"lin{i}.model.1.weight" for i in range(5)]
    for array, width in zip(found.values(), widths, strict=True):
        assert np.array_equal(array, rng.random((1, width, 1, 1)).astype(np.float32))


@FORMATS
def test_views_parameters_and_other_widths_of_float_are_read_from_nested_dictionaries(form):
    found = read_weights(FILES / f"views_{form}.pth")

    expected = {
        "turned": BASE.transpose(2, 0, 1),
        "part": BASE[1, :, 1:3],
        "double": np.arange(5) / 7,
        "half": (np.arange(4) / 4).astype(np.float16),
        "parameter": BASE[0],
        "count": np.array(3),
    }
    assert [*found] == [f"state_dict.{name}" for name in expected]
    for name, values in expected.items():
        assert found[f"state_dict.{name}"].dtype == values.dtype
        assert np.array_equal(found[f"state_dict.{name}"], values)


@FORMATS
def test_the_state_of_a_module_is_read_without_its_metadata(form):
    found = read_weights(FILES / f"module_{form}.pth", lambda name: name.endswith("weight"))

    assert {name: array.shape for name, array in found.items()} == {"features.0.weight": (2, 3, 3, 3)}
    assert found["features.0.weight"][0, 0, 0, 0] == pytest.approx(0.0992, abs=5e-5)  # as PyTorch prints it


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_arrays_are_read_in_every_binary_protocol(protocol, tmp_path):
    arrays = {"Net_0": {"kernel": BASE, "fortran": np.asfortranarray(BASE), "big": BASE.astype(">f8")}}
    (tmp_path / "a.ckpt").write_bytes(pickle.dumps(OrderedDict(arrays), protocol))

    found = read_weights(tmp_path / "a.ckpt")

    assert [*found] == ["Net_0.kernel", "Net_0.fortran", "Net_0.big"]
    assert all(np.array_equal(array, BASE) and array.dtype.isnative for array in found.values())


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_files_are_read(save, tmp_path):
    save(tmp_path / "a.npz", **{"lin0.weight": BASE, "fortran": np.asfortranarray(BASE)})

    found = read_weights(tmp_path / "a.npz")

    assert [*found] == ["lin0.weight", "fortran"]
    assert all(np.array_equal(array, BASE) for array in found.values())


def safetensors(header, data=b""):
    text = json.dumps(header).encode() if isinstance(header, dict) else header
    return struct.pack("<Q", len(text)) + text + data


def test_safetensors_files_are_read(tmp_path):
    place = {"dtype": "F32", "shape": [2, 3, 4], "data_offsets": [0, 96]}
    data = safetensors({"__metadata__": {"format": "pt"}, "a.weight": place}, BASE.tobytes())
    (tmp_path / "a.safetensors").write_bytes(data)

    found = read_weights(tmp_path / "a.safetensors")

    assert [*found] == ["a.weight"]
    assert np.array_equal(found["a.weight"], BASE)


class Runs:
    """An object whose pickle calls `function`."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def zipped(data, parts=(), order=b"little", **options):
    """Return a file of the zip format with the pickle `data`, and parts by name."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", **options) as archive:
        archive.writestr("a/data.pkl", data)
        archive.writestr("a/byteorder", order)
        for name, part in parts:
            archive.writestr(f"a/{name}", part)
    return stream.getvalue()


def legacy(data, keys=b"", storages=b""):
    head = (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    return b"".join(pickle.dumps(each, 2) for each in head) + data + (keys or pickle.dumps([], 2)) + storages


def tensor(shape=(2, 3), strides=(3, 1), offset=0, count=6, kind="FloatStorage", call="_rebuild_tensor_v2"):
    """Return the pickle of a dictionary with one tensor, as PyTorch writes it, of these numbers."""

    def number(value):
        return pickle.dumps(value, 2)[2:-1]

    return (
        b"\x80\x02}X\x01\x00\x00\x00wctorch._utils\n" + call.encode() + b"\n((X\x07\x00\x00\x00storage"
        b"ctorch\n" + kind.encode() + b"\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu" + number(count) + b"tQ"
        + number(offset) + number(tuple(shape)) + number(tuple(strides)) + b"\x89NtRs."
    )  # fmt: skip


SIX = np.arange(6, dtype="<f4").tobytes()


def test_a_tensor_in_the_pickle_that_these_tests_write_is_read(tmp_path):
    (tmp_path / "zip.pth").write_bytes(zipped(tensor(), [("data/0", SIX)]))
    big = np.arange(6, dtype=">f4").tobytes()
    (tmp_path / "big.pth").write_bytes(zipped(tensor(), [("data/0", big)], b"big"))
    keys = pickle.dumps(["0"], 2)
    (tmp_path / "old.pth").write_bytes(legacy(tensor(), keys, struct.pack("<q", 6) + SIX))

    found = [read_weights(tmp_path / name)["w"] for name in ("zip.pth", "big.pth", "old.pth")]

    assert all(np.array_equal(each, [[0, 1, 2], [3, 4, 5]]) for each in found)


KINDS = {
    "DoubleStorage": "f8", "FloatStorage": "f4", "HalfStorage": "f2", "LongStorage": "i8", "IntStorage": "i4",
    "ShortStorage": "i2", "CharStorage": "i1", "ByteStorage": "u1", "BoolStorage": "?",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_every_type_are_read(kind, tmp_path):
    expected = np.array([[0, 1, 2], [3, 4, 5]]).astype(KINDS[kind])
    (tmp_path / "a.pth").write_bytes(zipped(tensor(kind=kind), [("data/0", expected.tobytes())]))

    found = read_weights(tmp_path / "a.pth")["w"]

    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected)


def module(attributes, name="__torch__.clip.___torch_mangle_3.Visual"):
    """Return the pickle of an object of TorchScript: `NEWOBJ` of a class of its program, then `BUILD`."""
    package, _, last = name.rpartition(".")
    return b"\x80\x02c" + f"{package}\n{last}\n".encode() + b")\x81" + attributes + b"b."


def test_the_tensors_of_torchscript_are_read_by_their_dotted_names_and_its_programs_are_not(tmp_path):
    name, lists = (
        b"X\x06\x00\x00\x00visual",
        b"X\x01\x00\x00\x00nctorch.jit._pickle\nbuild_intlist\n]K\x07a\x85Rs",
    )
    inner = module(tensor()[2:-1] + lists)[2:-1]
    parts = [("data/0", SIX), ("code/__torch__/clip.py", b"import os; os.system('touch hacked')")]
    (tmp_path / "a.pt").write_bytes(
        zipped(module(b"}" + name + inner + b"s"), [*parts, ("constants.pkl", b")")])
    )

    found = read_weights(tmp_path / "a.pt")

    assert [*found] == ["visual.w"]
    assert np.array_equal(found["visual.w"], [[0, 1, 2], [3, 4, 5]])


def doubled():
    """Return a pickle of dictionaries that hold the one before twice: 2**60 values in 1 kB."""
    found = {"a": 1}
    for _ in range(60):
        found = {"a": found, "b": found}
    return pickle.dumps(found, 2)


def circle():
    found = {}
    found["a"] = found
    return pickle.dumps(found, 2)


def often(call, argument, times, more=b""):
    """Return a pickle that calls with one long argument, many times."""
    long = pickle.dumps(argument, 2)[2:-1]
    one = call + b"j\xff\x00\x00\x00" + (b"\x85R" if len(more) == 0 else more + b"\x86R")
    return b"\x80\x02(" + long + b"r\xff\x00\x00\x00" + one * times + b"t."


ATTACKS = {
    "a pickle that calls os.system": pickle.dumps({"a": Runs(os.system, "touch hacked")}, 2),
    "a pickle that calls eval": pickle.dumps(Runs(eval, "open('hacked', 'w')")),
    "a pickle that looks up attributes": b"\x80\x02cbuiltins\ngetattr\ncos\nsystem\nX\x01\x00\x00\x00a\x86R.",
    "a pickle of a dotted name": b"\x80\x04\x8c\x02os\x8c\x0bpath.exists\x93\x8c\x01a\x85R.",
    "a pickle that makes an object": b"\x80\x02csubprocess\nPopen\n(X\x02\x00\x00\x00lst\x81.",
    "a pickle with INST": b"(S'touch hacked'\nios\nsystem\n.",
    "a state dict that calls os.system": zipped(pickle.dumps({"a": Runs(os.system, "touch hacked")}, 2)),
    "an old state dict that calls os.system": legacy(pickle.dumps(Runs(os.system, "touch hacked"), 2)),
    "an object array": pickle.dumps({"a": np.array([Runs(os.system, "touch hacked")])}, 2),
    "a dictionary in itself": circle(),
    "dictionaries doubled sixty times": doubled(),
    "nested lists": b"\x80\x02" + b"]" * 20_000 + b"a" * 19_999 + b".",
    "a list, memoized at 2**32": b"\x80\x02]r\xff\xff\xff\xff.",
    "bytes of 2**60": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 60) + b"abc.",
    "a text of 2**31": b"\x80\x02X\xff\xff\xff\x7fabc.",
    "a frame of 2**60": b"\x80\x04\x95" + struct.pack("<Q", 1 << 60) + b"].",
    "a long number": b"\x80\x02\x8b\xff\xff\xff\x7f1.",
    "copies of a list": often(b"ccollections\nOrderedDict\n", [(str(i), 0) for i in range(10_000)], 2_000),
    "copies of a text": often(b"c_codecs\nencode\n", "a" * 1_000_000, 10_000, b"X\x06\x00\x00\x00latin1"),
    "a name with an invalid escape sequence": b"\x80\x02cos\\>\nsystem\n)R.",
    "a part whose name in the archive is a page long": zipped(tensor(), [("data/0", SIX)]).replace(
        b"a/data/0", b"\n" * 8, 1
    ),
    "no end": b"\x80\x02}",
    "an empty stack": b"\x80\x02.",
    "a mark": b"\x80\x02(.",
    "a mark as a value": b"\x80\x02}(s.",
    "a memo that is not there": b"\x80\x02h\x07.",
    "a key that is a list": b"\x80\x02}]]s.",
    "items of a list": b"\x80\x02]X\x01\x00\x00\x00aX\x01\x00\x00\x00bs.",
    "an item of a dictionary": b"\x80\x02}]a.",
    "state of a number": b"\x80\x02K\x01}b.",
    "a list": pickle.dumps([BASE], 2),
    "an array alone": pickle.dumps(BASE, 2),
    "arguments that are too many": b"\x80\x02cnumpy\ndtype\n)R.",
    "an array without state": b"\x80\x02}X\x01\x00\x00\x00acnumpy.core.multiarray\n_reconstruct\n"
    b"cnumpy\nndarray\n\x85Rs.",
    "an array of another class": b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncos\nsystem\n\x85R.",
    "integers": pickle.dumps({"a": np.arange(3)}, 2),
    "a tensor larger than its storage": zipped(tensor((1 << 30,), (0,)), [("data/0", SIX)]),
    "a tensor of 2**39 x 2**39": zipped(tensor((1 << 39, 1 << 39), (0, 0)), [("data/0", SIX)]),
    "a tensor after its storage": zipped(tensor(offset=1), [("data/0", SIX)]),
    "a tensor before its storage": zipped(tensor(offset=-1), [("data/0", SIX)]),
    "negative strides": zipped(tensor(strides=(-3, 1)), [("data/0", SIX)]),
    "a negative size": zipped(tensor((-1, 3)), [("data/0", SIX)]),
    "strides for another shape": zipped(tensor(strides=(1,)), [("data/0", SIX)]),
    "a size that is true": zipped(tensor((True, 3)), [("data/0", SIX)]),
    "a hundred sizes": zipped(tensor((1,) * 100, (1,) * 100), [("data/0", SIX)]),
    "a storage that is too short": zipped(tensor(), [("data/0", SIX[:-1])]),
    "a storage that is too long": zipped(tensor(), [("data/0", SIX + b"0000")]),
    "a storage that is missing": zipped(tensor()),
    "a storage of bytes": zipped(tensor(kind="ByteStorage"), [("data/0", SIX)]),
    "a compressed storage": zipped(
        tensor(count=1 << 26), [("data/0", bytes(4 << 26))], compression=zipfile.ZIP_DEFLATED
    ),
    "a middle-endian file": zipped(tensor(), [("data/0", SIX)], b"middle"),
    "TorchScript of a class of Python": zipped(module(b"}", "subprocess.Popen")),
    "TorchScript of a package of a similar name": zipped(module(b"}", "__torch__x.Visual")),
    "a module of TorchScript whose attributes are a list": zipped(module(b"]")),
    "a module of TorchScript in itself": zipped(
        b"\x80\x02c__torch__\nA\n)\x81q\x00}X\x01\x00\x00\x00ah\x00sb."
    ),
    "a storage of other numbers": zipped(tensor(kind="ComplexFloatStorage"), [("data/0", 2 * SIX)]),
    "an empty zip": b"PK\x05\x06" + bytes(18),
    "a truncated zip": zipped(tensor(), [("data/0", SIX)])[:-30],
    "a zip whose content changed": zipped(tensor(), [("data/0", SIX)]).replace(SIX, SIX[::-1]),
    "an old file, truncated": legacy(tensor(), pickle.dumps(["0"], 2), struct.pack("<q", 6) + SIX[:-1]),
    "an old file of a huge storage": legacy(tensor(), pickle.dumps(["0"], 2), struct.pack("<q", 1 << 60)),
    "an old file of -1 numbers": legacy(tensor(), pickle.dumps(["0"], 2), b"\xff" * 8 + SIX),
    "an old file of 5 numbers": legacy(tensor(), pickle.dumps(["0"], 2), struct.pack("<q", 5) + SIX),
    "an old file without its storage": legacy(tensor()),
    "an old file of other keys": legacy(tensor(), pickle.dumps([7], 2), struct.pack("<q", 6) + SIX),
    "an old file of another version": legacy(tensor()).replace(b"M\xe9\x03", b"M\xe8\x03"),
    "a safetensors header that is a list": safetensors(b"{]"),
    "a safetensors array of 2**50": safetensors(
        {"a": {"dtype": "F32", "shape": [1 << 25, 1 << 25], "data_offsets": [0, 1 << 52]}}
    ),
    "a safetensors array before the data": safetensors(
        {"a": {"dtype": "F32", "shape": [1], "data_offsets": [-8, -4]}}
    ),
    "safetensors of true": safetensors({"a": {"dtype": "F32", "shape": True, "data_offsets": [0, 4]}}),
    "a text": b"weights, please",
    "nothing": b"",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_and_broken_files_are_refused_in_one_line_and_nothing_is_run(attack, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bad.pth"
    path.write_bytes(ATTACKS[attack])

    with pytest.raises(InvalidInput, match=r"bad\.pth") as refused:
        read_weights(path)

    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 500
    assert [each.name for each in tmp_path.iterdir()] == ["bad.pth"]


def npz(shape, data, descr="<f4"):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": shape})
        archive.writestr("a.npy", header.getvalue() + data)
    return stream.getvalue()


@pytest.mark.parametrize(
    "data",
    [npz((1 << 40,), b"abcd"), npz((1,), b"abc"), npz((1,), b"abcdefgh", "|O"), npz((1,), b"abcd", "<i4")],
)
def test_npz_files_with_other_sizes_or_types_are_refused(data, tmp_path):
    (tmp_path / "bad.npz").write_bytes(data)

    with pytest.raises(InvalidInput, match=r"bad\.npz cannot be read as weights: its part"):
        read_weights(tmp_path / "bad.npz")


def test_tensors_that_share_a_storage_cannot_fill_the_memory(tmp_path):
    count, single = 1_000, tensor()[2:-1]
    name = b"X\x01\x00\x00\x00w"
    many = b"".join(single.replace(name, b"X\x05\x00\x00\x00%05d" % i)[1:] for i in range(count))
    many = many.replace(b"X\x01\x00\x00\x000", b"X\x01\x00\x00\x000")
    (tmp_path / "bad.pth").write_bytes(zipped(b"\x80\x02}" + many + b".", [("data/0", SIX)]))

    found = read_weights(tmp_path / "bad.pth")  # small tensors may share

    assert len(found) == count


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(NotFound, match=r"a\.pth is not there; expected a file of weights: PyTorch"):
        read_weights(tmp_path / "a.pth")
    with pytest.raises(InvalidInput, match="is a folder"):
        read_weights(tmp_path)
