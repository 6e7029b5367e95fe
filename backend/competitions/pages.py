"""The pages of competitions: made on the server, without script, for anyone to read and to keep in caches."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from backend.competitions import wording
from backend.competitions.terms import CompetitionRecord
from backend.experiment.judgments import method_named
from backend.experiment.money import format_money
from backend.experiment.records import Study
from backend.foundation.timestamps import readable, stamp
from backend.report import formatting, page

_HERE = Path(__file__).parent
_UNITS = {"percent": "%", "ms": "ms", "": "log-odds"}
_TERMS = {
    "title": "the title",
    "about": "the description",
    "opens_at": "the opening date",
    "closes_at": "the closing date",
    "embargo_until": "the embargo",
    "limit": "the limit",
    "counts": "which model of a submitter counts",
    "submitters": "who may submit",
    "published": "whether it is published",
}


def competition_page(data: Mapping[str, Any], now: datetime, url: str, root: str = "") -> str:
    """Return the page of a competition.

    Args:
        data: what is published of it (`Competitions.of`).
        url: the server's address.
        root: the path below which browsers reach it.
    """
    limit, is_relative = data["limit"], not data["unit"]  # log-odds are
    return _render(
        "competition.html",
        title=data["title"],
        root=root,
        data=data,
        paragraphs=[text.strip() for text in data["about"].split("\n\n") if text.strip()],
        open=opening(data["opens_at"], data["closes_at"], now),
        limit=limit and f"{limit['count']} models of a submitter in {limit['days']} days",
        counts=f"of each submitter, the {'best' if data['counts'] == 'best' else 'latest'} model",
        embargo=data["embargo_until"] and readable(data["embargo_until"]),
        rows=[_row(row, data) for row in data["models"]],
        head_unit=_UNITS[data["unit"]],
        higher="the more real its pictures look beside those of the others"
        if is_relative
        else "the harder a model is to tell from real",
        is_relative=is_relative,
        made=data["made_at"] and readable(data["made_at"]),
        who="Anyone with a token of this server can submit."
        if data["is_open_to_all"]
        else "Those whom the organisers named can submit.",
        url=url,
        evaluators=_evaluators(data),
        changes=[
            f"{change['at'][:10]}: {', '.join(_TERMS[name] for name in change['terms'])}"
            for change in reversed(data["changes"])
        ],
    )


def competitions_page(
    competitions: Sequence[tuple[Study, CompetitionRecord]], now: datetime, root: str = ""
) -> str:
    """Return the page that lists the competitions anyone may see."""
    rows = [
        {
            "study": study.name,
            "title": record.terms.title,
            "method_title": method_named(study.protocol.method).title,
            "open": opening(record.terms.opens_at, record.terms.closes_at, now),
        }
        for study, record in competitions
    ]
    return _render("competitions.html", title="Competitions", competitions=rows, root=root)


def nothing(message: str, root: str = "") -> str:
    """Return the page that says why there is nothing to see."""
    return _render("nothing.html", title="There is no such page", message=message, root=root)


def opening(opens_at: str | None, closes_at: str | None, now: datetime) -> str:
    """Return when models can be submitted."""
    at = stamp(now)
    if opens_at and at < opens_at:
        return f"open on {readable(opens_at)}"
    if closes_at and at >= closes_at:
        return f"closed on {readable(closes_at)}"
    return f"open until {readable(closes_at)}" if closes_at else "open"


def _evaluators(data: Mapping[str, Any]) -> str:
    """Return how many evaluators judge a model, as a sentence without its full stop."""
    most, plan = data["evaluators_wanted"], data["looks"]
    if not plan or len(plan["looks"]) == 1:
        return f"{most} for each model, who take part once"
    at = ", ".join(map(str, plan["looks"]))
    return (
        f"{plan['looks'][0]} to {most} for each model, who take part once. It is looked at after {at}, "
        f"against the models that were judged before, and gets no further evaluators once {plan['ends_when']}"
    )


def _row(row: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, str]:
    return {
        "ranks": formatting.ranks(row["ranks"]),
        "model": row["model"],
        "by": row["submitter"] or "",
        "score": wording.number(row["score"], data["unit"]),
        "interval": wording.interval(row["ci"], data["unit"]),
        "evaluators": f"{row['evaluators']:,}",
        "look": "" if row["look"] is None else f"look {row['look']}",
        "judged": wording.days(row["judged_from"], row["judged_until"]),
        "submitted": wording.day(row["submitted_at"]),
        "tries": wording.NONE if row["tries"] is None else str(row["tries"]),
        "pay": format_money(row["cost_usd_cents"], data["currency"]),
    }


def _render(name: str, **values: Any) -> str:
    from markupsafe import Markup

    return page.template(_HERE, name).render(style=Markup(page.style()), **values)
