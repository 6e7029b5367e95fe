"""What the routes of members work with."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from backend.foundation.timestamps import utc_now
from backend.stores.datadir import DataDir, Keys
from backend.stores.store import Store
from backend.uploads.uploads import Uploads
from backend.web.proxies import SignInHeader


@dataclass(frozen=True)
class Context:
    """The store and its surroundings."""

    store: Store
    data: DataDir
    keys: Keys
    clock: Callable[[], datetime] = utc_now
    uploads: Uploads | None = None
    """Where uploads are received; None where they cannot be."""
    base_url: str | None = None
    """The address at which browsers reach this server, if it is known before a request."""
    proxy: SignInHeader | None = None
    """The header in which a proxy names the member whom it has authenticated; None if there is none."""
    publish: Callable[[str, Path], Any] | None = None
    """Uploads a study's images to where browsers get them, if that is elsewhere."""
