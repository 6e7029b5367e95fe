"""What a page on a study needs at once, as plain data."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Literal

from backend.administration.setting_list import typed_settings
from backend.administration.study_spec import base_protocol
from backend.competitions.terms import competition_of
from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.panel import PROLIFIC
from backend.experiment.protocol import to_json, values_of
from backend.experiment.records import PICTURES, Study
from backend.foundation.addresses import reach_of, study_page
from backend.foundation.errors import NotFound
from backend.panels.prolific import has_token
from backend.payment.accounts import funds
from backend.recruitment.recruit import begun as recruitment_begun
from backend.stores.store import Store
from backend.studies import tournament_counts
from backend.studies.waiting_room import waiting_now
from backend.task.eligibility import links_of
from backend.web import console_routes, login, qr_codes
from backend.web.monitor import line_of
from backend.web.progress_types import StudyProgress
from backend.web.routing import as_declared
from backend.web.study_types import PanelFacts, RecruitedFacts, StudyLinks, StudyListed, StudyRecord


def listed(store: Store, study: Study, progress: StudyProgress) -> StudyListed:
    """Return a study's line in the list of studies."""
    return {
        **line_of(progress),
        "created_at": study.created_at,
        "begun": bool(study.begun_at),
        "owed_usd_cents": progress["owed_usd_cents"],
        "currency": progress["currency"],
    }


def record(
    store: Store,
    study: Study,
    progress: StudyProgress,
    base: str,
    now: datetime,
    offered: Collection[str],
) -> StudyRecord:
    """Return all that is told of a study.

    Args:
        base: the server's address, as evaluators reach it.
        offered: the files to download that this server has made.
    """
    done, _ = store.finished(study.name)
    return {
        "study": study.name,
        "kind": study.kind,
        "method": study.protocol.method,
        "title": method_named(study.protocol.method).title,
        "medium": study.medium,
        "models": list(study.models),
        "has_items": judgment_of(study.protocol.method).has_items,
        "classes": list(study.classes),
        "created_at": study.created_at,
        "begun_at": study.begun_at,
        "begun": bool(study.begun_at),
        "paused": progress["paused"],
        "finished": study.kind == "study" and study.is_complete(done),
        "evaluators_wanted": study.evaluators_a_group,
        "sessions_wanted": study.evaluators_wanted,
        "sessions_finished": done,
        "sessions_simulated": store.finished(study.name, simulated=True)[0],
        "sessions_withdrawn": progress["withdrawn"]["sessions"],
        "waiting": waiting_now(store, study.name, now.timestamp()),
        "currency": study.protocol.pay.currency,
        "owed_usd_cents": progress["owed_usd_cents"],
        "settings": to_json(study.protocol),
        "settings_typed": typed_settings(study.protocol),
        "settings_changed": _changed(study),
        "notes": list(study.notes),
        "warnings": progress["warnings"],
        "links": links(store, study, base),
        "panel": panel_facts(study),
        "recruited": recruited(store, study),
        "is_competition": _is_competition(store, study),
        "join_problem": "is a qualification"
        if study.kind == "qualification"
        else judgment_of(study.protocol.method).join_problem(study),
        "sampling_update": _sampling_update(study),
        "paid_from": funds(store, study.name)[1].paid_from,
        "downloads": [each for each in _downloads(study) if each in offered],
    }


def links(store: Store, study: Study, base: str) -> StudyLinks:
    """Return the addresses of a study's pages."""
    is_paid_to_wait = study.protocol.pay.retainer_usd_cents > 0
    page, reach = study_page(base, study.name), reach_of(base)
    return {
        "evaluators": page,
        "reach": reach,
        "qr": None if reach == "this_computer" else qr_codes.as_image(page),
        "wait": f"{base}/wait/{study.name}" if is_paid_to_wait else None,
        "results": f"{base}{login.PATH}/{study.name}",
        "console": f"{base}{console_routes.path_of_study(study.name)}",
        "private": {
            "required": study.protocol.admission.panel.private_links,
            "issued": sum(1 for _ in store.entries(links_of(study.name))),
        },
    }


def panel_facts(study: Study) -> PanelFacts:
    """Return what a researcher is told of the panel of a study."""
    panel = study.protocol.admission.panel
    recruits = panel.name == PROLIFIC.name
    return as_declared(PanelFacts, panel, recruits=recruits, has_token=recruits and has_token())


def recruited(store: Store, study: Study) -> RecruitedFacts | None:
    """Return a study's recruitment without its codes, which anybody could enter; None if none was begun."""
    state = recruitment_begun(store, study)
    if state is None:
        return None
    seen: Mapping[str, Any] = state.get("at_panel") or {}
    return {
        "panel": study.protocol.admission.panel.name,
        "state": state["state"],
        "at_panel": seen.get("state", ""),
        "places": state["places"],
        "url": state["url"],
        "budget_usd_cents": state["budget_usd_cents"],
        "rehearsal_url": (state.get("rehearsal") or {}).get("url"),
    }


def _is_competition(store: Store, study: Study) -> bool:
    try:
        return bool(competition_of(store, study))
    except NotFound:
        return False


def _sampling_update(study: Study) -> Literal["pictures", "pairs"] | None:
    if tournament_counts.is_counted(study):
        return "pairs"
    return "pictures" if study.protocol.stimuli.is_adaptive else None


def _changed(study: Study) -> list[str]:
    before, now = values_of(base_protocol(study.kind, study.protocol.method)), values_of(study.protocol)
    return [name for name, value in now.items() if name != "method" and value != before[name]]


def _downloads(study: Study) -> list[str]:
    if study.kind == "qualification":
        return ["export.zip"]
    names = ["report.zip", "export.zip", "responses.csv"]
    if study.masks:
        names.append("masks.png")
    is_plain = not study.is_mixed and not study.protocol.timing.exposures_ms
    is_of_pictures = study.medium == PICTURES and judgment_of(study.protocol.method).name == "real_or_fake"
    if is_plain and is_of_pictures:
        names.append("site.zip")
    return names
