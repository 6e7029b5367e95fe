"""The panel's weather, and people at the panel who do things by hand."""

import re
from contextlib import suppress

from tests.prolific import Books, Refusal
from tests.prolific.faults import Fault

FAULTS = ("unreached", "before", "after", 400, 401, 403, 404, 408, 429, "429 later", 500, 502, "503 later")
FOCUSES = (
    "GET .*/submissions/$", "GET .*/submissions/[^/]+/$", "POST .*/submissions/[^/]+/transition/",
    "/bulk-approve/",
    "POST .*/bonus-payments/$", "POST .*/pay/$", "POST .*/studies/$", "POST .*/studies/[^/]+/transition/",
    "GET .*/studies/", "/cost/", "PATCH", "nothing",
)  # fmt: skip
"""Calls that fail most, one of them in each schedule."""


class WatchedBooks(Books):
    """Books that remember after how many calls each bonus was asked for."""

    def __post_init__(self):
        super().__post_init__()
        self.bonuses_asked = []
        """(calls before, submission, cents)."""
        self.count_calls = lambda: 0
        self.hidden = set()
        """Places that are not listed any more either, if the study is read."""

    def places_of(self, study):
        return [place for place in super().places_of(study) if place.id not in self.hidden]

    def pay_bulk(self, id):
        super().pay_bulk(id)
        self.bonuses_asked += [(self.count_calls(), *line) for line in self.bulks[id].lines]


class PanelPeople:
    """What happens at the panel by itself, part of `FieldStudy`."""

    def weather(self, method, path):
        """Return what goes wrong with a call, or None."""
        self.counts.calls += 1
        for id, status in self.unreadable.items():
            if id in path and (method == "GET" or id in self.books.studies):
                return Fault(method, path, status)
        is_focus = bool(re.search(self.focus, f"{method} {path}"))
        if self.rng.random() >= self.fault_rate * (4 if is_focus else 0.5):
            return None
        how = self.rng.choice(FAULTS)
        self.counts.faults[how] += 1
        if isinstance(how, str) and how.endswith("later"):
            return Fault(method, path, int(how[:3]), headers=(("Retry-After", "1"),))
        return Fault(method, path, how)

    def panel(self):
        return self.fake.panel(self.token, rng=self.rng)

    def meddle(self):
        """Have a person at the panel do something by hand."""
        rng = self.rng
        study = self.panel_study(rng.choice(self.recruiting))
        waiting = [p.place.id for p in self.people if p.place.status == "AWAITING REVIEW"]
        actions = ["PAUSE", "START", "PAUSE", "START", "STOP"]
        deeds = [lambda: self.books.transition_study(study, rng.choice(actions))]
        if waiting:
            deeds += [lambda: self.books.approve(rng.choice(waiting))] * 2
            deeds += [lambda: self.books.reject(rng.choice(waiting))]
        with suppress(Refusal):
            rng.choice(deeds)()

    def vanish(self):
        """Have the panel show a place no more, or the study by which people came who wait for another."""
        if self.people and self.may_vanish:
            place = self.rng.choice(self.people).place
            is_whole = self.test and place.study == self.panel_study(self.test) and self.rng.random() < 0.5
            id, statuses = (place.study, [404]) if is_whole else (place.id, [400, 404])
            self.unreadable[id] = self.rng.choice(statuses)
            if self.rng.random() < 0.5:
                self.books.hidden.add(id)

    def is_unreadable(self, place):
        return place.id in self.unreadable or place.study in self.unreadable

    def rotate(self):
        """Delete the token at the panel; the programs have the old one until somebody notices."""
        self.books.rotate_token()

    def notice(self):
        self.token = self.books.token

    def note_published(self, kind, id, status, place):
        """Remember what somebody who published a study had asked for; and places that come back."""
        if kind == "study.status.change" and status == "PUBLISHING":
            branch = next(one for one in self.recruiting if self.panel_study(one) == id)
            branch.published_url = self.books.studies[id]["external_study_url"].partition("?")[0]
            branch.asked_urls = branch.urls[min(branch.running) :]
        if kind == "submission.status.change" and status == "AWAITING REVIEW":
            self.came_in[id] = len(self.fake.calls)
