"""What the panel over Prolific's API makes of calls that fail, and what it keeps to itself."""

import gzip
import logging
import socket
import sys
import threading
import time
import traceback
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from random import Random

import pytest

from backend.foundation.errors import InvalidInput, NotInstalled
from backend.panels.api import Bonus, NotThere, PanelRefused, PanelUnreached, PanelUnsure, TokenRefused
from backend.panels.prolific import ProlificPanel, open_prolific
from tests import prolific
from tests.ports import free_port
from tests.prolific import Clock

from ..panels.test_contract import ORDER

PAY = "/pay/"


@pytest.fixture
def fake():
    with prolific.running(clock=Clock(datetime(2026, 1, 1, tzinfo=UTC)), unknown_at_first=0) as fake:
        yield fake


@pytest.fixture
def slept():
    return []


@pytest.fixture
def panel(fake, slept):
    return ProlificPanel(
        fake.token, f"{fake.url}/api/v1/", sleep=slept.append, rng=Random(1), timeout_s=(1, 0.3)
    )


@pytest.fixture
def study(panel):
    study = panel.create(ORDER)
    panel.change(study, "publish")
    return study


@pytest.fixture
def place(fake, study):
    place = fake.books.take(study)
    fake.books.start(place.id)
    return place


@pytest.fixture
def payment(panel, study, place):
    return panel.propose_bonuses(study, [Bonus(place.id, 50)])


def asked(fake, path):
    return sum(path in call for call in fake.calls)


@pytest.mark.parametrize(("how", "paid"), [("before", []), ("after", [50]), (500, []), (502, []), (408, [])])
def test_a_pay_call_without_an_answer_is_unsure_and_not_sent_again(fake, panel, place, payment, how, paid):
    fake.fail("POST", PAY, how)

    with pytest.raises(PanelUnsure, match="pay bonuses"):
        panel.pay_bonuses(payment)

    assert asked(fake, PAY) == 1
    assert fake.books.bonuses(place.id) == paid


def test_a_pay_call_that_takes_too_long_is_unsure_and_not_sent_again(fake, panel, payment):
    fake.fail("POST", PAY, "after", delay_s=0.6)

    with pytest.raises(PanelUnsure, match="pay bonuses"):
        panel.pay_bonuses(payment)

    assert asked(fake, PAY) == 1


def test_a_busy_panel_is_asked_again_when_it_said_to(fake, panel, place, payment, slept):
    fake.fail("POST", PAY, 429, times=2, headers=(("Retry-After", "7"),))

    panel.pay_bonuses(payment)

    assert fake.books.bonuses(place.id) == [50]
    assert len(slept) == 2
    assert all(pause >= 7 for pause in slept)


@pytest.mark.parametrize("status", [429, 503])
def test_a_panel_that_stays_busy_has_not_done_it(fake, panel, place, payment, status):
    fake.fail("POST", PAY, status, times=99, headers=(("Retry-After", "1"),))

    with pytest.raises(PanelUnreached, match="too busy"):
        panel.pay_bonuses(payment)

    assert fake.books.bonuses(place.id) == []


def test_a_connection_that_is_refused_has_sent_nothing():
    panel = ProlificPanel("token", f"http://127.0.0.1:{free_port()}/api/v1/", sleep=lambda _: None)

    with pytest.raises(PanelUnreached, match="could not be reached"):
        panel.pay_bonuses("0" * 24)


def test_what_was_made_a_moment_ago_is_asked_for_again_until_it_is_known(fake, panel, place, payment):
    fake.books.fresh[payment] = 2

    panel.pay_bonuses(payment)

    assert fake.books.bonuses(place.id) == [50]


def test_a_payment_that_stays_unknown_was_not_asked_for(fake, panel, place, payment):
    fake.books.fresh[payment] = 99

    with pytest.raises(NotThere, match="pay bonuses"):
        panel.pay_bonuses(payment)

    assert fake.books.bonuses(place.id) == []


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_of_the_token_says_nothing_of_what_was_asked(fake, panel, study, place, status):
    fake.fail("GET", "/submissions/", status, times=99)
    fake.fail("POST", "/", status, times=99)

    for call in (
        lambda: panel.submission(place.id),
        lambda: list(panel.submissions(study)),
        lambda: panel.complete(place.id, "SERVER7"),
        lambda: panel.approve([place.id]),
    ):
        with pytest.raises(
            TokenRefused, match=rf"refuses this token to .* \({status}\).*check PROLIFIC_TOKEN"
        ):
            call()


def test_somebody_who_waits_is_not_kept_waiting_by_a_busy_panel(fake, panel, place, slept):
    fake.fail("GET", "/submissions/", 429, headers=(("Retry-After", "7"),))

    with pytest.raises(PanelUnreached, match="too busy"):
        panel.submission(place.id, is_urgent=True)

    assert slept == []


def test_a_study_is_published_once_though_the_answer_was_lost(fake, panel):
    study = panel.create(ORDER)
    fake.fail("POST", "/transition/", "after")

    with pytest.raises(PanelUnsure, match="broke on the request to publish"):
        panel.change(study, "publish")
    panel.change(study, "publish")

    assert panel.state(study) == "active"


def test_a_refusal_is_a_refusal(fake, panel, payment):
    fake.books.refusing_bulks = True

    with pytest.raises(PanelRefused, match="balance does not cover"):
        panel.pay_bonuses(payment)

    assert asked(fake, PAY) == 1


@pytest.mark.parametrize("how", ["before", "after", 500])
def test_calls_that_do_no_harm_are_sent_again(fake, panel, place, how):
    fake.books.submit(place.id, "DONE7")
    fake.fail("POST", "/bulk-approve/", how)
    fake.fail("GET", "/submissions/", how)

    panel.approve([place.id])

    assert panel.submission(place.id).status == "approved"
    assert fake.books.paid() == {(place.id, "reward"): 100}


def test_a_call_that_was_unsure_once_stays_so_though_the_panel_is_busy_afterwards(fake, panel, place):
    fake.books.submit(place.id, "DONE7")
    fake.fail("POST", "/bulk-approve/", "after")
    fake.fail("POST", "/bulk-approve/", 429, times=99)

    with pytest.raises(PanelUnsure, match="broke on the request to approve"):
        panel.approve([place.id])


def test_a_study_is_not_made_twice_when_the_answer_was_lost(fake, panel):
    fake.fail("POST", "/studies/", "after")

    with pytest.raises(PanelUnsure, match="broke on the request to create"):
        panel.create(ORDER)

    assert panel.create(ORDER) in fake.books.studies
    assert len(fake.books.studies) == 1


def test_an_amount_that_the_panel_understands_otherwise_is_not_paid(fake, panel, study, place):
    """Cents taken for whole currency: 50 would pay fifty dollars."""
    honest = fake.books.set_up_bonuses
    fake.books.set_up_bonuses = lambda study, csv: honest(study, csv.replace("0.50", "50"))

    with pytest.raises(PanelRefused, match="5000 cents where 50 were handed in"):
        panel.propose_bonuses(study, [Bonus(place.id, 50)])


def test_neither_token_nor_ids_stand_in_errors_or_logs(fake, panel, study, place, caplog):
    caplog.set_level(logging.DEBUG)
    canaries = [f"canary-{what}-1" for what in ("payment", "person", "token")]
    wrong = ProlificPanel(canaries[2], f"{fake.url}/api/v1/", sleep=lambda _: None)
    fake.fail("POST", PAY, "before")

    with pytest.raises(PanelUnsure, match="broke") as unsure:
        panel.pay_bonuses(canaries[0])
    with pytest.raises(PanelRefused, match="did not take part in the study: …") as refused:
        panel.propose_bonuses(study, [Bonus(place.id, 5), Bonus(canaries[1], 5)])
    with pytest.raises(PanelRefused, match="check PROLIFIC_TOKEN") as not_ours:
        wrong.submission(place.id)
    panel.submission(place.id)
    list(panel.submissions(study))

    told = [caplog.text, repr(panel), repr(vars(panel)), repr(wrong), repr(vars(wrong))]
    for caught in (unsure, refused, not_ours):
        told += [repr(caught.value), *traceback.format_exception(caught.value)]
    for secret in (fake.token, *canaries, place.id, place.participant, study):
        assert not [text for text in told if secret in text]


def test_a_link_that_leads_away_from_the_panel_is_not_followed(fake, panel, study):
    fake.books.change_study(study, {"total_available_places": 250})
    for _ in range(150):
        fake.books.take(study)
    elsewhere, fake.url = fake.url, "http://198.51.100.1"

    with pytest.raises(PanelRefused, match="leads away"):
        list(panel.submissions(study))
    fake.url = elsewhere


@pytest.mark.parametrize("cents", [0, -5])
def test_no_bonus_is_of_nothing(panel, study, place, cents):
    with pytest.raises(InvalidInput, match="at least 1 cent"):
        panel.propose_bonuses(study, [Bonus(place.id, cents)])


def test_an_id_from_a_link_cannot_change_the_row_or_the_address(panel, study):
    with pytest.raises(PanelRefused, match="letters and digits"):
        panel.propose_bonuses(study, [Bonus("abc,99.00\nabc", 1)])
    with pytest.raises(PanelRefused, match="letters and digits"):
        panel.approve(["../../studies/1"])


def test_the_token_comes_from_the_environment_or_a_file(fake, tmp_path):
    (tmp_path / "token").write_text(f"{fake.token}\n")
    here = {"OPENHYPE_PROLIFIC_URL": f"{fake.url}/api/v1/"}

    for given in ({"PROLIFIC_TOKEN": fake.token}, {"PROLIFIC_TOKEN_FILE": str(tmp_path / "token")}):
        assert open_prolific(here | given).create(ORDER)
    with pytest.raises(InvalidInput, match="PROLIFIC_TOKEN"):
        open_prolific({})


def test_without_requests_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "requests", None)

    with pytest.raises(NotInstalled, match=r"Prolific needs requests, .* -m pip install 'requests>="):
        ProlificPanel("token")


@contextmanager
def listening(first, then):
    """Serve one connection after the other: send `first`, and then `then` again and again."""
    listening = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def serve():
        while not ended.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.recv(65536)
                connection.sendall(first)
                while not ended.wait(0.02):
                    connection.sendall(then)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/api/v1/"
    ended.set()
    listening.close()


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (b"", b"H"),
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"a"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
    ],
    ids=["status", "header", "body", "chunks"],
)
def test_a_reply_that_comes_byte_by_byte_ends_at_the_deadline(first, then):
    with listening(first, then) as url:
        panel = ProlificPanel("token", url, sleep=lambda _: None, timeout_s=(1, 5), whole_s=0.4)
        began = time.monotonic()

        with pytest.raises(PanelUnsure):
            panel.http.call("GET", "studies/", "list studies", tries=1)

        assert time.monotonic() - began < 20


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_a_reply_without_end_is_given_up(encoding):
    body = bytes(200_000) if encoding == "identity" else gzip.compress(bytes(200_000))
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {len(body)}\r\n\r\n"
    with listening(head.encode() + body, b"") as url:
        panel = ProlificPanel("token", url, sleep=lambda _: None, timeout_s=(1, 5), most_bytes=100_000)

        with pytest.raises(PanelUnsure):
            panel.http.call("GET", "studies/", "list studies", tries=1)
