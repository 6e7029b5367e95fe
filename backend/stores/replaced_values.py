"""Edits that name the values which they replace, so that nobody's change is overwritten unseen."""

from collections.abc import Mapping
from typing import Any

from backend.foundation.errors import Conflict, brief


def check_replaced(replaces: Mapping[str, Any], stored: Mapping[str, Any]) -> None:
    """Check that the values from which an edit was made are still the stored ones.

    Args:
        replaces: by name what the edit replaces; names that are left out are not compared.
        stored: by name what is stored now, compared within the write that stores the edit.

    Raises:
        Conflict: `changed`: somebody has changed one since; the message names both values.
    """
    changed = [name for name, value in replaces.items() if value != stored.get(name)]
    if changed:
        values = ", ".join(
            f"{name} is {brief(stored.get(name))}, not {brief(replaces[name])}" for name in changed
        )
        raise Conflict(
            f"somebody else has made a change since: {values}; nothing was stored: look at the new values, "
            "then decide",
            code="changed",
            keys=(changed[0],),
        )
