"""What the fake panel knows and does: studies, places, participants, and an account book of payments.

Facts follow Prolific's published reference: a study's places only grow, paying bonuses is asynchronous
and pays again when asked again, approving is idempotent, bonuses are handed in as whole currency and
shown in cents.
"""

import re
import secrets
import threading
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from random import Random, SystemRandom

STUDY_ACTIONS = {
    ("UNPUBLISHED", "PUBLISH"): "ACTIVE",
    ("ACTIVE", "PAUSE"): "PAUSED",
    ("ACTIVE", "STOP"): "AWAITING REVIEW",
    ("PAUSED", "START"): "ACTIVE",
    ("PAUSED", "STOP"): "AWAITING REVIEW",
}
CODE_ACTIONS = {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "FIXED_SCREEN_OUT_PAYMENT", "DYNAMIC_PAYMENT",
                "ADD_TO_PARTICIPANT_GROUP", "REMOVE_FROM_PARTICIPANT_GROUP", "REQUEST_RETURN"}  # fmt: skip
RETIRED = ("completion_code", "eligibility_requirements", "completion_option")
NEEDED = (
    "name", "description", "external_study_url", "prolific_id_option", "completion_codes",
    "total_available_places", "estimated_completion_time", "reward",
)  # fmt: skip
TAKEN = {"RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED", "PROCESSING"}
"""Places in these states are not open to others."""


class Refusal(Exception):
    """An answer of the API that is an error."""

    def __init__(self, status, title, detail):
        super().__init__(title)
        self.status, self.title, self.detail = status, title, detail


class Clock:
    """Real time that tests can advance; with a start it stands still until advanced."""

    def __init__(self, start=None):
        self._start, self._ahead = start, timedelta()

    def __call__(self):
        return (self._start or datetime.now(UTC)) + self._ahead

    def advance(self, **time):
        self._ahead += timedelta(**time)


@dataclass
class Place:
    """One participant's place in a study: what the API calls a submission."""

    id: str
    study: str
    participant: str
    status: str
    started_at: str
    completed_at: str | None = None
    entered_code: str | None = None
    return_requested: str | None = None


@dataclass(frozen=True)
class Payment:
    """A line of the account book: money that reached a participant."""

    kind: str
    """`reward`, `partial`, `screen_out` or `bonus`."""
    submission: str
    usd_cents: int
    at: str


@dataclass
class Bulk:
    """Bonuses handed in, to be paid when asked."""

    id: str
    study: str
    lines: list
    asked: int = 0


@dataclass
class Books:
    """The panel's own truth. Safe to use from many threads; every method may be called by a test."""

    clock: Clock = field(default_factory=Clock)
    token: str = field(default_factory=lambda: f"token-{secrets.token_hex(16)}")
    pay_delay: timedelta = timedelta()
    """How long after it was asked for a bonus reaches the participant."""
    fee: Fraction = Fraction(1, 3)
    ids: Random = field(default_factory=SystemRandom)
    balance_usd_cents: int | None = None
    """What is left on the researcher's account; None is no end of money."""

    def __post_init__(self):
        self.lock = threading.RLock()
        self.studies, self.places, self.bulks = {}, {}, {}
        self.book, self._due, self.watchers = [], [], []
        self.refusing_bulks = False

    def new_id(self):
        return f"{self.ids.getrandbits(96):024x}"

    # studies

    def create_study(self, data):
        with self.lock:
            self._check_study(data)
            study = {
                "internal_name": data["name"],
                "filters": [],
                "device_compatibility": ["desktop", "tablet", "mobile"],
                "is_custom_screening": False,
                **data,
                "id": self.new_id(),
                "status": "UNPUBLISHED",
                "date_created": self._at(),
            }
            self.studies[study["id"]] = study
            return study

    def study(self, id):
        with self.lock:
            if id not in self.studies:
                raise _not_found("study")
            study = self.studies[id]
            places = [place for place in self.places.values() if place.study == id]
            taken = sum(place.status in TAKEN for place in places)
            return {**study, "places_taken": taken, "number_of_submissions": len(places)}

    def change_study(self, id, changes):
        with self.lock:
            study = self.study(id)
            places = changes.get("total_available_places")
            if places is not None and places < study["total_available_places"]:
                detail = {"total_available_places": ["the number of places can only be increased"]}
                raise _bad(detail)
            allowed = {"total_available_places", "internal_name", "description", "completion_codes"}
            if study["status"] != "UNPUBLISHED" and set(changes) - allowed:
                raise _bad({name: ["cannot be changed after publishing"] for name in set(changes) - allowed})
            self.studies[id].update(changes)
            if places and study["status"] == "AWAITING REVIEW" and places > study["total_available_places"]:
                self._set_study(id, "ACTIVE")
            return self.study(id)

    def transition_study(self, id, action):
        with self.lock:
            now = self.study(id)["status"]
            if (now, action) not in STUDY_ACTIONS:
                raise Refusal(400, "Bad request", f"a study that is {now} cannot {action}")
            self._set_study(id, STUDY_ACTIONS[now, action])
            return self.study(id)

    def cost(self, id):
        """Return cents paid as rewards and as bonuses, without fees."""
        with self.lock:
            self.study(id)
            paid = Counter()
            for line in self.account():
                if self.places[line.submission].study == id:
                    paid["bonuses" if line.kind == "bonus" else "rewards"] += line.usd_cents
            return paid

    # places

    def take(self, study, participant=None):
        """Return the place that a participant takes, RESERVED; Refusal where none is free."""
        with self.lock:
            found = self.study(study)
            if found["status"] != "ACTIVE" or found["places_taken"] >= found["total_available_places"]:
                raise Refusal(400, "Bad request", "no place is free")
            participant = participant or self.new_id()
            if any(p.study == study and p.participant == participant for p in self.places.values()):
                raise Refusal(400, "Bad request", "the participant has had a place before")
            place = Place(self.new_id(), study, participant, "RESERVED", self._at())
            self.places[place.id] = place
            self._told(place)
            return place

    def start(self, id):
        self._move(id, {"RESERVED"}, "ACTIVE")

    def give_back(self, id):
        """A participant returns a place."""
        self._move(id, {"RESERVED", "ACTIVE", "AWAITING REVIEW"}, "RETURNED")

    def time_out(self, id):
        self._move(id, {"RESERVED", "ACTIVE"}, "TIMED-OUT")

    def reject(self, id):
        self._move(id, {"AWAITING REVIEW"}, "REJECTED")

    def submit(self, id, code, actor="participant", percentage=None):
        """Close a place with a completion code, and do what the code asks for."""
        with self.lock:
            place = self.place(id)
            if actor == "researcher" and place.entered_code == code:
                return place  # the transition is idempotent
            known = {c["code"]: c for c in self.studies[place.study]["completion_codes"]}
            if actor == "researcher" and (code not in known or _actor(known[code]) != "researcher"):
                raise _bad({"completion_code": ["must be a code of the study whose actor is researcher"]})
            if place.status not in {"RESERVED", "ACTIVE", "TIMED-OUT"}:
                raise Refusal(400, "Bad request", f"a submission that is {place.status} cannot COMPLETE")
            place.entered_code, place.completed_at = code, self._at()
            meant = known.get(code) if _actor(known.get(code, {})) == actor else None
            actions = {a["action"]: a for a in meant["actions"]} if meant else {}
            if "FIXED_SCREEN_OUT_PAYMENT" in actions:
                self._pay("screen_out", id, actions["FIXED_SCREEN_OUT_PAYMENT"]["fixed_screen_out_reward"])
                self._set(place, "SCREENED OUT")
            elif "DYNAMIC_PAYMENT" in actions:
                if not percentage or not 8 <= percentage <= 99:
                    raise _bad({"completion_code_data": ["percentage_of_reward must be between 8 and 99"]})
                self._pay("partial", id, round(self._reward(place) * percentage / 100))
                self._set(place, "PARTIALLY APPROVED")
            elif "REQUEST_RETURN" in actions:
                place.return_requested = self._at()
                self._set(place, "AWAITING REVIEW")
            else:
                self._set(place, "AWAITING REVIEW")
                if "AUTOMATICALLY_APPROVE" in actions:
                    self.approve(id)
            return place

    def approve(self, id):
        with self.lock:
            place = self.place(id)
            if place.status == "APPROVED":
                return place
            if place.status != "AWAITING REVIEW":
                raise Refusal(400, "Bad request", f"a submission that is {place.status} cannot APPROVE")
            self._pay("reward", id, self._reward(place))
            self._set(place, "APPROVED")
            return place

    def place(self, id):
        with self.lock:
            if id not in self.places:
                raise _not_found("submission")
            return self.places[id]

    def places_of(self, study):
        with self.lock:
            self.study(study)
            return [place for place in self.places.values() if place.study == study]

    def link(self, id):
        """Return the address that a participant is sent to, with the panel's parameters filled in."""
        place = self.place(id)
        url = self.studies[place.study]["external_study_url"]
        names = {"PROLIFIC_PID": place.participant, "STUDY_ID": place.study, "SESSION_ID": place.id}
        for name, value in names.items():
            url = url.replace("{{%" + name + "%}}", value)
        return url

    # money

    def set_up_bonuses(self, study, csv):
        with self.lock:
            self.study(study)
            lines, unknown = [], []
            for row in csv.strip().split("\n"):
                id, _, amount = row.partition(",")
                known = id in self.places and self.places[id].study == study
                if not known:
                    unknown.append(id)
                elif not re.fullmatch(r"\d+(\.\d{1,2})?", amount) or Decimal(amount) <= 0:
                    raise _bad({"csv_bonuses": [f"not an amount: {amount}"]})
                else:
                    lines.append((id, int(Decimal(amount) * 100)))
            if unknown:
                raise _bad({"csv_bonuses": [f"did not take part in the study: {', '.join(unknown)}"]})
            bulk = Bulk(self.new_id(), study, lines)
            self.bulks[bulk.id] = bulk
            return bulk

    def pay_bulk(self, id):
        """Have bonuses paid once more: asked twice, it pays twice."""
        with self.lock:
            if id not in self.bulks:
                raise _not_found("bulk bonus payment")
            total = sum(cents for _, cents in self.bulks[id].lines)
            if self.refusing_bulks or self.lacks(total):
                raise Refusal(400, "Bad request", "the balance does not cover these bonuses")
            if self.balance_usd_cents is not None:
                self.balance_usd_cents -= self.with_fee(total)
            self.bulks[id].asked += 1
            due = self.clock() + self.pay_delay
            self._due += [(due, submission, cents) for submission, cents in self.bulks[id].lines]

    def with_fee(self, cents):
        return cents + -(-cents * self.fee.numerator // self.fee.denominator)

    def lacks(self, cents):
        return self.balance_usd_cents is not None and self.with_fee(cents) > self.balance_usd_cents

    def account(self):
        """Return the account book, with what has come due meanwhile."""
        with self.lock:
            now, later = self.clock(), []
            for due, submission, cents in self._due:
                if due <= now:
                    self.book.append(Payment("bonus", submission, cents, due.isoformat()))
                else:
                    later.append((due, submission, cents))
            self._due = later
            return list(self.book)

    def bonuses(self, submission):
        return [p.usd_cents for p in self.account() if (p.kind, p.submission) == ("bonus", submission)]

    def paid(self):
        """Return cents by submission and kind, with all that is still on its way."""
        with self.lock:
            paid = Counter()
            for line in self.account():
                paid[line.submission, line.kind] += line.usd_cents
            for _, submission, cents in self._due:
                paid[submission, "bonus"] += cents
            return dict(paid)

    def total_with_fees(self):
        """Return cents that left the researcher's account, or will."""
        return sum(self.with_fee(cents) for cents in self.paid().values())

    def _pay(self, kind, submission, cents):
        self.book.append(Payment(kind, submission, cents, self._at()))

    def _reward(self, place):
        return self.studies[place.study]["reward"]

    def _move(self, id, before, after):
        with self.lock:
            place = self.place(id)
            if place.status not in before:
                raise Refusal(400, "Bad request", f"a submission that is {place.status} cannot be {after}")
            self._set(place, after)

    def _set(self, place, status):
        place.status = status
        self._told(place)
        study = self.study(place.study)
        if study["status"] == "ACTIVE" and study["places_taken"] >= study["total_available_places"] and all(
            p.status not in {"RESERVED", "ACTIVE"} for p in self.places.values() if p.study == place.study
        ):  # fmt: skip
            self._set_study(place.study, "AWAITING REVIEW")

    def _told(self, place):
        for watcher in self.watchers:
            watcher("submission.status.change", place.id, place.status, place)

    def _set_study(self, id, status):
        self.studies[id]["status"] = status
        for watcher in self.watchers:
            watcher("study.status.change", id, status, None)

    def _check_study(self, data):
        wrong = {name: ["this field is required"] for name in NEEDED if name not in data}
        wrong.update({name: ["this field is no longer supported"] for name in RETIRED if name in data})
        if wrong:
            raise _bad(wrong)
        for name in ("reward", "total_available_places"):
            if type(data[name]) is not int or data[name] < 1:
                raise _bad({name: ["must be a whole number of at least 1"]})
        codes = data["completion_codes"]
        if len({c["code"] for c in codes}) != len(codes):
            raise _bad({"completion_codes": ["codes must be unique within the study"]})
        for code in codes:
            for action in code["actions"]:
                if action["action"] not in CODE_ACTIONS:
                    raise _bad({"completion_codes": [f"unknown action {action['action']}"]})
                if action["action"] == "FIXED_SCREEN_OUT_PAYMENT" and not (
                    0 < action.get("fixed_screen_out_reward", 0) < data["reward"] and action.get("slots")
                ):
                    raise _bad({"completion_codes": ["a screen-out reward is less than the reward"]})
        hourly = data["reward"] * 60 / data["estimated_completion_time"]
        if hourly < 800:
            raise _bad({"reward": [f"pays {hourly / 100:.2f} an hour; the least is 8.00"]})

    def _at(self):
        return self.clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _actor(code):
    return code.get("actor", "participant")


def _bad(detail):
    return Refusal(400, "Validation error", detail)


def _not_found(what):
    return Refusal(404, "Not found", f"no {what} with that id")
