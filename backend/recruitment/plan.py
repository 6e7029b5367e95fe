"""The plan of a recruitment from a panel: places, wage, and maximum cost.

Money is in cents of the study's currency.
"""

from typing import Self

from backend.experiment.money import currency, format_money
from backend.experiment.panel import PROLIFIC
from backend.experiment.protocol import Protocol
from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput
from backend.foundation.frozen import dataclass
from backend.panels.api import ScreenOut, Wages
from backend.panels.prolific import whole_minutes
from backend.payment.ledger import StudyFunds
from backend.studies.retainer import minutes_in_budget

FEE_PERCENT, VAT_PERCENT = StudyFunds().fee_percent, StudyFunds().vat_percent


@dataclass(frozen=True)
class Plan:
    """The plan of a recruitment."""

    places: int
    reward_cents: int
    minutes: float
    largest_bonus_cents: int
    currency: str = "USD"
    fee_percent: str = FEE_PERCENT
    vat_percent: str = VAT_PERCENT
    screen_out: ScreenOut | None = None
    waiting: tuple[int, int] = (0, 0)
    """Maximum minutes of paid waiting, and the pay per minute."""
    most_places: int = 0
    """With planned looks, places until the last one; those of `places` are open until the next."""
    wages: Wages | None = None
    """The panel's wage requirements if it was asked, else its general ones."""

    @property
    def least_wage_cents(self) -> int:
        return self.wages.least_cents if self.wages else currency(self.currency).least_wage_cents

    @property
    def fair_wage_cents(self) -> int:
        return self.wages.fair_cents if self.wages else currency(self.currency).fair_wage_cents

    @property
    def wage_cents_an_hour(self) -> float:
        """Of the reward alone, since a bonus may not replace the wage; the panel counts whole minutes."""
        return self.reward_cents * 60 / whole_minutes(self.minutes)

    @property
    def funds(self) -> StudyFunds:
        return StudyFunds(fee_percent=self.fee_percent, vat_percent=self.vat_percent)

    @property
    def place_cents(self) -> int:
        """Maximum cost of a place: its reward and the largest bonus, fees rounded up."""
        return sum(map(self.funds.cost_usd_cents, (self.reward_cents, self.largest_bonus_cents)))

    @property
    def rewards_cents(self) -> int:
        """Cost of all rewards and screen-outs, which the panel reserves on publishing."""
        return self.places * self.funds.cost_usd_cents(self.reward_cents) + self._screen_outs_cents

    @property
    def besides_cents(self) -> int:
        """Maximum payments besides the places: screen-outs, and waiting by the minute."""
        minutes, price = self.waiting
        return self._screen_outs_cents + minutes * self.funds.cost_usd_cents(price)

    @property
    def _screen_outs_cents(self) -> int:
        if self.screen_out is None:
            return 0
        return self.screen_out.slots * self.funds.cost_usd_cents(self.screen_out.reward_cents)

    @property
    def all_places(self) -> int:
        """Places until the last planned look, if there are any."""
        return max(self.places, self.most_places)

    @property
    def total_cents(self) -> int:
        """Maximum total cost: every place and slot taken, every bonus at its largest, all waiting paid.

        With planned looks it is that of the last one, so that the budget lets a study go on to it.
        """
        return self.all_places * self.place_cents + self.besides_cents

    def money(self, cents: float) -> str:
        """Return an amount formatted for display."""
        return format_money(cents, self.currency)

    def lines(self) -> list[str]:
        """Return the plan as lines for a terminal, with any objections to it."""
        wage, minutes = self.wage_cents_an_hour, whole_minutes(self.minutes)
        rounded = "" if minutes == self.minutes else f" (the panel counts {minutes})"
        lines = [
            f"places: {self.places}{self._until_looks}",
            f"reward: {self.money(self.reward_cents)} for {self.minutes:g} minutes{rounded}, "
            f"{self.money(wage)} an hour; a bonus of at most {self.money(self.largest_bonus_cents)}",
        ]
        if self.screen_out:
            paid = self.money(self.screen_out.reward_cents)
            lines.append(f"screened out: {paid} each, for {self.screen_out.slots} people at most")
        if self.waiting[0]:
            lines.append(f"waiting: {self.waiting[0]} minutes at {self.money(self.waiting[1])} at most")
        lines.append(
            f"cost: at most {self.money(self.total_cents)}, with fees of {self.fee_percent}%{self._vat}"
        )
        if wage < self.least_wage_cents:
            least = self.money(self.least_wage_cents)
            lines.append(f"warning: under the panel's least wage of {least} an hour")
        elif wage < self.fair_wage_cents:
            lines.append(f"warning: under the fair wage of {self.money(self.fair_wage_cents)} an hour")
        return lines

    @property
    def _until_looks(self) -> str:
        most = self.most_places
        return f" until the next planned look, {most} until the last" if most > self.places else ""

    @property
    def _vat(self) -> str:
        if self.funds.vat_percent == VAT_PERCENT:
            return "; VAT on the fee, where your account pays it, is not in it (--vat 20)"
        return f" and VAT of {self.vat_percent}% on them"

    def check(self, study: str, budget_cents: int | None) -> None:
        """Raise InvalidInput for a wage that the panel does not allow, or a cost over the budget."""
        wage, least = self.money(self.wage_cents_an_hour), self.money(self.least_wage_cents)
        if self.wage_cents_an_hour < self.least_wage_cents:
            raise InvalidInput(
                f"study {study} pays {wage} an hour, under the panel's least wage of {least}; make it with a "
                "higher base_usd_cents"
            )
        if budget_cents is not None and self.total_cents > budget_cents:
            raise InvalidInput(
                f"{self.all_places} slots cost {self.money(self.total_cents)} at most, over the budget of "
                f"{self.money(budget_cents)}; raise the budget (--budget)"
            )
        if self.screen_out:
            self._check_screen_out(self.screen_out)

    def _check_screen_out(self, terms: ScreenOut) -> None:
        least = currency(self.currency).least_screen_out_cents
        if not least <= terms.reward_cents < self.reward_cents:
            raise InvalidInput(
                f"a screen-out must pay at least {self.money(least)} and less than the reward of "
                f"{self.money(self.reward_cents)}, not {self.money(terms.reward_cents)}"
            )

    def affordable(self, budget_cents: int) -> int:
        """Return how many places a budget pays for."""
        return max(budget_cents - self.besides_cents, 0) // max(self.place_cents, 1)

    def with_wages(self, wages: Wages) -> Self:
        from dataclasses import replace

        return replace(self, wages=wages)


def plan(
    study: Study,
    places: int | None = None,
    fee_percent: str = FEE_PERCENT,
    vat_percent: str = VAT_PERCENT,
    screen_out: ScreenOut | None = None,
) -> Plan:
    """Return the plan of recruiting for a study; by default with a place for each wanted session.

    Raises:
        InvalidInput: a qualification without a number of places, or a study without base pay.
    """
    protocol = study.protocol
    if places is None:
        if study.kind == "qualification":
            raise InvalidInput(f"{study.name} is a qualification; say for how many people (--places N)")
        places = study.evaluators_wanted
    if protocol.pay.base_usd_cents == 0:
        raise InvalidInput(
            f"study {study.name} has no base pay, and the panel wants the wage in it; make the study with "
            f"{_fair_base(protocol)}"
        )
    return Plan(
        places=places,
        reward_cents=protocol.pay.base_usd_cents,
        minutes=protocol.consent.minutes,
        largest_bonus_cents=largest_bonus(protocol),
        currency=protocol.pay.currency,
        fee_percent=fee_percent,
        vat_percent=vat_percent,
        screen_out=screen_out,
        most_places=_most_places(study, places) if protocol.looks.looks else 0,
        waiting=(minutes_in_budget(protocol), protocol.pay.retainer_usd_cents),
    )


def _most_places(study: Study, places: int) -> int:
    """Return how many places a study has if no look ends a model before the last one.

    More than are wanted are open if some who were under way at a look finished after it.
    """
    return max(study.most_evaluators, places + study.most_evaluators - study.evaluators_wanted)


def asked_for(study: Study) -> list[str]:
    """Return the requirements of `openhype recruit` in words; nothing if the study's panel has no API."""
    protocol = study.protocol
    if protocol.admission.panel.name != PROLIFIC.name:
        return []
    asked = ["PROLIFIC_TOKEN, or PROLIFIC_TOKEN_FILE, and the server's https:// address (--url)"]
    wage = protocol.pay.base_usd_cents * 60 / whole_minutes(protocol.consent.minutes)
    least = currency(protocol.pay.currency).least_wage_cents
    if wage < least:
        asked.append(
            f"a base pay of {format_money(least, protocol.pay.currency)} an hour or more, and this study has "
            f"{format_money(wage, protocol.pay.currency)}; make it with {_fair_base(protocol)}"
        )
    return asked


def _fair_base(protocol: Protocol) -> str:
    """Return the setting that gives the wage that the panel recommends."""
    fair = currency(protocol.pay.currency).fair_wage_cents
    needed = -(-fair * whole_minutes(protocol.consent.minutes) // 60)
    return f"--set base_usd_cents={needed} ({format_money(fair, protocol.pay.currency)} an hour)"


def largest_bonus(protocol: Protocol) -> int:
    """Return the bonus of an evaluator who is always right, on replaced flashes too."""
    spares = protocol.stimuli.spare_images * protocol.stimuli.blocks if protocol.has_flashes else 0
    paid = protocol.stimuli.trials + protocol.unscored.checks + spares
    return protocol.pay.bonus_usd_cents * paid
