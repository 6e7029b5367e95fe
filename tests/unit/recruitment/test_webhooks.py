"""`recruit --webhooks` subscribes once, confirms, and takes the secret that the workspace has."""

import stat

import pytest
from click.testing import CliRunner

from backend.cli import main
from backend.foundation.errors import InvalidInput
from backend.panels.api import PanelUnsure
from backend.panels.prolific_webhooks import Webhooks
from backend.recruitment import webhooks
from backend.recruitment.plan import plan
from backend.recruitment.recruit import begin
from backend.stores.datadir import DataDir
from tests import prolific
from tests.prolific import Books, Fake

from .. import sample_studies as studies
from ..memory import MemoryStore

SERVER = "https://study.example"
TARGET = "https://study.example/api/panels/prolific/events"


class Researcher:
    """A store, a fake panel, and who keeps the secret."""

    def __init__(self):
        self.books, self.store, self.kept = Books(), MemoryStore(), []
        self.fake, self.workspace = Fake(self.books), self.books.workspace.id

    def subscribe(self, server=SERVER):
        hooks = Webhooks(self.fake.panel().http)
        return webhooks.subscribe(self.store, hooks, self.workspace, server, self.kept.append)

    def status(self):
        return webhooks.status(self.store, Webhooks(self.fake.panel().http), self.workspace)

    @property
    def subscriptions(self):
        return list(self.books.hooks.subscriptions.values())


@pytest.fixture
def researcher():
    return Researcher()


@pytest.mark.parametrize("is_list", [False, True])
def test_a_subscription_is_made_and_confirmed_once(researcher, is_list):
    researcher.books.hooks.replies_with_list = is_list

    urls = {researcher.subscribe() for _ in range(3)}

    (made,) = researcher.subscriptions
    assert urls == {TARGET} == {made.target_url}
    assert (made.is_confirmed, made.event_type) == (True, "submission.status.change")
    assert set(researcher.kept) == {researcher.books.hooks.secret}


def test_the_secret_that_the_workspace_has_is_taken_and_never_replaced(researcher):
    """Another tool may verify its events by it."""
    before = researcher.books.hooks.secret

    researcher.subscribe()

    assert researcher.kept == [before]
    assert researcher.books.hooks.made == 1


@pytest.mark.parametrize("call", ["POST /hooks/subscriptions/$", "POST /hooks/subscriptions/[^/]+/$"])
@pytest.mark.parametrize("how", ["before", "after", 500])
def test_a_try_that_broke_off_is_gone_on_with(researcher, call, how):
    method, _, path = call.partition(" ")
    researcher.fake.fail(method, path, how, times=9)
    with pytest.raises(PanelUnsure, match="on the request to"):
        researcher.subscribe()
    researcher.fake.faults.clear()

    researcher.subscribe()

    (made,) = researcher.subscriptions
    assert made.is_confirmed
    (entry,) = researcher.store.entries("webhooks")
    assert entry.data["confirmation"] == ""


def test_five_days_of_failures_are_seen_and_the_next_call_enables_them_again(researcher):
    researcher.subscribe()
    (made,) = researcher.subscriptions
    study = begun(researcher)
    researcher.books.take(study)
    for _ in range(7):
        researcher.books.hooks.post(lambda *_: 500)
        researcher.books.clock.advance(days=1)

    before = researcher.status()
    researcher.subscribe()

    assert (before.is_enabled, dict(before.deliveries)) == (False, {"failed": 1})
    assert (made.is_enabled, researcher.status().is_enabled) == (True, True)


def begun(researcher):
    study = studies.study(panel="prolific", images=8, base_usd_cents=200, minutes=10)
    researcher.store.add_study(study, [])
    return begin(researcher.store, researcher.fake.panel(), study, plan(study), "https://study.example")[
        "panel_study"
    ]


@pytest.mark.parametrize("server", ["http://study.example", "study.example"])
def test_events_go_to_https_only(researcher, server):
    with pytest.raises(InvalidInput, match="https:// only"):
        researcher.subscribe(server)

    assert researcher.subscriptions == []


def test_the_command_keeps_the_secret_where_only_its_owner_can_read_it(world, tmp_path):
    with prolific.running() as fake:
        study = world.add(studies.study(panel="prolific", images=8, base_usd_cents=200, minutes=10))
        begin(world.store, fake.panel(), study, plan(study), "https://study.example")
        openhype = CliRunner(env=fake.environment())
        run = ["recruit", "faces", "--data", str(tmp_path)]

        done = openhype.invoke(main, [*run, "--webhooks", SERVER], catch_exceptions=False)
        shown = openhype.invoke(main, [*run, "--status"], catch_exceptions=False)

    secret = fake.webhooks.secret
    assert DataDir(tmp_path).secret("prolific-webhooks") == secret
    assert stat.S_IMODE((tmp_path / "prolific-webhooks.secret").stat().st_mode) == 0o600
    assert "webhooks: events: none yet" in shown.output
    assert secret not in done.output + shown.output
