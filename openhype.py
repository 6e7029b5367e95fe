"""The public face of openhype for notebooks: `import openhype; openhype.score("responses.csv")`.

Names are loaded when first used, so that importing costs nothing.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "score": "backend.report.notebook",
    "bootstrap": "backend.report.notebook",
    "fit_psychometric": "backend.report.notebook",
    "plan": "backend.report.notebook",
    "StaircaseRule": "backend.experiment.staircase",
    "equilibrium_accuracy": "backend.experiment.staircase",
    "modal_exposure": "backend.experiment.staircase",
    "OpenhypeError": "backend.foundation.errors",
    "__version__": "backend",
}
__all__ = [name for name in _HOMES if name != "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"openhype has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
