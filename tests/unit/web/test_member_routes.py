"""Members, tokens, single sign-on and the audit log through the API."""

import logging
import re
import threading

import pytest

from backend.foundation.errors import InvalidInput, StoreFailed
from backend.handlers import create_app
from backend.members import audit_log, memberships
from backend.web.proxies import SECRET as SECRET_HEADER
from backend.web.proxies import SignInHeader, sign_in_header

from .. import sample_studies as studies
from .members import SECRET, as_member, signed_in, token

USER = "X-Forwarded-User"


def post(world, path, text, body=None):
    return world.http.post(f"/api/{path}", json=body or {}, headers=as_member(text))


def get(world, path, text):
    return world.http.get(f"/api/{path}", headers=as_member(text))


@pytest.fixture
def owner(world):
    return world.data.keys().researcher


def test_from_the_owners_key_to_a_submitter_and_back(world, owner):
    added = post(world, "members", owner, {"member": "ada@lab.example", "role": "submitter"})
    given = post(world, "members/ada@lab.example/tokens", owner, {"label": "GPU node", "days": 30})
    secret = given.json["secret"]
    me = get(world, "me", secret).json
    listed = get(world, "members", owner)
    revoked = post(world, f"tokens/{given.json['token']}/revoke", owner)

    assert (added.status_code, given.status_code, revoked.status_code) == (201, 201, 200)
    assert me == {
        "member": "ada@lab.example",
        "role": "submitter",
        "token": given.json["token"],
        "expires_at": "2026-01-31T00:00:00.000Z",
        "by": "token",
    }
    key_holder, ada = listed.json["members"]
    assert (key_holder["member"], key_holder["created_at"], key_holder["tokens"]) == ("owner", None, [])
    assert (ada["created_by"], ada["tokens"][0]["label"]) == ("owner", "GPU node")
    assert secret not in listed.text
    assert get(world, "me", secret).json["error"]["code"] == "revoked_token"


def test_a_researcher_sees_and_manages_submitters_only(world, owner):
    ada, bob = token(world, "ada", "researcher"), token(world, "bob", "submitter")
    eve = token(world, "eve", "researcher")
    eves = re.search(r"oh_(\w{12})_", eve)[1]
    bobs = re.search(r"oh_(\w{12})_", bob)[1]

    seen = [row["member"] for row in get(world, "members", ada).json["members"]]
    allowed = [
        post(world, "members", ada, {"member": "cy", "role": "submitter"}).status_code,
        post(world, "members/cy/tokens", ada, {"label": "", "days": 1}).status_code,
        post(world, f"tokens/{bobs}/revoke", ada).status_code,
        post(world, "members/cy/remove", ada).status_code,
    ]
    refused = [
        post(world, "members", ada, {"member": "mal", "role": "researcher"}),
        post(world, "members/eve/remove", ada),
        post(world, "members/owner/tokens", ada, {"label": "", "days": 1}),
        post(world, "members/ada/tokens", ada, {"label": "", "days": 1}),
        post(world, f"tokens/{eves}/revoke", ada),
        post(world, f"tokens/{eves}/revoke", token(world, "dan", "submitter")),
    ]

    assert seen == ["bob"]
    assert allowed == [201, 201, 200, 200]
    assert [reply.status_code for reply in refused] == [403, 404, 404, 404, 404, 404]
    unknown = post(world, "tokens/000000000000/revoke", ada).json["error"]["message"]
    assert refused[4].json["error"]["message"].replace(eves, "0" * 12) == unknown


def test_everybody_may_revoke_an_own_token(world):
    leaked = token(world, "bob", "submitter")
    other = token(world, "bob", "submitter")

    reply = post(world, f"tokens/{leaked.split('_')[1]}/revoke", other)

    assert reply.status_code == 200
    assert get(world, "me", leaked).json["error"]["code"] == "revoked_token"
    assert get(world, "me", other).status_code == 200


def test_no_tokens_secret_is_logged_that_somebody_gives_in_place_of_a_name(world, owner, caplog):
    leaked, other = token(world, "bob", "submitter"), token(world, "eve", "submitter")

    replies = [
        post(world, f"tokens/{leaked}/revoke", owner),
        post(world, f"tokens/{other}/revoke", leaked),
        post(world, f"tokens/oh_000000000000_{'s' * 43}/revoke", owner),
        post(world, f"members/{other}/remove", owner),
        get(world, f"jobs/{'x' * 60}{other}", owner),
    ]

    assert [reply.status_code for reply in replies] == [200, 403, 404, 404, 404]
    assert get(world, "me", leaked).json["error"]["code"] == "revoked_token"
    logged = caplog.text + get(world, "audit", owner).text
    assert f"POST /api/members/{other[:16]}…/remove 404" in caplog.text
    assert [text for text in (leaked[16:], other[16:], "s" * 43) if text in logged] == []


def test_of_two_who_add_one_member_at_once_one_is_told_that_it_is_taken(world, owner):
    gate, replies = threading.Barrier(6), []

    def add():
        http = world.app.test_client()
        gate.wait(5)
        body = {"member": "ada", "role": "submitter"}
        replies.append(http.post("/api/members", json=body, headers=as_member(owner)))

    threads = [threading.Thread(target=add) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(reply.status_code for reply in replies) == [201] + [409] * 5
    assert {reply.json["error"]["code"] for reply in replies if reply.status_code == 409} == {"member_taken"}


def test_a_researcher_is_not_told_the_role_of_whoever_has_a_name(world, owner):
    """To a researcher, members that are no submitters are not there."""
    researcher, _ = token(world, "res", "researcher"), token(world, "boss", "owner")

    taken = post(world, "members", researcher, {"member": "boss", "role": "submitter"})

    assert taken.json["error"]["code"] == "member_taken"
    assert "owner" not in taken.json["error"]["message"]


@pytest.mark.parametrize("name", ["owner", "OWNER", "Owner"])
def test_the_owner_by_the_key_can_be_neither_added_nor_removed(world, owner, name):
    replies = [
        post(world, "members", owner, {"member": name, "role": "submitter"}),
        post(world, f"members/{name}/remove", owner),
    ]

    assert [reply.json["error"]["code"] for reply in replies] == ["member_taken", "last_owner"]


def test_all_other_owners_may_remove_each_other_and_themselves(world, owner):
    ada, eve = token(world, "ada", "owner"), token(world, "eve", "owner")

    assert post(world, "members/ada/remove", eve).status_code == 200
    assert post(world, "members/eve/remove", eve).status_code == 200
    assert [get(world, "me", text).status_code for text in (ada, eve, owner)] == [403, 403, 200]


@pytest.mark.parametrize(
    "body",
    [
        b'{"member": "\\ud800", "role": "submitter"}',
        b'{"member": "a\\u0000", "role": "submitter"}',
        b'{"member": "ada\\n", "role": "submitter"}',
        b'{"member": "<script>", "role": "submitter"}',
        b'{"member": "..", "role": "submitter"}',
        b'{"member": "", "role": "submitter"}',
        b'{"member": 1e400, "role": "submitter"}',
        b'{"member": "ada", "role": "god"}',
        b'{"member": "ada", "role": ["owner"]}',
        b'{"member": "ada"}',
        b"[]",
        b"",
        b"\xff",
    ],
)
def test_a_body_that_names_no_member_and_role_is_refused(world, owner, body):
    headers = {**as_member(owner), "Content-Type": "application/json"}

    reply = world.http.post("/api/members", data=body, headers=headers)

    assert (reply.status_code, reply.json["error"]["code"]) == (400, "invalid")
    assert len(memberships.memberships(world.store)) == 1


@pytest.mark.parametrize(
    "body",
    [
        '{"label": "", "days": 0}',
        '{"label": "", "days": 3651}',
        '{"label": "", "days": 1' + "0" * 400 + "}",
        '{"label": "", "days": 1e400}',
        '{"label": "", "days": NaN}',
        '{"label": "", "days": "7"}',
        '{"label": "", "days": null}',
        '{"label": "\\ud800", "days": 1}',
        '{"label": "\\u0000", "days": 1}',
        '{"label": "' + "a" * 65 + '", "days": 1}',
    ],
)
def test_a_token_without_a_printable_label_and_an_expiry_is_refused(world, owner, body):
    headers = {**as_member(owner), "Content-Type": "application/json"}

    reply = world.http.post("/api/members/owner/tokens", data=body, headers=headers)

    assert (reply.status_code, reply.json["error"]["code"]) == (400, "invalid")
    assert list(world.store.entries("tokens")) == []


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=501",
        "limit=" + "9" * 400,
        "limit=%ED%A0%80",
        "before=",
        "before=%00",
        "before=%ED%A0%80",
    ],
)
def test_a_page_of_the_audit_log_that_cannot_be_is_refused(world, owner, query):
    assert get(world, f"audit?{query}", owner).status_code == 400


def test_the_audit_log_names_each_change_with_its_member_token_and_outcome(world, owner):
    world.add(studies.study(images=8))
    ada = token(world, "ada", "researcher")
    id_ = ada.split("_")[1]
    cy = token(world, "cy", "submitter")
    for change in (
        lambda: post(world, "members", owner, {"member": "bob", "role": "submitter"}),
        lambda: post(world, "members", ada, {"member": "bob", "role": "submitter"}),
        lambda: post(world, "members", ada, {"member": "eve", "role": "owner"}),
        lambda: post(world, "members/nobody/remove", ada),
        lambda: post(world, "members/bob/remove", cy),
        lambda: post(world, "members/bob/remove", "wrong"),
        lambda: get(world, "members", ada),
        lambda: signed_in(world, ada),
        lambda: world.http.post("/api/studies/faces/pause", json={}, headers=as_member(cy)),
        lambda: world.http.post("/api/studies/nobody/resume", json={}, headers=as_member(ada)),
        lambda: signed_in(world, owner).post("/api/studies/faces/pause", json={}),
    ):
        world.clock.move(seconds=1)
        change()

    entries = get(world, "audit", owner).json["entries"]

    assert [tuple(entry.values())[1:] for entry in reversed(entries[2:])] == [
        ("owner", None, "POST /api/members", "bob as submitter", 201, "done"),
        ("ada", id_, "POST /api/members", "bob as submitter", 409, "refused"),
        ("ada", id_, "POST /api/members", "eve as owner", 403, "refused"),
        ("ada", id_, "POST /api/members/{member}/remove", "nobody", 404, "refused"),
        ("cy", cy.split("_")[1], "POST /api/members/{member}/remove", "bob", 403, "refused"),
        ("ada", id_, "POST /api/sign-in", "", 200, "done"),
        ("cy", cy.split("_")[1], "POST /api/studies/{study}/pause", "faces", 403, "refused"),
        ("ada", id_, "POST /api/studies/{study}/resume", "nobody", 404, "refused"),
    ]
    assert {(entry["member"], entry["action"], entry["target"]) for entry in entries[:2]} == {
        ("owner", "POST /api/sign-in", ""), ("owner", "POST /api/studies/{study}/pause", "faces"),
    }  # fmt: skip


def test_the_audit_log_is_read_by_pages(world, owner):
    for i in range(5):
        world.clock.move(seconds=1)
        audit_log.write(world.store, world.clock(), "ada", None, "POST /api/x", str(i), 200)

    first = get(world, "audit?limit=2", owner).json
    second = get(world, f"audit?limit=2&before={first['next']}", owner).json
    last = get(world, f"audit?limit=2&before={second['next']}", owner).json

    pages = [[entry["target"] for entry in page["entries"]] for page in (first, second, last)]
    assert (pages, last["next"]) == ([["4", "3"], ["2", "1"], ["0"]], None)


class FullForAudits:
    """A store whose audit log takes `room` more writes, as on a disk that becomes full."""

    def __init__(self, store, room):
        self._store, self._room = store, room

    def __getattr__(self, name):
        return getattr(self._store, name)

    def write_entry(self, book, *rest):
        if book == audit_log.BOOK:
            if self._room == 0:
                raise StoreFailed("the disk is full")
            self._room -= 1
        return self._store.write_entry(book, *rest)


def test_nothing_is_changed_while_the_audit_log_cannot_be_written(world, owner, caplog):
    reply = add_ada(world, owner, FullForAudits(world.store, 0))

    assert (reply.status_code, reply.json["error"]["code"]) == (503, "store_failed")
    assert memberships.past_or_present(world.store, "ada") is None


@pytest.mark.parametrize(("room", "target"), [(1, ""), (2, "ada as submitter")])
def test_a_change_that_was_made_is_confirmed_though_its_outcome_cannot_be_written(
    world, owner, caplog, room, target
):
    with caplog.at_level(logging.ERROR):
        reply = add_ada(world, owner, FullForAudits(world.store, room))

    assert reply.status_code == 201
    assert "the audit log lacks the outcome of POST /api/members by owner" in caplog.text
    (entry,) = get(world, "audit", owner).json["entries"]
    assert (entry["target"], entry["status"], entry["outcome"]) == (target, None, "unknown")


def add_ada(world, owner, store):
    app = create_app(store, world.data, world.data.keys(), world.clock)
    body = {"member": "ada", "role": "submitter"}
    return app.test_client().post("/api/members", json=body, headers=as_member(owner))


# Single sign-on


@pytest.fixture
def behind(world):
    """A browser of a server behind a proxy that signs members in."""
    proxy = SignInHeader(USER, SECRET)
    return create_app(
        world.store, world.data, world.data.keys(), world.clock, behind_proxy=True, proxy=proxy
    ).test_client()


def named(name, secret=SECRET, **more):
    return {USER: name, SECRET_HEADER: secret, **more}


def test_the_member_whom_the_proxy_names_needs_no_token(world, behind):
    world.add(studies.study(images=8))
    memberships.add(world.store, "Ada@lab.example", "researcher", "owner", world.clock())

    me = behind.get("/api/me", headers=named("ada@lab.example")).json
    pages = [
        behind.get(path, headers=named("ada@lab.example")).status_code
        for path in ("/results", "/api/studies/faces/live")
    ]

    assert me == {
        "member": "Ada@lab.example", "role": "researcher", "token": None, "expires_at": None, "by": "proxy",
    }  # fmt: skip
    assert pages == [200, 200]


@pytest.mark.parametrize(
    "headers",
    [
        {USER: "ada"},
        named("ada", ""),
        named("ada", "wrong"),
        named("ada", SECRET.upper()),
        named("ada", f"{SECRET},{SECRET}"),
        named("ada", "é"),
        named(""),
        {SECRET_HEADER: SECRET},
        {USER: "ada", "X-Forwarded-For": "127.0.0.1", "Forwarded": "for=127.0.0.1"},
    ],
)
def test_the_header_of_anybody_else_is_not_believed(world, behind, headers):
    memberships.add(world.store, "ada", "owner", "owner", world.clock())

    reply = behind.get("/api/me", headers=headers)

    assert (reply.status_code, reply.json["error"]["code"]) == (403, "no_token")


def test_without_the_option_the_header_says_nothing(world):
    memberships.add(world.store, "ada", "owner", "owner", world.clock())

    assert world.http.get("/api/me", headers=named("ada")).json["error"]["code"] == "no_token"


def test_that_nobody_is_signed_in_is_told_without_a_refusal(world, owner, caplog):
    nobody = world.http.get("/api/sign-in")
    wrong = world.http.get("/api/sign-in", headers=as_member("wrong"))
    me = world.http.get("/api/sign-in", headers=as_member(owner))

    assert (nobody.status_code, nobody.json) == (200, {"me": None, "reason": "no_token"})
    assert (wrong.status_code, wrong.json["reason"]) == (200, "wrong_token")
    assert (me.json["me"]["member"], me.json["reason"]) == ("owner", None)
    assert "refused" not in caplog.text


@pytest.mark.parametrize("name", ["mallory", "ada,owner", "ada, ada", "<b>", "a" * 500, "é"])
def test_who_is_no_member_is_told_by_whom_they_were_signed_in(world, behind, name):
    memberships.add(world.store, "ada", "owner", "owner", world.clock())

    reply = behind.get("/api/me", headers=named(name))
    page = behind.get("/results", headers=named(name))

    assert (reply.status_code, reply.json["error"]["code"]) == (403, "unknown_member")
    assert (page.status_code, "who is not a member here" in page.text, "<b>" in page.text) == (
        403,
        True,
        False,
    )


def test_the_proxys_word_stands_before_a_cookie_and_behind_a_token(world, behind):
    ada, bob = token(world, "ada", "researcher"), token(world, "bob", "submitter")
    behind.post("/api/sign-in", json={"token": ada})

    by_proxy = behind.get("/api/me", headers=named("bob")).json
    by_token = behind.get("/api/me", headers={**named("ada"), **as_member(bob)}).json
    of_another = behind.get("/api/me", headers=named("bob", Authorization="Bearer of-the-proxys-own")).json
    again = behind.post("/api/sign-in", json={"token": ada}, headers=named("bob"))

    assert [(me["member"], me["by"]) for me in (by_proxy, by_token, of_another)] == [
        ("bob", "proxy"), ("bob", "token"), ("bob", "proxy"),
    ]  # fmt: skip
    assert (again.status_code, again.json["error"]["code"]) == (409, "signed_in_by_proxy")


def test_a_removed_member_is_out_although_the_proxy_names_them(world, behind):
    memberships.add(world.store, "ada", "owner", "owner", world.clock())
    memberships.end(world.store, memberships.membership(world.store, "ada"), world.clock())

    assert behind.get("/api/me", headers=named("ada")).json["error"]["code"] == "unknown_member"


def test_a_change_by_the_proxys_word_needs_our_own_page(world, behind):
    memberships.add(world.store, "ada", "owner", "owner", world.clock())
    body = {"member": "eve", "role": "owner"}

    reply = behind.post("/api/members", json=body, headers=named("ada", **{"Sec-Fetch-Site": "cross-site"}))

    assert reply.json["error"]["code"] == "other_site"


def test_the_secret_is_made_once_and_kept_or_given_by_the_environment(world):
    first = sign_in_header(USER, True, world.data, {})
    again = sign_in_header(USER, True, world.data, {})
    given = sign_in_header(USER, True, world.data, {"OPENHYPE_PROXY_SECRET": "s"})

    assert (first == again, given.secret, len(first.secret)) == (True, "s", 43)
    assert (world.data.root / "proxy.secret").stat().st_mode & 0o777 == 0o600
    assert sign_in_header("", False, world.data, {}) is None


@pytest.mark.parametrize("name", ["X User", "X_User", "é", "X-User\n", "1", "a" * 65])
def test_a_header_that_cannot_be_is_refused(world, name):
    with pytest.raises(InvalidInput, match="a header's name must be"):
        sign_in_header(name, True, world.data, {})


def test_a_sign_in_header_without_a_proxy_is_refused(world):
    with pytest.raises(InvalidInput, match="add --behind-proxy"):
        sign_in_header(USER, False, world.data, {})
