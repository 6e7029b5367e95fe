"""A study on the packaged functions alone: recruited, admitted, reported, paid once and scored."""

import contextlib
import gzip
import hashlib
import http.client
import json
import threading
import time
import urllib.request
from fractions import Fraction

import boto3
import pytest

from backend.commands.simulated_evaluators import Refused
from backend.foundation.errors import Conflict
from backend.foundation.timestamps import utc_now
from backend.panels.prolific import ProlificPanel
from backend.payment import accounts, automatic
from backend.recruitment import panel_health, recruit
from backend.recruitment.plan import plan
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from tests import aws, function, prolific
from tests.cloudfront import Cloudfront, serving
from tests.prolific import Books

from .. import sample_studies as studies
from ..recruitment.test_sync_thread import Visitor, until

pytestmark = pytest.mark.slow("four packaged functions are started for each test")

NAME = "openhype-test"


class Site:
    """A deployment with a panel: its functions, their table, and a fake of Prolific."""

    def __init__(self, stack, table, cloud, folder):
        self.fake = stack.enter_context(prolific.running(Books(fee=Fraction(428, 1000))))
        self.books, self.visitors = self.fake.books, []
        self.panel = ProlificPanel(self.fake.token, f"{self.fake.url}/api/v1/", sleep=lambda _: None)
        self.store, self.keys = open_store(table, folder), DataDir(folder).keys()
        stack.callback(self.store.close)
        ssm = boto3.client("ssm")
        keys = (folder / "keys.json").read_text()
        self.secret = {"token": self.fake.token, "webhook_secret": self.fake.webhooks.secret}
        for kind, value in (("keys", keys), ("panel", json.dumps(self.secret))):
            ssm.put_parameter(Name=f"/openhype/{NAME}/{kind}", Type="SecureString", Value=value)
        common = {
            **aws.environment(cloud),
            "OPENHYPE_STORE": table,
            "OPENHYPE_KEYS": f"ssm:/openhype/{NAME}/keys",
            "OPENHYPE_REQUEST_SECONDS": "13",
        }
        of_panel = {
            "OPENHYPE_PANEL": f"ssm:/openhype/{NAME}/panel",
            "OPENHYPE_PROLIFIC_URL": f"{self.fake.url}/api/v1/",
        }
        started = lambda *about: stack.enter_context(closing(function.Function(*about)))  # noqa: E731
        self.runs = [started("panel", {**common, **of_panel}) for _ in range(2)]
        invoked = stack.enter_context(function.invocations({f"{NAME}-panel": self.runs[0]}))
        of_api = {"OPENHYPE_PANEL_FUNCTION": f"{NAME}-panel", "AWS_ENDPOINT_URL_LAMBDA": invoked}
        self.api = started("panel", {**common, **of_api}, "deploy.entry_point.handle")
        functions = {"api": [self.api], "score": [started("score", common)], "panel": self.runs[1:]}
        self.url = stack.enter_context(serving(Cloudfront("no-bucket", functions)))
        stack.callback(lambda: [visitor.http.close() for visitor in self.visitors])

    def recruit(self, **settings):
        values = {"images": 4, "evaluators": 2, "base_usd_cents": 200, "minutes": 10, "models": ("gan",)}
        self.study = studies.study(panel="prolific", **{**values, **settings})
        self.store.add_study(self.study, studies.pool(self.study, each=20))
        begun = recruit.begin(self.store, self.panel, self.study, plan(self.study), self.url)
        self.id = begun["panel_study"]

    def visit(self, place):
        self.visitors.append(Visitor(self, place))
        return self.visitors[-1]

    def run(self, task, **facts):
        return self.runs[0].invoke({"task": task, **facts})

    def states(self):
        return {session.panel["SESSION_ID"]: cursor.state for session, cursor in self.store.sessions("faces")}


class closing:  # noqa: N801 - as contextlib's
    """As `contextlib.closing`, and showing the function's log if the test failed."""

    def __init__(self, running):
        self.running = running

    def __enter__(self):
        return self.running

    def __exit__(self, kind, *_):
        if kind is not None:
            print(self.running.log()[-3000:])  # noqa: T201
        self.running.close()


@pytest.fixture
def site(table, cloud, tmp_path):
    with contextlib.ExitStack() as stack:
        yield Site(stack, table, cloud, tmp_path)


def scores(site):
    asked = urllib.request.Request(
        f"{site.url}/api/studies/faces/scores", headers={"X-Openhype-Token": site.keys.researcher}
    )
    with urllib.request.urlopen(asked) as reply:
        return json.loads(reply.read())


def results(site):
    """Return the study's results page, after signing in with the researcher's key."""
    body, page = json.dumps({"token": site.keys.researcher}).encode(), f"{site.url}/results/faces"
    headers = {
        "Content-Type": "application/json",
        "X-Amz-Content-Sha256": hashlib.sha256(body).hexdigest(),
    }
    with contextlib.closing(http.client.HTTPConnection(site.url.partition("//")[2])) as connection:
        connection.request("POST", "/api/sign-in", body, headers)
        reply = connection.getresponse()
        assert (reply.status, json.loads(reply.read())["role"]) == (200, "owner")
        cookie = reply.headers["Set-Cookie"].partition(";")[0]
    with urllib.request.urlopen(urllib.request.Request(page, headers={"Cookie": cookie})) as reply:
        content = reply.read()
    return (gzip.decompress(content) if reply.headers["Content-Encoding"] == "gzip" else content).decode()


def test_a_study_is_recruited_reported_paid_once_and_scored_by_functions_alone(site):
    site.recruit()
    automatic.approve(site.store, site.study, utc_now())
    first, left = (site.visit(site.books.take(site.id)).open() for _ in range(2))
    site.books.give_back(left.place.id)
    events = f"{site.url}/api/panels/prolific/events"
    assert site.fake.webhooks.deliver(events, site.fake.webhooks.events[-1:]) == [200]
    assert site.states()[left.place.id] == "returned"
    site.run("recruitment")
    second = site.visit(site.books.take(site.id)).open()

    for visitor in (first, second):
        visitor.answer(range(4))
        until(lambda v=visitor: v.place.status == "AWAITING REVIEW", "the panel was not notified")
    racing = [threading.Thread(target=run.invoke, args=({"task": "payments"},)) for run in site.runs]
    for thread in racing:
        thread.start()
    for thread in racing:
        thread.join()
    site.run("recruitment")
    site.run("payments")

    assert [visitor.place.status for visitor in (first, second)] == ["APPROVED"] * 2
    assert site.states() == {
        first.place.id: "finished",
        second.place.id: "finished",
        left.place.id: "returned",
    }
    approvals = [call for call in site.fake.calls if "bulk-approve" in str(call)]
    paid = accounts.plain_accounts(site.store, site.study, utc_now())
    assert sorted(account.reward for account in paid.values())[-2:] == ["confirmed", "confirmed"], approvals
    approved = automatic.approval(site.store, site.study)
    assert (approved.obstacles, bool(approved.last_at)) == ((), True)
    assert scores(site)["models"][0]["evaluators"] == 2
    assert "of pictures were judged wrong by 2 evaluators" in results(site)
    assert panel_health.health(site.store, "faces").warning == ""


def test_nothing_is_paid_that_nobody_approved(site):
    site.recruit()
    person = site.visit(site.books.take(site.id)).open()
    person.answer(range(4))
    until(lambda: person.place.status == "AWAITING REVIEW", "the panel was not notified")

    site.run("payments")
    automatic.approve(site.store, site.study, utc_now())
    automatic.withdraw(site.store, site.study)
    site.run("payments")

    assert person.place.status == "AWAITING REVIEW"
    assert automatic.approval(site.store, site.study) is None


def test_a_study_without_a_budget_cannot_be_approved(site):
    study = studies.study(panel="prolific")
    site.store.add_study(study, studies.pool(study))

    with pytest.raises(Conflict, match="has no budget, which automatic payments must not exceed"):
        automatic.approve(site.store, study, utc_now())


def test_an_approval_is_of_one_study_and_not_of_the_next_of_its_name(site):
    site.recruit()
    automatic.approve(site.store, site.study, utc_now())
    namesake = studies.replaced(site.study, created_at="2030-01-01T00:00:00.000Z")

    assert automatic.approval(site.store, namesake) is None


def test_a_newcomer_to_a_full_study_has_its_places_read_by_the_function(site):
    site.recruit(evaluators=1)
    early = site.visit(site.books.take(site.id)).open()
    site.books.give_back(early.place.id)

    late = site.visit(site.books.take(site.id)).open()

    assert site.states() == {early.place.id: "returned", late.place.id: "active"}


def test_a_place_that_the_panel_does_not_know_is_refused_and_another_persons_too(site):
    site.recruit()
    visitor = site.visit(site.books.take(site.id))
    known = dict(visitor.link)
    visitor.link |= {"PROLIFIC_PID": "f" * 24}

    with pytest.raises(Refused, match="another person's"):
        visitor.open()
    visitor.link = known
    visitor.open()


def test_a_rotated_token_is_noted_and_a_new_one_helps(site):
    site.recruit()
    site.books.rotate_token()

    site.run("recruitment")

    assert "token" in panel_health.health(site.store, "faces").warning


@pytest.mark.parametrize(
    "event", [{"task": "shell"}, {"task": ["recruitment"]}, {"task": None}, {"command": "x"}, {}]
)
def test_other_events_are_refused(site, event):
    with pytest.raises(AssertionError, match=r"ValueError|TypeError"):
        site.runs[0].invoke(event)


def test_events_of_the_panel_do_not_reach_the_function_without_the_token(site):
    reply = site.api.invoke(
        function.function_url_event(
            "POST", "/api/panels/prolific/events", {"Content-Type": "application/json"}, b"{}"
        )
    )

    assert (reply["statusCode"], json.loads(function.body_of(reply))["error"]["code"]) == (403, "no_webhooks")


def test_while_the_panels_function_fails_people_are_asked_to_come_again(site):
    site.recruit()
    site.runs[0].close()
    site.runs[0]._process.stdin = site.runs[0]._process.stdout = BrokenPipe()
    link = site.visit(site.books.take(site.id)).link
    body = json.dumps({"consent_version": "1", "panel": link, "device": {}}).encode()

    event = function.function_url_event(
        "POST", "/api/studies/faces/sessions", {"Content-Type": "application/json"}, body
    )
    reply = site.api.invoke(event)

    assert (reply["statusCode"], reply["headers"]["Retry-After"]) == (503, "5")
    assert list(site.store.sessions("faces")) == []


class BrokenPipe:
    def write(self, _):
        raise BrokenPipeError

    def close(self):
        pass


def test_logs_hold_neither_token_nor_panel_ids(site):
    site.recruit()
    person = site.visit(site.books.take(site.id)).open()
    person.answer(range(4))
    site.books.rotate_token()
    site.run("recruitment")
    time.sleep(0.1)

    log = "".join(running.log() for running in (*site.runs, site.api))
    for secret in (*site.secret.values(), person.place.id, person.place.participant):
        assert secret not in log
