"""Which pictures a session shows, and which model it judges.

Half of each block is real and half fake, in random order; no picture comes twice in a session
(HYPE 2.1, 2.2). Whoever counts answers then knows something of the next picture, so that a study may draw
each one's truth by chance instead (`balance`). Evaluators are between subjects: a session judges one model,
or one class of one model (`class_design`): the condition that is furthest behind. Random numbers come from
the `rng` handed in.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import TYPE_CHECKING

from backend.experiment.protocol import BETWEEN, Protocol
from backend.experiment.records import FAKE, REAL, Condition, PlannedBlock, Session, Stimulus, Study
from backend.experiment.session import Cursor
from backend.foundation.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from random import Random

_NAMED = 5
_SPARE_OF = 10
"""Of so many pictures, one is kept to replace a mistimed flash where few are there."""
PAPER_POOL = 5000
"""Pictures a side from which HYPE's sessions were drawn (HYPE 2.3)."""
_SDS_FROM_HALF = 3
"""How far from half the number of reals of a block may be where chance decides."""
_FEW_TIMES = 4
"""Times a session's pictures, below which evaluators share most of theirs."""


@dataclass(frozen=True)
class Pool:
    """The pictures of a study by what they are: names of files, by class, and by model and class."""

    reals: Mapping[str, Sequence[str]]
    fakes: Mapping[str, Mapping[str, Sequence[str]]]


def pool_of(stimuli: Sequence[Stimulus]) -> Pool:
    """Sort a study's stimuli into a pool, in the order of their names."""
    reals: dict[str, list[str]] = {}
    fakes: dict[str, dict[str, list[str]]] = {}
    for stimulus in stimuli:
        by_class = reals if stimulus.model is None else fakes.setdefault(stimulus.model, {})
        by_class.setdefault(stimulus.class_, []).append(stimulus.name)
    return Pool(reals, fakes)


def choose_condition(
    taken: Mapping[str, int], conditions: Sequence[Condition], wanted: int | None, rng: "Random"
) -> Condition:
    """Return the condition with the fewest sessions finished or under way; of several, any.

    Args:
        taken: sessions finished or recently active, by the condition's name.
        wanted: sessions wanted of each condition; None for as many as come.

    Raises:
        Conflict: every condition has as many as are wanted.
    """
    counts = {condition: taken.get(condition.name, 0) for condition in conditions}
    has_room = {condition: count for condition, count in counts.items() if wanted is None or count < wanted}
    if not has_room:
        what = "class of every model" if conditions[0].class_ else "model"
        raise Conflict(f"every {what} has its {wanted} evaluators", code="study_full")
    fewest = min(has_room.values())
    return rng.choice([condition for condition, count in has_room.items() if count == fewest])


def lacking(study: Study, played: Iterable[tuple[Session, Cursor]]) -> int:
    """Return how many finished sessions are still wanted, over all conditions."""
    finished = Counter(session.condition for session, cursor in played if cursor.state == "finished")
    wanted = study.protocol.admission.evaluators
    return sum(max(wanted - finished[condition.name], 0) for condition in study.conditions)


def real_counts(study: Study, coin: "Random", is_second: bool) -> list[int]:
    """Return how many reals each block of a session shows.

    Where chance decides, they are as many as heads in tosses of a fair coin, so that the truth of one
    picture tells nothing of another's, up to three standard deviations from half. Two evaluators with the
    same coin, one of them the second, see half and half together.
    """
    sizes = _block_sizes(study.protocol, _classes_of_a_session(study))
    if study.protocol.stimuli.is_half_real:
        return [size // 2 for size in sizes]
    most = [_most_of_a_side(study.protocol, size) for size in sizes]
    heads = [coin.getrandbits(size).bit_count() for size in sizes]
    counts = [min(max(n, size - top), top) for n, size, top in zip(heads, sizes, most, strict=True)]
    return [size - n if is_second else n for n, size in zip(counts, sizes, strict=True)]


def draw_session(
    study: Study, pool: Pool, condition: Condition | None, rng: "Random", reals: Sequence[int]
) -> tuple[tuple[PlannedBlock, ...], tuple[PlannedBlock, ...]]:
    """Return the blocks of a session and its spares, drawn from the whole pool.

    With classes, a block shows one class: that of the condition, or, where evaluators judge all of them,
    HYPE-infinity has a block for each class and shares the pictures out over them, and HYPE-time goes through
    the classes in random order. A qualification (`condition` None) draws its fakes equally from all models.

    Args:
        reals: of each block, as `real_counts` has them.
    """
    draw = _Draw(study, pool, condition, rng)
    sizes = _block_sizes(study.protocol, _classes_of_a_session(study))
    classes = draw.block_classes(len(sizes))
    blocks = tuple(
        draw.block(count, size - count, class_)
        for size, count, class_ in zip(sizes, reals, classes, strict=True)
    )
    per_class = _even_shares(study.protocol.stimuli.spare_images // 2, len(set(classes)))
    spares = tuple(
        draw.block(half, half, class_, allow_fewer=True)
        for half, class_ in zip(per_class, sorted(set(classes)), strict=True)
    )
    return blocks, spares


def lack(study: Study, pool: Pool) -> str:
    """Return which sides of a pool are too small for a session, and the most images that it is enough for.

    Returns:
        "" where the pool is enough.
    """
    if study.protocol.stimuli.class_design == BETWEEN and study.kind == "qualification":
        return "class_design=between is for studies: a qualification shows pictures of all classes"
    if study.protocol.stimuli.class_design == BETWEEN and not study.classes:
        return (
            "class_design=between needs classes: sub-folders of the same names in the folder of reals and of "
            "every model"
        )
    short = [
        f"{side.there} of {side.needed} {side.what}"
        for side in _sides(study, pool, study.protocol.stimuli.images)
        if side.there < side.needed
    ]
    if not short:
        return ""
    protocol = study.protocol
    kind = {"infinity": "HYPE-infinity", "time": "HYPE-time"}[protocol.method]
    blocks = f" in {protocol.stimuli.blocks} blocks" if len(_block_sizes(protocol, ())) > 1 else ""
    return (
        f"study {study.name} lacks pictures for a {kind} session of {protocol.stimuli.trials}{blocks}, half "
        f"of them real: it has {_some(short)}; {_advice(study, pool)}"
    )


def spares_left(study: Study, pool: Pool) -> int:
    """Return how many spares of each truth a session can have at most, with all its blocks drawn."""
    shown = study.protocol.stimuli
    spares = min(side.there - side.needed for side in _sides(study, pool, shown.images))
    return max(min(spares * max(len(_classes_of_a_session(study)), 1), shown.spare_images // 2), 0)


@dataclass(frozen=True)
class _Side:
    """The reals, or a model's fakes, of one class."""

    what: str
    there: int
    needed: int


def _sides(study: Study, pool: Pool, images: int) -> list[_Side]:
    """Return what a session with blocks of `images` needs of each side at most."""
    sizes = _block_sizes(study.protocol.changed(images=images), _classes_of_a_session(study))
    rounds = -(-len(sizes) // max(len(_classes_of_a_session(study)), 1))
    most = _most_of_a_side(study.protocol, max(sizes, default=0))
    models = max(len(study.models), 1) if study.kind == "qualification" else 1
    sides = []
    for class_ in study.classes or ("",):
        where = f" of class {class_}" if class_ else ""
        sides.append(_Side(f"reals{where}", len(pool.reals.get(class_, ())), most * rounds))
        for model in study.models:
            there = len(pool.fakes.get(model, {}).get(class_, ()))
            sides.append(_Side(f"fakes of {model}{where}", there, -(-most // models) * rounds))
    return sides


def _advice(study: Study, pool: Pool) -> str:
    """Return what to do about a pool that is too small."""
    protocol = study.protocol
    ways = [f"--set images={most}"] if (most := _most_images(study, pool)) else []
    if protocol.method == "time" and protocol.stimuli.blocks > 1:
        single = replace(study, protocol=protocol.changed(blocks=1))
        if most := _most_images(single, pool):
            ways.append(f"--set blocks=1 --set images={most}")
    if not ways:
        return "add pictures"
    spare = (
        f", which leaves 1 in {_SPARE_OF} to replace mistimed flashes" if protocol.method == "time" else ""
    )
    return f"add pictures, or ask for fewer: {' or '.join(ways)} is the most for these{spare}"


def _most_images(study: Study, pool: Pool) -> int:
    """Return the most pictures a block, even, that the pool is enough for; 0 where that is not one pair.

    HYPE-time keeps some to replace mistimed flashes: without spares a session ends at the first.
    """
    is_timed = study.protocol.method == "time"
    for images in range(study.protocol.stimuli.images, 0, -2):
        sides = _sides(study, pool, images)
        spare = [-(-side.needed // _SPARE_OF) if is_timed else 0 for side in sides]
        if all(side.there >= side.needed + extra for side, extra in zip(sides, spare, strict=True)):
            sizes = _block_sizes(study.protocol.changed(images=images), _classes_of_a_session(study))
            return images if any(sizes) else 0
    return 0


def _some(parts: Sequence[str]) -> str:
    return ", ".join(parts[:_NAMED]) + (f" and {len(parts) - _NAMED} more" if len(parts) > _NAMED else "")


def pool_note(study: Study, pool: Pool) -> str | None:
    """Return what pools smaller than the paper's mean for the scores; None of larger ones.

    The smallest side counts, reals or the fakes of a model; with classes, of one class.
    """
    classes = _classes_of_a_session(study)
    sizes = _block_sizes(study.protocol, classes)
    shown = max(sizes) // 2 * -(-len(sizes) // max(len(classes), 1))
    sides = [pool.reals, *pool.fakes.values()]
    least = min(len(side.get(class_, ())) for side in sides for class_ in study.classes or ("",))
    if least >= PAPER_POOL:
        return None
    where = " of a class" if study.classes else ""
    text = f"the smallest side has {least:,} pictures{where}, where the paper drew from {PAPER_POOL:,}"
    if least >= _FEW_TIMES * shown:
        return f"{text}; intervals take into account that evaluators share pictures"
    return (
        f"{text}, and a session shows {shown:,} of them: evaluators see mostly the same pictures, so that "
        f"intervals are wide however many evaluators there are; {_FEW_TIMES * shown:,} a side or more help "
        "more than more evaluators"
    )


class _Draw:
    """Draws without repeats across the blocks of one session."""

    def __init__(self, study: Study, pool: Pool, condition: Condition | None, rng: "Random"):
        self.study, self.pool, self.rng = study, pool, rng
        self.models = study.models if condition is None else (condition.model,)
        own = condition.class_ if condition else ""
        self.classes = (own,) if own else study.classes or ("",)
        self.decks: dict[tuple[str | None, str], _Deck] = {}

    def block_classes(self, count: int) -> list[str]:
        classes = list(self.classes)
        self.rng.shuffle(classes)
        return [classes[i % len(classes)] for i in range(count)]

    def block(self, reals: int, fakes: int, class_: str, allow_fewer: bool = False) -> PlannedBlock:
        trials = [(name, REAL, None) for name in self._take(None, class_, reals, allow_fewer)]
        shares = _even_shares(fakes, len(self.models))
        self.rng.shuffle(shares)
        for model, share in zip(self.models, shares, strict=True):
            trials += [(name, FAKE, model) for name in self._take(model, class_, share, allow_fewer)]
        self.rng.shuffle(trials)
        names, truths, models = zip(*trials, strict=True) if trials else ((), (), ())
        return PlannedBlock(names, truths, models, class_)

    def _take(self, model: str | None, class_: str, count: int, allow_fewer: bool) -> list[str]:
        """Draw `count` names not drawn before: of the reals where `model` is None, else of its fakes."""
        deck = self.decks.get((model, class_))
        if deck is None:
            names = self.pool.reals[class_] if model is None else self.pool.fakes[model][class_]
            deck = self.decks[model, class_] = _Deck(names, self.rng)
        drawn = deck.deal(count)
        if len(drawn) < count and not allow_fewer:
            raise InvalidInput(f"study {self.study.name} has too few images for one session")
        return drawn


class _Deck:
    """Names dealt at random without repeats, in time and memory that do not grow with their number.

    A Fisher-Yates shuffle that is only done as far as it is dealt, its swaps in a dictionary.
    """

    def __init__(self, names: Sequence[str], rng: "Random"):
        self.names, self.rng = names, rng
        self.dealt = 0
        self.moved: dict[int, int] = {}

    def deal(self, count: int) -> list[str]:
        """Return the next `count` names, or all that are left."""
        count = min(count, len(self.names) - self.dealt)
        return [self.names[self._next()] for _ in range(count)]

    def _next(self) -> int:
        place = self.rng.randrange(self.dealt, len(self.names))
        drawn = self.moved.pop(place, place)
        first = self.moved.pop(self.dealt, self.dealt)
        if place != self.dealt:
            self.moved[place] = first
        self.dealt += 1
        return drawn


def _classes_of_a_session(study: Study) -> tuple[str, ...]:
    """Return the classes that a session goes through; () for one class, or none."""
    return () if study.protocol.stimuli.class_design == BETWEEN else study.classes


def _block_sizes(protocol: Protocol, classes: Sequence[str]) -> list[int]:
    if protocol.method == "infinity" and classes:
        return [2 * half for half in _even_shares(protocol.stimuli.images // 2, len(classes)) if half]
    return [protocol.stimuli.images] * protocol.stimuli.blocks


def _most_of_a_side(protocol: Protocol, size: int) -> int:
    """Return how many reals, or fakes, a block of `size` shows at most; at least one of each where it can."""
    if protocol.stimuli.is_half_real:
        return size // 2
    return max(min(size // 2 + ceil(_SDS_FROM_HALF * sqrt(size) / 2), size - 1), 0)


def _even_shares(total: int, parts: int) -> list[int]:
    return [total // parts + (i < total % parts) for i in range(parts)]
