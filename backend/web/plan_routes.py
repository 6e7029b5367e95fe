"""Routes that plan studies: settings as forms need them, evaluators and cost of an aim, costs of AWS.

And those that have the server compute what belongs to a study's pictures: metrics, and agreement with votes.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from backend.administration.setting_forms import fields, names_in_words, posted
from backend.experiment.judgment import Planning
from backend.experiment.judgments import METHODS, method_named
from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput
from backend.jobs import queue
from backend.members.roles import RESEARCHER
from backend.recruitment.plan import FEE_PERCENT
from backend.web.authorisation import caller
from backend.web.context import Context
from backend.web.intake_routes import MOST_BYTES, audited_order, check_audited, upload_digests
from backend.web.job_routes import enqueued
from backend.web.job_types import Enqueued
from backend.web.plan_types import (
    AgreementWish,
    CorrelationWish,
    Costs,
    CostWish,
    MethodChoice,
    MethodChoices,
    MetricsWish,
    OpinionsWish,
    PlanMade,
    PlanWish,
    SettingFields,
    SettingNames,
    StoredMetrics,
    StudyCosts,
    StudyPrecision,
    StudyResources,
)
from backend.web.routing import Routes

_QUALIFICATION: MethodChoice = {
    "method": "qualification",
    "title": "Qualification",
    "about": (
        "A short test of real or fake that people have to pass before they may take part in studies, which "
        "ask for it in their settings. It has no score."
    ),
    "parts": [],
    "is_common": False,
    "unit": "percent",
    "difference": None,
    "without_pilot": "",
}
route = Routes(RESEARCHER)


@route("GET /api/methods")
def list_methods(context: Context) -> MethodChoices:
    """What a study can be: its method, or a qualification.

    Returns:
        Those of HYPE first, the qualification last.
    """
    methods = [*(_choice(name) for name in METHODS), _QUALIFICATION]
    return {"methods": methods, "settings": cast(dict[str, SettingNames], names_in_words())}


@route("GET /api/settings/{method}", "400", without="404")
def list_settings(context: Context, method: str) -> SettingFields:
    """All settings for a method, or for `qualification`, as a form needs them.

    Returns:
        In the order of the documentation.
    """
    title = method_named(method).title if method in METHODS else "Qualification"
    return {"method": method, "title": title, "settings": fields(method)}


@route("POST /api/plan", "404 413", is_audited=False, most_bytes=MOST_BYTES)
def make_plan(context: Context, wanted: PlanWish) -> PlanMade:
    """What a study takes as it is set, what its scores could tell, and what an aim needs.

    Returns:
        The plan; nothing is made.
    """
    from backend.administration import study_plan

    study = study_plan.planned_study(wanted.method, wanted.models, posted(wanted.settings))
    wanted = _with_audited(context, wanted)
    pilot = (
        None if wanted.pilot is None else _pilot(context, context.store.study(wanted.pilot), study, wanted)
    )
    taken = cast(StudyResources, study_plan.resources(study, wanted.fee_percent, wanted.vat_percent))
    aim = study_plan.Aim(wanted.difference, wanted.level, wanted.assurance, wanted.pictures)
    spreads = None if pilot is None else _spreads(pilot)
    precision = cast(StudyPrecision | None, study_plan.precision(study, aim, spreads))
    why_none = study_plan.why_no_precision(study, pilot is not None)
    if precision and {row["why_none"] for row in precision["rows"]} == {study_plan.TOO_FEW_PICTURES}:
        why_none = study_plan.TOO_FEW_PICTURES
    return {
        "method": wanted.method,
        "title": study_plan.title(study),
        "models": wanted.models,
        "study": taken,
        "precision": precision,
        "why_none": why_none,
        "aim": None if why_none else _aim(study, wanted, pilot),
        "warnings": study_plan.warnings(study.protocol, taken),
    }


@route("POST /api/costs", "404", is_audited=False)
def tell_costs(context: Context, wanted: CostWish) -> Costs:
    """What studies cost on AWS.

    Returns:
        For the stored study alone, or for HYPE-infinity and HYPE-time, each for each number of evaluators.
    """
    from backend.administration import aws_costs as usage
    from backend.experiment.judgments.real_or_fake import INFINITY, TIME

    prices = usage.prices()
    costs: list[StudyCosts] = []
    if wanted.study is not None:
        study = context.store.study(wanted.study)
        own = usage.of_stored_study(study, context.store.pool(study.name), context.data.picture, prices)
        session = own.session.sent_bytes
        costs = [_costs(study.protocol.method, own.evaluators, own.files, session, own.bill)]
    for name, protocol in () if costs else (("infinity", INFINITY), ("time", TIME)):
        for count in wanted.evaluators:
            used = usage.of_study(protocol, count, wanted.pictures, prices["assumed"])
            bill = usage.cost_usd(used, wanted.pictures, prices)
            session = usage.of_session(protocol, prices["assumed"], count).sent_bytes
            costs.append(_costs(name, count, wanted.pictures, session, bill))
    return {"studies": costs, "region": prices["region"], "as_of": str(prices["as_of"])}


def _costs(
    method: str, evaluators: int, pictures: int, session_bytes: float, bill: Mapping[str, float]
) -> StudyCosts:
    return {
        "method": method,
        "evaluators": evaluators,
        "pictures": pictures,
        "session_bytes": session_bytes,
        "services": dict(bill),
        "total_usd": sum(bill.values()),
    }


@route("POST /api/studies/{study}/metrics", "503", status=202)
def compute_metrics(context: Context, study: Study, wanted: MetricsWish) -> Enqueued:
    """Compute metrics of a study's pictures from the built-in features, and keep them with it.

    Returns:
        They are being computed; they are the job's result.
    """
    return enqueued(context, "metrics", study, msgspec.structs.asdict(wanted))


@route("GET /api/studies/{study}/metrics")
def show_metrics(context: Context, study: Study) -> StoredMetrics:
    """The metrics that are kept with a study.

    Returns:
        One run for each extractor, the latest of each.
    """
    from backend.metrics.study_metrics import stored_runs

    return {"runs": stored_runs(context.data, study)}


@route("POST /api/studies/{study}/agree", "503", status=202)
def compute_agreement(context: Context, study: Study, wanted: AgreementWish) -> Enqueued:
    """Score distances that need no weights against the votes of a study of similarity.

    Returns:
        It is being computed; it is the job's result.
    """
    _check_votes(study)
    return enqueued(context, "agree", study, msgspec.structs.asdict(wanted))


@route("POST /api/studies/{study}/correlate", "503", status=202)
def correlate_judgments(context: Context, study: Study, wanted: CorrelationWish) -> Enqueued:
    """Correlate the scores of distances that need no weights over a 2AFC and a JND study.

    Returns:
        They are being computed; scores and correlations are the job's result.
    """
    from backend.responses.agreement import check_judgments

    if not wanted.distances:
        raise InvalidInput("distances is empty; name at least one, such as l2")
    other = context.store.study(wanted.other)
    for each in (study, other):
        _check_votes(each)
    check_judgments((study.name, other.name), (study.protocol.method, other.protocol.method))
    args = msgspec.structs.asdict(wanted)
    args["other"] = {"study": other.name, "created_at": other.created_at}
    return enqueued(context, "correlate", study, args)


@route("POST /api/opinion-scores", "404 409 503", status=202)
def correlate_opinions(context: Context, wanted: OpinionsWish) -> Enqueued:
    """Correlate metrics with opinion scores of others, from files of an upload.

    Returns:
        They are being computed; correlations are the job's result.
    """
    member = caller()
    upload_digests(context, {"the files": wanted.upload}, member)
    args = msgspec.structs.asdict(wanted)
    return {"job": queue.enqueue(context.store, "opinions", None, member.name, args, context.clock()).id}


def _check_votes(study: Study) -> None:
    from backend.analysis.agreement.votes import KINDS

    method = study.protocol.method
    if method not in KINDS:
        raise InvalidInput(
            f"metrics are scored against votes of the methods {' and '.join(KINDS)}, and {study.name} is of "
            f"{method}"
        )


def _with_audited(context: Context, wanted: PlanWish) -> PlanWish:
    """Return a wish with as many pictures as an audit found on the side with the fewest.

    Raises:
        InvalidInput: the settings of the order need other pictures than the audit found.
    """
    if wanted.order is None or (ordered := audited_order(context, wanted.order)) is None:
        return wanted
    scored = Counter(each.model for each in check_audited(context, *ordered) or () if not each.role)
    fewest = min(scored.values(), default=0)
    return msgspec.structs.replace(wanted, pictures=wanted.pictures or (fewest if fewest >= 2 else None))


def _choice(name: str) -> MethodChoice:
    method = method_named(name)
    planned = method.planning or Planning()
    return {
        "method": name,
        "title": method.label or method.title,
        "about": method.meaning,
        "parts": [*METHODS[name].parts],
        "is_common": method.is_common,
        "unit": cast(Any, method.unit or "log-odds"),
        "difference": planned.difference,
        "without_pilot": planned.without_pilot,
    }


def _pilot(context: Context, pilot: Study, study: Study, wanted: PlanWish) -> Any:
    """Return the answers of a pilot, which must be of the study's method."""
    from backend.responses.study_data import study_answers

    if pilot.protocol.method != study.protocol.method:
        raise InvalidInput(
            f"the pilot must be of the method {study.protocol.method}, and {pilot.name} is of "
            f"{pilot.protocol.method}"
        )
    return study_answers(context.store, pilot, wanted.pilot_simulated)


def _spreads(pilot: Any) -> Any:
    from backend.analysis.planned_spreads import spreads_of

    return spreads_of(pilot)


def _aim(study: Study, wanted: PlanWish, pilot: Any) -> dict[str, Any]:
    """Return the plan for an aim: with the pay of the study's settings, and its number of models."""
    from backend.analysis.planning.plan import planning_of
    from backend.report.notebook import plan

    protocol = study.protocol
    trials, own = protocol.stimuli.trials, planning_of(protocol.method)
    is_even = (
        method_named(protocol.method).unit != "ms" and trials >= 2 and not (own.is_halved and trials % 2)
    )
    return plan(
        pilot,
        protocol,
        width=wanted.width,
        difference=wanted.difference if own.difference else None,
        power=wanted.power,
        assurance=wanted.assurance,
        pictures=wanted.pictures,
        level=wanted.level,
        models=max(len(study.models), 2) if wanted.difference is not None else len(study.models),
        images=trials if is_even else None,
        models_per_session=protocol.stimuli.models_per_session,
        fee=float(wanted.fee_percent or (FEE_PERCENT if protocol.admission.panel.pays else 0)),
        base_usd_cents=protocol.pay.base_usd_cents,
        right_usd_cents=protocol.pay.bonus_usd_cents,
        hourly_usd_cents=0,
    )
