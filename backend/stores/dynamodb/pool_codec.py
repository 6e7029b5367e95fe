"""Encoding of pools and sessions; a session's stimuli are stored as indices into its study's pool.

A HYPE-time session plans 510 stimuli. Their names would take eight kilobytes, their indices take one. A
pool never changes, so that each process reads it once.
"""

import dataclasses
import json
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from backend.experiment.records import PlannedBlock, Session, Stimulus
from backend.stores import json_codec

_ROWS = 4000
"""Stimuli per item: about 35 bytes each, far below the 400 KB limit of an item."""


class StoredPool:
    """A study's stimuli in the order of their names, and the index of each."""

    def __init__(self, stimuli: Sequence[Stimulus]):
        self.stimuli = stimuli
        self.indices = {stimulus.name: place for place, stimulus in enumerate(stimuli)}

    def block(self, class_: str, places: Sequence[int]) -> PlannedBlock:
        """Return the block that shows the stimuli at the indices `places`."""
        shown = [self.stimuli[place] for place in places]
        names, truths, models = ([getattr(s, name) for s in shown] for name in ("name", "truth", "model"))
        return PlannedBlock(tuple(names), tuple(truths), tuple(models), class_)


def pack_stimuli(stimuli: Iterable[Stimulus]) -> Iterator[bytes]:
    """Yield a pool in the order of its names, some thousands of stimuli per chunk."""
    rows = sorted((s.name, s.truth, s.model, s.class_, s.source) for s in stimuli)
    for start in range(0, len(rows), _ROWS):
        yield _squeezed(rows[start : start + _ROWS])


def unpack_stimuli(data: bytes) -> Iterator[Stimulus]:
    for row in json.loads(zlib.decompress(data)):
        yield Stimulus(*row)


def pack_session(session: Session, pool: StoredPool) -> tuple[bytes, bytes]:
    """Return the encoded facts of a session, and the pool indices of its stimuli.

    The indices are empty if a stimulus differs from that of the pool; the facts then hold the whole
    session.
    """
    planned = (*session.blocks, *session.spares)
    names = [name for block in planned for name in block.stimuli]
    if not all(name in pool.indices for name in names):
        return zlib.compress(json_codec.dump(session).encode(), 9), b""
    places = [[pool.indices[name] for name in block.stimuli] for block in planned]
    if any(pool.block(b.class_, where) != b for b, where in zip(planned, places, strict=True)):
        return zlib.compress(json_codec.dump(session).encode(), 9), b""
    facts = vars(dataclasses.replace(session, blocks=(), spares=()))
    blocks, spares = ([[len(b.stimuli), b.class_] for b in part] for part in (session.blocks, session.spares))
    flat = [place for where in places for place in where]
    return _squeezed({**facts, "blocks": blocks, "spares": spares}), struct.pack(
        f">{len(flat)}{_width(pool)}", *flat
    )


def unpack_session(facts: bytes, places: bytes, pool: StoredPool) -> Session:
    """Return the session encoded by `pack_session`."""
    text = zlib.decompress(facts).decode()
    if not places:
        return json_codec.load_session(text)
    data: dict[str, Any] = json.loads(text)
    width = _width(pool)
    flat = struct.unpack(f">{len(places) // struct.calcsize(width)}{width}", places)
    for part in ("blocks", "spares"):
        blocks = []
        for size, class_ in data[part]:
            blocks.append(pool.block(class_, flat[:size]))
            flat = flat[size:]
        data[part] = tuple(blocks)
    return json_codec.session_of(data)


def pictures(session: Session) -> list[str]:
    """Return all stimulus names of a session, in the order in which responses index them."""
    return [name for block in (*session.blocks, *session.spares) for name in block.stimuli]


def _width(pool: StoredPool) -> str:
    return "H" if len(pool.stimuli) <= 1 << 16 else "I"


def _squeezed(data: Any) -> bytes:
    return zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9)
