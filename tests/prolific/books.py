"""What the fake panel knows and does: studies, places, participants, and an account book of payments.

`README.md` beside this file says which fact about Prolific each rule comes from.
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
from urllib.parse import quote

from . import studies as rules
from .hooks import Hooks
from .refusals import Refusal, bad, not_for_you, not_found, not_possible
from .signing import Signer
from .wallets import Project, Workspace

TAKEN = {"RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED", "PROCESSING"}
"""Places in these states are not open to others."""
OPEN = {"RESERVED", "ACTIVE"}
MOST_BONUSES, MOST_APPROVALS = 200, 1000
REVIEW_DAYS = 21


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
    number: int
    """How many places were taken before."""
    began: datetime
    completed: datetime | None = None
    entered_code: str | None = None
    return_requested: str | None = None

    @property
    def completed_at(self):
        return _iso(self.completed) if self.completed else None


@dataclass(frozen=True)
class Payment:
    """A line of the account book: money that reached a participant."""

    kind: str
    """`reward`, `partial`, `screen_out` or `bonus`."""
    submission: str
    cents: int
    """In the currency of the study's workspace."""
    at: str
    is_by_panel: bool = False
    """Whether nobody asked for it through the API: the panel did it by itself, or a person there."""


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
    approve_delay: timedelta = timedelta()
    """How long after it was asked for a bulk approval is done."""
    fee: Fraction = Fraction(1, 3)
    vat: Fraction = Fraction(0)
    currency: str = "USD"
    features: frozenset = frozenset()
    ids: Random = field(default_factory=SystemRandom)
    unknown_at_first: int = 1
    """How often the API does not know an id yet, just after it was made."""
    shifts: float = 0.5
    """How likely it is that a row moves over the border of two pages while a list is read."""
    largest_page: int = 100
    """Rows that come where 100 are asked for; fewer make lists of many pages out of few rows."""

    def __post_init__(self):
        self.lock = threading.RLock()
        self.studies, self.places, self.bulks, self.workspaces = {}, {}, {}, {}
        self.book, self._bonuses_due, self._approvals_due, self.watchers = [], [], [], []
        self.test_participants, self.fresh = {}, Counter()
        self.refusing_bulks = False
        self.signer, self.hooks = Signer(), Hooks(self)
        self.workspace = self.add_workspace("First", self.currency)
        self._number = self._single_approvals = 0

    def new_id(self):
        return f"{self.ids.getrandbits(96):024x}"

    def rotate_token(self):
        """Delete the token and make another one, as a person does at the panel."""
        self.token = f"token-{secrets.token_hex(16)}"
        return self.token

    # workspaces

    def add_workspace(self, title, currency="USD", projects=("First project",)):
        with self.lock:
            made = [Project(self.new_id(), name) for name in projects]
            workspace = Workspace(
                self.new_id(), title, currency, self.fee, self.vat, None, self.features, made
            )
            self.workspaces[workspace.id] = workspace
            return workspace

    def workspace_of(self, project):
        for workspace in self.workspaces.values():
            if any(project == one.id for one in workspace.projects):
                return workspace
        raise not_found("project")

    def known_workspace(self, id):
        if id not in self.workspaces:
            raise not_found("workspace")
        return self.workspaces[id]

    def wallet_of(self, study):
        return self.workspace_of(self.studies[study]["project"])

    def reserved(self, workspace, but=None):
        """Return what is assigned to studies that are published."""
        return sum(
            self._reserve(study)
            for id, study in self.studies.items()
            if id != but and self.wallet_of(id) is workspace
        )

    def _reserve(self, study):
        if study["status"] in ("UNPUBLISHED", "SCHEDULED", "COMPLETED") or study["is_test"]:
            return 0
        wallet, counts = self.wallet_of(study["id"]), self._counts(study["id"])
        open_places = study["total_available_places"] - sum(counts[status] for status in TAKEN)
        to_come = counts["RESERVED"] + counts["ACTIVE"] + counts["AWAITING REVIEW"]
        if study["status"] != "AWAITING REVIEW":
            to_come += max(open_places, 0)
        reserved = to_come * wallet.with_fee(study["reward"])
        screen_out = rules.screen_out_of(study)
        if screen_out and study["status"] != "AWAITING REVIEW":
            left = max(screen_out[1]["slots"] - counts["SCREENED OUT"], 0)
            reserved += left * wallet.with_fee(screen_out[1]["fixed_screen_out_reward"])
        return reserved

    # studies

    def create_study(self, data):
        with self.lock:
            project = data.get("project") or next(iter(self.workspaces.values())).projects[0].id
            rules.check(data, self.workspace_of(project))
            study = {
                "internal_name": None,
                "filters": [],
                "device_compatibility": ["desktop", "tablet", "mobile"],
                "maximum_allowed_time": rules.LONGEST_MINUTES,
                "is_external_study_url_secure": False,
                **data,
                "id": self.new_id(),
                "project": project,
                "status": "UNPUBLISHED",
                "date_created": self._at(),
                "is_test": False,
            }
            self.studies[study["id"]] = study
            self.is_fresh(study["id"])
            return study

    def create_test_study(self, id):
        """Publish a copy of a draft to the workspace's test participants."""
        with self.lock:
            draft = self.study(id)
            if "test_participants" not in self.wallet_of(id).features:
                raise not_for_you("test studies")
            if draft["status"] != "UNPUBLISHED":
                raise not_possible("the study must be a draft")
            if not self.test_participants:
                raise not_possible("there is no test participant")
            test = {**self.studies[id], "id": self.new_id(), "status": "ACTIVE", "is_test": True}
            self.studies[test["id"]] = test
            return test

    def add_test_participant(self, email):
        with self.lock:
            if all("test_participants" not in w.features for w in self.workspaces.values()):
                raise not_for_you("test participants")
            if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", email or ""):
                raise bad({"email": ["Enter a valid email address."]})
            if email in self.test_participants.values():
                raise bad({"email": ["is registered already"]})
            participant = self.new_id()
            self.test_participants[participant] = email
            return participant

    def study(self, id):
        with self.lock:
            if id not in self.studies:
                raise not_found("study")
            self.tick()
            study = self.studies[id]
            counts = self._counts(id)
            taken = sum(counts[status] for status in TAKEN)
            return {**study, "places_taken": taken, "number_of_submissions": sum(counts.values())}

    def seen_study(self, id):
        """Return a study as the API shows it; who looks again sees that it has been published."""
        with self.lock:
            study = self.study(id)
            if study["status"] == "PUBLISHING":
                self._set_study(id, "ACTIVE")
            return study

    def change_study(self, id, changes):
        with self.lock:
            study = self.study(id)
            rules.check_changes(study, changes, self.wallet_of(id))
            changes, codes = dict(changes), changes.get("completion_codes")
            if codes is not None and study["status"] != "UNPUBLISHED":
                del changes["completion_codes"]
                rules.screen_out_of(study)[1]["slots"] = codes[0]["actions"][0]["slots"]
            places = changes.get("total_available_places")
            has_grown = places is not None and places > study["total_available_places"]
            before = self.studies[id]
            self.studies[id] = {**before, **changes}
            if study["status"] != "UNPUBLISHED" and not self._is_funded(id):
                self.studies[id] = before
                raise not_possible("the balance of the workspace does not cover these places")
            if has_grown and study["status"] in ("AWAITING REVIEW", "COMPLETED"):
                self._set_study(id, "ACTIVE")
            return self.study(id)

    def drop_study(self, id):
        with self.lock:
            if self.study(id)["status"] != "UNPUBLISHED":
                raise not_possible("only a draft can be deleted")
            del self.studies[id]

    def transition_study(self, id, action):
        with self.lock:
            now = self.study(id)["status"]
            after = rules.transition(now, action)
            if action == "PUBLISH":
                self.studies[id]["status"] = after
                if not self._is_funded(id):
                    self.studies[id]["status"] = now
                    raise not_possible("the balance of the workspace does not cover the study")
            if action == "START" and self._are_slots_used(id):
                raise not_possible("all screen-out slots are used; raise them first")
            self._set_study(id, after)
            return self.study(id)

    def _is_funded(self, id):
        wallet = self.wallet_of(id)
        return not wallet.lacks(self._reserve(self.studies[id]), self.reserved(wallet, but=id))

    def _are_slots_used(self, id):
        screen_out = rules.screen_out_of(self.studies[id])
        return screen_out is not None and self._counts(id)["SCREENED OUT"] >= screen_out[1]["slots"]

    def projected(self, id):
        """Return cents in rewards that a study costs once every place and slot is taken."""
        with self.lock:
            study = self.study(id)
            screen_out = rules.screen_out_of(study)
            rest = screen_out[1]["slots"] * screen_out[1]["fixed_screen_out_reward"] if screen_out else 0
            return study["total_available_places"] * study["reward"] + rest

    def cost(self, id):
        """Return cents paid as rewards and as bonuses, without fees."""
        with self.lock:
            self.study(id)
            paid = Counter()
            for line in self.account():
                if self.places[line.submission].study == id:
                    paid["bonuses" if line.kind == "bonus" else "rewards"] += line.cents
            return paid

    # places

    def take(self, study, participant=None):
        """Return the place that a participant takes, RESERVED; Refusal where none is free."""
        with self.lock:
            self.seen_study(study)
            found = self.study(study)
            if found["status"] != "ACTIVE" or found["places_taken"] >= found["total_available_places"]:
                raise not_possible("no place is free")
            if found["is_test"] != (participant in self.test_participants):
                raise not_possible("test studies are for test participants")
            participant = participant or self.new_id()
            if any(p.study == study and p.participant == participant for p in self.places.values()):
                raise not_possible("the participant has had a place before")
            self._number += 1
            at = self.clock()
            started_at = _iso(at + timedelta(microseconds=self._number))
            place = Place(self.new_id(), study, participant, "RESERVED", started_at, self._number, at)
            self.places[place.id] = place
            self.is_fresh(place.id)
            self._told(place)
            return place

    def start(self, id):
        self._move(id, {"RESERVED"}, "ACTIVE")

    def give_back(self, id):
        """A participant returns a place."""
        self._move(id, {"RESERVED", "ACTIVE", "AWAITING REVIEW"}, "RETURNED")

    def time_out(self, id):
        self._move(id, OPEN, "TIMED-OUT")

    def reject(self, id):
        self._move(id, {"AWAITING REVIEW"}, "REJECTED")

    def ask_to_return(self, id, reasons):
        with self.lock:
            place = self.place(id)
            if not isinstance(reasons, list) or not all(isinstance(r, str) and r for r in reasons or [0]):
                raise bad({"request_return_reasons": ["this field is required"]})
            if place.status not in {"ACTIVE", "AWAITING REVIEW"}:
                raise not_possible(f"a submission that is {place.status} cannot be asked for")
            place.return_requested = place.return_requested or self._at()
            return place

    def submit(self, id, code, actor="participant", percentage=None):
        """Close a place with a completion code, and do what the code asks for."""
        with self.lock:
            place = self.place(id)
            if actor == "researcher" and place.entered_code == code:
                return place  # the transition is idempotent
            known = {c["code"]: c for c in self.studies[place.study]["completion_codes"]}
            if actor == "researcher" and (code not in known or _actor(known[code]) != "researcher"):
                raise bad({"completion_code": ["must be a code of the study whose actor is researcher"]})
            if place.status not in {*OPEN, "TIMED-OUT"}:
                raise not_possible(f"a submission that is {place.status} cannot COMPLETE")
            meant = known.get(code) if _actor(known.get(code, {})) == actor else None
            actions = {a["action"]: a for a in meant["actions"]} if meant else {}
            if "DYNAMIC_PAYMENT" in actions and not (percentage and 8 <= percentage <= 99):
                raise bad({"completion_code_data": ["percentage_of_reward must be between 8 and 99"]})
            place.entered_code, place.completed = code, self.clock()
            if rules.SCREEN_OUT in actions:
                self._screen_out(place, actions[rules.SCREEN_OUT])
            elif "DYNAMIC_PAYMENT" in actions:
                self._pay("partial", id, round(self._reward(place) * percentage / 100))
                self._set(place, "PARTIALLY APPROVED")
            else:
                if "REQUEST_RETURN" in actions:
                    place.return_requested = self._at()
                self._set(place, "AWAITING REVIEW")
                if "AUTOMATICALLY_APPROVE" in actions:
                    self.approve(id)
            return place

    def _screen_out(self, place, action):
        self._pay("screen_out", place.id, action["fixed_screen_out_reward"])
        self._set(place, "SCREENED OUT")
        if self.studies[place.study]["status"] == "ACTIVE" and self._are_slots_used(place.study):
            self._set_study(place.study, "PAUSED")

    def approve(self, id, is_by_panel=True):
        """Approve a submission, as a person does it at the panel."""
        with self.lock:
            place = self.place(id)
            if place.status == "APPROVED":
                return place
            if place.status != "AWAITING REVIEW":
                raise not_possible(f"a submission that is {place.status} cannot APPROVE")
            self._pay("reward", id, self._reward(place), is_by_panel)
            self._set(place, "APPROVED")
            return place

    def approve_one(self, id):
        """Approve as the API does it one by one: such calls contend for the wallet."""
        with self.lock:
            self._single_approvals += 1
            if self._single_approvals % 3 == 0:
                after = [("Retry-After", "1")] if self._single_approvals % 2 else []
                raise Refusal(429, "Too many requests", "the wallet is locked by another payment", after)
            return self.approve(id, is_by_panel=False)

    def approve_many(self, ids):
        """Take on to approve; it is done later, of those that await review by then."""
        with self.lock:
            if not isinstance(ids, list) or not ids or len(ids) > MOST_APPROVALS:
                raise bad({"submission_ids": [f"must name 1 to {MOST_APPROVALS} submissions"]})
            unknown = [id for id in ids if id not in self.places]
            if unknown:
                raise bad({"submission_ids": [f"not found: {', '.join(unknown)}"]})
            self._approvals_due.append((self.clock() + self.approve_delay, tuple(ids)))

    def place(self, id):
        with self.lock:
            if id not in self.places:
                raise not_found("submission")
            self.tick()
            return self.places[id]

    def places_of(self, study):
        with self.lock:
            self.study(study)
            return [place for place in self.places.values() if place.study == study]

    def link(self, id):
        """Return the address that a participant is sent to, with the panel's parameters filled in."""
        place = self.place(id)
        study = self.studies[place.study]
        names = {"PROLIFIC_PID": place.participant, "STUDY_ID": place.study, "SESSION_ID": place.id}
        url = study["external_study_url"]
        for name, value in names.items():
            url = url.replace("{{%" + name + "%}}", quote(value, safe=""))
        if study["is_external_study_url_secure"]:
            url = self.signer.signed(url, place.id, self.wallet_of(place.study).id, self.clock())
        return url

    def known(self, id):
        """Refuse an id that was made a moment ago; asked again, it is known."""
        with self.lock:
            if self.fresh[id] > 0:
                self.fresh[id] -= 1
                raise not_found("resource")
            return id

    def is_fresh(self, id):
        self.fresh[id] = self.unknown_at_first

    # money

    def set_up_bonuses(self, study, csv):
        with self.lock:
            self.study(study)
            rows = csv.removesuffix("\n").split("\n") if isinstance(csv, str) else []
            if not rows or len(rows) > MOST_BONUSES:
                raise bad({"csv_bonuses": [f"must have 1 to {MOST_BONUSES} rows"]})
            lines, unknown = [], []
            for row in rows:
                id, _, amount = row.partition(",")
                if not re.fullmatch(r"\d+(\.\d{1,2})?", amount) or Decimal(amount) <= 0:
                    raise bad({"csv_bonuses": [f"not an amount: {amount}"]})
                if id not in self.places or self.places[id].study != study:
                    unknown.append(id)
                lines.append((id, int(Decimal(amount) * 100)))
            if unknown:
                raise bad({"csv_bonuses": [f"did not take part in the study: {', '.join(unknown)}"]})
            bulk = Bulk(self.new_id(), study, lines)
            self.bulks[bulk.id] = bulk
            self.is_fresh(bulk.id)
            return bulk

    def pay_bulk(self, id):
        """Have bonuses paid once more: asked twice, it pays twice."""
        with self.lock:
            if id not in self.bulks:
                raise not_found("bulk bonus payment")
            bulk = self.bulks[id]
            wallet = self.wallet_of(bulk.study)
            total = sum(wallet.with_fee(cents) for _, cents in bulk.lines)
            if self.refusing_bulks or wallet.lacks(total, self.reserved(wallet)):
                raise not_possible("the balance does not cover these bonuses")
            wallet.spend(total)
            bulk.asked += 1
            due = self.clock() + self.pay_delay
            self._bonuses_due += [(due, submission, cents) for submission, cents in bulk.lines]

    def tick(self):
        """Do what has come due: bonuses, bulk approvals, time that ran out, reviews that nobody made."""
        with self.lock:
            now = self.clock()
            self._bonuses_due = [line for line in self._bonuses_due if not self._arrives(line, now)]
            due = [ids for at, ids in self._approvals_due if at <= now]
            self._approvals_due = [(at, ids) for at, ids in self._approvals_due if at > now]
            for id in (id for ids in due for id in ids):
                if self.places[id].status == "AWAITING REVIEW":
                    self.approve(id, is_by_panel=False)
            for place in list(self.places.values()):
                self._age(place, now)

    def _arrives(self, line, now):
        due, submission, cents = line
        if due <= now:
            self.book.append(Payment("bonus", submission, cents, _iso(due)))
        return due <= now

    def _age(self, place, now):
        if place.status in OPEN:
            minutes = self.studies[place.study]["maximum_allowed_time"]
            if now - place.began > timedelta(minutes=minutes):
                self._set(place, "TIMED-OUT")
        elif place.status == "AWAITING REVIEW" and now - place.completed >= timedelta(days=REVIEW_DAYS):
            self._pay("reward", place.id, self._reward(place), is_by_panel=True)
            self._set(place, "APPROVED")

    def account(self):
        """Return the account book, with what has come due meanwhile."""
        with self.lock:
            self.tick()
            return list(self.book)

    def bonuses(self, submission):
        """Return what the API lists as bonuses: a screen-out payment is among them."""
        kinds = ("bonus", "screen_out")
        return [p.cents for p in self.account() if p.submission == submission and p.kind in kinds]

    def paid(self):
        """Return cents by submission and kind, with all that is still on its way."""
        with self.lock:
            paid = Counter()
            for line in self.account():
                paid[line.submission, line.kind] += line.cents
            for _, submission, cents in self._bonuses_due:
                paid[submission, "bonus"] += cents
            return dict(paid)

    def total_with_fees(self, study=None, is_by_panel=None):
        """Return cents that left the researcher's account for a study, or all, or will.

        Args:
            is_by_panel: only what the panel paid by itself, or only the rest.
        """
        with self.lock:
            paid = [p for p in self.account() if is_by_panel in (None, p.is_by_panel)]
            lines = [(p.submission, p.cents) for p in paid]
            lines += [(id, cents) for _, id, cents in self._bonuses_due if is_by_panel is not True]
            return sum(
                self.wallet_of(self.places[submission].study).with_fee(cents)
                for submission, cents in lines
                if study in (None, self.places[submission].study)
            )

    def _pay(self, kind, submission, cents, is_by_panel=False):
        place = self.places[submission]
        if self.studies[place.study]["is_test"]:
            return  # a test participant cannot cash out
        wallet = self.wallet_of(place.study)
        wallet.spend(wallet.with_fee(cents))
        self.book.append(Payment(kind, submission, cents, self._at(), is_by_panel))

    def _reward(self, place):
        return self.studies[place.study]["reward"]

    def _counts(self, study):
        return Counter(place.status for place in self.places.values() if place.study == study)

    def _move(self, id, before, after):
        with self.lock:
            place = self.place(id)
            if place.status not in before:
                raise not_possible(f"a submission that is {place.status} cannot be {after}")
            self._set(place, after)

    def _set(self, place, status):
        place.status = status
        self._told(place)
        study, counts = self.studies[place.study], self._counts(place.study)
        taken = sum(counts[state] for state in TAKEN)
        is_over = not any(counts[state] for state in OPEN)
        if study["status"] == "ACTIVE" and taken >= study["total_available_places"] and is_over:
            self._set_study(place.study, "AWAITING REVIEW")
        if study["status"] == "AWAITING REVIEW" and is_over and not counts["AWAITING REVIEW"]:
            self._set_study(place.study, "COMPLETED")

    def _told(self, place):
        for watcher in self.watchers:
            watcher("submission.status.change", place.id, place.status, place)

    def _set_study(self, id, status):
        self.studies[id]["status"] = status
        for watcher in self.watchers:
            watcher("study.status.change", id, status, None)

    def _at(self):
        return _iso(self.clock())


def _iso(at):
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _actor(code):
    return code.get("actor", "participant")
