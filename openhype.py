"""The public face of openhype: `openhype.score("responses.csv")`, and `openhype.Client`.

Names are loaded when first used, so that importing costs nothing.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "score": "backend.report.notebook",
    "report": "backend.report.notebook",
    "bootstrap": "backend.report.notebook",
    "fit_psychometric": "backend.report.notebook",
    "plan": "backend.report.notebook",
    "StaircaseRule": "backend.experiment.staircase",
    "equilibrium_accuracy": "backend.experiment.staircase",
    "modal_exposure": "backend.experiment.staircase",
    "Client": "backend.client.client",
    "Submission": "backend.client.submission",
    "Result": "backend.client.submission",
    "OpenhypeError": "backend.foundation.errors",
    "NotAllowed": "backend.foundation.errors",
    "NotFound": "backend.foundation.errors",
    "InvalidInput": "backend.foundation.errors",
    "Conflict": "backend.foundation.errors",
    "Unavailable": "backend.foundation.errors",
    "TooMany": "backend.foundation.errors",
    "LimitReached": "backend.client.errors",
    "Refused": "backend.client.errors",
    "Withdrawn": "backend.client.errors",
    "PicturesMissing": "backend.client.errors",
    "TimedOut": "backend.client.errors",
    "JobFailed": "backend.client.errors",
    "ServerFault": "backend.client.errors",
    "__version__": "backend",
}
__all__ = [name for name in _HOMES if name != "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"openhype has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
