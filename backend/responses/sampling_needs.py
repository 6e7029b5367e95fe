"""Finds which pictures of a study need evaluators most, from the responses of finished sessions.

`least-seen`: those with the fewest answers. `uncertain`: first those of which it is open what most people
would call them (`crossed_model`), the widest interval first, then all others, likewise; a picture that nobody
judged has the interval of a new picture of its side. Where the crossed model is not fitted, as with very
many evaluators, those with the fewest answers, whose intervals are the widest.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from backend.analysis.models.crossed_model import crossed_model, needs_evaluators
from backend.experiment.records import Study
from backend.experiment.sampling import Pool
from backend.foundation.errors import InvalidInput
from backend.responses.study_data import study_answers
from backend.stores.store import Store
from backend.studies import picture_needs, tournament_counts
from backend.studies.picture_needs import Needs, Side
from backend.studies.withdrawals import answered_of

_SHARE, _TIMES, _LEVEL = 4, 4, 0.95
"""The list of a side has a quarter of it, and at least four times what a session shows of it."""
Picture = tuple[str | None, str]
"""A picture's model (None: real) and name."""
Need = Callable[[Side, str], tuple]
"""Returns what a picture is sorted by: the smallest first."""


def refresh(store: Store, study: Study, at: str, simulated: bool = False) -> Needs:
    """Find which pictures need evaluators most, store the list for the sessions that follow, and return it.

    Raises:
        InvalidInput: the study draws all pictures at random, or no session is finished yet.
    """
    rule = study.protocol.stimuli.sampling
    if not study.protocol.stimuli.is_adaptive:
        raise InvalidInput(
            f"study {study.name} samples all its pictures at random; `--set sampling=least-seen` or "
            "`sampling=uncertain` at its creation changes that"
        )
    sessions = store.finished(study.name, simulated)[0]
    need = _need(rule, study_answers(store, study, simulated))
    needs = Needs(at, sessions, _lists(study, store.pool(study.name), need))
    picture_needs.write(store, study, simulated, needs)
    return needs


def recounted(store: Store, study: Study, simulated: bool = False) -> int:
    """Count the answers of a tournament again, without withdrawn sessions; return the number of sessions."""
    pairs: dict[tuple[str, str], list[int]] = {}
    sessions = 0
    for session, cursor, responses in answered_of(store, study, simulated):
        if cursor.state != "finished":
            continue
        sessions += 1
        for pair, counts in tournament_counts.counted(study, session, responses).items():
            pairs[pair] = [a + b for a, b in zip(pairs.get(pair, (0, 0, 0)), counts, strict=True)]
    tournament_counts.write(store, study, simulated, tournament_counts.PairCounts(sessions, pairs))
    return sessions


def _need(rule: str, answers: Any) -> Need:
    counts = _counts(answers)
    crossed = crossed_model(answers, _LEVEL) if rule == "uncertain" else None
    if crossed is None:
        return lambda side, name: (counts[side[0], name],)
    seen = {_picture(row): row["called_fake_ci"] for row in crossed["by_picture"]}
    unseen = {row["model"] if row["generated"] else None: row["called_fake_ci"] for row in crossed["unseen"]}

    def need(side: Side, name: str) -> tuple:
        ci = seen.get((side[0], name)) or unseen.get(side[0], (0.0, 1.0))
        return not needs_evaluators(*ci), ci[0] - ci[1]

    return need


def _counts(answers: Any) -> Mapping[Picture, int]:
    """Return the number of answers to each picture; an answer that counts for several models is one."""
    names, models = answers.texts["stimulus"], answers.model
    is_counted = answers.first_of_source
    rows = zip(names.codes[is_counted], models.codes[is_counted], answers.is_fake[is_counted], strict=True)
    return Counter(
        (models.names[model] if is_fake else None, names.names[name]) for name, model, is_fake in rows
    )


def _picture(row: Mapping[str, Any]) -> Picture:
    return row["model"] if row["generated"] else None, row["image_path"]


def _lists(study: Study, pool: Pool, need: Need) -> dict[Side, list[int]]:
    sides: dict[Side, Any] = {(None, class_): names for class_, names in pool.reals.items()}
    sides |= {
        (model, class_): names for model, by_class in pool.fakes.items() for class_, names in by_class.items()
    }
    shown, most = study.protocol.stimuli.images // 2, picture_needs.MOST // len(sides)
    return {side: _neediest(names, partial(need, side), shown, most) for side, names in sides.items()}


def _neediest(names: Iterable[str], need: Callable[[str], tuple], shown: int, most: int) -> list[int]:
    """Return the indices of the names that need evaluators most, the neediest first."""
    order = sorted((need(name), i) for i, name in enumerate(names))
    return [i for _, i in order[: min(max(_TIMES * shown, len(order) // _SHARE), most)]]
