"""Studies that version 0.1 stored, in `stored/`: they load, and give the rows, scores and debts of then.

Three small studies (HYPE-infinity, HYPE-time, classes) with finished sessions, ones that broke off, one that
was withdrawn, and mistimed flashes; beside each store stands what 0.1 made of it.
"""

import base64
import gzip
import json
import math
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import boto3
import pytest

from backend.payment.accounts import plain_accounts
from backend.responses.study_data import study_rows, study_scores
from backend.stores.opening import open_store
from tests.dynamodb import moto

STORED = Path(__file__).parent / "stored"
LATER = datetime(2026, 6, 1, tzinfo=UTC)


def unpacked(name):
    return gzip.decompress((STORED / name).read_bytes()).decode()


def as_item(value):
    """Return a value of a DynamoDB item as it was before JSON."""
    if isinstance(value, dict):
        if value.keys() == {"b64"}:
            return base64.b64decode(value["b64"])
        return {key: as_item(part) for key, part in value.items()}
    return [as_item(part) for part in value] if isinstance(value, list) else value


NEW_COLUMNS = {"trial_kind": "test", "excluded": None, "language": ""}
"""Columns that rows have had since, with their values in studies that do not use them."""


def rows_as_before(rows):
    """Return rows without the columns added since, which must say that nothing of it was used."""
    for row in rows:
        assert {name: row[name] for name in NEW_COLUMNS} == NEW_COLUMNS
        yield {name: value for name, value in row.items() if name not in NEW_COLUMNS}


def seen_now(store):
    """Return by study what is made of a store, as plain data."""
    seen = {
        study.name: {
            "rows": {
                which: list(rows_as_before(study_rows(store, study, which)))
                for which in ("scored", "unfinished", "replaced")
            },
            "scores": study_scores(store, study),
            "owed": {key: account.data() for key, account in plain_accounts(store, study, LATER).items()},
        }
        for study in store.studies()
    }
    return json.loads(json.dumps(seen, default=str))


def differences(found, expected, where=""):
    """Return where plain data differ; floats may differ by rounding, which depends on the processor."""
    if isinstance(found, float) and isinstance(expected, float):
        return [] if math.isclose(found, expected, rel_tol=1e-12) else [f"{where}: {found} {expected}"]
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        pairs = [(name, found[name], expected[name]) for name in expected]
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = list(zip(range(len(expected)), found, expected, strict=True))
    else:
        return [] if found == expected else [f"{where}: {found} {expected}"]
    return [line for name, one, other in pairs for line in differences(one, other, f"{where}/{name}")]


def in_sqlite(tmp_path):
    db = sqlite3.connect(tmp_path / "openhype.db")
    db.executescript(unpacked("sqlite.sql.gz"))
    db.close()
    yield open_store("sqlite:///openhype.db", tmp_path), json.loads(unpacked("sqlite.json.gz"))


def in_dynamodb(tmp_path):
    items, expected = json.loads(unpacked("dynamodb.json.gz"))
    with moto("stored") as url:
        client = boto3.client("dynamodb", region_name="us-east-1")
        for item in items:
            client.put_item(TableName="stored", Item=as_item(item))
        yield open_store(url, tmp_path), expected


@pytest.fixture(params=[in_sqlite, in_dynamodb], ids=["sqlite", "dynamodb"])
def stored(request, tmp_path, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "nobody")
    yield from request.param(tmp_path)


def test_what_was_stored_before_gives_the_same_rows_scores_and_debts(stored):
    store, expected = stored

    found = seen_now(store)

    assert differences(found, expected) == []
    assert [sum(len(of["rows"][which]) for of in found.values()) for which in ("scored", "replaced")] == [
        200,
        4,
    ]
    store.close()
