"""What the routes of members work with."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import field
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from backend.foundation.frozen import dataclass
from backend.foundation.timestamps import utc_now
from backend.members.sign_in_links import SignInLinks
from backend.stores.datadir import DataDir, Keys
from backend.stores.store import Store
from backend.web.proxies import SignInHeader

if TYPE_CHECKING:
    from backend.competitions.competition import Competitions
    from backend.uploads.uploads import Uploads
    from backend.web.downloads import Downloads
    from backend.web.previews import Previews

T = TypeVar("T")


@dataclass(frozen=True)
class Context:
    """The store and its surroundings."""

    store: Store
    data: DataDir
    keys: Keys
    clock: Callable[[], datetime] = utc_now
    uploads: "Uploads | None" = None
    """Where uploads are received; None where they cannot be."""
    base_url: str | None = None
    """The address at which browsers reach this server, if it is known before a request."""
    other_urls: Callable[[], Sequence[str]] = tuple
    """Returns the addresses by which other machines reach this one, if it knows them."""
    proxy: SignInHeader | None = None
    """The header in which a proxy names the member whom it has authenticated; None if there is none."""
    publish: Callable[[str, Path], Any] | None = None
    """Uploads a study's images to where browsers get them, if that is elsewhere."""
    make_downloads: "Callable[[Store, DataDir, Callable[[], datetime]], Downloads] | None" = None
    """Makes what has files to download made; by default they are in the data directory."""
    sign_in_links: SignInLinks = field(default_factory=SignInLinks)
    """The one-time links of this server."""
    previews: "Previews | None" = None
    """What has been opened to look at studies as evaluators; None where several processes answer."""
    _shared: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, repr=False)
    _lock: Any = field(default_factory=threading.RLock, init=False, repr=False)

    def shared(self, make: Callable[["Context"], T]) -> T:
        """Return what `make` returns of this context: made once, then the same for all requests."""
        with self._lock:
            if make not in self._shared:
                self._shared[make] = make(self)
            return self._shared[make]

    @property
    def downloads(self) -> "Downloads":
        """What has the files of this server made that are to be downloaded."""
        return self.shared(_downloads)

    @cached_property
    def competitions(self) -> "Competitions":
        """The competitions of the store, with the tables that were made of them."""
        from backend.competitions.competition import Competitions
        from backend.web.table_jobs import have_made

        return Competitions(self.store, self.clock, partial(have_made, self.store, self.clock))


def _downloads(context: Context) -> "Downloads":
    from backend.web.downloads import Downloads

    return (context.make_downloads or Downloads)(context.store, context.data, context.clock)
