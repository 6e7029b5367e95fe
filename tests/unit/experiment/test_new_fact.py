"""One more fact of a response is one line in the back end, beside the page that posts it.

The line is added to a copy of the product, which then takes answers with the fact, keeps it in both stores,
and exports it.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .. import sample_studies as studies

ROOT = Path(__file__).resolve().parents[3]
DECLARED = '    "browser": Column('
PUPIL = '    "pupil_mm": Column("Diameter of the pupil", "mm", Kind.NUMBER, is_fact=True),\n'

PROGRAM = """
import json, sys
from pathlib import Path
from backend.responses.codebook import FILES
from tests.unit.response_rows import read_responses
from backend.responses.export import export
from backend.stores import json_codec
from backend.experiment.records import Response
from backend.stores.dynamodb import record_codec
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from tests.unit.conftest import World
from tests.unit import sample_studies as studies

folder = Path(sys.argv[1])
store = open_store("sqlite:///openhype.db", folder)
world = World(store, DataDir(folder))
study = world.add(studies.study(images=4))
player = world.player()
refused = []
player.begin()
for wrong in ("much", -1, True, 1e10):
    reply = player.post("answers", player.body(pupil_mm=wrong))
    refused.append([reply.status_code, reply.json["error"]["message"]])
while player.done is None:
    player.answer(pupil_mm=0.25)
(session, _), = store.sessions("faces")
responses = store.responses(session.id)
pictures = [name for block in session.blocks for name in block.stimuli]
packed = [record_codec.unpack(Response, record_codec.pack(each, pictures), pictures) for each in responses]
whole = record_codec.unpack(list[Response], record_codec.pack(responses, pictures), pictures)
text = [json_codec.load_response(json_codec.dump(each)) for each in responses]
data = export(store, study, folder / "out")[0]
schemas = world.http.get("/api/openapi.json").json["components"]["schemas"]
print(json.dumps({
    "refused": refused,
    "stored": [each.facts for each in responses],
    "is_kept": packed == whole == text == responses,
    "exported": [row["pupil_mm"] for row in read_responses(data)],
    "described": "pupil_mm" in FILES[""][0] and "pupil_mm" in schemas["Answer"]["properties"],
}))
"""


@pytest.fixture
def copy(tmp_path):
    """A copy of the product whose responses have one more fact."""
    for name in ("backend", "frontend", "deploy", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "e2e"))
    columns = tmp_path / "backend" / "experiment" / "response_columns.py"
    text = columns.read_text("utf-8")
    assert text.count(DECLARED) == 1
    columns.write_text(text.replace(DECLARED, PUPIL + DECLARED), "utf-8")
    return tmp_path


def test_a_fact_declared_in_one_line_is_taken_kept_and_exported(copy, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)], cwd=copy, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["stored"] == [{"pupil_mm": 0.25}] * 4
    assert told["is_kept"]
    assert told["exported"] == [0.25] * 4
    assert told["described"]
    assert [status for status, _ in told["refused"]] == [400] * 4
    assert all("pupil_mm must be a number from 0 to 1e9" in message for _, message in told["refused"])


def test_an_undeclared_fact_is_not_kept(world):
    world.add(studies.study(images=4))
    player = world.player()
    player.begin()

    player.answer(pupil_mm=0.25, truth="real")

    (response,) = world.store.responses(player.state["session"])
    assert response.facts == {}
