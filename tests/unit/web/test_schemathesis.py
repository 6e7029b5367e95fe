"""No request that the OpenAPI document lets one write, and none near it, is a fault of the server.

`SUITE_FUZZ=500` for many requests of each route, `SUITE_FUZZ_SEED` for others.
"""

import warnings

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode

from tests.switches import number

from .members import as_member

EXAMPLES = number("SUITE_FUZZ", 5)
SEED = number("SUITE_FUZZ_SEED", 20)
WHO = ("owner", "researcher", "submitter", "none", "revoked")
STRANGE = (".", "..", "\0", "a" * 129, "<b>", "%2e%2e", "é", "\u202e", "'; DROP TABLE entries; --")


def closing(app):
    """Return an application whose replies are closed once they are read, which schemathesis leaves open."""

    def call(environ, start_response):
        reply = app(environ, start_response)
        try:
            return [b"".join(reply)]
        finally:
            reply.close()

    return call


def operations(app):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document = schemathesis.openapi.from_wsgi("/api/openapi.json", closing(app))
    return [found.ok() for found in document.get_all_operations()]


def requests_of(operation):
    """A strategy of requests that the document allows, and of others; who sends them, and of what."""
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in modes))
    return given(
        case=cases, who=st.sampled_from(WHO), place=st.sampled_from(("there", "there", "as made", *STRANGE))
    )


@pytest.mark.slow("sends requests to each route")
def test_no_request_by_anybody_is_a_fault(world, there):
    held, names = there
    statuses, faults = {}, []

    def send(case, who, place):
        if place != "as made":
            case.path_parameters = {
                name: names.get(name, "x") if place == "there" else place
                for name in case.path_parameters or {}
            }
        case.headers = {**(case.headers or {}), **as_member(held[who]), "Accept-Encoding": "identity"}
        if (
            case.operation.label.endswith("/links")
            and isinstance(case.body, dict)
            and case.body.get("count") != 0
        ):
            case.body["count"] = 3  # rather than a hundred thousand links, one write each
        reply = case.call()
        statuses[reply.status_code] = statuses.get(reply.status_code, 0) + 1
        if reply.status_code >= 500:
            faults.append((case.operation.label, who, place, case.query, case.body, reply.text))

    for operation in operations(world.app):
        options = settings(
            max_examples=EXAMPLES,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        seed(SEED)(options(requests_of(operation)(send)))()

    assert faults == []
    assert {200, 201, 400, 403, 404} <= set(statuses), statuses
