"""The task as a service: what `handlers.py` calls for evaluators.

The handlers parse; here the store, the clock and the rules of `experiment/session.py` are combined.
Every change is one conditional write, so that a request that is repeated, or sent twice at once, takes
effect once.
"""

from collections.abc import Callable
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any

from backend.experiment.records import Study
from backend.foundation.frozen import dataclass
from backend.foundation.timestamps import utc_now
from backend.stores.store import Store
from backend.task.access import Clock, SessionAccess
from backend.task.answering import Answering
from backend.task.opening import Opening
from backend.task.visitors import Visitors
from backend.task.waiting import Waiting
from backend.task.withdraw_link import Withdrawing

if TYPE_CHECKING:
    from backend.recruitment.sync_thread import Watch


@dataclass(frozen=True)
class TaskService:
    """Everything that evaluators can do, over a store. Safe to use from many threads."""

    access: SessionAccess
    opening: Opening
    answering: Answering
    waiting: Waiting
    withdrawing: Withdrawing

    @classmethod
    def over(
        cls,
        store: Store,
        hash_key: bytes,
        clock: Clock = utc_now,
        rng: Random | None = None,
        watch: "Watch | None" = None,
        finished: Callable[[Study], Any] = lambda study: None,
    ) -> "TaskService":
        """Return the service over a store.

        Args:
            rng: random generator for secrets, ids and plans of sessions; the system's by default.
            watch: notified of what concerns the panel; None if nobody is recruited through its API.
            finished: as in `SessionAccess`.
        """
        access = SessionAccess(store, hash_key, clock, watch, finished)
        visitors = Visitors(access)
        return cls(
            access,
            Opening(access, visitors, rng or SystemRandom()),
            Answering(access),
            Waiting(access, visitors),
            Withdrawing(access),
        )
