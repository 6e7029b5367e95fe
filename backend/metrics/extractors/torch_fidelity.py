"""Extractors of the package torch-fidelity, with weights from a file of the researcher's.

torch-fidelity reads weights with an unpickler that runs what a file contains, and downloads what is
missing. Here a file is read first, as tensors and nothing else; what torch-fidelity gets is a copy of those.
It is never left to download anything. Its DINOv2 exists only as a download of a program, and is therefore
not available; features that were extracted with it elsewhere can be given as files.

The Frechet distance of `inception-v3-compat` with the published weights is what papers call FID.
"""

import hashlib
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from backend.foundation.errors import InvalidInput
from backend.foundation.optional_packages import check
from backend.foundation.printable import printable
from backend.foundation.text_files import unreadable
from backend.metrics.extractors.feature_extractor import FeatureExtractor
from backend.metrics.features import Extractor
from backend.metrics.weights import check_torch, read_weights

if TYPE_CHECKING:
    import torch

KINDS = "{family}:inception-v3-compat (and others of that package, with --weights)"
INCEPTION = "inception-v3-compat"
_PUBLISHED = {INCEPTION: "6726825d", "vgg16": "397923af"}
"""The first digits of the SHA-256 of the published weights, which their file names end in."""
_WHERE = {
    INCEPTION: "weights-inception-2015-12-05-6726825d.pth, of the releases of torch-fidelity",
    "vgg16": "vgg16-397923af.pth, of torchvision",
}
_LAYERS = {INCEPTION: "2048 (pool3)"}
_PRECISE = "float32"


@dataclass(frozen=True)
class _Weights:
    """The tensors of a file."""

    tensors: "Mapping[str, torch.Tensor]"
    sha256: str
    """Of the file."""
    source: str


class TorchFidelity(FeatureExtractor):
    """An extractor of torch-fidelity, at the layer that it uses for FID."""

    batch: ClassVar[int] = 32
    is_light: ClassVar[bool] = False

    def __init__(self, kind: str, weights: _Weights):
        from torch_fidelity.registry import FEATURE_EXTRACTORS_REGISTRY

        family = FEATURE_EXTRACTORS_REGISTRY[kind]
        layer = family.get_default_feature_layer_for_metric("fid")
        is_published = weights.sha256.startswith(_published(kind))
        self._model = _built(family, kind, layer, weights)
        size = getattr(self._model, "INPUT_IMAGE_SIZE", None) or getattr(self._model, "resolution", "?")
        package = version("torch-fidelity")
        what = f"torch-fidelity {package} {kind} {layer} {_PRECISE} weights {weights.sha256}"
        others = "" if is_published else " with other weights"
        self.identity = Extractor(
            f"torch-fidelity:{kind}{others}",
            hashlib.sha256(what.encode()).hexdigest(),
            f"{size} x {size} px, bilinear as in TensorFlow 1",
        )
        self.about = (
            f"torch-fidelity {package}, layer {_LAYERS.get(kind, layer)}, weights with SHA-256 "
            f"{weights.sha256[:12]}{'' if is_published else ', which are not the published ones'}"
        )

    def extract(self, pictures: Sequence[np.ndarray]) -> np.ndarray:
        import torch

        batch = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).contiguous()
        with torch.inference_mode():
            (features,) = self._model(batch)
        return features.reshape(len(pictures), -1).to(torch.float32).numpy()


def extractor(kind: str, weights: Path | None) -> TorchFidelity:
    """Return an extractor of torch-fidelity.

    Raises:
        InvalidInput: there is no such extractor, or the weights are not its own.
        NotInstalled: the package torch-fidelity is missing, or PyTorch is too old.
    """
    what = f"the extractor torch-fidelity:{kind or INCEPTION}"
    check(what, "torch_fidelity")
    check_torch(what)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of packages that torch-fidelity imports
        from torch_fidelity.registry import FEATURE_EXTRACTORS_REGISTRY

    known = [name for name in FEATURE_EXTRACTORS_REGISTRY if not name.startswith("dinov2")]
    if kind.startswith("dinov2"):
        raise InvalidInput(
            "torch-fidelity has DINOv2 only as a program that it downloads and runs; extract its features "
            "elsewhere, and give them as files: --real reals.npz --model NAME=FILE.npz"
        )
    if kind not in known:
        raise InvalidInput(
            f"torch-fidelity has the extractors {', '.join(known)}, not {kind!r}; for example "
            f"torch-fidelity:{INCEPTION}"
        )
    if weights is None:
        where = f" ({_WHERE[kind]})" if kind in _WHERE else ""
        raise InvalidInput(
            f"the extractor torch-fidelity:{kind} needs its weights: --weights FILE{where}; nothing is "
            "downloaded"
        )
    return TorchFidelity(kind, _read(weights))


def _read(path: Path) -> _Weights:
    where = printable(path)
    tensors = read_weights(path)
    for name, values in tensors.items():
        if not values.isfinite().all():
            raise InvalidInput(f"{where}: {name!a} has weights that are not finite numbers")
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from None
    return _Weights(tensors, digest, where)


def _published(kind: str) -> str:
    if kind in _PUBLISHED:
        return _PUBLISHED[kind]
    from torch_fidelity.feature_extractor_clip import MODEL_METADATA

    return MODEL_METADATA[kind]["hash"] if kind in MODEL_METADATA else "unknown"


def _built(family: Any, kind: str, layer: str, weights: _Weights) -> Any:
    """Return torch-fidelity's module with these tensors, which it reads from a file that is written here."""
    with tempfile.TemporaryDirectory(prefix="openhype-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "weights.pt"
        try:
            _write(weights, path, is_script=kind.startswith("clip"))
            made = family(kind, [layer], feature_extractor_weights_path=str(path))
        except (RuntimeError, KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
            text = " ".join(str(error).split()).rpartition("Error(s) in loading state_dict for ")[2]
            raise InvalidInput(
                f"{weights.source} does not have the weights of torch-fidelity:{kind}: {text[:120]} …"
            ) from None
    made.eval()
    return made


def _write(weights: _Weights, path: Path, is_script: bool) -> None:
    import torch

    if is_script:
        torch.jit.script(_module(weights.tensors)).save(str(path))
    else:
        torch.save(weights.tensors, path)


def _module(tensors: "Mapping[str, torch.Tensor]") -> Any:
    """Return an empty module that has these tensors under their dotted names, as CLIP is published."""
    import torch

    class Holder(torch.nn.Module):
        def forward(self) -> int:
            return 0

    root = Holder()
    for name, value in tensors.items():
        *path, last = name.split(".")
        at = root
        for part in path:
            if part not in at._modules:
                at.add_module(part, Holder())
            at = at._modules[part]
        at.register_buffer(last, value)
    return root
