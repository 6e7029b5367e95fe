"""Extractors of torch-fidelity, where it is installed: its numbers, and files of weights that are none."""

import pickle
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from backend.foundation.errors import InvalidInput, NotInstalled
from backend.metrics.extractors import extractor_named

pytestmark = pytest.mark.filterwarnings("ignore")  # torch deprecates its own formats
NAME = "torch-fidelity:clip-vit-b-32"


@pytest.mark.skipif(find_spec("torch_fidelity") is not None, reason="torch-fidelity is installed")
def test_without_the_package_the_command_that_installs_it_is_told():
    with pytest.raises(NotInstalled, match=r"torch-fidelity:vgg16 needs torch_fidelity, .*pip install"):
        extractor_named("torch-fidelity:vgg16", Path("w.pth"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Weights of a small CLIP with random numbers, as a state dictionary and as TorchScript."""
    torch = pytest.importorskip("torch")
    clip = pytest.importorskip("torch_fidelity.feature_extractor_clip")
    torch.manual_seed(1)
    model = clip.CLIPVisual(16, 64, 1, 64, 32)
    model.text_projection = torch.nn.Parameter(torch.randn(8, 16))
    model.register_buffer("context_length", torch.tensor(77))
    model.forward = model.visual.forward
    model.eval()
    made = tmp_path_factory.mktemp("weights")
    torch.save(model.state_dict(), made / "state.pth")
    torch.jit.trace(model, torch.zeros(1, 3, 64, 64)).save(str(made / "script.pt"))
    return made


def pictures():
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (24, 24, 3)).astype(np.uint8) for _ in range(3)]


@pytest.mark.parametrize("file", ["state.pth", "script.pt"])
def test_features_are_those_of_torch_fidelity_itself(folder, file):
    import torch
    from torch_fidelity.utils import create_feature_extractor

    theirs = create_feature_extractor(
        "clip-vit-b-32", ["clip"], cuda=False, verbose=False, feature_extractor_compile=False,
        feature_extractor_weights_path=str(folder / "script.pt"),
    )  # fmt: skip
    batch = torch.from_numpy(np.stack(pictures())).permute(0, 3, 1, 2)

    ours = extractor_named(NAME, folder / file)

    assert ours.extract(pictures()) == pytest.approx(theirs(batch)[0].numpy(), abs=1e-6)
    assert ours.identity.name == f"{NAME} with other weights"
    assert ours.identity.size == "64 x 64 px, bilinear as in TensorFlow 1"


def test_other_weights_are_another_extractor(folder):
    import torch

    state = torch.load(folder / "state.pth", weights_only=True)
    torch.save({name: value + 1 for name, value in state.items()}, folder / "others.pth")

    one, other = (extractor_named(NAME, folder / name) for name in ("state.pth", "others.pth"))

    assert one.identity.hash != other.identity.hash


class Program:
    """Would write a file if it were unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def bad(what, folder, to):
    """Write a file that is no weights of this network; return what the message says."""
    import torch

    script = (folder / "script.pt").read_bytes()
    if what == "a program":
        torch.save({"visual.proj": Program(to.parent / "ran")}, to)
        return "GLOBAL io.open"
    if what == "a pickled program":
        to.write_bytes(pickle.dumps(Program(to.parent / "ran"), 2))
        return "cannot be read as weights"
    if what == "a program in TorchScript":
        with zipfile.ZipFile(folder / "script.pt") as given, zipfile.ZipFile(to, "w") as out:
            for name in given.namelist():
                data = (
                    pickle.dumps(Program(to.parent / "ran"), 2)
                    if name.endswith("/data.pkl")
                    else given.read(name)
                )
                out.writestr(name, data)
        return "GLOBAL io.open"
    if what == "NaN":
        torch.save({"a": torch.tensor([1.0, float("nan")])}, to)
        return "'a' has weights that are not finite numbers"
    if what == "a list":
        torch.save([torch.zeros(1)], to)
        return "it has a list, not a dictionary of tensors"
    if what == "another network":
        torch.save({"conv.weight": torch.zeros(2, 2)}, to)
        return f"does not have the weights of {NAME}"
    to.write_bytes({"empty": b"", "text": b"hello", "cut off": script[: len(script) // 2]}[what])
    return "cannot be read as weights"


WHAT = (
    "a program", "a pickled program", "a program in TorchScript", "NaN", "a list", "another network", "empty",
    "text", "cut off",
)  # fmt: skip


@pytest.mark.parametrize("what", WHAT)
def test_what_is_no_file_of_weights_is_refused_and_nothing_of_it_is_run(folder, tmp_path, what):
    why = bad(what, folder, tmp_path / "bad.pth")

    with pytest.raises(InvalidInput) as refused:
        extractor_named(NAME, tmp_path / "bad.pth")

    assert why in str(refused.value)
    assert str(tmp_path / "bad.pth") in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "ran").exists()


def test_nothing_is_downloaded(folder):
    with pytest.raises(
        InvalidInput, match=r"needs its weights: --weights FILE \(weights-inception-2015-12-05-"
    ):
        extractor_named("torch-fidelity:inception-v3-compat")
    with pytest.raises(InvalidInput, match="DINOv2 only as a program that it downloads"):
        extractor_named("torch-fidelity:dinov2-vit-s-14", folder / "state.pth")
    with pytest.raises(InvalidInput, match="has the extractors inception-v3-compat, vgg16"):
        extractor_named("torch-fidelity:resnet", folder / "state.pth")
