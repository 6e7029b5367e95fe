"""Payments without a person at the terminal, of studies whose researcher approved that.

The approval allows only what `pay --yes` would pay at that moment: submissions that need a decision wait
for one, and the study's budget bounds the total. Without a budget nothing can be approved. The result of
the latest run is stored with the approval.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from backend.experiment.records import Study
from backend.foundation.errors import Conflict, OpenhypeError
from backend.foundation.timestamps import stamp
from backend.panels.api import Panel
from backend.payment import accounts
from backend.payment.payer import Payer
from backend.stores.store import Stale, Store
from backend.stores.updates import retried

_BOOK = "automatic payments"
log = logging.getLogger("openhype")


@dataclass(frozen=True)
class Approval:
    """A researcher's approval of automatic payments for a study; times are UTC, ISO 8601."""

    approved_at: str
    last_at: str = ""
    """When the latest run ended; '' if there was none."""
    obstacles: tuple[str, ...] = ()
    """What the latest run could not pay, and why."""


def approval(store: Store, study: Study) -> Approval | None:
    """Return the approval of a study's automatic payments, or None; that of an earlier namesake is none."""
    entry = store.entry(_BOOK, study.name)
    if entry is None or not entry.data["approved_at"] or entry.data["created_at"] != study.created_at:
        return None
    return Approval(entry.data["approved_at"], entry.data["last_at"], tuple(entry.data["obstacles"]))


def approve(store: Store, study: Study, now: datetime) -> None:
    """Approve automatic payments for a study, within its budget.

    Raises:
        Conflict: the study has no budget, or another store pays it.
    """
    accounts.check_paid_here(store, study.name)
    _, funds = accounts.funds(store, study.name)
    if accounts.in_force(store, study.name, funds).budget_usd_cents is None:
        raise Conflict(
            f"study {study.name} has no budget, which automatic payments must not exceed; set one "
            f"(`openhype pay {study.name} --budget AMOUNT`)"
        )
    _write(store, study, Approval(stamp(now)))


def withdraw(store: Store, study: Study) -> None:
    """Withdraw the approval; a run that has begun may still pay what it has committed."""
    if approval(store, study) is not None:
        _write(store, study, Approval(""))


def run(store: Store, panel: Panel, clock: Callable[[], datetime]) -> dict[str, tuple[str, ...]]:
    """Pay what all approved studies owe, and return the obstacles by study.

    An error in one study does not hold up the others. Several runs at once pay nothing twice.
    """
    results = {}
    for study in store.studies():
        approved = approval(store, study)
        if approved is None:
            continue
        try:
            panel_study = accounts.panel_study_of(store, study, clock())
            if panel_study is None:
                continue
            obstacles = tuple(Payer(store, study, panel, panel_study, clock).run())
        except OpenhypeError as error:
            obstacles = (str(error),)
        except Exception:  # this loop is the outermost door of each study
            log.exception("automatic payment of %s", study.name)
            obstacles = (f"an error of openhype itself; the log has it at {stamp(clock())}",)
        for obstacle in obstacles:
            log.warning("automatic payment of %s: %s", study.name, obstacle)
        results[study.name] = obstacles
        _note(store, study, replace(approved, last_at=stamp(clock()), obstacles=obstacles))
    return results


def _note(store: Store, study: Study, after: Approval) -> None:
    """Store the result of a run, unless the approval has changed in the meantime."""
    entry = store.entry(_BOOK, study.name)
    if entry is not None and entry.data["approved_at"] == after.approved_at:
        with suppress(Stale):  # by another run, or the approval was withdrawn
            store.write_entry(_BOOK, study.name, entry.version, _data(study, after))


def _write(store: Store, study: Study, after: Approval) -> None:
    def change() -> None:
        entry = store.entry(_BOOK, study.name)
        store.write_entry(_BOOK, study.name, entry.version if entry else 0, _data(study, after))

    retried(change, f"the payments of study {study.name} are being changed from several programs at once")


def _data(study: Study, after: Approval) -> dict[str, Any]:
    return {
        "created_at": study.created_at,
        "approved_at": after.approved_at,
        "last_at": after.last_at,
        "obstacles": list(after.obstacles),
    }
