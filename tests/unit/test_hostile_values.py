"""Whatever value stands in whatever place of a request, it is refused or taken, and never a fault."""

import json

import pytest

from . import sample_studies as studies

SURROGATE = r'"\ud800"'
VALUES = {
    "half of a surrogate pair": SURROGATE,
    "surrogate in a list": f"[{SURROGATE}]",
    "surrogate as a name": f"{{{SURROGATE}: 1}}",
    "control characters": r'"a\u0000b\nc\u001b[2J"',
    "10^400, whole": "1" + "0" * 400,
    "10^400, float": "1e400",
    "10^5000": "1" + "0" * 5000,
    "-10^400": "-1" + "0" * 400,
    "2^63": str(2**63),
    "1e308": "1e308",
    "-0.0": "-0.0",
    "a name of 300 letters": json.dumps("a" * 300),
    "a text of 5,000 letters": json.dumps("a" * 5000),
    "a path": '"../../etc/passwd"',
    "a formula": '"=1+1"',
    "SQL": '"\'; DROP TABLE studies; --"',
    "null": "null",
    "true": "true",
    "empty text": '""',
    "empty list": "[]",
    "empty object": "{}",
    "deep": "[" * 500 + "]" * 500,
}
TIMING = {
    "evidence": "element",
    "lateness_ms": 0.5,
    "planned_frames": [1, 2],
    "achieved_frames": [1, 2],
    "phase_ms": [16.7, 33.3],
}
PANEL = {"PROLIFIC_PID": "p1", "STUDY_ID": "st", "SESSION_ID": "se"}
DEVICE = {"user_agent": "test", "refresh_hz": 60.0, "width_px": 800}
BODIES = {
    "studies/faces/sessions": {
        "consent_version": "1",
        "panel": PANEL,
        "device": DEVICE,
        "qualification_token": "t",
        "signature": "s",
    },
    "studies/faces/admission": {"panel": PANEL, "signature": "s"},
    "studies/faces/exit": {
        "outcome": "declined",
        "panel": PANEL,
        "qualification_token": "t",
        "signature": "s",
    },
    "studies/faces/waits": {"panel": PANEL, "qualification_token": "t", "signature": "s"},
    "studies/faces/waits/w1/signs": {"is_visible": True, "is_here": True},
    "sessions/{session}/resume": {},
    "sessions/{session}/end": {"lease": 1},
    "sessions/{session}/blocks": {"lease": 1, "block": 0, "display": {"refresh_hz": 60.0, "size": "1x1"}},
    "sessions/{session}/answers": {
        "lease": 1,
        "trial_index": 0,
        "stimulus": "{stimulus}",
        "response": "real",
        "exposure_ms": 500,
        "shown_ms": 500.0,
        "frames": 30,
        "frame_ms": 16.7,
        "mask_ms": [33.3],
        "rt": 700.0,
        "flags": ["late"],
        "timing": TIMING,
        "interactions": [{"event": "blur", "time_ms": 5.0}],
    },
}
PLACE = "HOSTILE"


def spoiled(body):
    """Yield copies of a body, each with `PLACE` in the place of one value of it, or of all."""
    yield PLACE
    if isinstance(body, dict):
        yield {**body, PLACE: 1}
        for key, value in body.items():
            yield from ({**body, key: other} for other in spoiled(value))
    if isinstance(body, list):
        for i, value in enumerate(body):
            yield from ([*body[:i], other, *body[i + 1 :]] for other in spoiled(value))


def sent(world, path, text, token="token"):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    return world.http.post(f"/api/{path}", data=text.encode("utf-8", "surrogatepass"), headers=headers)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize(
    "method",
    [
        "infinity",
        pytest.param("time", marks=pytest.mark.slow("the same values in the routes of a time study")),
    ],
)
def test_no_value_is_a_fault(world, method, value):
    world.add(studies.study(method=method, images=20, blocks=1), each=60)
    player = world.player()
    player.begin()

    for path, body in BODIES.items():
        where = path.replace("{session}", player.state["session"])
        lease = {**body, "lease": player.lease} if "lease" in body else body
        for changed in spoiled(lease):
            text = json.dumps(changed).replace("{stimulus}", player.images[0]).replace(f'"{PLACE}"', value)
            reply = sent(world, where, text, player.token)
            assert reply.status_code < 500, (where, text[:300], reply.json)

    assert player_goes_on(world)


def player_goes_on(world):
    """Return whether the next evaluator can begin."""
    world.player().begin()
    return True


@pytest.mark.parametrize(
    "path",
    [
        "/s/" + "a" * 300,
        "/i/" + "a" * 300 + "/" + "0" * 32 + ".png",
        "/i/faces/" + "0" * 300 + ".png",
        "/assets/" + "a" * 300 + ".js",
        "/api/studies/" + "a" * 3000,
        "/api/studies/faces%0aERROR openhype: forged",
        "/api/studies/%ff%fe%00",
        "/api/studies/%ed%a0%80",
        "/wait/%00",
        "/w/%0d%0aSet-Cookie:%20a=b",
        "/i/%2e%2e/00000000000000000000000000000000.png",
    ],
)
def test_no_path_is_a_fault(world, path):
    world.add(studies.study())

    reply = world.http.get(path)

    assert reply.status_code < 500
    assert "Set-Cookie" not in reply.headers


@pytest.mark.parametrize("token", ["\xff\xfe", "a" * 5000, "%00", "é" * 10])
def test_no_token_is_a_fault(world, token):
    world.add(studies.study())
    player = world.player()

    for path in (f"/api/sessions/{player.state['session']}/withdrawal", "/api/studies/faces/status"):
        reply = world.http.get(path, headers={"Authorization": f"Bearer {token}"})
        assert reply.status_code in (403, 404)


@pytest.mark.parametrize("origin", ["http://[x", "null", "http://", "\xff", "http://a:b:c"])
def test_no_origin_is_a_fault(world, origin):
    reply = world.http.post("/api/sign-in", json={"token": "wrong"}, headers={"Origin": origin})

    assert reply.status_code == 403


def test_a_path_cannot_forge_a_line_of_the_log(world, caplog):
    world.http.get("/api/studies/faces%0aERROR forged")

    (record,) = caplog.records
    assert "\n" not in record.getMessage()
    assert "GET /api/studies/faces\\nERROR forged 404" in record.getMessage()
