"""What bounds the bill of a deployment, and other choices: settings of `openhype deploy --set NAME=VALUE`.

Each is a parameter of a template, and stays as it is until it is set again. Throughput and concurrency of a
new deployment follow from how many people take part at once; a request beyond them is refused by AWS at
the price of a CloudFront request, and the page sends it again.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil

from backend.administration.aws_costs import REQUESTS_A_SECOND
from backend.foundation.errors import InvalidInput
from deploy.stacks import BUDGET, DATA, SERVICE

AT_ONCE = 1000
"""People at once for whom a new deployment is made by default."""
_ANSWERS_A_SECOND = 0.5
"""Of one evaluator: a response every two seconds."""
_SECONDS = 0.03
"""Of a request; as `assumed.request_seconds` in `prices.toml`."""
_MARGIN, _UNITS_MARGIN = 4, 3
"""For openings, cold starts and retries."""
_LEFT_FOR_OTHERS = 100
"""Concurrent executions that AWS requires an account to leave unreserved."""
_NONE = "none"


@dataclass(frozen=True)
class Setting:
    """One setting, the template's parameter that it sets, and how its values look."""

    name: str
    parameter: str
    role: str
    """Which stack has it: that of data, of the service, or of what is in us-east-1."""
    pattern: str
    example: str
    text: str


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting(
            "write_units", "MaxWriteUnits", DATA, r"[1-9][0-9]{0,6}", "1500",
            "the table's writes a second, at most",
        ),
        Setting(
            "read_units", "MaxReadUnits", DATA, r"[1-9][0-9]{0,6}", "2000",
            "the table's reads a second, at most",
        ),
        Setting(
            "warm_write_units", "WarmWriteUnits", DATA, r"[4-9][0-9]{3}|[1-9][0-9]{4,6}", "8000",
            "writes a second that the table takes at once, from 4,000 (a new one's); billed once",
        ),
        Setting(
            "warm_read_units", "WarmReadUnits", DATA,
            r"1[2-9][0-9]{3}|[2-9][0-9]{4}|[1-9][0-9]{5,6}", "24000",
            "reads a second that the table takes at once, from 12,000, likewise",
        ),
        Setting(
            "api_concurrency", "ApiConcurrency", SERVICE, r"[1-9][0-9]{0,4}", "60",
            "requests of evaluators processed at once, at most; reserved for them",
        ),
        Setting(
            "score_concurrency", "ScoreConcurrency", SERVICE, r"[1-9][0-9]{0,4}", "5",
            "the same for scores",
        ),
        Setting(
            "panel_concurrency", "PanelConcurrency", SERVICE, r"[1-9][0-9]{0,4}", "10",
            "the same for the function with the panel's token",
        ),
        Setting(
            "price_class", "PriceClass", SERVICE, r"100|200|all", "100",
            "where CloudFront serves from: 100 (America and Europe), 200, all; prices differ by region",
        ),
        Setting(
            "monthly_budget", "MonthlyBudget", BUDGET, r"[1-9][0-9]{0,5}", "20",
            "US dollars a month; `alarm_mail` hears at 50%, 100%, and when 100% is forecast",
        ),
        Setting(
            "alarm_mail", "AlarmMail", SERVICE, r"[^\s@,]+@[^\s@,]+", "you@lab.example",
            "who gets the mails of alarms, of which each costs a little, and of the budget",
        ),
        Setting(
            "domain", "Domain", SERVICE, r"[a-z0-9][a-z0-9.-]{1,252}", "hype.lab.example",
            "a domain of your own, which you point to the distribution; needs `certificate`, and TLS 1.2",
        ),
        Setting(
            "certificate", "Certificate", SERVICE,
            r"arn:aws[a-z-]*:acm:us-east-1:[0-9]{12}:certificate/[\w-]+",
            "arn:aws:acm:us-east-1:123456789012:certificate/…", "its certificate, in us-east-1",
        ),
        Setting(
            "web_acl", "WebAcl", SERVICE, r"arn:aws[a-z-]*:wafv2:us-east-1:[0-9]{12}:global/webacl/\S+",
            "arn:aws:wafv2:us-east-1:123456789012:global/webacl/…",
            "a firewall (WAF) before the distribution",
        ),
    )
}  # fmt: skip


def parse(given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the parameters by name that settings give; `none` takes a setting away.

    Raises:
        InvalidInput: a setting is unknown, or its value is malformed.
    """
    bounds = {}
    for name, value in given:
        setting = SETTINGS.get(name)
        if setting is None:
            raise InvalidInput(
                f"there is no setting {name!r} of a deployment; there are {', '.join(SETTINGS)}"
            )
        if value != _NONE and not re.fullmatch(setting.pattern, value, re.ASCII):
            raise InvalidInput(f"{name} must be such as {setting.example}, or {_NONE}, not {value!r}")
        bounds[setting.parameter] = "" if value == _NONE else value
    return bounds


def defaults(at_once: int, account_limit: int | None) -> dict[str, str]:
    """Return the parameters that bound a deployment for so many people at once.

    Args:
        account_limit: how many functions the account may run at once; None if unknown.
    """
    answers = at_once * _ANSWERS_A_SECOND
    units = {
        "MaxWriteUnits": str(max(500, ceil(answers * _UNITS_MARGIN))),
        "MaxReadUnits": str(max(1000, ceil(answers * _UNITS_MARGIN * 4 / 3))),
    }
    reserved = {
        "ApiConcurrency": max(
            20, ceil(answers * _SECONDS * _MARGIN), ceil(answers * _UNITS_MARGIN / REQUESTS_A_SECOND)
        ),
        "ScoreConcurrency": 5,
        "PanelConcurrency": 10,
    }
    if account_limit is None or account_limit < sum(reserved.values()) + _LEFT_FOR_OTHERS:
        return units
    return {**units, **{name: str(count) for name, count in reserved.items()}}


def of_stack(parameters: Mapping[str, str], role: str) -> dict[str, str]:
    """Return those parameters that the stack of this role has; the others of its settings are empty."""
    names = [one.parameter for one in SETTINGS.values() if one.role == role]
    if role == BUDGET:
        names.append(SETTINGS["alarm_mail"].parameter)  # which the service has as well
    return {name: parameters.get(name, "") for name in names}


def check(parameters: Mapping[str, str]) -> None:
    """Raise InvalidInput if a setting is missing that another one needs."""

    def has(name: str) -> bool:
        return bool(parameters.get(SETTINGS[name].parameter))

    if has("domain") != has("certificate"):
        raise InvalidInput(
            f"domain and certificate need each other: set both, or take both away with {_NONE}"
        )
    if has("monthly_budget") and not has("alarm_mail"):
        raise InvalidInput(
            f"monthly_budget needs alarm_mail: set it, or take the budget away with monthly_budget={_NONE}"
        )
