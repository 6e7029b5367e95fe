"""Files of weights are read as data: state dicts in both formats, TorchScript, and hostile files."""

import io
import os
import pickle
import struct
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from backend.foundation.errors import InvalidInput, NotFound, NotInstalled
from backend.metrics import weights
from backend.metrics.weights import check_torch, read_weights

BASE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed")
def test_without_pytorch_the_command_that_installs_it_is_told():
    with pytest.raises(NotInstalled, match=r"reading a\.pth needs torch, .* pip install .*torch>="):
        read_weights(Path("a.pth"))


@pytest.mark.parametrize("old", ["2.9.1", "1.13", "2.5.0+cu121"])
def test_a_pytorch_that_weights_can_make_run_code_is_refused(old, monkeypatch):
    monkeypatch.setattr(weights, "check", lambda *_: None)
    monkeypatch.setattr(weights, "version", lambda _: old)

    with pytest.raises(
        NotInstalled, match=rf"LPIPS needs torch 2\.10 or newer, not {old.replace('+', '.')}, in"
    ):
        check_torch("LPIPS")
    for fine in ("2.10.0", "2.13.0+cpu", "3.0", "2.10.0a0+git"):
        monkeypatch.setattr(weights, "version", lambda _, fine=fine: fine)
        check_torch("LPIPS")


@pytest.mark.parametrize("is_zip", [True, False])
def test_tensors_are_read_from_nested_dictionaries_in_both_formats(is_zip, tmp_path, torch):
    base = torch.from_numpy(BASE)
    expected = {
        "turned": base.permute(2, 0, 1), "part": base[1, :, 1:3], "double": torch.arange(5).double() / 7,
        "half": torch.arange(4).half(), "parameter": torch.nn.Parameter(base[0]), "count": torch.tensor(3),
    }  # fmt: skip
    content = {"epoch": 3, "state_dict": expected, "names": ["a"], "top": base}
    torch.save(content, tmp_path / "a.pth", _use_new_zipfile_serialization=is_zip)

    found = read_weights(tmp_path / "a.pth")

    assert [*found] == [*(f"state_dict.{name}" for name in expected), "top"]
    for name, tensor in expected.items():
        assert found[f"state_dict.{name}"].dtype == tensor.dtype
        assert found[f"state_dict.{name}"].equal(tensor)
        assert not found[f"state_dict.{name}"].requires_grad


@pytest.mark.filterwarnings("ignore")  # of torch, which deprecates it
def test_torchscript_is_read_as_its_tensors_and_no_program_of_it_runs(tmp_path, torch, monkeypatch):
    monkeypatch.setattr(torch.jit, "load", None)
    inner = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4))
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 3, 3), inner).eval()
    torch.jit.trace(model, torch.zeros(1, 3, 9, 9)).save(tmp_path / "a.pt")

    found = read_weights(tmp_path / "a.pt")

    expected = model.state_dict()
    expected.pop("1.1.num_batches_tracked")
    assert {*found} >= {*expected}
    assert all(found[name].equal(tensor) for name, tensor in expected.items())


def test_a_dictionary_that_stands_in_many_places_is_read_once(tmp_path, torch):
    content = {"w": torch.ones(2)}
    for _ in range(60):
        content = {"a": content, "b": content}  # 2**60 paths lead to the tensor
    torch.save(content, tmp_path / "a.pth")

    assert len(read_weights(tmp_path / "a.pth")) == 1


def test_the_files_that_these_tests_write_are_read_if_nothing_is_wrong_with_them(tmp_path, torch):
    keys = pickle.dumps(["0"], 2)
    (tmp_path / "zip.pth").write_bytes(zipped(tensor(), [("data/0", SIX)]))
    (tmp_path / "old.pth").write_bytes(legacy(tensor(old=True), keys, struct.pack("<q", 6) + SIX))
    (tmp_path / "script.pt").write_bytes(script(b"}X\x01\x00\x00\x00n" + module(tensor()[2:-1])[2:-1] + b"s"))

    for name, key in (("zip.pth", "w"), ("old.pth", "w"), ("script.pt", "n.w")):
        assert read_weights(tmp_path / name)[key].tolist() == [[0, 1, 2], [3, 4, 5]]


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
        archive.writestr("a/version", b"3\n")
        archive.writestr("a/byteorder", order)
        for name, part in parts:
            archive.writestr(f"a/{name}", part)
    return stream.getvalue()


def legacy(data, keys=b"", storages=b""):
    head = (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    return b"".join(pickle.dumps(each, 2) for each in head) + data + (keys or pickle.dumps([], 2)) + storages


def tensor(shape=(2, 3), strides=(3, 1), offset=0, count=6, kind="FloatStorage", old=False):
    """Return the pickle of a dictionary with one tensor, as PyTorch writes it, of these numbers."""

    def number(value):
        return pickle.dumps(value, 2)[2:-1]

    return (
        b"\x80\x02}X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storage"
        b"ctorch\n" + kind.encode() + b"\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu" + number(count)
        + (b"NtQ" if old else b"tQ") + number(offset) + number(tuple(shape)) + number(tuple(strides))
        + b"\x89ccollections\nOrderedDict\n)RtRs."
    )  # fmt: skip


SIX = np.arange(6, dtype="<f4").tobytes()


def module(attributes, name="__torch__.clip.___torch_mangle_3.Visual"):
    """Return the pickle of an object of TorchScript: `NEWOBJ` of a class of its program, then `BUILD`."""
    package, _, last = name.rpartition(".")
    return b"\x80\x02c" + f"{package}\n{last}\n".encode() + b")\x81" + attributes + b"b."


def script(attributes, name="__torch__.clip.Visual"):
    parts = [("data/0", SIX), ("code/__torch__/clip.py", b"import os; os.system('touch hacked')")]
    return zipped(module(attributes, name), [*parts, ("constants.pkl", b"\x80\x02).")])


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
    "a storage that is too short": zipped(tensor(), [("data/0", SIX[:-1])]),
    "a storage that is too long": zipped(tensor(), [("data/0", SIX + b"0000")]),
    "a storage that is missing": zipped(tensor()),
    "a storage of bytes": zipped(tensor(kind="ByteStorage"), [("data/0", SIX)]),
    "a compressed storage": zipped(
        tensor(count=1 << 26), [("data/0", bytes(4 << 26))], compression=zipfile.ZIP_DEFLATED
    ),
    "a middle-endian file": zipped(tensor(), [("data/0", SIX)], b"middle"),
    "TorchScript of a class of Python": script(b"}", "subprocess.Popen"),
    "TorchScript of a package of a similar name": script(b"}", "__torch__x.Visual"),
    "TorchScript whose program is called": script(b"}", "__torch__.os.system"),
    "a module of TorchScript whose attributes are a number": script(b"K\x01"),
    "a module of TorchScript in itself": zipped(
        b"\x80\x02c__torch__\nA\n)\x81q\x00}X\x01\x00\x00\x00ah\x00sb.", [("constants.pkl", b"\x80\x02).")]
    ),
    "an empty zip": b"PK\x05\x06" + bytes(18),
    "a truncated zip": zipped(tensor(), [("data/0", SIX)])[:-30],
    "a zip whose content changed": zipped(tensor(), [("data/0", SIX)]).replace(SIX, SIX[::-1]),
    "an old file, truncated": legacy(
        tensor(old=True), pickle.dumps(["0"], 2), struct.pack("<q", 6) + SIX[:-1]
    ),
    "an old file of a huge storage": legacy(
        tensor(old=True), pickle.dumps(["0"], 2), struct.pack("<q", 1 << 60)
    ),
    "an old file of -1 numbers": legacy(tensor(old=True), pickle.dumps(["0"], 2), b"\xff" * 8 + SIX),
    "an old file of 5 numbers": legacy(tensor(old=True), pickle.dumps(["0"], 2), struct.pack("<q", 5) + SIX),
    "an old file of other keys": legacy(tensor(old=True), pickle.dumps([7], 2), struct.pack("<q", 6) + SIX),
    "an old file of another version": legacy(tensor(old=True)).replace(b"M\xe9\x03", b"M\xe8\x03"),
    "a text": b"weights, please",
    "nothing": b"",
}


for _name, _data in [*ATTACKS.items()]:
    if _data.startswith(b"\x80"):  # a pickle alone, which is in neither format
        ATTACKS |= {f"{_name}, as a state dict": zipped(_data), f"{_name}, as an old one": legacy(_data)}


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_and_broken_files_are_refused_in_one_line_and_nothing_is_run(
    attack, tmp_path, monkeypatch, torch
):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bad.pth"
    path.write_bytes(ATTACKS[attack])

    with pytest.raises(InvalidInput, match=r"bad\.pth") as refused:
        read_weights(path)

    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 500
    assert [each.name for each in tmp_path.iterdir()] == ["bad.pth"]


def test_a_missing_file_and_a_folder_are_refused(tmp_path, torch):
    with pytest.raises(NotFound, match=r"a\.pth is not there; expected weights as torch.save"):
        read_weights(tmp_path / "a.pth")
    with pytest.raises(InvalidInput, match="is a folder"):
        read_weights(tmp_path)
