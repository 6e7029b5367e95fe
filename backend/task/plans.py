"""Planning of sessions: the next condition, the stimuli, and how many more sessions each condition takes."""

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

from backend.experiment import sampling
from backend.experiment.judgment import Turn
from backend.experiment.judgments import judgment_of
from backend.experiment.pair_design import Strengths
from backend.experiment.panel import CODE_LETTERS
from backend.experiment.records import Condition, Session, Study
from backend.experiment.sampling import Pool
from backend.foundation.bounded_cache import Recent
from backend.foundation.errors import Conflict
from backend.stores.store import Capacity
from backend.studies import picture_needs, tournament_counts
from backend.studies.item_turns import Turns
from backend.studies.picture_needs import Side
from backend.studies.places_given_back import rejected
from backend.task.access import SessionAccess, hash_of, wanted
from backend.task.eligibility import stored_parameters
from backend.task.requests import Opening

_SEED_BITS = 53
_POOLS_BYTES = 48 << 20
"""Cached pools of studies: about two million stimuli, unless the store reads them on demand."""
_BYTES_PER_POOL = 10_000
_NEEDS_FOR = timedelta(minutes=1)
"""How long a process goes on with what it read of the pictures that need evaluators."""


class SessionPlans:
    """Plans sessions of the studies of a store.

    Args:
        rng: random generator for secrets, ids and plans of sessions.
    """

    def __init__(self, access: SessionAccess, rng: Random):
        self._access, self._rng = access, rng
        self._store, self._hash_key, self._clock = access.store, access.hash_key, access.clock
        self._needs_read: dict[tuple[str, str, bool], tuple[datetime, Mapping[Side, Sequence[int]]]] = {}
        self._strengths_known: dict[tuple[str, str, bool], tuple[datetime, tuple[str, ...], Strengths]] = {}
        self._turns = Turns(access.store)
        self._pools = Recent[Pool](_POOLS_BYTES, lambda pool: pool.memory_bytes + _BYTES_PER_POOL)

    def planned(self, study: Study, key: str | None, opening: Opening, secret: str) -> Session:
        """Return a session ready to be stored, with condition, stimuli, order and codes drawn.

        Raises:
            Conflict: `study_full`.
        """
        is_simulated = opening.simulated
        seed = opening.seed if is_simulated else None
        seed = self._rng.getrandbits(_SEED_BITS) if seed is None else seed
        rng = Random(seed)
        at = self._access.now()
        condition, turn = self.turn(study, rng, is_simulated)
        balance_rng = self._balance_rng(study, condition, turn)
        pool = self._pool(study)
        if study.protocol.stimuli.is_adaptive:
            pool = replace(pool, needs=self._needs(study, is_simulated))
        if tournament_counts.is_counted(study):
            pool = replace(pool, standing=self._strengths(study, is_simulated))
        judgment = judgment_of(study.protocol.method)
        session_id = self._rng.randbytes(12).hex()
        if judgment.has_items:
            turn = self._turns.take(study, session_id, is_simulated, turn, self._clock())
        blocks, spares = judgment.draw(study, pool, Turn(condition, turn, rng, balance_rng))
        return Session(
            id=session_id,
            study=study.name,
            models=condition.models if condition else (),
            class_=condition.class_ if condition else "",
            arm=condition.arm if condition else "",
            evaluator=f"e{self._rng.randbytes(6).hex()}",
            evaluator_key=key,
            secret_hash=hash_of(secret),
            completion_code="".join(self._rng.choices(CODE_LETTERS, k=10)),
            seed=seed,
            opened_at=at,
            blocks=blocks,
            spares=spares,
            panel={}
            if is_simulated and key is None
            else stored_parameters(study.protocol.admission.panel, opening.panel),
            device=dict(opening.device),
            consent_version="" if is_simulated else opening.consent_version,
            is_simulated=is_simulated,
            settings_id=study.settings_id,
        )

    def turn(self, study: Study, rng: Random, simulated: bool) -> tuple[Condition | None, int]:
        """Return the next session's condition (None in a test), and how many sessions of it there are."""
        if study.kind == "qualification":
            return None, 0
        capacity = wanted(study, self._clock())
        taken = self._store.taken(study.name, capacity.active_since, simulated, capacity.unanswered_since)
        limit = None if simulated else study.wanted
        try:
            condition = sampling.choose_condition(taken, study.conditions, limit, rng)
        except Conflict:  # full, unless others are to replace some: that is read only now
            replaced = rejected(self._store, study)
            left = {name: count - replaced[name] for name, count in taken.items()}
            condition = sampling.choose_condition(left, study.conditions, limit, rng)
        return condition, taken.get(condition.name, 0)

    def capacity(self, study: Study, session: Session, counts_replaced: bool) -> Capacity | None:
        """Return the capacity of a session's condition; None if unlimited.

        Args:
            counts_replaced: whether to read how many sessions are to be replaced.
        """
        if session.is_simulated or study.kind == "qualification":
            return None
        if counts_replaced:
            return self._access.capacity(study, session)
        return wanted(study, self._clock(), session.condition)

    def _balance_rng(self, study: Study, condition: Condition | None, turn: int) -> Random:
        """Return the random generator shared by two consecutive evaluators of a condition."""
        if condition is None:
            return self._rng
        said = json.dumps([study.name, study.created_at, condition.name, turn // 2])
        return Random(hmac.digest(self._hash_key, said.encode(), "sha256"))

    def _needs(self, study: Study, simulated: bool) -> Mapping[Side, Sequence[int]]:
        """Return which pictures need evaluators most, by a snapshot that is read again after a minute."""
        key = (study.name, study.created_at, simulated)
        read_at, sides = self._needs_read.get(key, (None, {}))
        now = self._clock()
        if read_at is None or now - read_at >= _NEEDS_FOR:
            needs = picture_needs.read(self._store, study, simulated)
            sides = needs.sides if needs else {}
            self._needs_read[key] = (now, sides)
        return sides

    def _strengths(self, study: Study, simulated: bool) -> Strengths:
        """Return what is known of a tournament's contestants, by counts read again after a minute."""
        key = (study.name, study.created_at, simulated)
        known, now = self._strengths_known.get(key), self._clock()
        if known is not None and known[1] == study.models and now - known[0] < _NEEDS_FOR:
            return known[2]
        strengths = tournament_counts.strengths_of(
            study, tournament_counts.read(self._store, study, simulated)
        )
        self._strengths_known[key] = (now, study.models, strengths)
        return strengths

    def _pool(self, study: Study) -> Pool:
        """Return a study's pool; cached by `created_at` too, since an unbegun study's name can be reused.

        It is also cached by the number of models: new ones can join a tournament.

        Raises:
            NotFound: the study was deleted while its pool was being read, which may be incomplete.
        """
        key = f"{study.name} {study.created_at} {len(study.models)}"
        pool = self._pools.get(key)
        if pool is None:
            pool = self._store.pool(study.name)
            self._access.study(study.name)
            self._pools.put(key, pool)
        return pool
