"""Sessions of items (pairs or triplets): every item gets as many judgments as any other.

Items are shown in rounds. Each round has every item once, in an order of its own, and session `turn` takes
the next `size` items: turn 0 the first ones, turn 1 those after them, and so on. So after any number of turns
the judgments of two items differ by one at most, and what a turn shows is computed from its number alone,
without reading a response.

A session that begins in one round and ends in the next would see an item twice if it is among the last of one
and the first of the other. Such an item moves back, behind the session's part of its round.
"""

import hashlib
from array import array
from collections.abc import Callable, Container, Sequence
from functools import lru_cache
from math import ceil, pi, tan
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple, cast

from backend.experiment.groups.follow_ups import ALL, NONE
from backend.experiment.groups.stimuli import BETWEEN, RANDOM_SAMPLING
from backend.experiment.judgment import Refusal, refuse
from backend.experiment.protocol import Protocol
from backend.experiment.records import CHECK, PRACTICE, TEST, PlannedBlock, Study
from backend.experiment.sampling import Names, Pool
from backend.experiment.setting_errors import invalid_setting, problem_of
from backend.experiment.setting_groups import JudgmentSettings, setting
from backend.foundation.errors import together
from backend.foundation.frozen import dataclass

if TYPE_CHECKING:
    from random import Random

_ROUNDS_KEPT = 8
_MOST_EVALUATORS = 100_000


def items_of_turn(count: int, size: int, turn: int, key: str) -> Sequence[int]:
    """Return the items, 0 to `count` - 1, that a session shows; none twice.

    Args:
        count: number of items of the study.
        size: number of items of a session, at most `count`.
        turn: number of the session.
        key: text that determines the order of the rounds.
    """
    first, place = divmod(turn * size, count)
    last, end = divmod(turn * size + size, count)
    if first == last or end == 0:
        return _of_round(count, size, first, key)[place : place + size]
    tail = _of_round(count, size, first, key)[place:]
    return [*tail, *_of_round(count, size, last, key)[:end]]


def sessions_wanted(count: int, size: int, judgments: int) -> int:
    """Return how many sessions of `size` items give each of `count` items so many judgments."""
    return ceil(count * judgments / size)


def set_names(pool: Pool, models: Sequence[str]) -> list[tuple[str, Names]]:
    """Return the sets of a study that have items, with the names of these, in order."""
    pairs = [(model, names) for model in models for names in pool.fakes.get(model, {}).values()]
    return [(model, names) for model, names in pairs if len(names)]


def count_of(pool: Pool, models: Sequence[str]) -> int:
    """Return the number of items of some sets."""
    return sum(len(names) for _, names in set_names(pool, models))


def names_of_turn(pool: Pool, models: Sequence[str], size: int, turn: int, key: str) -> list[tuple[str, str]]:
    """Return name and set of the items that a session shows, in the order of the round."""
    sets = set_names(pool, models)
    chosen = items_of_turn(sum(len(names) for _, names in sets), size, turn, key)
    drawn: dict[int, tuple[str, str]] = {}
    start = 0
    for model, names in sets:
        mine = [item for item in chosen if start <= item < start + len(names)]
        for item, name in zip(mine, names.several([item - start for item in mine]), strict=True):
            drawn[item] = (name, model)
        start += len(names)
    return [drawn[item] for item in chosen]


def aside_of(pool: Pool, role: str) -> list[tuple[str, str]]:
    """Return name and right answer, in terms of the parts, of the items that no scored trial shows."""
    return [(name, truth) for truth, _, names in pool.aside.get(role, ()) for name in names]


@dataclass(frozen=True)
class ItemSettings(JudgmentSettings):
    """How often each item is judged."""

    judgments_per_item: int = setting(
        5,
        "judgments wanted of each pair or triplet, from which the number of `evaluators` follows unless it "
        "is set; those with the fewest so far are shown first",
        1,
        1000,
        fixes_evaluators=True,
        label="Judgments of each pair or triplet",
        asked=3,
        meaning=(
            "How often each pair or triplet is to be judged, by different people; the number of "
            "evaluators follows from it."
        ),
    )


def settings_of(protocol: Protocol) -> ItemSettings:
    """Return the own settings of a method whose stimuli are items."""
    return cast("ItemSettings", protocol.judgment)


class Trial(NamedTuple):
    """A trial of a session: an item as it is in the pool, its right answer in terms of its parts."""

    item: str
    truth: str
    model: str
    kind: str


Shown = Callable[[str, str, "Random"], tuple[str, str]]
"""Returns an item's pictures in the order of display, and the right answer then; "" if none is right."""


def planned(
    protocol: Protocol,
    scored: Sequence[Trial],
    checks: Sequence[Trial],
    practice: Sequence[Trial],
    shown: Shown,
    rng: "Random",
) -> tuple[PlannedBlock, ...]:
    """Return the blocks of a session: practice first, then scored items with the checks among them.

    Checks are dealt to the blocks in equal parts, and every order within a block is equally probable, so
    that no place is likelier to have a check than another.
    """
    trials, dealt = [*scored], [*checks]
    rng.shuffle(trials)
    rng.shuffle(dealt)
    count = protocol.stimuli.blocks
    parts = [[*trials[i::count], *dealt[i::count]] for i in range(count)]
    for part in parts:
        rng.shuffle(part)
    first = [*practice]
    rng.shuffle(first)
    return tuple(block(part, shown, rng) for part in ([first] if first else []) + parts)


def block(trials: Sequence[Trial], shown: Shown, rng: "Random") -> PlannedBlock:
    """Return the block of these trials, in this order."""
    as_shown = [shown(trial.item, trial.truth, rng) for trial in trials]
    kinds = tuple(trial.kind for trial in trials)
    return PlannedBlock(
        tuple(names for names, _ in as_shown),
        tuple(truth for _, truth in as_shown),
        tuple(trial.model for trial in trials),
        kinds=() if set(kinds) == {TEST} else kinds,
    )


def check(protocol: Protocol, kind: str, title: str) -> None:
    """Check that the settings of a judgment of items fit together.

    Raises:
        InvalidInput: names the setting that does not, and what to do.
    """
    shown, unscored, asked = protocol.stimuli, protocol.unscored, protocol.follow_ups
    asks_why = bool(asked.reasons) or asked.comment != NONE
    refused: list[Refusal] = [
        (
            kind == "qualification",
            "has no qualifications, since no answer is right; make a study",
            ("kind", "method"),
        ),
        (
            protocol.page.feedback,
            "has no right answers to give feedback on; leave feedback=false",
            ("feedback",),
        ),
        (
            protocol.pay.bonus_usd_cents > 0,
            "has no right answers to pay for; leave bonus_usd_cents=0, and pay with base_usd_cents",
            ("bonus_usd_cents",),
        ),
        (protocol.page.debrief, "has no debrief; leave debrief=false", ("debrief",)),
        (not shown.is_half_real, "has no reals to balance; leave balance=session", ("balance",)),
        (
            shown.class_design == BETWEEN,
            "has no classes, but sets; leave class_design=within",
            ("class_design",),
        ),
        (
            shown.sampling != RANDOM_SAMPLING,
            "shows the items with the fewest judgments first by itself; leave sampling=random",
            ("sampling",),
        ),
        (asked.mark != NONE, "has no marks; leave mark=none", ("mark",)),
        (
            asks_why and asked.reasons_for != ALL,
            "has no answer to which reasons belong; set reasons_for=all",
            ("reasons_for", "reasons", "comment"),
        ),
        (
            unscored.instructed_checks > 0,
            "has sentinels (picture_checks) instead of instructions; leave instructed_checks=0",
            ("instructed_checks",),
        ),
    ]
    refuse(title, refused)
    if unscored.picture_checks > shown.trials:
        raise invalid_setting(
            f"picture_checks must be at most as many as the {shown.trials} scored items of a session, not "
            f"{unscored.picture_checks}",
            "picture_checks",
            "images",
        )
    if protocol.exclusion.exclude_checks_below and not unscored.picture_checks:
        raise invalid_setting(
            "exclude_checks_below needs attention checks; set picture_checks, or set it to 0 as well",
            "exclude_checks_below",
            "picture_checks",
        )


def lack(study: Study, pool: Pool, noun: str) -> str:
    """Return what a pool lacks for one session, and what to do about it; "" if it is sufficient.

    Args:
        noun: what items are called, such as `triplets`.
    """
    count, shown = count_of(pool, study.models), study.protocol.stimuli
    problems: list[str] = []
    if shown.models_per_session < len(study.models):
        problems.append(
            problem_of(
                f"a session shows {noun} of all {len(study.models)} sets; set models_per_session to "
                f"{len(study.models)} or more, or make a study of each set",
                "models_per_session",
            )
        )
    if count < shown.trials:
        blocks = f" in {shown.blocks} blocks" if shown.blocks > 1 else ""
        problems.append(
            problem_of(
                f"study {study.name} lacks {noun} for a session of {shown.trials}{blocks}: it has {count}; "
                f"add some, or ask for fewer: --set images={count // shown.blocks}",
                "items",
                "images",
                "blocks",
            )
        )
    wanted = {
        CHECK: ("picture_checks", study.protocol.unscored.picture_checks),
        PRACTICE: ("practice_images", study.protocol.unscored.practice_images),
    }
    for role, (name, number) in wanted.items():
        if (there := len(aside_of(pool, role))) < number:
            problems.append(
                problem_of(
                    f"study {study.name} has {there} {noun} of known answer for {name}={number}; lower it "
                    f"to at most {there}, or make the study with more",
                    name,
                    "items",
                )
            )
    return together(problems)


def notes(study: Study, pool: Pool, noun: str) -> list[str]:
    """Return how many judgments each item gets, and from how many evaluators."""
    protocol = study.protocol
    count, shown = count_of(pool, study.models), protocol.stimuli
    wanted = settings_of(protocol).judgments_per_item
    needed = sessions_wanted(count, shown.trials, wanted)
    evaluators = protocol.admission.evaluators
    sessions = f"{needed:,} evaluators with {shown.trials} {noun} a session"
    said = f"{count:,} {noun}, {wanted} judgments of each: {sessions}"
    if evaluators == needed:
        return [said]
    judged = evaluators * shown.trials / count
    return [f"{said}; evaluators={evaluators} gives {judged:.3g} judgments of each"]


def with_pool(protocol: Protocol, pool: Pool, is_given: Container[str]) -> Protocol:
    """Return the settings with the number of evaluators that follows from the pool, unless it is given."""
    count = sum(len(names) for by_class in pool.fakes.values() for names in by_class.values())
    if "evaluators" in is_given or not count:
        return protocol
    shown = protocol.stimuli
    wanted = sessions_wanted(count, shown.trials, settings_of(protocol).judgments_per_item)
    return protocol.changed(evaluators=min(max(wanted, 1), _MOST_EVALUATORS))


def prefers_second(item: str, accuracy: float, rng: "Random") -> bool:
    """Return whether a simulated evaluator prefers the second of two pictures of an item.

    The difference of their utilities is normal over items and the same for all evaluators, and the choice
    is a probit: P = Phi(g z). Over items, the mean probability of the answer that most give is
    1/2 + arctan(g) / pi, from which g follows.

    Args:
        accuracy: this mean, 0 to 1.
    """
    z = standard_normal(f"utility of {item}")
    share = accuracy if accuracy in (0, 1) else NormalDist().cdf(abs(z) * tan(pi * (accuracy - 0.5)))
    return (rng.random() < share) == (z > 0)


def standard_normal(text: str) -> float:
    """Return a number that is standard normal over texts, and the same for the same one."""
    drawn = int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])
    return NormalDist().inv_cdf((drawn + 0.5) / (1 << 48))


@lru_cache(maxsize=_ROUNDS_KEPT)
def _of_round(count: int, size: int, number: int, key: str) -> "array[int]":
    begun = _independent(count, size, number)
    order = _shuffled(count, begun, key)
    for later in range(begun + 1, number + 1):
        order = _apart(_shuffled(count, later, key), order, size, later * count % size)
    return order


def _independent(count: int, size: int, number: int) -> int:
    """Return the latest round, up to `number`, whose last items do not depend on the round before it."""
    if number * count % size == 0 or number == 0:
        return number
    if count >= 2 * size:  # what moves back stays before the last items
        return number - 1
    return next(earlier for earlier in range(number, -1, -1) if earlier * count % size == 0)


def _shuffled(count: int, number: int, key: str) -> "array[int]":
    keys = array("Q", hashlib.shake_256(f"{key} round {number}".encode()).digest(8 * count))
    return array("I", sorted(range(count), key=keys.__getitem__))


def _apart(order: "array[int]", before: "array[int]", size: int, carried: int) -> "array[int]":
    """Return a round's order in which the session that spans its begin shows no item twice.

    Args:
        before: the order of the round before.
        carried: number of items of that session that are in the round before.
    """
    if not carried:
        return order
    shown = set(before[-carried:])
    head, moved, place = array("I"), array("I"), 0
    while len(head) < size - carried:
        (moved if order[place] in shown else head).append(order[place])
        place += 1
    return head + moved + order[place:]
