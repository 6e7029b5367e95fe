"""A panel's record says what its link carries and where people go at the end, and nothing else goes there."""

import dataclasses

import pytest

from backend.experiment import panel as records
from backend.experiment.panel import CONNECT, MTURK, PROLIFIC, SONA, PanelConfig, PanelRecord, return_link
from backend.foundation.errors import InvalidInput

NOWHERE = {"redirect_url": None, "form": None}
FROM_PROLIFIC = {"PROLIFIC_PID": "p1", "SESSION_ID": "s1", "STUDY_ID": "t1"}
FROM_CONNECT = {"participantId": "p1", "assignmentId": "a1", "projectId": "t1"}
ALL_CODES = {"done": "D", "no_consent": "N", "unfit_device": "U", "screened_out": "S"}
TOLD = PanelConfig({"done": "DONE77", "no_consent": "NOPE77"})
SENT = {"assignmentId": "a1", "workerId": "w1", "turkSubmitTo": "https://submit.example"}


@pytest.mark.parametrize("record", records.BUILT_IN.values(), ids=lambda record: record.name)
def test_a_record_comes_back_from_its_stored_form(record):
    assert records.from_json(vars(record)) == record


def test_prolific_gets_the_code_that_it_was_told():
    back = return_link(PROLIFIC, FROM_PROLIFIC, "done", TOLD, "OWN")

    assert back == {**NOWHERE, "redirect_url": "https://app.prolific.com/submissions/complete?cc=DONE77"}


def test_a_person_whom_the_server_reports_needs_no_code():
    back = return_link(PROLIFIC, FROM_PROLIFIC, "done", PanelConfig(TOLD.codes, by_server=True), "OWN")

    assert back == {**NOWHERE, "redirect_url": "https://app.prolific.com/submissions"}


@pytest.mark.parametrize(
    ("parameters", "told"),
    [(FROM_PROLIFIC, records.NO_PANEL_CONFIG), ({}, TOLD), ({}, PanelConfig(TOLD.codes, True))],
    ids=["no code was told", "a plain link", "a plain link, by the server"],
)
def test_nobody_is_sent_to_a_panel_that_does_not_expect_them(parameters, told):
    assert return_link(PROLIFIC, parameters, "done", told, "OWN") == NOWHERE


def test_who_declines_goes_back_with_the_code_that_says_so():
    back = return_link(PROLIFIC, FROM_PROLIFIC, "no_consent", TOLD)

    assert back["redirect_url"] == "https://app.prolific.com/submissions/complete?cc=NOPE77"


@pytest.mark.parametrize(
    "record",
    [PROLIFIC, PanelRecord("sona", evaluator="id", redirect="https://s.example/credit?code={id}")],
    ids=["without a code", "an address that gives credit"],
)
def test_an_outcome_without_a_code_leads_nowhere(record):
    parameters = {**FROM_PROLIFIC, "id": "7"}

    assert return_link(record, parameters, "unfit_device", TOLD) == NOWHERE


class TestConnect:
    """Its completion redirect credits the whole task; it has another one for who takes no part."""

    DONE = "https://connect.example/complete?code={code}"
    EARLY = "https://connect.example/partial?person={participantId}"

    def back(self, outcome, link=FROM_CONNECT, **entries):
        record = dataclasses.replace(CONNECT, redirect=self.DONE, codes=ALL_CODES, **entries)
        return return_link(record, link, outcome, records.NO_PANEL_CONFIG, "OWN")["redirect_url"]

    @pytest.mark.parametrize("outcome", ["no_consent", "unfit_device", "screened_out"])
    def test_nobody_but_who_is_done_is_credited(self, outcome):
        assert self.back(outcome) is None
        early = self.back(outcome, early_redirect=self.EARLY)
        assert early == "https://connect.example/partial?person=p1"

    def test_who_is_done_is_credited(self):
        assert self.back("done", early_redirect=self.EARLY) == "https://connect.example/complete?code=D"

    def test_who_did_not_come_from_there_is_not_sent_there(self):
        fixed = {"early_redirect": "https://connect.example/partial", "told_codes": False}

        assert self.back("no_consent", {}, **fixed) is None
        assert self.back("no_consent", **fixed) == "https://connect.example/partial"


def test_a_parameter_is_escaped_in_an_address():
    record = PanelRecord("sona", evaluator="sona_id", redirect="https://s.example/credit?code={sona_id}")

    back = return_link(record, {"sona_id": "5&credit=9#"}, "done", records.NO_PANEL_CONFIG, "OWN")

    assert back["redirect_url"] == "https://s.example/credit?code=5%26credit%3D9%23"
    assert return_link(record, {}, "done", records.NO_PANEL_CONFIG, "OWN") == NOWHERE


def test_a_form_goes_to_an_origin_that_the_record_allows():
    record = records.from_json({"like": "mturk", "form_origins": ["https://submit.example"]})

    back = return_link(record, SENT, "done", records.NO_PANEL_CONFIG, "OWN")

    assert back["form"] == {
        "action": "https://submit.example/mturk/externalSubmit",
        "fields": {"assignmentId": "a1", "completion_code": "OWN"},
    }


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "https://submit.example@evil.example", "https://submit.example.evil", ""],
)
def test_a_form_goes_to_no_other_origin(origin):
    record = records.from_json({"like": "mturk", "form_origins": ["https://submit.example"]})

    assert (
        return_link(record, {**SENT, "turkSubmitTo": origin}, "done", records.NO_PANEL_CONFIG, "OWN")
        == NOWHERE
    )


def test_a_preview_is_known_by_its_parameter():
    assert MTURK.is_preview({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"})
    assert not MTURK.is_preview({"assignmentId": "a1"})
    assert not SONA.is_preview({})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "lacks the entry 'name'"),
        ({"name": "x", "url": "y"}, "has an unknown entry 'url'"),
        ({"like": "nobody"}, "panel must be one of link, private, prolific"),
        ({"name": "x", "keeps": "a"}, "keeps must be a list of texts, not 'a'"),
        ({"name": "x", "codes": {"done": 5}}, "codes must be a table of texts"),
        ({"name": "x", "codes": {"finished": "C"}}, "a code must be for one of done, no_consent"),
        ({"name": "x", "private_links": "yes"}, "private_links must be true or false"),
        ({"name": "x", "evaluator": "a b"}, "a parameter must be a plain word"),
        ({"name": "x", "redirect": "https://{host}/done"}, "must start as https://panel.example/"),
        ({"name": "x", "redirect": "javascript:alert(1)"}, "must start as https://panel.example/"),
        ({"name": "x", "frame_origins": ["*"]}, "an origin must be of the form"),
        (
            {"name": "x", "frame_origins": ["https://a.example; script-src *"]},
            "an origin must be of the form",
        ),
        ({"name": "x", "preview": "yes"}, "preview must be of the form NAME=VALUE"),
    ],
)
def test_a_record_that_cannot_be_is_refused(data, message):
    with pytest.raises(InvalidInput, match=message):
        records.from_json(data)
