"""botocore's data in the packages: those of the services that a stage calls, with the operations it calls.

botocore reads the whole description of a service before its first call: that of SSM, of which the functions
call one operation of 150, takes longer than importing Flask.
"""

import gzip
import json
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

SERVICES: Mapping[str, tuple[str, ...]] = {
    "api": ("dynamodb", "ssm"),
    "score": ("cloudfront", "dynamodb", "lambda", "s3", "ssm"),
    "panel": ("dynamodb", "lambda", "ssm"),
}
"""Services that the functions of a stage call."""

OPERATIONS: Mapping[str, Collection[str]] = {
    "cloudfront": ("CreateInvalidation", "GetInvalidation"),
    "dynamodb": ("BatchGetItem", "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"),
    "lambda": ("Invoke",),
    "ssm": ("GetParameter",),
}
"""Operations that they call; of S3 all are left."""

_MODEL = "service-2.json"


def trim(data: Path, stage: str) -> None:
    """Remove from botocore's folder of data what the functions of a stage do not call."""
    for folder in data.iterdir():
        if folder.is_dir() and folder.name not in SERVICES[stage]:
            shutil.rmtree(folder)
    for service, operations in OPERATIONS.items():
        for packed in data.glob(f"{service}/*/{_MODEL}.gz"):
            model = json.loads(gzip.decompress(packed.read_bytes()))
            packed.with_name(_MODEL).write_text(json.dumps(_reduced(model, operations)), "utf-8")
            packed.unlink()
    endpoints = json.loads((data / "endpoints.json").read_text("utf-8"))
    for partition in endpoints["partitions"]:
        partition["services"] = _only(partition["services"], SERVICES[stage])
    (data / "endpoints.json").write_text(json.dumps(endpoints), "utf-8")


def _reduced(model: Mapping[str, Any], operations: Collection[str]) -> dict[str, Any]:
    """Return the model of a service with these operations only, and the shapes that they refer to."""
    called = _only(model["operations"], operations)
    needed: set[str] = set()
    missing = set(_references(called))
    while missing:
        needed |= missing
        missing = set(_references(_only(model["shapes"], missing))) - needed
    return {**model, "operations": called, "shapes": _only(model["shapes"], needed)}


def _references(part: Any) -> Iterable[str]:
    """Yield the names of shapes that a part of a model refers to."""
    if isinstance(part, dict):
        if isinstance(name := part.get("shape"), str):
            yield name
        for each in part.values():
            yield from _references(each)
    elif isinstance(part, list):
        for each in part:
            yield from _references(each)


def _only(parts: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if name in names}
