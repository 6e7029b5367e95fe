"""Sessions of simulated evaluators whose process was killed: they are erased, and no others.

Whoever has evaluators simulated holds a lock of the study in its data directory, which the system releases
however the process ends. Sessions in which people try a study out count as simulated too, and stay.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

from backend.experiment.records import Study
from backend.foundation.errors import NotFound, OpenhypeError
from backend.foundation.file_permissions import make_folder, private
from backend.foundation.timestamps import stamp, utc_now
from backend.stores.datadir import DataDir
from backend.stores.store import Store

_SILENT = timedelta(minutes=5)
"""Time without an answer after which a session has ended that may be another machine's; a request is tried
for two minutes."""


@contextmanager
def simulating(store: Store, data: DataDir, name: str) -> Iterator[None]:
    """Have evaluators simulated in a study within the block; what killed ones left is erased before it."""
    path = data.root / "simulations" / f"{name}.lock"
    make_folder(path.parent)
    descriptor = private(str(path), os.O_RDWR | os.O_CREAT)
    try:
        _clear_if_alone(store, descriptor, name)
        fcntl.flock(descriptor, fcntl.LOCK_SH)  # shared by all who simulate; exclusive only without them
        os.write(descriptor, b"1")  # there may be something to erase
        try:
            yield
        finally:
            with suppress(OpenhypeError):  # it is erased before the next ones are simulated
                _clear_if_alone(store, descriptor, name)
    finally:
        os.close(descriptor)


def clear_killed(store: Store, data: DataDir) -> None:
    """Erase what killed simulations left in any study."""
    for path in (data.root / "simulations").glob("*.lock"):
        if path.stat().st_size:
            _clear_at(store, path)


def _clear_at(store: Store, path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        _clear_if_alone(store, descriptor, path.stem)
    finally:
        os.close(descriptor)


def _clear_if_alone(store: Store, descriptor: int, name: str) -> None:
    """Erase the unfinished sessions of simulated evaluators, unless some are simulated at this moment."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return
    with suppress(NotFound):  # the study was deleted
        study = store.study(name)
        _clear(store, study)
        if gate := study.protocol.admission.qualification:
            _clear(store, store.study(gate))
    os.ftruncate(descriptor, 0)


def _clear(store: Store, study: Study) -> None:
    is_here = (store.url or "").startswith("sqlite:")
    before = stamp(utc_now() - _SILENT)
    for session, cursor in store.sessions(study.name, simulated=True):
        is_left = cursor.state == "active" and (is_here or cursor.last_at < before)
        if is_left and session.device.get("simulated"):
            store.erase_session(session.id)
