"""Recruiting evaluators from a panel with an API: planned first, then done, a step at a time.

What was decided stands in the store before the panel hears of it, so that a process that dies anywhere is
gone on with by asking again: the panel's study is found by a name that nobody else has, and its codes stay
those that were decided first. One study at the panel serves all models; who judges which is decided here.
"""

import secrets
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from backend import lifecycle
from backend.errors import Conflict, InvalidInput, NotFound
from backend.ledger import Purse
from backend.money import LEAST_WAGE_USD_CENTS, dollars
from backend.owing import recruitment_book as book
from backend.owing import set_budget
from backend.panels import Panel, Recruitment
from backend.panels.record import NOTHING_TOLD, PROLIFIC, Told
from backend.protocol import Protocol
from backend.records import Study
from backend.stamps import stamp, utc_now
from backend.stores import Stale, Store

FAIR_WAGE_USD_CENTS = 1200
"""An hour; what Prolific advises."""
FEE_PERCENT = Purse().fee_percent
OUTCOMES = ("done", "done_by_server", "no_consent", "unfit_device", "screened_out", "fault")
_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_CODE_LENGTH = 10
_TRIES = 20


@dataclass(frozen=True)
class Plan:
    """What a recruitment would be. Money in US cents."""

    places: int
    reward_usd_cents: int
    minutes: float
    largest_bonus_usd_cents: int
    fee_percent: str = FEE_PERCENT

    @property
    def wage_usd_cents_an_hour(self) -> float:
        """Of the reward alone: a bonus may not stand in for the wage."""
        return self.reward_usd_cents * 60 / self.minutes

    @property
    def total_usd_cents(self) -> int:
        """What it costs at most: every place taken, every bonus the largest, fees rounded up."""
        purse = Purse(fee_percent=self.fee_percent)
        paid = (self.reward_usd_cents, self.largest_bonus_usd_cents)
        return self.places * sum(map(purse.cost_usd_cents, paid))

    def lines(self) -> list[str]:
        """Return the plan for a terminal, with what speaks against it."""
        wage, total = self.wage_usd_cents_an_hour, self.total_usd_cents
        lines = [
            f"places: {self.places}",
            f"reward: {dollars(self.reward_usd_cents)} for {self.minutes:g} minutes, "
            f"{dollars(wage)} an hour; a bonus of at most {dollars(self.largest_bonus_usd_cents)}",
            f"cost: at most {dollars(total)}, with fees of {self.fee_percent}%",
        ]
        if wage < LEAST_WAGE_USD_CENTS:
            lines.append(f"warning: under the panel's least wage of {dollars(LEAST_WAGE_USD_CENTS)} an hour")
        elif wage < FAIR_WAGE_USD_CENTS:
            lines.append(f"warning: under the fair wage of {dollars(FAIR_WAGE_USD_CENTS)} an hour")
        return lines


def plan(study: Study, places: int | None = None, fee_percent: str = FEE_PERCENT) -> Plan:
    """Return what recruiting for a study would be; default, a place for each session that is wanted.

    Raises:
        InvalidInput: a qualification without a number of places, or a study without base pay.
    """
    protocol = study.protocol
    if places is None:
        if study.kind == "qualification":
            raise InvalidInput(f"{study.name} is a qualification; say for how many people, with --places N")
        places = len(study.models) * protocol.evaluators
    if protocol.base_usd_cents == 0:
        raise InvalidInput(
            f"study {study.name} has no base pay, and the panel wants the wage in it; make the study with "
            f"{_fair_base(protocol)}"
        )
    return Plan(places, protocol.base_usd_cents, protocol.minutes, _largest_bonus(protocol), fee_percent)


def asked_for(study: Study) -> list[str]:
    """Return what `openhype recruit` will ask for; nothing where the study's panel has no API."""
    protocol = study.protocol
    if protocol.panel.name != PROLIFIC.name:
        return []
    asked = ["PROLIFIC_TOKEN, or PROLIFIC_TOKEN_FILE, and the server's https:// address (--url)"]
    wage = protocol.base_usd_cents * 60 / protocol.minutes
    if wage < LEAST_WAGE_USD_CENTS:
        asked.append(
            f"a base pay of {dollars(LEAST_WAGE_USD_CENTS)} an hour or more, and this study has "
            f"{dollars(wage)}; make it with {_fair_base(protocol)}"
        )
    return asked


def check_panel(study: Study, name: str) -> None:
    """Refuse to recruit at a panel that the study was not made for: it would not know who comes from there.

    Raises:
        InvalidInput: says which it was made for.
    """
    made_for = study.protocol.panel.name
    if made_for != name:
        raise InvalidInput(
            f"study {study.name} was made for the panel {made_for}, not for {name}; make one with "
            f"--panel {name}"
        )


def told(store: Store, study: Study) -> Told:
    """Return what the study's panel was told when its study was made there."""
    entry = store.entry(book(study.name), study.protocol.panel.name)
    return Told(entry.data["codes"], entry.data["by_server"]) if entry else NOTHING_TOLD


def recruitment(store: Store, study: Study) -> Mapping[str, Any]:
    """Return a study's recruitment.

    Raises:
        NotFound: none was begun.
    """
    entry = store.entry(book(study.name), study.protocol.panel.name)
    if entry is None:
        raise NotFound(
            f"nobody was recruited for {study.name} yet; see `openhype recruit {study.name} --panel prolific`"
        )
    return entry.data


def begin(
    store: Store,
    panel: Panel,
    study: Study,
    wanted: Plan,
    url: str,
    *,
    budget_usd_cents: int | None = None,
    by_server: bool = True,
) -> Mapping[str, Any]:
    """Make the panel's study and publish it; begun before, go on where it stands.

    Args:
        url: of the server, as evaluators reach it.
        budget_usd_cents: what it may cost in all; default, what the plan costs at most.

    Raises:
        InvalidInput: the plan is over the budget, under the least wage, or of another panel.
        PanelRefused, PanelUnsure, PanelUnreached: ask again.
    """
    check_panel(study, panel.name)
    if store.entry(book(study.name), panel.name) is None:
        _check(study, wanted, budget_usd_cents)
        _settle(store, study)
        set_budget(store, study.name, fee_percent=wanted.fee_percent)  # by which pay reckons, too
        _decide(store, panel, study, wanted, url, budget_usd_cents, by_server)
    state = recruitment(store, study)
    if not state["panel_study"]:
        made = panel.create(_order(study, state))
        state = update(store, study, panel_study=made)
    if state["state"] == "decided":
        panel.change(state["panel_study"], "publish")
        state = update(store, study, state="published")
    return state


def change(store: Store, panel: Panel, study: Study, action: str) -> Mapping[str, Any]:
    """Pause a recruitment, go on with it (`start`), or stop it for good."""
    state = recruitment(store, study)
    if state["state"] == "decided":
        raise Conflict(f"the recruitment for {study.name} is not published yet; go on with --yes")
    if state["state"] == "stopped" and action != "stop":
        raise Conflict(f"the recruitment for {study.name} was stopped, and cannot go on")
    panel.change(state["panel_study"], action)
    return update(store, study, state={"pause": "paused", "start": "published", "stop": "stopped"}[action])


def grow(store: Store, panel: Panel, study: Study, places: int) -> Mapping[str, Any]:
    """Raise the number of places, within the budget.

    Raises:
        InvalidInput: fewer places than there are, or more than the budget pays for.
    """
    state = recruitment(store, study)
    if places < state["places"]:
        raise InvalidInput(f"places can only grow: there are {state['places']}, and {places} were asked for")
    if places > affordable(study, state):
        raise InvalidInput(
            f"{places} places cost {dollars(_planned(study, state, places).total_usd_cents)} at most, over "
            f"the budget of {dollars(state['budget_usd_cents'])}; raise it with --budget"
        )
    state = update(store, study, places=places)  # first, so that no more are open than stand here
    panel.set_places(state["panel_study"], places)
    return state


def affordable(study: Study, state: Mapping[str, Any]) -> int:
    """Return for how many places the budget is enough."""
    return state["budget_usd_cents"] // max(_planned(study, state, 1).total_usd_cents, 1)


def update(store: Store, study: Study, **changes: Any) -> Mapping[str, Any]:
    """Change a study's recruitment and return it."""
    for _ in range(_TRIES):
        entry = store.entry(book(study.name), study.protocol.panel.name)
        if entry is None:
            raise NotFound(f"nobody was recruited for {study.name} yet")
        try:
            after = {**entry.data, **changes}
            return store.write_entry(book(study.name), entry.key, entry.version, after).data
        except Stale:
            continue
    raise Conflict("the recruitment is being changed from several places at once; try again", code="busy")


def status(store: Store, panel: Panel, study: Study) -> dict[str, Any]:
    """Return how a recruitment stands: places by state, sessions, cost so far with fees (US cents)."""
    state = recruitment(store, study)
    places = Counter(submission.status for submission in panel.submissions(state["panel_study"]))
    sessions = Counter(cursor.state for _, cursor in store.sessions(study.name))
    return {
        "study": study.name,
        "panel": panel.name,
        "state": state["state"],
        "places": state["places"],
        "submissions": dict(sorted(places.items())),
        "sessions": dict(sorted(sessions.items())),
        "cost_usd_cents": panel.cost_usd_cents(state["panel_study"]),
        "budget_usd_cents": state["budget_usd_cents"],
    }


def _fair_base(protocol: Protocol) -> str:
    needed = -(-FAIR_WAGE_USD_CENTS * protocol.minutes // 60)
    return f"--set base_usd_cents={needed:.0f} ({dollars(FAIR_WAGE_USD_CENTS)} an hour)"


def _check(study: Study, wanted: Plan, budget_usd_cents: int | None) -> None:
    if wanted.wage_usd_cents_an_hour < LEAST_WAGE_USD_CENTS:
        raise InvalidInput(
            f"study {study.name} pays {dollars(wanted.wage_usd_cents_an_hour)} an hour, under the panel's "
            f"least wage of {dollars(LEAST_WAGE_USD_CENTS)}; make it with a higher base_usd_cents"
        )
    if budget_usd_cents is not None and wanted.total_usd_cents > budget_usd_cents:
        raise InvalidInput(
            f"{wanted.places} places cost {dollars(wanted.total_usd_cents)} at most, over the budget of "
            f"{dollars(budget_usd_cents)}"
        )


def _settle(store: Store, study: Study) -> None:
    """Have the study's settings stay as they are: what the panel is told rests on them."""
    if lifecycle.begin(store, study, stamp(utc_now())).settings_id != study.settings_id:
        raise Conflict(f"the settings of {study.name} were changed meanwhile; look at the plan again")


def _decide(
    store: Store,
    panel: Panel,
    study: Study,
    wanted: Plan,
    url: str,
    budget_usd_cents: int | None,
    by_server: bool,
) -> None:
    data = {
        "state": "decided",
        "panel_study": "",
        "internal_name": f"openhype {study.name} {secrets.token_hex(6)}",
        "url": f"{url.rstrip('/')}/s/{study.name}",
        "codes": {outcome: _code() for outcome in OUTCOMES},
        "by_server": by_server,
        "places": wanted.places,
        "fee_percent": wanted.fee_percent,
        "budget_usd_cents": wanted.total_usd_cents if budget_usd_cents is None else budget_usd_cents,
    }
    with suppress(Stale):  # decided elsewhere at this moment: that holds
        store.write_entry(book(study.name), panel.name, 0, data)


def _order(study: Study, state: Mapping[str, Any]) -> Recruitment:
    protocol = study.protocol
    return Recruitment(
        name=state["internal_name"],
        title=protocol.title,
        description=protocol.consent_text,
        url=state["url"],
        places=state["places"],
        minutes=protocol.minutes,
        reward_usd_cents=protocol.base_usd_cents,
        codes=state["codes"],
    )


def _planned(study: Study, state: Mapping[str, Any], places: int) -> Plan:
    return plan(study, places, state["fee_percent"])


def _largest_bonus(protocol: Protocol) -> int:
    """Return the bonus of somebody who is always right, on replaced flashes too."""
    spares = protocol.spare_images * protocol.blocks if protocol.method == "time" else 0
    return protocol.bonus_usd_cents * (protocol.trials + spares)


def _code() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LENGTH))
