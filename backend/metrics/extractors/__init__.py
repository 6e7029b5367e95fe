"""Extractors of features: a registry that finds a module by name.

`FAMILY.py` in this package has `KINDS`, the forms of the names that it knows, and `extractor(kind,
weights)`, which returns a `FeatureExtractor`. The name `layout` asks for the family `layout`, `torch-
fidelity:vgg16` for the kind `vgg16` of the family `torch_fidelity`.
"""

import pkgutil
from importlib import import_module
from pathlib import Path

from backend.foundation.errors import InvalidInput
from backend.foundation.suggestions import did_you_mean
from backend.metrics.extractors.feature_extractor import FeatureExtractor

DEFAULT = "layout"
_INTERFACE = "feature_extractor"


def families() -> tuple[str, ...]:
    """Return the names of all families of extractors, as they are written in options."""
    names = (module.name for module in pkgutil.iter_modules(__path__) if module.name != _INTERFACE)
    return tuple(name.replace("_", "-") for name in names)


def extractor_named(name: str, weights: Path | None = None) -> FeatureExtractor:
    """Return the extractor of a name such as `layout` or `torch-fidelity:inception-v3-compat`.

    Args:
        weights: file of the weights, for an extractor that needs one.

    Raises:
        InvalidInput: there is no such extractor, or the weights are not what it needs.
        NotInstalled: it needs a package that is missing.
    """
    family, _, kind = name.partition(":")
    if family not in families():
        raise InvalidInput(
            f"there is no extractor {name!r}{did_you_mean(family, families(), f'; there are {_known()}')}"
        )
    return import_module(f"{__name__}.{family.replace('-', '_')}").extractor(kind, weights)


def _known() -> str:
    return ", ".join(
        import_module(f"{__name__}.{family.replace('-', '_')}").KINDS.format(family=family)
        for family in families()
    )
