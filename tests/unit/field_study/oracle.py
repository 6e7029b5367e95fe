"""What must hold in the end, by what people did and by the panel's own account book.

Nothing here asks the product what somebody is owed.
"""

import re
from collections import Counter

from backend.payment import accounts as owing
from backend.payment import screened_out

from .people import MINUTE, TEST_BASE, TEST_BONUS

GONE = ("RETURNED", "TIMED-OUT")


class Oracle:
    """What must hold, part of `FieldStudy`."""

    def check(self):
        for branch in self.recruiting:
            self._check_published(branch)
            if branch is not self.test and not self.has_restored:
                self._check_quota(branch)
        paid = self._paid()
        for (place, kind), amounts in paid.items():
            assert kind == "bonus" or len(amounts) == 1, f"{kind} of {place} was paid {len(amounts)} times"
        for person in self.people:
            self._check_person(person, paid)
        self._check_books()

    def check_forgotten(self):
        """Check that no id of a person or place at the panel is in the store, nor the name of an event."""
        stored = repr(vars(self.store))
        words = set(re.findall(r"[0-9a-z]+", stored))  # names of pictures may have an id within
        ids = [id for person in self.people for id in (person.place.id, person.place.participant)]
        for id in [*ids, *self.events]:
            assert id not in words, f"{id} is in ...{stored[: stored.index(id)][-200:]}"

    def check_budget(self, branch):
        """Check that what was paid, and what places may cost, is within the lower of both budgets."""
        study = self.panel_study(branch)
        if self.has_restored or self.test:
            return
        budget = branch.lower or branch.budget
        assert self.books.total_with_fees(study, is_by_panel=False) <= budget, "the budget was exceeded"
        places, cost = self.books.studies[study]["total_available_places"], self.books.workspace.with_fee
        each = cost(branch.base) + cost(branch.bonus * branch.images)
        assert places * each <= budget, "more places are open than the budget pays for"

    def of_branch(self, branch):
        return [person for person in self.people if person.branch is branch]

    def check_reading(self, branch, is_done):
        """Check that places were read in clear weather.

        The panel may refuse to start a study whose slots for screening out are used.
        """
        may_fail = branch.screen_out or self.panel_study(branch) in self.unreadable
        assert is_done or may_fail, f"the places of {branch.study.name} cannot be read"

    def check_full(self, person):
        """Check that a study which refuses a person has no place left: the panel was read, if it can be."""
        branch = person.branch
        if self.has_restored or not self.asks_panel or self.token != self.books.token or self.unreadable:
            return
        others = [p for p in self.of_branch(branch) if p is not person and not p.has_withdrawn]
        holders = [p for p in others if p.state in ("active", "finished")]
        held = sum(p.place.status not in ("REJECTED", "RETURNED") for p in holders)
        assert held >= branch.study.evaluators_wanted, f"{branch.study.name} is full with {held}"

    def _check_quota(self, branch):
        """Check that never more people finish than are wanted, nor more is owed than the quota is worth."""
        people, wanted = self.of_branch(branch), branch.study.evaluators_wanted
        people = [p for p in people if p.place.status not in ("REJECTED", "RETURNED") or p.has_withdrawn]
        people = [p for p in people if not (self.asks_panel and p.is_late) and not p.excused]
        finished = [p for p in people if p.state == "finished" and not p.has_withdrawn]
        assert len(finished) <= wanted, f"{len(finished)} finished, and {wanted} are wanted"
        allowed = branch.ends_allowed + max(-(-wanted // 5), 1)
        most = (wanted + allowed) * (branch.base + branch.bonus * branch.images)
        owed = [person.earned for person in people if person.earned]
        about = f"{owed} is owed; {wanted} are wanted, and {allowed} may be closed early: {most} at most"
        assert len(owed) <= wanted + allowed, about
        assert sum(owed) <= most, about

    def _check_published(self, branch):
        at_panel = self.books.studies.items()
        title = branch.study.name
        published = [id for id, study in at_panel if study["status"] != "UNPUBLISHED"
                     and study["internal_name"].split()[1] == title]  # fmt: skip
        assert published == [self.panel_study(branch)], f"there is not one study of {title} at the panel"
        urls = [f"{url}/s/{title}" for url in branch.asked_urls]
        assert branch.published_url in urls, f"{branch.published_url} is published, and {urls} was asked for"

    def _paid(self):
        paid = {}
        for line in self.books.account():
            paid.setdefault((line.submission, line.kind), []).append(line.cents)
        return paid

    def asked(self):
        """Return how often each (submission, kind, cents) was paid, or is under way."""
        lines = [(line.submission, line.kind, line.cents) for line in self.books.account()]
        lines += [(id, "bonus", cents) for _, id, cents in self.books._bonuses_due]
        return Counter(lines)

    def _check_person(self, person, paid):
        place = person.place
        got = {kind: sum(paid.get((place.id, kind), ())) for kind in ("reward", "bonus", "screen_out")}
        out = self._screen_out_cents(person)
        assert got["screen_out"] == (out if place.status == "SCREENED OUT" else 0)
        if person.did == "screened out" and not self.has_restored and not self.is_unreadable(place):
            by_panel = screened_out.is_paid_by_panel(self.store, person.branch.study)
            assert place.status in (("SCREENED OUT",) if by_panel else ("APPROVED", "REJECTED")), place.status
        least, most = self.due(person)
        if person.is_closed or self.is_unreadable(place):
            least = min(least, got["reward"])
        total = got["reward"] + got["bonus"]
        if person.state in ("finished", "ended") and least and not (person.excused or person.has_withdrawn):
            least += person.lost_surely
        most = max(most + person.lost, self._unavoidable(person, got))
        assert least <= total <= most, f"{person}: paid {got}, not {least} to {most}"

    def _screen_out_cents(self, person):
        return person.branch.screen_out.reward_cents if person.branch.screen_out else 0

    def due(self, person):
        """Return the least and the most that a person must have got at a place, besides for a screen-out."""
        least, most = self._due_for_session(person)
        waited = MINUTE * person.wait["minutes"] if person.wait else 0
        tested = 0
        if person.test_right is not None and person.place.status not in ("RESERVED", "ACTIVE"):
            tested = TEST_BASE + TEST_BONUS * person.test_right
        is_read = not self.test or self.panel_study(self.test) not in self.unreadable
        return least + waited + tested * is_read, most + waited + tested

    def _due_for_session(self, person):
        status, branch = person.place.status, person.branch
        whole = branch.base + branch.bonus * person.right
        reward = branch.base if status == "APPROVED" else 0
        is_excused = person.excused is not None and status in GONE
        if person.state in ("finished", "ended"):
            if is_excused and person.state == "ended":  # the share, if its place was given up before that
                return branch.part(person.answered, person.right), whole
            if status == "APPROVED" or is_excused or (status == "RETURNED" and person.has_withdrawn):
                return whole, whole
            return 0, whole if person.excused else 0
        now, before = (person.answered, person.right), person.excused or (0, 0)
        if person.state == "broken_off":
            before = now
        elif person.state != "active" or not (person.has_withdrawn or person.excused):
            return reward, reward
        if status in GONE:
            return branch.part(*(now if person.has_withdrawn else before)), branch.part(*now)
        right = person.right if person.has_withdrawn else before[1]
        most = whole if status == "APPROVED" else branch.part(*now)
        return (reward + branch.bonus * right if reward else 0), most

    def _unavoidable(self, person, got):
        """Return what was paid if the place came back after the payer had looked at it for the last time."""
        id = person.place.id
        back = self.came_in.get(id)
        if back is None or not got["reward"]:
            return 0
        looks = f"GET /api/v1/submissions/{id}/"
        asked = [at for at, one, _ in self.books.bonuses_asked
                 if one == id and looks not in self.fake.calls[back:at]]  # fmt: skip
        return got["reward"] + got["bonus"] if asked else 0

    def _check_books(self):
        confirmed, spent = Counter(), 0
        for branch in self.branches:
            accounts = self.accounts(branch)
            spent += owing.funds(self.store, branch.study.name)[1].spent_usd_cents(accounts)
            for account in accounts:
                for part in ("reward", "bonus"):
                    if getattr(account, part) == "confirmed":
                        confirmed[account.submission, part, account.usd_cents(part)] += 1
        paid = Counter()
        for (id, kind, cents), times in self.asked().items():
            paid[id, "reward" if kind == "screen_out" else kind, cents] += times
        assert not confirmed - paid, f"the ledger takes for paid what was not: {confirmed - paid}"
        before = Counter()
        for (id, kind, cents), times in self.before_restore.items():
            before[id, "reward" if kind == "screen_out" else kind, cents] = times
        missing = paid - confirmed
        for key, times in missing.items():
            if self.is_unreadable(self.books.places[key[0]]):
                before[key] = times
        assert not missing - before, f"the ledger does not know what was paid: {missing - before}"
        cost = self.books.workspace.with_fee
        unknown = sum(cost(cents) * times for (_, _, cents), times in missing.items())
        if not self.unreadable:  # else what is under way may have been paid
            assert spent + unknown == self.books.total_with_fees(), "the purse is not the panel's"
