"""Which wallet at the panel pays for a study, read before anything is published.

Each workspace of an account has a currency and pays for its projects. A study that names no project is
paid by the first one ever created, whoever owns it.
"""

from typing import Any

from backend.experiment.money import CURRENCIES, format_money
from backend.foundation.errors import InvalidInput
from backend.foundation.frozen import dataclass
from backend.panels.api import Balance, Panel, Workspace


@dataclass(frozen=True)
class Wallet:
    """A project at the panel, and the workspace that pays for it."""

    workspace: str
    workspace_title: str
    project: str
    project_title: str
    balance: Balance

    def line(self) -> str:
        left = self.balance.available_cents
        paid = format_money(left, self.balance.currency) if self.balance.currency in CURRENCIES else left
        return f"paid by: workspace {self.workspace_title}, project {self.project_title}; {paid} available"


def choose(panel: Panel, workspace: str = "", project: str = "") -> Wallet:
    """Return the wallet named by ids or titles, or the only one that exists.

    Raises:
        InvalidInput: there are several, or none with that name.
    """
    workspaces = panel.workspaces()
    pairs = [
        (one, known)
        for one in workspaces
        for known in one.projects
        if workspace in ("", one.id, one.title) and project in ("", *known)
    ]
    if len(pairs) != 1:
        wanted = " and ".join(
            f"{what} {name!r}" for what, name in (("workspace", workspace), ("project", project)) if name
        )
        raise InvalidInput(
            f"{'no' if not pairs else 'more than one'} project at the panel fits"
            f"{f' {wanted}' if wanted else ''}; say which workspace and project pay "
            "(--workspace, --project): " + "; ".join(_listed(one) for one in workspaces)
        )
    (one, (id, title)) = pairs[0]
    return Wallet(one.id, one.title, id, title, panel.balance(one.id))


def check_currency(balance: Balance, study: str, study_currency: str, base_cents: int) -> None:
    """Raise InvalidInput if a wallet's currency differs from the one the study promises."""
    if balance.currency == study_currency:
        return
    promised = format_money(base_cents, study_currency)
    help_: Any = f"make the study with --set currency={balance.currency}"
    if balance.currency not in CURRENCIES:
        help_ = f"take a workspace in {' or '.join(CURRENCIES)}"
    raise InvalidInput(
        f"study {study} promises {promised} in {study_currency}, and the workspace pays in "
        f"{balance.currency}: the same number would be another amount; {help_}"
    )


def _listed(workspace: Workspace) -> str:
    projects = ", ".join(f"{title} ({id})" for id, title in workspace.projects) or "no project"
    return f"{workspace.title} ({workspace.id}): {projects}"
