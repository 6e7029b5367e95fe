"""Why an amount is owed, paid or closed, in words for the researcher; nothing is written.

The words have pseudonyms and sessions, and none of the panel's ids. `docs/paying.md` has the model: every
state, and what moves it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from backend.experiment.money import format_money
from backend.experiment.records import Session
from backend.experiment.session import (
    BROKEN_OFF,
    CLOSED,
    CLOSED_EARLY,
    LAPSED,
    Cursor,
    not_sure_answers,
    right_answers,
    total_trials,
)
from backend.foundation.timestamps import readable
from backend.panels.api import COMPLETABLE
from backend.payment import accounts, automatic, ledger
from backend.payment.ledger import APPROVED, GONE, LOST, OPEN, PARTS, REST, WAITED, WITHDRAWN, Account, Part
from backend.payment.people import Case, Known, called
from backend.studies.places_given_back import given_back
from backend.studies.retainer import is_waiting

WHYS = {
    "finished": "finished",
    "ended": "closed early, and paid in full",
    BROKEN_OFF: "closed early, and paid in part",
    WAITED: "waited to be called",
    REST: "went on after the session was owed, or paid, as one that broke off",
    WITHDRAWN: "withdrew, which is paid as a bonus once the submission is returned",
    "declined": "declined to take part: nobody is owed a session",
    "unfit_device": "had a device that cannot show the task: nobody is owed a session",
    "screened_out": "was screened out by the qualification",
    "unfinished": "completed the submission without having finished here",
    "no_session": "has no session here",
}
"""The reasons of accounts; any other is that of a researcher for a session that broke off."""
_BROKE_OFF = ("--broke-off WHO=REASON --yes",)
_CLOSE = ("--close WHO=REASON",)
_FROM_LIST = ("--panel link -o owed.csv", "--panel link --mark-paid owed.csv", *_CLOSE)
_YES = ("--yes",)


@dataclass(frozen=True)
class Said:
    """What is said about one thing."""

    about: str
    words: str


@dataclass(frozen=True)
class Explanation:
    """What is said of a person's account, or of the lack of one."""

    evaluator: str
    said: tuple[Said, ...]


@dataclass(frozen=True)
class _Outlook:
    """A part's state in words, what happens next, and what a researcher may do now."""

    state: str
    next: str = ""
    options: tuple[str, ...] = ()
    """Options of `openhype pay STUDY`, with WHO for the pseudonym."""


def explain(known: Known, who: str) -> list[Explanation]:
    """Return why a person is owed what, account by account; errors and `who` as for `people.called`."""
    words = _Words(known)
    return [Explanation(case.evaluator, tuple(words.of(case))) for case in called(known, who)]


class _Words:
    """The sentences about the people of one study."""

    def __init__(self, known: Known):
        self._known, self._study, self._pay = known, known.study, known.study.protocol.pay
        store, name = known.store, known.study.name
        funds = accounts.funds(store, name)[1]
        limits = accounts.in_force(store, name, funds)
        self._due = {(key, part) for key, part, _ in ledger.due(known.accounts, limits, known.statuses)}
        self._stored = accounts.accounts(store, name)
        self._payments = {one.id: one for _, one in accounts.payments(store, name)}
        self._given_back = given_back(store, known.study)
        is_automatic = automatic.approval(store, known.study) is not None
        when = f" at {funds.paid_from}," if funds.paid_from else ", within the hour," if is_automatic else ""
        self._run = f"the next run{when}"
        self._by_server = bool((accounts.recruited(store, name) or {}).get("by_server"))

    def of(self, case: Case) -> Iterator[Said]:
        """Yield what is said, in the order in which a reader asks."""
        account = case.account
        yield Said("who", case.evaluator + (f", session {case.session_id}" if case.session_id else ""))
        yield Said("did", "; ".join(self._did(case)))
        yield Said("owed", self._arithmetic(case, account) if account else self._nothing(case))
        outlooks = self._outlooks(case, account) if account else {}
        for part, outlook in outlooks.items():
            yield Said(part, outlook.state)
        if case.place or (account and account.submission):
            yield Said("at the panel", self._at_panel(case))
        for next in dict.fromkeys(one.next for one in outlooks.values() if one.next):
            yield Said("next", next)
        options = [option for one in outlooks.values() for option in one.options]
        if case.session and not account and case.session[1].state != BROKEN_OFF:
            options = [*_BROKE_OFF]
        for option in dict.fromkeys(options):
            command = f"openhype pay {self._study.name} {option.replace('WHO', case.evaluator)}"
            yield Said("you may", command)

    # what was done

    def _did(self, case: Case) -> Iterator[str]:
        account = case.account
        if why := account.why if account else case.why:
            yield WHYS.get(why, f"broke off, through no fault of the evaluator, as you said: {why}")
        if account and account.why in CLOSED_EARLY:
            yield account.reason.partition(": ")[2]
        if account and account.fault:
            yield f"had been said to have broken off: {account.fault}"
        if case.wait:
            yield f"{case.wait.minutes} paid minutes of waiting, until {_at_epoch(case.wait.seen_at)}"
        elif case.withdrawn:
            facts = case.withdrawn
            yield f"withdrew on {readable(facts['at'])}, when the session was {facts['state']}"
            yield f"its {facts['answered']} answers are deleted"
        elif case.session:
            yield from self._answers(*case.session)
        elif account and account.is_unmatched and account.owed_at:
            yield f"the submission was completed on {readable(account.owed_at)}"

    def _answers(self, session: Session, cursor: Cursor) -> Iterator[str]:
        answered, trials, right, unsure = _counts(session, cursor)
        right_ones = f"{right} right, {unsure} not sure" if unsure else f"{right} right"
        yield f"{answered} of {trials} trials answered, {right_ones}, last on {readable(cursor.last_at)}"
        if cursor.voided_answers:
            yield f"{cursor.voided_answers} answers more to flashes that were not on time"
        if cursor.state == "active":
            yield "the session is open"
        if cursor.state == LAPSED:
            yield "the session fell silent, and another got its participant slot"
        if cursor.state == "returned":
            lost = self._given_back.get(session.id, "given back")
            yield f"the session was closed, as its submission was {_words(lost)}"

    def _nothing(self, case: Case) -> str:
        """Return why nothing is owed to somebody without an account."""
        if case.wait and is_waiting(case.wait, self._known.now.timestamp()):
            return "nothing yet: waiting is owed once the page is closed"
        if case.wait:
            return "nothing: there was nothing to wait for, or nobody at the page"
        if case.withdrawn or (case.session and case.session[1].state == "returned"):
            return "nothing: the submission had been given up at the panel"
        if case.session and case.session[1].state == BROKEN_OFF:
            return "nothing: the session was closed early, and earned nothing"
        if case.session:
            return "nothing yet, unless you say that it broke off"
        if case.why == "screened_out":
            return "nothing here: the panel pays for being screened out, once it has the report"
        return "nothing: the panel pays for such a submission only if it is completed and not returned"

    # how much

    def _money(self, cents: int) -> str:
        return format_money(cents, self._pay.currency)

    def _arithmetic(self, case: Case, account: Account) -> str:
        base, bonus = account.base_usd_cents, account.bonus_usd_cents
        if account.is_unmatched:
            return f"nothing here; the submission's reward is {self._money(base)}"
        if account.why == REST:
            return f"{self._money(base + bonus)}: all that the session earned, less what was owed before"
        if account.why == WAITED:
            price = self._pay.retainer_usd_cents
            return f"{self._money(bonus)} = {bonus // price if price else 0} minutes × {self._money(price)}"
        sum = f"{self._money(base)}{self._base_terms(case, account)} + {self._money(bonus)}"
        total = f"{sum}{self._bonus_terms(case, bonus)} = {self._money(base + bonus)}"
        if account.panel_study:
            return f"{total}, all as a bonus: the submission belongs to another study at the panel"
        is_by_bonus = account.is_partial and base and account.submission
        return f"{total}, all as a bonus once the submission is given up" if is_by_bonus else total

    def _base_terms(self, case: Case, account: Account) -> str:
        """Return how the base of the ledger was computed, if it is not whole and the rules give it."""
        whole = self._pay.base_usd_cents
        if account.base_usd_cents == whole:
            return " of base"
        if account.is_partial and account.reward == "confirmed" and not account.base_usd_cents:
            return " of base, as the reward paid it,"
        if not case.session:
            return f" of base (of {self._money(whole)}, by the trials answered)"
        answered, trials, *_ = _counts(*case.session)
        if account.base_usd_cents == -(-whole * answered // trials):
            return f" of base ({answered} of {trials} × {self._money(whole)}, rounded up)"
        return " of base"

    def _bonus_terms(self, case: Case, bonus: int) -> str:
        each = self._pay.bonus_usd_cents
        if case.session and each:
            *_, right, unsure = _counts(*case.session)
            if bonus == -(-each * (2 * right + unsure) // 2):
                halves = f" + {unsure} not sure × half of it, rounded up" if unsure else ""
                return f" of bonus ({right} right × {self._money(each)}{halves})"
        return " of bonus"

    # each part: its state, what comes next, what may be done

    def _outlooks(self, case: Case, account: Account) -> dict[Part, _Outlook]:
        rules: dict[Part, Callable[[Case, Account, str], _Outlook]]
        rules = {"reward": self._reward, "bonus": self._bonus}
        status, outlooks = self._known.statuses.get(case.key, ""), {}
        for part in PARTS:
            state = getattr(account, part)
            if state == "none":
                continue
            one = rules[part](case, account, status)
            if state == "closed":
                one = _Outlook(f"closed on {readable(account.closed_at)}: {account.closed_why}")
            if state == "confirmed":
                one = _Outlook(f"paid, as recorded on {readable(account.confirmed_at)}")
            tried = self._history(account) if part == "bonus" else ""
            outlooks[part] = _Outlook(
                f"{self._money(account.usd_cents(part))} {one.state}{tried}", one.next, one.options
            )
        return outlooks

    def _history(self, account: Account) -> str:
        """Return the payments that an account was in, with their states and times."""
        payments = [self._payments[id] for id in account.payments if id in self._payments]
        return "".join(
            f"; payment {one.id} of {readable(one.made_at)}: {_words(one.state)}"
            + (f", asked for on {readable(one.asked_at)}" if one.asked_at else "")
            for one in payments
        )

    def _reward(self, case: Case, account: Account, status: str) -> _Outlook:
        if account.reward == "undecided":
            coming = "Prolific approves the submission by itself some weeks after it was completed"
            close = _CLOSE if case.key in self._stored else ()
            options = ("--approve WHO --yes", "--ask-return WHO --yes", *close)
            return _Outlook("not decided: nobody is owed it, and the budget reserves it", coming, options)
        if account.reward == "intended":
            if status or self._known.trouble:
                return _Outlook("committed", f"{self._run} asks for its approval, and looks for it", _YES)
            return _Outlook(
                "committed", "nothing: the panel does not know the submission", ("--release --yes", *_CLOSE)
            )
        if self._is_from_list(account):
            return _Outlook("owed", "you pay it, from the list", _FROM_LIST)
        if status == "awaiting_review":
            return self._payable(case.key, "reward", "approves the submission")
        if status in COMPLETABLE and account.why in CLOSED and self._by_server:
            return _Outlook(
                "owed", f"{self._run} reports the person as done, then approves the submission", _YES
            )
        return self._unpayable(status)

    def _bonus(self, case: Case, account: Account, status: str) -> _Outlook:
        if account.bonus == "intended":
            return self._under_way(account)
        if self._is_from_list(account):
            return _Outlook("owed", "you pay it, from the list", _FROM_LIST)
        if ledger.payable(account, "bonus", status):
            if from_ := self._known.bonuses_from:
                return _Outlook("owed", f"after a restore, bonuses are paid from {_at(from_)} on")
            return self._payable(case.key, "bonus", "pays the bonus")
        if account.is_part_or_rest and status and status not in (*APPROVED, *LOST):
            return _Outlook("owed", "the bonus is paid once the submission is returned or timed out", _CLOSE)
        if status and status not in LOST and account.reward in ("owed", "intended"):
            return _Outlook("owed", "the bonus is paid once the reward is")
        return self._unpayable(status)

    def _under_way(self, account: Account) -> _Outlook:
        payment = self._payments.get(account.payments[-1])
        if payment is None or payment.state not in OPEN:
            return _Outlook("committed", f"{self._run} goes on with its payment", _YES)
        if payment.state in ("intended", "handed_in"):
            return _Outlook("committed", f"{self._run} asks the panel to carry the payment out", _YES)
        until = _at(payment.waits_from(self._known.now) + self._known.settle)
        looks = f"{self._run} looks for it in the panel's records"
        if payment.state == "paying":
            state = "asked for, without an answer"
            return _Outlook(state, f"{looks}; if they lack it after {until}, it is owed again", _YES)
        later = f"{looks}; if they, and its own pages, lack it after {until}, it can be released"
        return _Outlook("on its way", later, (*_YES, "--release --yes"))

    def _payable(self, key: str, part: Part, what: str) -> _Outlook:
        if (key, part) in self._due:
            return _Outlook("owed", f"{self._run} {what}", _YES)
        return _Outlook("owed", "nothing: the budget does not suffice", ("--budget AMOUNT --yes", *_CLOSE))

    def _unpayable(self, status: str) -> _Outlook:
        if self._known.trouble:
            return _Outlook("owed", "what can be paid is known once the panel can be asked")
        if not status:
            return _Outlook("owed", "nothing: the panel does not know the person's submission", _CLOSE)
        if status in LOST:
            options = _BROKE_OFF if status in GONE else ()
            return _Outlook("owed", f"nothing: the submission was {_words(status)}", (*options, *_CLOSE))
        return _Outlook("owed", "the submission is paid once it is completed", _CLOSE)

    def _is_from_list(self, account: Account) -> bool:
        return self._known.is_by_list or not account.submission

    def _at_panel(self, case: Case) -> str:
        if self._known.trouble or self._known.is_by_list:
            return f"not asked: {self._known.trouble or 'the study is paid from a list'}"
        status = self._known.statuses.get(case.key) or (case.place.status if case.place else "")
        unlisted = (
            "not listed" if case.account and case.account.is_paid else "no such submission of this person"
        )
        asked = case.account.asked_to_return_at if case.account else ""
        return (_words(status) or unlisted) + (f", asked on {readable(asked)} to return it" if asked else "")


def _counts(session: Session, cursor: Cursor) -> tuple[int, int, int, int]:
    """Return how many trials were answered, how many there are, and the right and not sure answers paid."""
    trials = total_trials(session)
    answered = min(cursor.trial_index + cursor.voided_answers, trials)
    return answered, trials, right_answers(cursor, True), not_sure_answers(cursor, True)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _at(at: datetime) -> str:
    return readable(at.isoformat())


def _at_epoch(seconds: float) -> str:
    return _at(datetime.fromtimestamp(seconds, UTC))
