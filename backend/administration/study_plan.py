"""What a study would take as it is set: sessions, time, pay with fees, and what its scores could tell.

The most that it costs follows from its settings. The width of intervals and the power follow from the SDs
between evaluators of the papers' models (HYPE-infinity and HYPE-time), of simulated evaluators (tournaments),
or of a pilot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from backend.administration.setting_list import PROTOCOLS
from backend.experiment.judgment import Planning
from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.protocol import Protocol
from backend.experiment.records import Study
from backend.experiment.settings import new_protocol
from backend.foundation.errors import InvalidInput
from backend.panels.prolific import whole_minutes
from backend.payment.ledger import StudyFunds
from backend.recruitment.plan import FEE_PERCENT, largest_bonus
from backend.studies.retainer import minutes_in_budget

if TYPE_CHECKING:
    from backend.analysis.planning.spread import Spread

QUALIFICATION = "qualification"
TOO_FEW_PICTURES = "there are too few pictures for a session that shows none twice"


@dataclass(frozen=True)
class Aim:
    """What the scores of a study should tell, in the score's unit."""

    difference: float | None = None
    """Between two models; None: that of the method (`judgment.Planning`)."""
    level: float = 0.95
    assurance: float = 0.8
    """Probability that an interval is no wider."""
    pictures: int | None = None
    """Of each model and of reals; None: as many as those of the spreads."""


def planned_study(method: str, models: int, settings: Mapping[str, Any]) -> Study:
    """Return a study as it would be made with these settings, though without pictures and classes.

    Args:
        method: one of `setting_list.PROTOCOLS`.
        settings: as `settings.with_settings` takes them.

    Raises:
        InvalidInput: names a setting that is wrong, or not supported by the method.
    """
    if method not in PROTOCOLS:
        raise InvalidInput(f"method must be one of {', '.join(PROTOCOLS)}, not {method!r}")
    kind: Literal["study", "qualification"] = "qualification" if method == QUALIFICATION else "study"
    protocol = new_protocol(PROTOCOLS[method], kind, settings)
    judgment_of(protocol.method).check(protocol, kind)
    at_once = min(protocol.stimuli.models_per_session, models)
    protocol = protocol.changed(models_per_session=at_once)
    return Study("plan", kind, tuple(f"model {i + 1}" for i in range(models)), protocol, "")


def resources(study: Study, fee_percent: str | None = None, vat_percent: str = "0") -> dict[str, Any]:
    """Return what a study takes, as plain data; money in cents, and at most.

    Args:
        fee_percent: by default the panel's higher fee if the panel pays, else none.
    """
    protocol = study.protocol
    fee = fee_percent or (FEE_PERCENT if protocol.admission.panel.pays else "0")
    funds = StudyFunds(fee_percent=fee, vat_percent=vat_percent)
    sessions = 0 if study.kind == QUALIFICATION else study.evaluators_wanted
    base, bonus = protocol.pay.base_usd_cents, largest_bonus(protocol)
    each = sum(map(funds.cost_usd_cents, (base, bonus)))
    waiting = minutes_in_budget(protocol) * funds.cost_usd_cents(protocol.pay.retainer_usd_cents)
    paid = minutes_in_budget(protocol) * protocol.pay.retainer_usd_cents + sessions * (base + bonus)
    total = sessions * each + waiting
    minutes = protocol.consent.minutes
    counted = whole_minutes(minutes) if protocol.admission.panel.pays else minutes
    return {
        "sessions": sessions,
        "evaluators_a_model": 0 if study.kind == QUALIFICATION else protocol.admission.evaluators,
        "looks": [*protocol.looks.looks],
        "trials_a_session": protocol.stimuli.trials,
        "hours": sessions * minutes / 60,
        "base_usd_cents": base,
        "largest_bonus_usd_cents": bonus,
        "wage_usd_cents_an_hour": base * 60 / counted,
        "target_wage_usd_cents_an_hour": protocol.pay.target_wage_usd_cents,
        "session_usd_cents": each,
        "pay_usd_cents": paid,
        "fees_usd_cents": total - paid,
        "total_usd_cents": total,
        "fee_percent": fee,
        "vat_percent": vat_percent,
        "currency": protocol.pay.currency,
    }


def why_no_precision(study: Study, has_pilot: bool) -> str | None:
    """Return why nothing is known of the precision of a study's scores, in words; None if it is."""
    method, own = study.protocol.method, _planning_of(study)
    if study.kind == QUALIFICATION:
        return "a qualification scores no models"
    if method_named(method).unit == "ms" and study.is_mixed:
        return "the spread of HYPE-time is known only for sessions of one model"
    if len(study.models) < own.fewest_models:
        return "a tournament has two models or more"
    if has_pilot or own.without_pilot:
        return None
    return f"no published study says how evaluators of {method_named(method).title} differ; a pilot does"


def default_spreads(study: Study) -> "list[Spread]":
    """Return the spreads from which a study is planned without a pilot."""
    from backend.analysis.planned_spreads import without_pilot

    return without_pilot(study.protocol, len(study.models))


def precision(study: Study, aim: Aim, spreads: "Sequence[Spread] | None" = None) -> dict[str, Any] | None:
    """Return how wide intervals would be, and the power to find a difference, for each known spread.

    None for studies of which `why_no_precision` says why.

    Args:
        spreads: of a pilot; by default `default_spreads`.
    """
    from backend.analysis.planning.power import other_score, power, width

    own, evaluators = _planning_of(study), study.protocol.admission.evaluators
    difference = aim.difference or own.difference or 0.0
    if why_no_precision(study, spreads is not None):
        return None
    models = max(len(study.models), 2)
    rows = []
    for spread in spreads or default_spreads(study):
        spread = spread.in_sessions_of(study.protocol.stimuli.models_per_session)
        if aim.pictures is not None:
            spread = spread.with_pictures(aim.pictures)
        images = study.protocol.stimuli.trials if spread.has_images else spread.images
        is_short = aim.pictures is not None and images > spread.most_images
        why = TOO_FEW_PICTURES if is_short else _why_none(spread, evaluators)
        is_testable = why is None and own.difference and other_score(spread, difference) is not None
        rows.append(
            {
                "model": spread.model,
                "score": spread.score,
                "sd": spread.sd_at(images),
                "width": None if why else width(spread, evaluators, images, aim.level, aim.assurance),
                "power": power(spread, difference, evaluators, images, aim.level, models)
                if is_testable and spread.part == 1
                else None,
                "why_none": why,
            }
        )
    return {
        "unit": spread.scale,
        "level": aim.level,
        "assurance": aim.assurance,
        "difference": difference,
        "test": "two" if models == 2 or spread.scale == "log-odds" else "all",
        "evaluators": evaluators,
        "source": "pilot" if spreads is not None else own.without_pilot,
        "rows": rows,
    }


def _planning_of(study: Study) -> Planning:
    return method_named(study.protocol.method).planning or Planning()


def _why_none(spread: "Spread", evaluators: int) -> str | None:
    """Return why a study tells nothing with so many evaluators; None if it does."""
    if evaluators < 2:
        return "one evaluator does not show how evaluators differ"
    if not spread.varies:
        return "all evaluators have one value"
    return None


def title(study: Study) -> str:
    """Return the name of a study's method for display."""
    return "Qualification" if study.kind == QUALIFICATION else method_named(study.protocol.method).title


def warnings(protocol: Protocol, taken: Mapping[str, Any]) -> list[str]:
    """Return what is to be said against a plan."""
    from backend.experiment.money import currency, format_money

    notes, wage = [], taken["wage_usd_cents_an_hour"]
    is_paid = protocol.pay.is_paid or protocol.admission.panel.pays
    least = currency(protocol.pay.currency).least_wage_cents
    if is_paid and wage < least:
        money = (format_money(cents, protocol.pay.currency) for cents in (wage, least))
        notes.append("taking part pays {} an hour, and the least that panels allow is {}".format(*money))
    if protocol.admission.panel.caution:
        notes.append(protocol.admission.panel.caution)
    if taken["sessions"] and protocol.admission.evaluators < 10:
        notes.append("with fewer than 10 evaluators intervals of 95% cover less than they say")
    return notes
