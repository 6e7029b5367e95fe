"""Every route with every role: who may call it, and what everybody else is told."""

import re

import pytest

from backend.handlers import create_app
from backend.members import memberships, tokens
from backend.web import openapi
from backend.web.routing import JSON, path_of

from .. import sample_studies as studies
from .members import as_member, signed_in, token, tokens_of_all

ALL, SUBMITTER, RESEARCHER, OWNER = "all", "submitter", "researcher", "owner"
TABLE = {
    "GET /api/openapi.json": (ALL, 200),
    # Evaluators, by their session's own token
    "GET /api/studies/{study}": (ALL, 404),
    "POST /api/studies/{study}/admission": (ALL, 404),
    "POST /api/studies/{study}/sessions": (ALL, 400),
    "POST /api/studies/{study}/exit": (ALL, 400),
    "POST /api/studies/{study}/waits": (ALL, 404),
    "POST /api/studies/{study}/waits/{wait}/signs": (ALL, 400),
    "POST /api/sessions/{session}/resume": (ALL, 404),
    "POST /api/sessions/{session}/blocks": (ALL, 400),
    "POST /api/sessions/{session}/answers": (ALL, 400),
    "POST /api/sessions/{session}/questions": (ALL, 400),
    "POST /api/sessions/{session}/end": (ALL, 400),
    "GET /api/sessions/{session}/debrief": (ALL, 404),
    "GET /api/sessions/{session}/withdrawal": (ALL, 404),
    "POST /api/sessions/{session}/withdrawal": (ALL, 404),
    "POST /api/panels/prolific/events": (ALL, 403),
    # Members
    "POST /api/sign-in": (ALL, 400),
    "GET /api/sign-in": (ALL, 200),
    "POST /api/sign-out": (ALL, 200),
    "GET /api/me": (SUBMITTER, 200),
    "GET /api/members": (RESEARCHER, 200),
    "POST /api/members": (RESEARCHER, 400),
    "POST /api/members/{member}/remove": (RESEARCHER, 404),
    "POST /api/members/{member}/tokens": (RESEARCHER, 404),
    "POST /api/tokens/{token}/revoke": (SUBMITTER, 404),
    "GET /api/audit": (OWNER, 200),
    # Uploads
    "POST /api/uploads": (SUBMITTER, 400),
    "GET /api/uploads/{upload}": (SUBMITTER, 404),
    "POST /api/uploads/{upload}/urls": (SUBMITTER, 400),
    "PUT /api/uploads/{upload}/parts/{part}": (SUBMITTER, 404),
    "POST /api/uploads/{upload}/complete": (SUBMITTER, 404),
    "POST /api/uploads/{upload}/delete": (SUBMITTER, 404),
    # Studies
    "GET /api/studies/{study}/status": (RESEARCHER, 404),
    "GET /api/studies/{study}/scores": (RESEARCHER, 404),
    "GET /api/studies": (RESEARCHER, 200),
    "GET /api/studies/{study}/record": (RESEARCHER, 404),
    "GET /api/studies/{study}/live": (RESEARCHER, 404),
    "GET /api/studies/{study}/sessions": (RESEARCHER, 404),
    "POST /api/studies/{study}/pause": (RESEARCHER, 404),
    "POST /api/studies/{study}/resume": (RESEARCHER, 404),
    "POST /api/studies/{study}/admit-waiting": (RESEARCHER, 404),
    "POST /api/studies/{study}/set": (RESEARCHER, 400),
    "POST /api/studies/{study}/clear": (RESEARCHER, 404),
    "GET /api/studies/{study}/contents": (RESEARCHER, 404),
    "POST /api/studies/{study}/delete": (RESEARCHER, 400),
    "POST /api/studies/{study}/links": (RESEARCHER, 404),
    "POST /api/studies/{study}/simulate": (RESEARCHER, 404),
    "POST /api/studies/{study}/update-sampling": (RESEARCHER, 404),
    "POST /api/studies/{study}/sessions/{session}/withdraw": (RESEARCHER, 404),
    "GET /api/studies/{study}/retention": (RESEARCHER, 404),
    "POST /api/studies/{study}/retention": (RESEARCHER, 404),
    "GET /api/studies/{study}/recruitment": (RESEARCHER, 404),
    "POST /api/studies/{study}/recruit": (RESEARCHER, 404),
    "POST /api/studies/{study}/recruitment": (RESEARCHER, 404),
    "POST /api/studies/{study}/recruitment/rehearsal": (RESEARCHER, 404),
    "POST /api/studies/{study}/recruitment/webhooks": (RESEARCHER, 404),
    "GET /api/studies/{study}/payments": (RESEARCHER, 404),
    "GET /api/studies/{study}/payments/{who}": (RESEARCHER, 404),
    "POST /api/studies/{study}/pay": (RESEARCHER, 404),
    "GET /api/studies/{study}/payments.csv": (RESEARCHER, 404),
    "POST /api/studies/{study}/payments/mark-paid": (RESEARCHER, 404),
    "POST /api/studies/{study}/payments/budget": (RESEARCHER, 404),
    "POST /api/studies/{study}/payments/broke-off": (RESEARCHER, 404),
    "POST /api/studies/{study}/payments/close": (RESEARCHER, 404),
    "POST /api/studies/{study}/payments/automatic": (RESEARCHER, 404),
    "POST /api/studies/{study}/payments/take-over": (RESEARCHER, 404),
    "GET /api/studies/{study}/report.zip": (RESEARCHER, 404),
    "GET /api/studies/{study}/export.zip": (RESEARCHER, 404),
    "GET /api/studies/{study}/responses.csv": (RESEARCHER, 404),
    "GET /api/studies/{study}/masks.png": (RESEARCHER, 404),
    "GET /api/studies/{study}/site.zip": (RESEARCHER, 404),
    "GET /api/methods": (RESEARCHER, 200),
    "GET /api/settings/{method}": (RESEARCHER, 400),
    "POST /api/plan": (RESEARCHER, 200),
    "POST /api/costs": (RESEARCHER, 200),
    "POST /api/studies/{study}/metrics": (RESEARCHER, 404),
    "GET /api/studies/{study}/metrics": (RESEARCHER, 404),
    "POST /api/studies/{study}/agree": (RESEARCHER, 404),
    "POST /api/studies/{study}/correlate": (RESEARCHER, 404),
    "POST /api/opinion-scores": (RESEARCHER, 400),
    "GET /api/studies/{study}/rerun-schedule": (RESEARCHER, 404),
    "POST /api/studies/{study}/rerun-schedule": (RESEARCHER, 404),
    "POST /api/studies/{study}/rerun": (RESEARCHER, 404),
    "POST /api/studies/{study}/replicate": (RESEARCHER, 404),
    "POST /api/studies/{study}/models": (RESEARCHER, 404),
    "POST /api/studies/{study}/previews": (RESEARCHER, 404),
    "POST /api/studies/{study}/duplicate": (RESEARCHER, 404),
    # Leaderboard studies
    # Jobs, drafts, leaderboard studies
    "POST /api/studies": (RESEARCHER, 400),
    "POST /api/audits": (RESEARCHER, 400),
    "POST /api/previews": (RESEARCHER, 400),
    "GET /api/drafts": (RESEARCHER, 200),
    "GET /api/drafts/{draft}": (RESEARCHER, 404),
    "POST /api/drafts/{draft}": (RESEARCHER, 200),
    "POST /api/drafts/{draft}/delete": (RESEARCHER, 200),
    "GET /api/jobs": (RESEARCHER, 200),
    "GET /api/jobs/{job}": (SUBMITTER, 404),
    "POST /api/jobs/{job}/cancel": (SUBMITTER, 404),
    "POST /api/studies/{study}/competition": (RESEARCHER, 404),
    "GET /api/studies/{study}/competition": (RESEARCHER, 404),
    "POST /api/studies/{study}/submissions": (SUBMITTER, 400),
    "GET /api/studies/{study}/submissions": (SUBMITTER, 404),
    "GET /api/submissions": (SUBMITTER, 200),
    "GET /api/submissions/{submission}": (SUBMITTER, 404),
    "POST /api/submissions/{submission}/pictures": (SUBMITTER, 400),
    "POST /api/submissions/{submission}/withdraw": (SUBMITTER, 404),
    "GET /api/competitions": (ALL, 200),
    "GET /api/competitions/{study}": (ALL, 404),
}
"""By operation: the least role that may call it, and the status of an empty request for what is not there.

A new route needs a row, written by hand: its declaration is what is tested.
"""
PAGES = {
    "GET /": ALL,
    "GET /timing.html": ALL,
    "GET /s/{study}": ALL,
    "GET /i/{study}/{name}": ALL,
    "GET /i/{study}/{session}/{name}": ALL,
    "GET /w/{session}": ALL,
    "GET /wait/{study}": ALL,
    "GET /assets/{version}/{name}": ALL,
    "GET /competitions": ALL,
    "GET /competitions/{study}": ALL,
    "GET /competitions/{study}/badge.svg": ALL,
    # The console's page has no data.
    "GET /console": ALL,
    "GET /console/": ALL,
    "GET /console/{path}": ALL,
    "GET /results": RESEARCHER,
    "GET /results/{study}": RESEARCHER,
}
"""By route outside the API: the least role that may call it."""
OF_SESSIONS = {name for name in TABLE if " /api/sessions/" in name}
NOT_AUDITED = {
    "POST /api/uploads/{upload}/urls",
    "PUT /api/uploads/{upload}/parts/{part}",
    "POST /api/plan",
    "POST /api/costs",
    "POST /api/drafts/{draft}",
    "POST /api/studies/{study}/previews",
    "POST /api/previews",
}
"""Calls of members that change nothing; drafts while they are typed; parts of an upload that is audited."""
RANK = {"submitter": 1, "researcher": 2, "owner": 3, "key": 3}
WHY = {
    "none": "no_token",
    "wrong": "wrong_token",
    "expired": "expired_token",
    "revoked": "revoked_token",
    "removed": "revoked_token",
    "removed_and_expired": "revoked_token",
}


def call(http, name, headers=()):
    """Make an empty request of an operation, for a study, session or member that is not there."""
    verb, _, path = name.partition(" ")
    operation = openapi.operations()[name]
    body = {} if verb == "GET" else {"data": b"{}", "content_type": operation.media}
    return http.open(re.sub(r"\{\w+\}", "nobody", path), method=verb, headers=dict(headers), **body)


def outcome(reply):
    if reply.status_code != 403:
        return reply.status_code
    return reply.json["error"]["code"]


def wanted(name, who):
    least, status = TABLE[name]
    if least == ALL:
        return status
    if who in WHY:
        return WHY[who]
    return status if RANK[who] >= RANK[least] else "not_permitted"


def rules_of(world):
    return {
        f"{verb} {path_of(rule.rule)}"
        for rule in world.app.url_map.iter_rules()
        for verb in rule.methods - {"HEAD", "OPTIONS"}
    }


def test_every_route_has_a_row(world):
    assert rules_of(world) == {*TABLE, *PAGES}


@pytest.mark.parametrize("who", [*RANK, *WHY])
def test_every_page_is_open_to_its_roles_only(world, who):
    world.add(studies.study(images=8))
    headers = as_member(tokens_of_all(world)[who])
    names = [name for name, least in PAGES.items() if least == RESEARCHER]

    found = {}
    for name in names:
        verb, _, path = name.partition(" ")
        reply = world.http.open(path.replace("{study}", "faces"), method=verb, headers=headers)
        found[name] = reply.status_code == 403

    assert found == dict.fromkeys(names, RANK.get(who, 0) < RANK["researcher"])


def test_every_route_of_the_api_has_a_row_and_every_row_a_route(world):
    rules = {name for name in rules_of(world) if name.partition(" ")[2].startswith("/api/")}

    assert set(TABLE) - rules == set(), "rows without a route"
    assert rules - set(TABLE) == set(), "routes without a row in TABLE"
    assert rules == set(openapi.operations())


@pytest.mark.parametrize("who", [*RANK, *WHY])
def test_every_route_is_open_to_its_roles_only(world, who):
    headers = as_member(tokens_of_all(world)[who])
    names = [name for name in TABLE if name not in OF_SESSIONS and not name.endswith("/signs")]

    found = {name: outcome(call(world.http, name, headers)) for name in names}

    expected = {name: wanted(name, who) for name in names} | {
        "POST /api/panels/prolific/events": "no_webhooks"
    }
    assert found == expected


@pytest.mark.parametrize("who", RANK)
def test_every_route_is_open_to_the_same_roles_by_the_cookie(world, who):
    http = signed_in(world, tokens_of_all(world)[who])
    names = [name for name, (least, _) in TABLE.items() if least != ALL]

    found = {name: outcome(call(http, name)) for name in names}

    assert found == {name: wanted(name, who) for name in names}


def test_a_page_of_another_member_changes_nothing_and_reads_nothing(world):
    """What each route is sent by a tab that was loaded before another one signed in as somebody else."""
    http = signed_in(world, world.data.keys().researcher)
    names = [name for name, (least, _) in TABLE.items() if least != ALL]
    page = {"X-Openhype-Member": "ada"}

    found = {name: outcome(call(http, name, page)) for name in names}

    assert found == dict.fromkeys(names, "other_member")
    assert http.get("/api/audit").json["entries"][0]["action"] == "POST /api/sign-in"


def test_a_change_by_a_sign_in_says_whose_page_sends_it_and_a_programs_token_need_not(world):
    http = signed_in(world, world.data.keys().researcher)
    program = {**as_member(token(world, "ada", "owner"))}
    del http.environ_base["HTTP_X_OPENHYPE_MEMBER"]
    names = [name for name, (least, _) in TABLE.items() if least != ALL]

    signed = {name: outcome(call(http, name)) for name in names}
    by_token = {name: outcome(call(http, name, program)) for name in names}

    assert {name for name, each in signed.items() if each == "other_member"} == {
        name for name in names if not name.startswith("GET ")
    }
    assert "other_member" not in by_token.values()


def test_no_member_is_let_into_a_session_by_a_members_token(world):
    world.add(studies.study())
    session = world.player().state["session"]
    held = tokens_of_all(world)

    for who in RANK:
        for name in OF_SESSIONS:
            verb, _, path = name.partition(" ")
            body = {
                "lease": 1,
                "block": 0,
                "when": "before",
                "trial_index": 0,
                "stimulus": "x",
                "response": "real",
            }
            reply = world.http.open(
                path.replace("{session}", session),
                method=verb,
                headers=as_member(held[who]),
                **({} if verb == "GET" else {"json": body}),
            )
            assert (name, reply.status_code) == (name, 403)
    assert world.store.cursor(session).version == 0


def test_a_head_request_needs_what_its_get_needs_and_a_question_for_methods_nothing(world):
    path = "/api/members"
    assert TABLE[f"GET {path}"][0] != ALL

    refused, asked = world.http.head(path), world.http.options(path)

    assert refused.status_code == 403
    assert (asked.status_code, asked.data) == (200, b"")


def test_who_has_no_token_is_refused_before_the_body_is_read(world):
    needs_one = {
        name: route for name, route in openapi.operations().items() if route.who and not route.is_open_to_all
    }
    assert {*needs_one} == OF_SESSIONS | {"POST /api/studies/{study}/waits/{wait}/signs"}

    for name, route in needs_one.items():
        verb, _, path = name.partition(" ")
        for body in (b"{", b'{"unknown": 1}', b"x" * 2 * route.most_bytes):
            sent = {} if verb == "GET" else {"data": body, "content_type": route.media}
            reply = world.http.open(re.sub(r"\{\w+\}", "nobody", path), method=verb, **sent)
            assert (name, reply.status_code, reply.json["error"]["code"]) == (name, 403, "no_token")


def test_every_call_of_members_that_changes_something_is_audited():
    found = openapi.operations().items()

    assert {name for name, each in found if not each.is_audited} == NOT_AUDITED


def test_a_route_for_bytes_or_json_declares_one_of_the_two():
    assert {operation.media for operation in openapi.operations().values()} <= {
        JSON,
        "application/octet-stream",
    }


@pytest.mark.parametrize("how", ["revoked", "removed", "expired", "another key"])
def test_the_cookie_ends_with_its_token_at_once(world, how, monkeypatch):
    world.add(studies.study(images=8))
    text = token(world, "ada", "researcher", days=1)
    http = signed_in(world, text)
    before = [http.get(path).status_code for path in ("/api/me", "/api/studies", "/results")]

    if how == "revoked":
        tokens.revoke(world.store, tokens.id_in(text), world.clock())
    elif how == "removed":
        memberships.end(world.store, memberships.membership(world.store, "ada"), world.clock())
    elif how == "expired":
        world.clock.move(days=1)
    else:
        monkeypatch.setenv("OPENHYPE_KEY", "another")
        http.application = create_app(world.store, world.data, world.data.keys(), world.clock)
    after = [http.get(path).status_code for path in ("/api/me", "/api/studies", "/results")]

    assert (before, after) == ([200] * 3, [403] * 3)


def test_a_token_that_expires_within_the_twelve_hours_ends_the_cookie_with_it(world):
    text = token(world, "ada", "submitter", days=1)
    world.clock.move(hours=20)
    http = signed_in(world, text)

    assert http.get("/api/me").json["expires_at"] == "2026-01-02T00:00:00.000Z"
    assert 14_000 < int(re.search(r"Max-Age=(\d+)", sign_in(world, text).headers["Set-Cookie"])[1]) <= 14_400
    world.clock.move(hours=4)
    assert http.get("/api/me").json["error"]["code"] in ("no_token", "expired_token")


def test_a_cookie_opens_nothing_when_the_clock_was_put_back(world):
    world.clock.move(days=300)
    http = signed_in(world, world.data.keys().researcher)
    before = http.get("/api/me").status_code
    world.clock.move(hours=-1)

    assert (before, outcome(http.get("/api/me"))) == (200, "no_token")


def sign_in(world, text):
    return world.app.test_client().post("/api/sign-in", json={"token": text})


def test_researchers_open_the_pages_and_submitters_are_told_why_not(world):
    world.add(studies.study(images=8))
    researcher = signed_in(world, token(world, "ada", "researcher"))
    submitter = signed_in(world, token(world, "bob", "submitter"))

    assert [researcher.get(path).status_code for path in ("/results", "/api/studies")] == [200, 200]
    for path in ("/results", "/results/faces", "/results/no"):
        page = submitter.get(path)
        assert (page.status_code, "bob is a submitter" in page.text) == (403, True)
        assert "faces</a>" not in page.text
    for path in ("", "/faces/live", "/no/live"):
        message = submitter.get(f"/api/studies{path}").json["error"]["message"]
        assert message == "this needs the role researcher, and bob is a submitter"
    refused = [submitter.get("/api/studies"), submitter.post("/api/studies/faces/pause", json={})]
    assert [outcome(reply) for reply in refused] == ["not_permitted"] * 2


def test_a_tokens_header_stands_before_the_cookie(world):
    http = signed_in(world, token(world, "ada", "researcher"))

    me = http.get("/api/me", headers=as_member(token(world, "bob", "submitter"))).json
    wrong = http.get("/api/me", headers=as_member("wrong"))

    assert (me["member"], me["by"]) == ("bob", "token")
    assert outcome(wrong) == "wrong_token"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_token_is_also_taken_as_a_bearer_token(world, scheme):
    """Names of schemes are the same in upper and lower case (RFC 9110, 11.1)."""
    headers = {"Authorization": f"{scheme} {token(world, 'ada', 'submitter')}"}

    assert world.http.get("/api/me", headers=headers).json["member"] == "ada"


def test_the_cookie_of_one_token_cannot_be_made_into_that_of_another(world):
    ada, owner = token(world, "ada", "submitter"), token(world, "eve", "owner")
    cookie = sign_in(world, ada).headers["Set-Cookie"].partition(";")[0].partition("=")[2]
    at, _, seal = cookie.split(".")

    for value in (
        f"{at}.{tokens.id_in(owner)}.{seal}",
        f"{at}.key.{seal}",
        f"{int(at) + 1}.{tokens.id_in(ada)}.{seal}",
    ):
        http = world.app.test_client()
        http.set_cookie("openhype_login", value, path="/api")
        assert outcome(http.get("/api/me")) == "no_token"


def test_who_signs_out_is_signed_in_nowhere(world):
    http = signed_in(world, token(world, "ada", "researcher"))

    http.post("/api/sign-out", json={})

    assert [http.get(path).status_code for path in ("/api/me", "/results", "/api/studies")] == [403] * 3


def test_one_sign_in_opens_console_and_results_and_reaches_no_script_and_no_evaluator(world):
    http = world.app.test_client()

    reply = http.post("/api/sign-in", json={"token": world.data.keys().researcher})

    cookies = reply.headers.getlist("Set-Cookie")
    assert all("HttpOnly" in cookie and "SameSite=Strict" in cookie for cookie in cookies)
    assert {part for cookie in cookies for part in cookie.split("; ") if part.startswith("Path=")} == {
        "Path=/results", "Path=/api",
    }  # fmt: skip
    assert [http.get(path).status_code for path in ("/results", "/api/me", "/api/studies")] == [200] * 3


def test_a_wrong_token_signs_nobody_in(world):
    reply = world.http.post("/api/sign-in", json={"token": "guess"})

    assert outcome(reply) == "wrong_token"
    assert "Set-Cookie" not in reply.headers
