"""Usage of AWS by a study, computed from its protocol, and its cost at the prices in `prices.toml`.

Files have an assumed length, or, of a stored study, their own.

Write units follow from the table's design (`stores/dynamodb/`); tests compare them with those that
dynalite measures. Item sizes are those of responses as the page posts them, from a 60 Hz display.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from importlib.resources import files
from math import ceil
from typing import Any

from backend.experiment.judgment import pictures_of
from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.judgments.real_or_fake import TIME
from backend.experiment.protocol import Protocol
from backend.experiment.records import CLIPS, Study
from backend.experiment.sampling import Pool
from backend.foundation.errors import NotFound
from backend.stores.dynamodb.counters import quotas
from backend.stores.dynamodb.keys import LISTS

_WRITE_UNIT, _READ_UNIT = 1024, 4096
_HEAD_BYTES, _HEAD_BYTES_A_PICTURE = 750, 22
_STANDING_BYTES = 265
"""Key and cursor of an item, with the display that the browser reported."""
_ANSWER_BYTES = {False: 99, True: 162}
_PACKED_BYTES = {False: 17, True: 44}
"""Size of one response when all responses of a session are compressed together."""
_STIMULUS_BYTES = 35
_STUDY_BYTES = 4096
_MASKS = 64
_OPENING_READS = 16
"""Evaluator record, claim and study: read once for admission, twice for the opening. Pause, recruitment and
the place's record: read once for each; pause once more when the session is stored."""
_COUNTS = 2
"""Counts of sessions by model: for the admission and for the opening."""
_OPENING_CALLS = _OPENING_READS + _COUNTS + 5
"""Reads, counts and five writes: the count, the list, the session, the evaluator's record, the place's."""
_CLOSING_CALLS = 3
"""Read the responses, store them packed, and close the session's count."""

_ALARMS, _ALARMS_OF_PANEL = 10, 2
"""Alarms in `service.yaml` and `budget.yaml`, and those of the function `panel`; a test counts them."""
REQUESTS_A_SECOND = 10
"""Requests that Lambda lets in for each unit of concurrency, however short they are.

Source: "Lambda quotas", invocation requests per second per function (synchronous).
"""
_LOOKS_A_MONTH = {"work": 30 * 24 * 12, "panel": 30 * (24 * 60 + 24 + 1)}
"""How often schedules invoke a function: `work` every five minutes; `panel` every minute, hour and day."""


@dataclass(frozen=True)
class Usage:
    """Resources used. Read units are a range: one process with a warm cache, or a cold one per request."""

    api_requests: float
    table_calls: float
    write_units: float
    least_read_units: float
    most_read_units: float
    picture_requests: float
    page_requests: float
    table_bytes: float
    sent_bytes: float

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def times(self, count: int) -> "Usage":
        return Usage(*(count * value for value in astuple(self)))


def prices() -> dict[str, Any]:
    return tomllib.loads(files("deploy").joinpath("prices.toml").read_text("utf-8"))


def of_session(protocol: Protocol, assumed: Mapping[str, float], evaluators: int | None = None) -> Usage:
    """Return the usage of one session of a panel's evaluator who answers every trial.

    Args:
        evaluators: those wanted in all, by default as many a model as the protocol says.
    """
    trials, writes = protocol.stimuli.trials, protocol.stimuli.trials + protocol.stimuli.blocks
    shown = trials * judgment_of(protocol.method).pictures_a_trial
    planned = trials + protocol.stimuli.spare_images
    masks = _MASKS if protocol.has_flashes and protocol.timing.mask_count else 0
    head = _HEAD_BYTES + _HEAD_BYTES_A_PICTURE * planned
    packed = _STANDING_BYTES + _PACKED_BYTES[protocol.has_flashes] * trials
    answers = _STANDING_BYTES * writes + _ANSWER_BYTES[protocol.has_flashes] * trials
    api_requests = 3 + writes
    models = int(assumed["models"])
    wanted = protocol.admission.evaluators if evaluators is None else ceil(evaluators / models)
    counts = models * len(quotas(wanted))
    read_units = _OPENING_READS + _COUNTS * counts + _units(head + answers, _READ_UNIT)
    return Usage(
        api_requests=api_requests,
        table_calls=_OPENING_CALLS + writes + _CLOSING_CALLS,
        write_units=5 + _units(head, _WRITE_UNIT) + writes + _units(packed, _WRITE_UNIT),
        least_read_units=read_units,
        most_read_units=read_units + writes * (1 + _units(head, _READ_UNIT)),
        picture_requests=shown + masks,
        page_requests=assumed["page_files"],
        table_bytes=head + answers + packed,
        sent_bytes=shown * assumed["picture_bytes"]
        + masks * assumed.get("mask_bytes", assumed["picture_bytes"])
        + assumed["page_bytes"]
        + api_requests * assumed["reply_bytes"],
    )


def of_study(protocol: Protocol, evaluators: int, pictures: int, assumed: Mapping[str, float]) -> Usage:
    """Return the usage of a study that is created, completed by `evaluators` people, and scored once."""
    pool = _STIMULUS_BYTES * pictures + _STUDY_BYTES
    scoring = _units(
        evaluators * (_PACKED_BYTES[protocol.has_flashes] * protocol.stimuli.trials + 3000), _READ_UNIT
    )
    made = Usage(0, 2, _units(pool, _WRITE_UNIT), 0, 0, 0, 0, pool, 0)
    listed = LISTS + scoring
    scored = Usage(0, 10 + evaluators / 50, 0, listed, listed, 0, 0, 0, 0)
    return made + of_session(protocol, assumed, evaluators).times(evaluators) + scored


def own_assumptions(
    study: Study, pool: Pool, picture: Callable[[str, str], bytes | None], assumed: Mapping[str, float]
) -> tuple[dict[str, float], int]:
    """Return the assumptions with a stored study's models and lengths of files, and how many files it has.

    Args:
        picture: returns the content of a file of a study, or None if it is not here.

    Raises:
        NotFound: the study's pictures are not here.
    """
    parts = [
        *pool.reals.values(),
        *(names for by_class in pool.fakes.values() for names in by_class.values()),
    ]
    parts += [names for role in pool.aside.values() for _, _, names in role]
    first = pictures_of(next(names.several([0])[0] for names in parts if len(names)))
    own = {**assumed, "models": float(len(study.models))}
    for key, name in (("picture_bytes", first[0]), *(("mask_bytes", mask) for mask in study.masks[:1])):
        if (data := picture(study.name, name)) is None:
            raise NotFound(
                f"the pictures of {study.name} are not here; run this with the data directory in which it "
                "was made"
            )
        own[key] = float(len(data))
    return own, sum(map(len, parts)) * len(first)


def of_stored_study(
    study: Study, pool: Pool, picture: Callable[[str, str], bytes | None], prices: Mapping[str, Any]
) -> "StoredCosts":
    """Return the usage and costs of a stored study with its own files; arguments as of `own_assumptions`."""
    assumed, files = own_assumptions(study, pool, picture, prices["assumed"])
    own_prices, evaluators = {**prices, "assumed": assumed}, study.most_evaluators
    used = of_study(study.protocol, evaluators, files, assumed)
    session = of_session(study.protocol, assumed, evaluators)
    return StoredCosts(
        evaluators, files, assumed["picture_bytes"], session, used, cost_usd(used, files, own_prices)
    )


@dataclass(frozen=True)
class StoredCosts:
    """What a stored study takes, and costs in US dollars by service."""

    evaluators: int
    files: int
    file_bytes: float
    session: Usage
    study: Usage
    bill: Mapping[str, float]


def cost_usd(used: Usage, pictures: int, prices: Mapping[str, Any]) -> dict[str, float]:
    """Return the cost in US dollars by service, with one month of storage and the most read units."""
    table, function, network, bucket = (prices[name] for name in ("dynamodb", "lambda", "cloudfront", "s3"))
    assumed = prices["assumed"]
    seconds = used.api_requests * assumed["request_seconds"] * assumed["function_gb"]
    shown = used.picture_requests + used.page_requests
    return {
        "DynamoDB": used.write_units * table["write_units_million"] / 1e6
        + used.most_read_units * table["read_units_million"] / 1e6
        + used.table_bytes / 1e9 * table["stored_gb_month"],
        "Lambda": used.api_requests * function["requests_million"] / 1e6
        + seconds * function["gb_seconds_million"] / 1e6,
        "CloudFront": (used.api_requests + shown) * network["requests_million"] / 1e6
        + used.sent_bytes / 1e9 * network["sent_gb"],
        "S3": pictures * bucket["puts_million"] / 1e6
        + shown * bucket["gets_million"] / 1e6
        + pictures * assumed["picture_bytes"] / 1e9 * bucket["stored_gb_month"],
    }


def idle_usd(prices: Mapping[str, Any], has_panel: bool = False) -> float:
    """Return the cost in US dollars of a month without visitors, besides storage: what schedules invoke."""
    function, table = prices["lambda"], prices["dynamodb"]
    usd = 0.0
    for name, looks in _LOOKS_A_MONTH.items():
        if name == "panel" and not has_panel:
            continue
        look = prices["looks"][name]
        million_usd = (
            function["requests_million"]
            + look["seconds"] * look["gb"] * function["gb_seconds_million"]
            + look["read_units"] * table["read_units_million"]
            + look["write_units"] * table["write_units_million"]
        )
        usd += looks * million_usd / 1e6
    return usd


def idle_line(prices: Mapping[str, Any]) -> str:
    """Return a sentence with the cost of a month without visitors."""
    alarms, of_panel = (_usd(alarms_usd(prices, has_panel)) for has_panel in (False, True))
    return (
        f"Without visitors a deployment costs {_usd(idle_usd(prices))} a month besides storage, "
        f"{_usd(idle_usd(prices, has_panel=True))} with the function `panel`: schedules invoke its functions."
        f" Its alarms (`alarm_mail`) cost {alarms} a month besides, or {of_panel}."
    )


def alarms_usd(prices: Mapping[str, Any], has_panel: bool) -> float:
    """Return the cost in US dollars of a month of a deployment's alarms, if it has an `alarm_mail`."""
    return (_ALARMS + (_ALARMS_OF_PANEL if has_panel else 0)) * prices["cloudwatch"]["alarm_month"]


def as_tables(
    protocols: Mapping[str, Protocol], evaluators: Sequence[int], pictures: int, prices: Mapping[str, Any]
) -> str:
    """Return usage and costs of sessions and studies as Markdown tables."""
    assumed = prices["assumed"]
    lines = ["A session:", "", "| | " + " | ".join(f"HYPE-{name}" for name in protocols) + " |"]
    lines.append("| --- |" + " ---: |" * len(protocols))
    sessions = [of_session(protocol, assumed) for protocol in protocols.values()]
    for label, values in _rows(sessions).items():
        lines.append(f"| {label} | " + " | ".join(values) + " |")
    kinds = [(name, count) for name in protocols for count in evaluators]
    studies = [of_study(protocols[name], count, pictures, assumed) for name, count in kinds]
    heads = [f"HYPE-{name}, {count:,} evaluators" for name, count in kinds]
    lines += ["", f"A study with {pictures:,} pictures, played and scored:", ""]
    lines += ["| | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(kinds)]
    for label, values in _rows(studies).items():
        lines.append(f"| {label} | " + " | ".join(values) + " |")
    bills = [cost_usd(used, pictures, prices) for used in studies]
    return "\n".join([*lines, *_bills(bills), "", idle_line(prices), "", _of_prices(prices)])


def as_table_of(study: Study, costs: StoredCosts, prices: Mapping[str, Any]) -> str:
    """Return what a stored study takes as a Markdown table."""
    noun = "clips" if study.medium == CLIPS else "pictures"
    lines = [
        f"{study.name} ({method_named(study.protocol.method).title}) with its own {costs.files:,} {noun} of "
        f"{_size(costs.file_bytes)} each:",
        "",
        f"| | a session | {costs.evaluators:,} evaluators |",
        "| --- | ---: | ---: |",
    ]
    lines += [
        f"| {label} | {' | '.join(values)} |" for label, values in _rows([costs.session, costs.study]).items()
    ]
    lines += [line.replace(" | ", " | | ", 1) for line in _bills([costs.bill])]
    return "\n".join([*lines, "", _of_prices(prices)])


def _bills(bills: Sequence[Mapping[str, float]]) -> Iterator[str]:
    """Yield lines of a table with what each service costs, and CloudFront's share of all."""
    for service in bills[0]:
        yield f"| {service} | " + " | ".join(_usd(bill[service]) for bill in bills) + " |"
    totals = [sum(bill.values()) for bill in bills]
    yield "| **together** | " + " | ".join(f"**{_usd(total)}**" for total in totals) + " |"
    shares = [bill["CloudFront"] / total for bill, total in zip(bills, totals, strict=True)]
    yield "| CloudFront's share | " + " | ".join(f"{100 * share:.0f}%" for share in shares) + " |"


def _of_prices(prices: Mapping[str, Any]) -> str:
    where = f"Prices of {prices['region']} as of {prices['as_of']}, on demand, without the free tier"
    return f"{where}; they may have changed."


def _rows(used: Sequence[Usage]) -> dict[str, list[str]]:
    return {
        "requests of the API": [f"{use.api_requests:,.0f}" for use in used],
        "calls of the table": [f"{use.table_calls:,.0f}" for use in used],
        "write units": [f"{use.write_units:,.0f}" for use in used],
        "read units": [f"{use.least_read_units:,.0f} to {use.most_read_units:,.0f}" for use in used],
        "requests of pictures and page": [f"{use.picture_requests + use.page_requests:,.0f}" for use in used],
        "stored in the table": [_size(use.table_bytes) for use in used],
        "sent": [_size(use.sent_bytes) for use in used],
    }


def _usd(amount: float) -> str:
    return f"${amount:.2f}" if amount >= 0.1 else f"${amount:.3f}"


def _size(count: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count / 1e3:,.0f} kB"


def _units(size: float, unit: int) -> int:
    return ceil(size / unit)


@dataclass(frozen=True)
class HostileRequest:
    """What one request of a stranger takes, where nothing stops it.

    Args:
        concurrency: the setting of `bounds` that limits how many are processed at once; '' for none.
    """

    kind: str
    seconds: float = 0.0
    gb: float = 0.0
    read_units: float = 0.0
    write_units: float = 0.0
    sent_bytes: float = 0.0
    is_cached: bool = False
    concurrency: str = ""


def hostile_requests(assumed: Mapping[str, float]) -> list[HostileRequest]:
    """Return the kinds of requests that anybody on the internet can send, the costliest of each route."""
    seconds, gb = assumed["request_seconds"], assumed["function_gb"]
    reply, models = assumed["reply_bytes"], assumed["models"]
    cheap = partial(HostileRequest, seconds=seconds, gb=gb, sent_bytes=reply, concurrency="ApiConcurrency")
    opening = of_session(TIME, assumed)
    head = _HEAD_BYTES + _HEAD_BYTES_A_PICTURE * (TIME.stimuli.trials + TIME.stimuli.spare_images)
    return [
        HostileRequest("a picture, from CloudFront", sent_bytes=assumed["picture_bytes"], is_cached=True),
        cheap("a study, or an answer with an invented token", read_units=1),
        cheap(
            "an opening of a HYPE-time session (link)",
            read_units=_OPENING_READS + _COUNTS * models,
            write_units=5 + _units(head, _WRITE_UNIT),
        ),
        cheap(
            "an answer in a session of one's own",
            read_units=(opening.most_read_units - opening.least_read_units) / TIME.stimuli.trials,
            write_units=1,
        ),
        HostileRequest(
            "scores without the key",
            seconds,
            assumed["score_gb"],
            sent_bytes=reply,
            concurrency="ScoreConcurrency",
        ),
        HostileRequest(
            "a forged event of the panel", seconds, gb, sent_bytes=reply, concurrency="PanelConcurrency"
        ),
    ]


def hostile_usd(
    request: HostileRequest, count: float, hours: float, prices: Mapping[str, Any], bounds: Mapping[str, str]
) -> float:
    """Return the US dollars that `count` such requests cost if they come evenly within some hours.

    Args:
        bounds: the template's parameters; requests that AWS refuses by them cost CloudFront's part only.
    """
    table, function, network = (prices[name] for name in ("dynamodb", "lambda", "cloudfront"))
    served = count
    if request.concurrency and bounds.get(request.concurrency):
        a_second = min(1 / request.seconds, REQUESTS_A_SECOND)
        served = min(served, hours * 3600 * int(bounds[request.concurrency]) * a_second)
    for parameter, units in (("MaxReadUnits", request.read_units), ("MaxWriteUnits", request.write_units)):
        if units and bounds.get(parameter):
            served = min(served, hours * 3600 * int(bounds[parameter]) / units)
    processed = 0 if request.is_cached else served
    return (
        count * network["requests_million"] / 1e6
        + served * request.sent_bytes / 1e9 * network["sent_gb"]
        + processed * function["requests_million"] / 1e6
        + processed * request.seconds * request.gb * function["gb_seconds_million"] / 1e6
        + processed * request.read_units * table["read_units_million"] / 1e6
        + processed * request.write_units * table["write_units_million"] / 1e6
    )


def hostile_table(prices: Mapping[str, Any], bounds: Mapping[str, str], count: int) -> str:
    """Return what a stranger's requests would cost as a table in Markdown, without and with bounds."""
    lines = [
        f"What {count:,} requests of a stranger within an hour would cost:",
        "",
        "| request | without bounds | with bounds |",
        "| --- | ---: | ---: |",
    ]
    for request in hostile_requests(prices["assumed"]):
        without, within = (hostile_usd(request, count, 1, prices, one) for one in ({}, bounds))
        lines.append(f"| {request.kind} | {_usd(without)} | {_usd(within)} |")
    given = ", ".join(f"{name} {value}" for name, value in sorted(bounds.items()))
    return "\n".join([*lines, "", f"Bounds: {given}. {_of_prices(prices)}"])
