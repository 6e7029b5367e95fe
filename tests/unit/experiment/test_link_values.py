"""What a panel did not fill in is nobody's id, and every id stays one."""

import base64
import uuid
from random import Random
from urllib.parse import quote

import pytest

from backend.experiment.link_values import is_unfilled
from backend.experiment.panel import BUILT_IN

NAMES = [
    "PROLIFIC_PID", "SESSION_ID", "STUDY_ID", "participantId", "assignmentId", "id", "workerId", "DEVICE",
    "CASEID", "survey_code", "contact.ExternalDataReference", "e://Field/x", "record-name",
    "TOKEN:ATTRIBUTE_1", "first name",
]  # fmt: skip
FORMS = [
    "{{%{}%}}", "%{}%", "[{}]", "${{{}}}", "<{}>", "{{{}}}", "{{{{{}}}}}", "{{{{ {} }}}}", "[[{}]]",
    "{{${}}}",
    "#{{{}}}", "%{{{}}}", "<%= {} %>", "{{% {} %}}", "*|{}|*", "%%{}%%", "@@{}@@", "##{}##", "#{}#", "«{}»",
    "|{}|", "p-{{{{{}}}}}", "${{{}}}-1",
]  # fmt: skip
EMPTY = [
    "undefined", "null", "NULL", "None", "NaN", "(null)", "[object Object]", "ASSIGNMENT_ID_NOT_AVAILABLE",
    "PROLIFIC_PID", "prolific_pid", "$PROLIFIC_PID", "$user", ":id", "__PROLIFIC_PID__", "{}", "[]", "%",
    "-", "???", "YOUR_ID_HERE", "INSERT-ID", "{{%PROLIFIC_PID%", "\ufffdVICE%",
]  # fmt: skip


@pytest.mark.parametrize("times", range(3))
def test_a_placeholder_is_nobodys_id_also_when_it_is_encoded(times):
    values = EMPTY + [form.format(name) for form in FORMS for name in NAMES]
    for value in values:
        sent = value
        for _ in range(times):
            sent = quote(sent, safe="")
        assert is_unfilled(sent), (value, sent)
        assert is_unfilled(f" {sent} "), (value, sent)


def test_names_of_the_panels_own_parameters_are_nobodys_id():
    assert not is_unfilled("lab_member")
    assert is_unfilled("lab_member", ["labMember"])
    for record in BUILT_IN.values():
        assert all(is_unfilled(name) for name in record.parameters)


def ids(random: Random):
    """Yield ids as panels and laboratories give them out."""
    upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    person = random.choice(["anna", "o'neil", "jürgen", "李", "none.other", "nullberg", "idris", "pidgeon"])
    number = random.randrange(10, 10**7)
    yield f"{random.getrandbits(96):024x}"
    yield str(number)
    yield "A" + "".join(random.choices(upper, k=13))
    yield "".join(random.choices(upper, k=30))
    yield str(identity := uuid.UUID(int=random.getrandbits(128)))
    yield f"{{{str(identity).upper()}}}"
    yield identity.hex
    yield f"{person}{number}@example.org"
    yield f"{person}+tag%{number}@example.org"
    yield f"<{person}@example.org>"
    yield base64.urlsafe_b64encode(random.randbytes(16)).decode().rstrip("=")
    yield base64.b64encode(random.randbytes(15)).decode()
    yield f"{person}[{number}]"
    yield f"{person}({number})"
    yield f"[{number}]"
    yield f"#{number}"
    yield f"P-{number}"
    yield f"id{number}"
    yield f"participant_{number}"
    yield f"{person} {number}"
    yield f"urn:person:{number}"
    yield f"auth0|{random.getrandbits(96):024x}"
    yield f"https://orcid.org/0000-0002-{number:08d}"
    yield random.choice(["7", "nan", "na", "Nan Smith", "nil.s", "e1", "x", "Anon-Y", "@john", "100%", "$5"])


def test_every_id_stays_one():
    random = Random(41)
    for _ in range(400):
        for value in ids(random):
            assert not is_unfilled(value), value
            assert not is_unfilled(quote(value, safe="")), value
