"""`openhype pay` as a researcher runs it, and what it must never show."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from backend.cli import main
from backend.experiment.panel import LINK
from backend.panels.prolific import ProlificPanel
from backend.responses.export import export
from backend.stores.opening import open_store
from backend.web.progress import progress
from tests import prolific

from .. import sample_studies as studies
from ..payday import FAULT, FEE, Payday

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def fake():
    with prolific.running(fee=FEE) as fake:
        yield fake


@pytest.fixture
def payday(fake, tmp_path):
    store = open_store("sqlite:///openhype.db", tmp_path)
    yield Payday(
        store, "faces", ProlificPanel(fake.token, fake.environment()["OPENHYPE_PROLIFIC_URL"]), fake.books
    )
    store.close()


@pytest.fixture
def openhype(fake, payday, tmp_path):
    def run(*arguments, panel_study=payday.panel_study):
        command = ["pay", "faces", "--data", str(tmp_path), *arguments]
        if panel_study:
            command += ["--panel-study", panel_study]
        return CliRunner(env=fake.environment()).invoke(main, command, catch_exceptions=False)

    return run


def test_the_plan_pays_nobody_and_yes_pays_everybody(payday, openhype):
    payday.everyone()

    plan = openhype()
    assert plan.exit_code == 0
    assert payday.books.paid() == {}
    done = openhype("--yes")

    assert done.exit_code == 0, done.output
    assert "to pay now: $6.08, and $2.63 of fees" in plan.stdout
    assert "e001: base $1.00, bonus $0.14: owed" in plan.stdout
    assert "study faces: 6 of 10 evaluators were paid in full" in done.stdout
    payday.check()


def test_bonuses_wait_in_a_store_that_is_said_to_be_restored(payday, openhype):
    _, place = payday.person(right=7)

    told = openhype("--restored")
    done = openhype("--yes")

    assert told.exit_code == 0
    assert "this store was restored from a backup" in done.output
    assert payday.counts() == {(place.id, "reward"): [100]}


def test_json_has_every_number(payday, openhype):
    payday.person(right=5)

    found = json.loads(openhype("--yes", "--json", "--budget", "10", "--fee", "33.3").stdout)

    assert found["evaluators"][0]["bonus"] == "confirmed"
    assert {name: found[name] for name in found if name.endswith("cents") or name == "fee_percent"} == {
        "to_pay_usd_cents": 0, "fees_usd_cents": 0, "total_usd_cents": 0, "fee_percent": "33.3",
        "budget_usd_cents": 1000, "committed_usd_cents": 148, "left_usd_cents": 852, "undecided_usd_cents": 0,
    }  # fmt: skip


def test_a_budget_that_does_not_suffice_is_a_failure_that_says_so(payday, openhype):
    payday.everyone()

    done = openhype("--yes", "--budget", "3.00")

    assert done.exit_code == 1
    assert done.stderr == "openhype: the budget does not suffice for all that is owed\n"
    payday.check(complete=False)


def test_a_panel_that_cannot_be_reached_is_a_failure_that_says_so(payday, openhype, fake):
    payday.everyone()
    fake.fail("POST", "/pay/", "before")

    done = openhype("--yes")

    assert done.exit_code == 1
    assert "the connection to Prolific broke on the request to pay bonuses" in done.stderr
    assert "asked for, without an answer" in done.stdout


@pytest.mark.parametrize("named_by", ["evaluator", "id"])
def test_a_session_that_broke_off_is_paid_in_part(payday, openhype, named_by):
    _, place = payday.person("active", answered=5, right=2, at_panel="timed_out")
    ((session, _),) = payday.store.sessions("faces")

    done = openhype("--yes", "--broke-off", f"{getattr(session, named_by)}={FAULT}")

    assert done.exit_code == 0, done.output
    payday.owes(place, reward=0, bonus=54)
    payday.check()


def test_what_was_recruited_is_known_without_naming_it(payday, openhype):
    payday.owes(payday.person()[1], bonus=10)
    found = studies.recruitment(panel_study=payday.panel_study, budget_usd_cents=1000)
    payday.store.write_entry("recruitment faces", "prolific", 0, found)

    assert openhype("--yes", panel_study=None).exit_code == 0
    payday.check()


def test_without_a_recruitment_it_asks_for_the_panels_study(openhype):
    done = openhype(panel_study=None)

    assert done.exit_code == 1
    assert "--panel-study" in done.stderr


def test_people_of_a_link_are_paid_from_a_list(fake, tmp_path):
    store = open_store("sqlite:///openhype.db", tmp_path)
    payday = Payday(store, books=fake.books, panel_record=LINK)
    payday.person(right=5)
    owed, runner = tmp_path / "owed.csv", CliRunner()

    runner.invoke(main, ["pay", "faces", "--data", str(tmp_path), "--out", str(owed)])
    done = runner.invoke(main, ["pay", "faces", "--data", str(tmp_path), "--mark-paid", str(owed)])
    store.close()

    assert done.exit_code == 0
    assert owed.read_text().splitlines()[1].startswith("e001,CODE001,100,10,110,USD,")
    assert "1 of 1 evaluators were paid in full" in done.stdout


@pytest.mark.parametrize("budget", ["ten", "1.234", "-5", "1e9"])
def test_a_budget_is_in_dollars(openhype, budget):
    done = openhype("--budget", budget)

    assert done.exit_code == 2
    assert "an amount must be written as 250 or 99.50" in done.stderr


def test_no_token_and_no_panel_id_stands_in_output_logs_exports_or_status(
    payday, openhype, fake, tmp_path, caplog
):
    caplog.set_level(logging.DEBUG)
    payday.everyone()
    fake.fail("POST", "/transition/", "before", times=1)
    fake.fail("POST", "/pay/", 400)
    told = []

    for options in (
        (),
        ("--yes",),
        ("--yes", "--json"),
        *(("--explain", f"e{number:03d}") for number in range(1, 12)),
        ("--panel", "link", "--out", str(tmp_path / "o.csv")),
    ):
        done = openhype(*options)
        told += [done.stdout, done.stderr]
    told += [caplog.text, (tmp_path / "o.csv").read_text(), json.dumps(progress(payday.store, payday.study))]
    told += [path.read_text() for path in export(payday.store, payday.study, tmp_path / "export")]

    places = payday.books.places.values()
    ids = {place.id for place in places} | {place.participant for place in places}
    secrets = ids | {fake.token, *payday.books.bulks, payday.panel_study}
    assert len(secrets) > 24
    assert not [secret for secret in secrets for text in told if secret in text]


def test_explain_says_why_in_a_process_of_its_own_as_words_and_as_json(payday, fake, tmp_path):
    payday.person(right=5)
    payday.person(right=3, at_panel="rejected")
    command = [sys.executable, "-m", "backend", "pay", "faces", "--data", str(tmp_path)]
    command += ["--panel-study", payday.panel_study, "--explain"]

    def run(*options):
        environment = {**os.environ, **fake.environment()}
        return subprocess.run(
            [*command, *options], env=environment, capture_output=True, text=True, check=False, cwd=ROOT
        )

    told, unknown, data = run("e001"), run("e003"), json.loads(run("e002", "--json").stdout)

    assert told.stdout.splitlines()[1:5] == [
        "did:          finished; 10 of 10 trials answered, 5 right, last on 2026-01-04 00:01 UTC",
        "owed:         $1.00 of base + $0.10 of bonus (5 right × $0.02) = $1.10",
        "reward:       $1.00 owed",
        "bonus:        $0.10 owed",
    ], told.stderr
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "study faces knows nobody called 'e003'; did you mean `e002`?" in unknown.stderr
    assert data[0]["evaluator"] == "e002"
    assert {"about": "next", "words": "nothing: the submission was rejected"} in data[0]["said"]
    assert payday.books.paid() == {}


def test_explain_and_yes_are_not_given_together(openhype):
    assert (
        "--explain pays nobody: leave out --yes, or --explain"
        in openhype("--explain", "e001", "--yes").stderr
    )


def test_closed_debts_are_counted_apart_from_those_that_were_paid(payday, openhype):
    payday.owes(payday.person()[1], bonus=10)
    payday.person(at_panel="rejected")

    closed = openhype("--yes", "--close", "e002=rejected: the same answers twice")

    assert "study faces: 1 of 2 evaluators were paid, 1 closed" in closed.stdout
    assert "e002: base $1.00, bonus $0.10: closed (rejected: the same answers twice)" in closed.stdout
