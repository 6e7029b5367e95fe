"""Members of a test's server, with tokens, and requests by them."""

from datetime import timedelta

from backend.members import memberships, tokens
from backend.members.roles import ROLES

SECRET = "the proxy's secret"


def token(world, name, role, days=30):
    """Add a member if there is none by that name, and return the text of a new token."""
    if memberships.past_or_present(world.store, name) is None:
        memberships.add(world.store, name, role, "owner", world.clock())
    owner = memberships.membership(world.store, name)
    return tokens.issue(world.store, owner, f"{name}'s", days, "owner", world.clock())[1]


def tokens_of_all(world):
    """Return a token of each kind: valid ones by their role, and by why they are refused the others."""
    found = {role: token(world, f"a-{role}", role) for role in ROLES}
    expired, revoked, removed = (token(world, name, "owner", days=1) for name in ("exp", "rev", "rem"))
    world.clock.move(days=1)
    tokens.revoke(world.store, tokens.id_in(revoked), world.clock())
    fresh = token(world, "rem", "owner")
    memberships.end(world.store, memberships.membership(world.store, "rem"), world.clock())
    return {
        **found,
        "key": world.data.keys().researcher,
        "none": None,
        "wrong": "oh_" + "0" * 12 + "_" + "A" * 43,
        "expired": expired,
        "revoked": revoked,
        "removed": fresh,
        "removed_and_expired": removed,
    }


def as_member(text):
    """Return the headers of a request with a token."""
    return {} if text is None else {"X-Openhype-Token": text}


def signed_in(world, text, app=None):
    """Return a browser that has signed in with a token, and whose pages say for whom they were loaded."""
    http = (app or world.app).test_client()
    reply = http.post("/api/sign-in", json={"token": text})
    assert reply.status_code == 200, reply.json
    http.environ_base["HTTP_X_OPENHYPE_MEMBER"] = reply.json["member"]
    return http


def later(world, **time):
    """Return the time that it is after `time`."""
    return world.clock() + timedelta(**time)
