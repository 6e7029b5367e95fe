"""Nobody comes in under another's name: the panel's signature is asked for, checked, and never kept."""

import base64
import hashlib
import hmac
import json
import sys
import threading
from datetime import UTC, datetime, timedelta

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from flask import Flask, Response

from backend.administration.study_spec import read_panel
from backend.experiment import panel as records
from backend.experiment.panel import Signature
from backend.foundation.errors import InvalidInput, NotAllowed, NotInstalled, Unavailable
from backend.panels.signed_links import Signatures
from backend.web.server import in_background

from .. import sample_studies as studies

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SOURCE = "https://panel.example/jwks.json"
LINK = {"PROLIFIC_PID": "p1", "SESSION_ID": "s1"}
CLAIMS = {"PROLIFIC_PID": "panel.person", "SESSION_ID": "panel.place"}
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())


def jwk(key, kid, **more):
    algorithm = (
        jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    )
    return {**algorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, **more}


def key_set(*entries):
    return json.dumps({"keys": entries}).encode()


BOTH = key_set(jwk(RSA, "rsa"), jwk(EC, "ec"))


def claims(**changes):
    base = {"exp": NOW.timestamp() + 300, "panel": {"person": "p1", "place": "s1"}}
    return {name: value for name, value in {**base, **changes}.items() if value is not None}


def token(key=RSA, algorithm="RS256", kid="rsa", **changes):
    return jwt.encode(claims(**changes), key, algorithm, headers={"kid": kid} if kid else None)


def forged(algorithm, sign):
    """Return a token made by hand, as PyJWT refuses to make it."""
    parts = [{"alg": algorithm, "typ": "JWT", "kid": "rsa"}, claims()]
    head = b".".join(encoded(json.dumps(part).encode()) for part in parts)
    return (head + b"." + encoded(sign(head))).decode()


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def with_public_key_as_secret(head):
    secret = RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return hmac.new(secret, head, hashlib.sha256).digest()


class Panel:
    """Publishes keys, counts who asks, and can be down."""

    def __init__(self, keys=BOTH):
        self.keys, self.asked, self.now = keys, 0, NOW

    def fetch(self, source):
        assert source == SOURCE
        self.asked += 1
        if self.keys is None:
            raise OSError("no route to host")
        return self.keys


@pytest.fixture
def panel():
    return Panel()


@pytest.fixture
def check(panel):
    signatures = Signatures(lambda: panel.now, panel.fetch)

    def check(token, link=LINK, **more):
        signatures.check(Signature("proof", SOURCE, CLAIMS, **more), link, token)

    return check


@pytest.mark.parametrize("good", [token(), token(EC, "ES256", "ec")], ids=["RS256", "ES256"])
def test_who_is_vouched_for_comes_in(check, good):
    check(good)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (None, "lacks the panel's signature"),
        ("", "lacks the panel's signature"),
        ("not.a.token", "does not hold"),
        (encoded(b"[" * 3000).decode() + ".e30.", "does not hold"),
        (token(exp=NOW.timestamp() - 31), "has run out"),
        (token(exp=None), "has run out"),
        (token(nbf=NOW.timestamp() + 31), "has run out"),
        (token(OTHER), "does not hold"),
        (token(EC, "ES256", "rsa"), "does not hold"),
        (token(algorithm="RS512"), "does not hold"),
        (token(kid=None), "names no key"),
        (token(kid="else"), "by a key that the panel does not publish"),
        (forged("none", lambda head: b""), "does not hold"),
        (forged("HS256", with_public_key_as_secret), "does not hold"),
        (token(panel={"person": "p2", "place": "s1"}), "is for another PROLIFIC_PID"),
        (token(panel={"person": "p1", "place": "s2"}), "is for another SESSION_ID"),
        (token(panel="p1"), "is for another PROLIFIC_PID"),
        (token(panel=None), "is for another PROLIFIC_PID"),
    ],
    ids=lambda value: "" if value is None or "." in value else value,
)
def test_who_is_not_vouched_for_stays_out(check, bad, why):
    with pytest.raises(NotAllowed, match=why) as refused:
        check(bad)

    assert refused.value.code == "unsigned"
    assert not bad or bad not in str(refused.value)


def test_a_token_without_a_person_in_the_link_vouches_for_nobody(check):
    with pytest.raises(NotAllowed, match="for another PROLIFIC_PID"):
        check(token(panel={"person": None, "place": "s1"}), {"SESSION_ID": "s1"})


def test_clocks_may_differ_a_little(check):
    check(token(exp=NOW.timestamp() - 29, nbf=NOW.timestamp() - 60))


@pytest.mark.parametrize(("name", "claim"), [("audience", "aud"), ("issuer", "iss")])
def test_audience_and_issuer_are_checked_where_they_are_given(check, name, claim):
    check(token(**{claim: "https://mine.example"}), **{name: "https://mine.example"})
    check(token(**{claim: "https://mine.example"}))
    for wrong in ("https://other.example", None):
        with pytest.raises(NotAllowed, match="does not hold"):
            check(token(**{claim: wrong}), **{name: "https://mine.example"})


def test_keys_are_fetched_once_an_hour(check, panel):
    for _ in range(3):
        check(token(exp=NOW.timestamp() + 9000))
    panel.now = NOW + timedelta(minutes=59)
    check(token(exp=NOW.timestamp() + 9000))
    assert panel.asked == 1

    panel.now = NOW + timedelta(minutes=60)
    check(token(exp=NOW.timestamp() + 9000))

    assert panel.asked == 2


def test_a_new_key_is_asked_for_at_most_once_a_minute(check, panel):
    new = token(OTHER, kid="new")
    check(token())
    panel.now = NOW + timedelta(seconds=59)
    with pytest.raises(NotAllowed, match="does not publish"):
        check(new)
    assert panel.asked == 1

    panel.keys, panel.now = key_set(jwk(RSA, "rsa"), jwk(OTHER, "new")), NOW + timedelta(seconds=60)
    check(new)
    for _ in range(3):
        with pytest.raises(NotAllowed, match="does not publish"):
            check(token(kid="never"))

    assert panel.asked == 2


@pytest.mark.parametrize("down", [None, b"<html>", b"[]", b'{"keys": 5}', b'{"keys": ["a"]}'])
def test_a_panel_that_is_down_is_asked_again_soon_but_not_at_once(check, panel, down):
    panel.keys = down
    for _ in range(3):
        with pytest.raises(Unavailable, match="could not be fetched"):
            check(token())
    assert panel.asked == 1

    panel.keys, panel.now = BOTH, NOW + timedelta(seconds=10)
    check(token())

    assert panel.asked == 2


def test_known_keys_serve_on_while_the_panel_is_down(check, panel):
    check(token())
    panel.keys, panel.now = None, NOW + timedelta(minutes=2)
    with pytest.raises(Unavailable, match="could not be fetched"):
        check(token(kid="new"))

    check(token())

    assert panel.asked == 2


@pytest.mark.parametrize(
    "entry",
    [
        jwk(RSA, "rsa", use="enc"),
        jwk(RSA, "rsa", alg="RS512"),
        {"kty": "oct", "kid": "rsa", "k": "c2VjcmV0"},
        {"kty": "RSA", "kid": "rsa", "n": "AQ"},
    ],
    ids=["to encrypt", "another algorithm", "a shared secret", "broken"],
)
def test_a_key_for_something_else_verifies_nothing(check, panel, entry):
    panel.keys = key_set(entry, jwk(EC, "ec"))

    with pytest.raises(NotAllowed, match="does not publish"):
        check(token())
    check(token(EC, "ES256", "ec"))


def record_data(**changes):
    signature = {"parameter": "proof", "keys": SOURCE, "claims": CLAIMS, **changes}
    return {"like": "prolific", "signature": {k: v for k, v in signature.items() if v is not None}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"claims": None}, "lacks the entry 'claims'"),
        ({"claims": {}}, "must name what"),
        ({"claims": {"SESSION_ID": "panel.place"}}, "names the person"),
        ({"claims": {**CLAIMS, "age": "panel.age"}}, "and stored ones only"),
        ({"claims": "sub"}, "claims must be a table of texts"),
        ({"keys": "http://panel.example/jwks.json"}, "keys must be an address as https"),
        ({"keys": "{}"}, "keys must be an address as https"),
        ({"parameter": "a b"}, "must be a plain word"),
        ({"parameter": "SESSION_ID"}, "must be a parameter of its own"),
        ({"algorithm": "HS256"}, "signature must be a table of parameter, keys"),
    ],
)
def test_a_signature_that_cannot_be_is_refused(changes, message):
    with pytest.raises(InvalidInput, match=message):
        records.from_json(record_data(**changes))


def test_a_study_is_not_made_where_nothing_can_verify(tmp_path, monkeypatch):
    file = tmp_path / "campus.toml"
    file.write_text(
        f"""like = "prolific"\n[signature]\nparameter = "proof"\nkeys = "{SOURCE}"\n"""
        """[signature.claims]\nPROLIFIC_PID = "panel.person"\n"""
    )
    signature = Signature("proof", SOURCE, {"PROLIFIC_PID": "panel.person"})
    assert read_panel(str(file)).signature == signature

    monkeypatch.setitem(sys.modules, "jwt", None)

    with pytest.raises(NotInstalled, match=r"signed entry needs jwt, .* -m pip install 'pyjwt\[crypto\]>="):
        read_panel(str(file))


def test_a_set_of_keys_may_stand_in_the_record():
    Signatures(lambda: NOW).check(Signature("proof", BOTH.decode(), CLAIMS), LINK, token())


def test_a_signature_comes_back_from_the_store(world):
    study = studies.study("faces", panel=records.from_json(record_data(audience="a", issuer="i")))
    world.add(study)

    assert world.store.study("faces").protocol.admission.panel == study.protocol.admission.panel


def test_a_panel_that_does_not_reply_holds_one_request_and_not_the_others(panel):
    begun, go_on = threading.Event(), threading.Event()

    def slow(source):
        begun.set()
        go_on.wait(10)
        return BOTH

    signatures, proof = Signatures(lambda: NOW, slow), Signature("proof", SOURCE, CLAIMS)
    other = Signature("proof", BOTH.decode(), CLAIMS)
    first = threading.Thread(target=signatures.check, args=(proof, LINK, token()))
    first.start()
    begun.wait(10)

    with pytest.raises(Unavailable, match="being fetched; try again in a moment"):
        signatures.check(proof, LINK, token())
    Signatures(lambda: NOW).check(other, LINK, token())
    go_on.set()
    first.join()

    signatures.check(proof, LINK, token())


@pytest.fixture
def site(world, monkeypatch):
    """A world whose studies ask for a signature by keys that a server on loopback publishes."""
    panel = Panel()
    monkeypatch.setenv("OPENHYPE_PRIVATE_HOSTS", "127.0.0.1")
    app = Flask("panel")
    app.add_url_rule("/keys", "keys", lambda: Response(panel.keys or "", 200 if panel.keys else 500))
    app.add_url_rule("/moved", "moved", lambda: Response(status=302, headers={"Location": "/keys"}))
    with in_background(app) as url:
        world.panel, world.url = panel, url
        yield world


def sign_up(site, name="faces", path="/keys", **more):
    panel = records.from_json(record_data(keys=site.url + path))
    return site.add(studies.study(name, panel=panel, images=8, **more))


def post(site, path, signature, link=LINK, **more):
    body = {"consent_version": "1", "panel": link, "signature": signature, **more}
    reply = site.http.post(f"/api/studies/{path}", json=body)
    return reply.status_code, reply.json["error"]["code"] if "error" in reply.json else reply.json


@pytest.mark.parametrize("path", ["admission", "sessions", "waits"])
def test_every_way_in_asks_for_the_signature(site, path):
    sign_up(site)

    assert post(site, f"faces/{path}", None) == (403, "unsigned")
    assert post(site, f"faces/{path}", token(), {**LINK, "PROLIFIC_PID": "p2"}) == (403, "unsigned")
    assert post(site, f"faces/{path}", token(), {}) == (403, "unsigned")
    assert post(site, f"faces/{path}", "x" * 4097) == (400, "invalid")


def test_a_signed_visit_opens_and_its_token_is_kept_nowhere(site, tmp_path, caplog):
    sign_up(site)
    good = token()

    assert site.http.get("/api/studies/faces").json["signature_parameter"] == "proof"
    status, reply = post(site, "faces/admission", good)
    assert (status, reply["admitted"]) == (200, True)
    status, opened = post(site, "faces/sessions", good)

    assert status == 201
    assert site.store.session(opened["state"]["session"]).panel == LINK
    stored = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"p1" in stored
    assert good.rpartition(".")[2].encode() not in stored
    assert good not in caplog.text


@pytest.mark.parametrize("path", ["/keys", "/moved"])
def test_a_panel_that_is_down_or_sends_elsewhere_is_no_fault_of_the_visitors(site, path):
    sign_up(site, path=path)
    site.panel.keys = None if path == "/keys" else BOTH

    assert post(site, "faces/admission", token()) == (503, "unavailable")


def test_a_signed_test_counts_where_the_signature_ran_out_meanwhile(site):
    sign_up(site, "test", kind="qualification")
    sign_up(site, qualification="test")
    site.add(studies.study("open_test", kind="qualification", images=8))
    sign_up(site, "lax", qualification="open_test")
    tests = {
        name: site.http.post(
            f"/api/studies/{name}/sessions",
            json={"consent_version": "1", "panel": LINK, "signature": token()},
        ).json["token"]
        for name in ("test", "open_test")
    }
    site.clock.move(minutes=10)

    late = post(site, "faces/sessions", token(), qualification_token=tests["test"])
    other = post(
        site, "faces/sessions", token(), {**LINK, "PROLIFIC_PID": "p2"}, qualification_token=tests["test"]
    )
    unsigned = post(site, "lax/sessions", token(), qualification_token=tests["open_test"])

    assert late[1]["stage"] == "qualification"
    assert other == (403, "unsigned")
    assert unsigned == (403, "unsigned")


def test_a_half_done_test_goes_on_in_another_browser_for_who_is_vouched_for(site):
    sign_up(site, "test", kind="qualification", retakes=True)
    sign_up(site, qualification="test")
    test = site.player("test", panel=LINK, signature=token())
    test.begin()
    test.answer()

    there = post(site, "faces/sessions", token())[1]
    from_another_place = post(
        site,
        "faces/sessions",
        token(panel={"person": "p1", "place": "s2"}),
        {**LINK, "SESSION_ID": "s2"},
    )[1]
    head = {"Authorization": f"Bearer {there['token']}"}
    resumed = site.http.post(f"/api/sessions/{test.state['session']}/resume", json={}, headers=head)
    test.lease = resumed.json["state"]["lease"]
    test.play(lambda truth: False)
    failed = post(site, "faces/sessions", token())[1]

    assert there["stage"] == "qualification"
    assert resumed.json["state"]["progress"]["answered"] == 1
    assert "token" not in from_another_place
    assert failed["stage"] == "qualification"
    assert "token" not in failed  # it is taken again from its beginning


def test_a_signed_link_goes_on_in_another_browser_from_the_same_place_alone(site):
    sign_up(site)
    opened = post(site, "faces/sessions", token())[1]
    head = {"Authorization": f"Bearer {opened['token']}"}
    path = f"/api/sessions/{opened['state']['session']}"
    site.http.post(f"{path}/blocks", json={"lease": 1, "block": 0, "display": {}}, headers=head)

    again = post(site, "faces/admission", token())[1]
    typed = post(site, "faces/admission", None)
    of_another = post(site, "faces/admission", token(), {**LINK, "PROLIFIC_PID": "p2"})
    resumed = site.http.post(f"{path}/resume", json={}, headers={"Authorization": f"Bearer {again['token']}"})

    assert resumed.status_code == 200
    assert (typed, of_another) == ((403, "unsigned"), (403, "unsigned"))
    site.clock.move(minutes=10)
    by_pass = post(site, "faces/admission", again["pass"])[1]
    assert by_pass["token"] == again["token"]


def test_few_panels_are_asked_at_once_and_one_of_those_that_failed(panel):
    held = threading.Semaphore(0)
    sources, begun, go_on = [f"https://p{i}.example/keys" for i in range(9)], [], threading.Event()

    def fetch(source):
        if source in failing:
            raise OSError
        begun.append(source)
        held.release()
        go_on.wait(10)
        return BOTH

    failing = set(sources[:2])
    now = [NOW]
    signatures = Signatures(lambda: now[0], fetch)

    def visit(source):
        signatures.check(Signature("proof", source, CLAIMS), LINK, token())

    for source in sources[:2]:
        with pytest.raises(Unavailable, match="could not be fetched"):
            visit(source)
    failing.clear()
    now[0] += timedelta(seconds=11)
    threads = [threading.Thread(target=visit, args=(source,)) for source in (sources[0], *sources[2:5])]
    for i, thread in enumerate(threads):
        thread.start()
        held.acquire(timeout=60)
        if i == 0:
            with pytest.raises(Unavailable, match="being fetched; try again in a moment"):
                visit(sources[1])  # failed before, as the one that is being asked
    with pytest.raises(Unavailable, match="being fetched; try again in a moment"):
        visit(sources[8])
    go_on.set()
    for thread in threads:
        thread.join()

    visit(sources[8])
    assert begun == [sources[0], *sources[2:5], sources[8]]
