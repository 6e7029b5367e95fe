"""Sampling: which stimuli a session shows, and which models it judges.

Half of each block is real and half fake, in random order; no stimulus is repeated within a session
(HYPE 2.1, 2.2). An evaluator who counts answers can then predict later stimuli better than by chance, so a
study may draw each stimulus's truth at random instead (`balance`). The design is between subjects: a session
judges one model, or one class of one model (`class_design`), namely the condition with the fewest sessions.
In a mixed study a condition has several models, in parts that differ by one stimulus at most. Random numbers
are drawn from the argument `rng`.

A study may draw a part of each side by need (`sampling`): from the list of those that need evaluators most,
at random, so that evaluators who come at the same time do not all get the same ones. The rest is drawn first,
and from the whole pool, so that scores computed from it alone are unbiased.

Where stimuli of one source stand side by side (`pairing`), sources are drawn instead, each once in a session.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import count
from math import ceil, sqrt
from typing import TYPE_CHECKING
from typing import Protocol as Interface

from backend.experiment.groups.stimuli import BETWEEN
from backend.experiment.pair_design import Strengths
from backend.experiment.protocol import Protocol
from backend.experiment.records import FAKE, REAL, Condition, PlannedBlock, Session, Stimulus, Study
from backend.experiment.session import Cursor
from backend.experiment.setting_errors import keys_of, problem_of
from backend.foundation.counted_nouns import some_of
from backend.foundation.errors import Conflict, InvalidInput, Keys, Problem
from backend.foundation.frozen import dataclass

if TYPE_CHECKING:
    from random import Random

_SPARE_OF = 10
"""In a small pool, one in this many stimuli is reserved to replace mistimed flashes."""
PAPER_POOL = 5000
"""Pool of reals, and of fakes, from which HYPE's sessions were drawn (HYPE 2.3)."""
_SDS_FROM_HALF = 3
"""Largest deviation of a block's number of reals from half, in standard deviations, if drawn at random."""
_FEW_TIMES = 4
"""In pools below this multiple of a session's stimuli, evaluators share most of theirs."""


class Names(Interface):
    """File names of stimuli, a sequence that a store may read in parts."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[str]: ...

    def several(self, places: Sequence[int]) -> list[str]:
        """Return the names at the indices `places` (from 0), in their order."""


@dataclass(frozen=True)
class Pool:
    """The stimuli of a study, as file names: reals by class, and fakes by model and class.

    With `pairing=source` the i-th names of all sides of a class are of one source.
    """

    reals: Mapping[str, Names]
    fakes: Mapping[str, Mapping[str, Names]]
    memory_bytes: int = 0
    """About how much memory its names take; those that a store reads on demand do not count."""
    needs: Mapping[tuple[str | None, str], Sequence[int]] = field(default_factory=dict)
    """By model (None: the reals) and class, the indices of the names that need evaluators most."""
    standing: Strengths | None = None
    """What is known of the contestants of a tournament (`tournament_needs`); None if nothing is."""
    aside: Mapping[str, Sequence[tuple[str, str | None, Names]]] = field(default_factory=dict)
    """By role, the stimuli that no scored trial shows: truth, model and names of each part."""


class _Listed(list[str]):
    """Names in memory."""

    def several(self, places: Sequence[int]) -> list[str]:
        return [self[place] for place in places]


def pool_of(stimuli: Iterable[Stimulus]) -> Pool:
    """Return a study's stimuli as a pool, each list in the order given."""
    reals: dict[str, _Listed] = {}
    fakes: dict[str, dict[str, _Listed]] = {}
    aside: dict[str, dict[tuple[str, str | None], _Listed]] = {}
    for stimulus in stimuli:
        if stimulus.role:
            part = (stimulus.truth, stimulus.model)
            aside.setdefault(stimulus.role, {}).setdefault(part, _Listed()).append(stimulus.name)
            continue
        by_class = reals if stimulus.model is None else fakes.setdefault(stimulus.model, {})
        by_class.setdefault(stimulus.class_, _Listed()).append(stimulus.name)
    return Pool(reals, fakes, aside={role: _parts(parts) for role, parts in aside.items()})


def _parts(parts: Mapping[tuple[str, str | None], Names]) -> list[tuple[str, str | None, Names]]:
    return [(truth, model, names) for (truth, model), names in parts.items()]


def choose_condition(
    taken: Mapping[str, int],
    conditions: Sequence[Condition],
    wanted: Mapping[str, int] | None,
    rng: "Random",
) -> Condition:
    """Return the condition with the fewest sessions finished or recently active; ties are broken at random.

    Args:
        taken: sessions finished or recently active, by the condition's name.
        wanted: sessions wanted of each condition, by its name; None for no limit.

    Raises:
        Conflict: every condition has as many as are wanted.
    """
    counts = {condition: taken.get(condition.name, 0) for condition in conditions}
    has_room = {one: count for one, count in counts.items() if wanted is None or count < wanted[one.name]}
    if not conditions:
        raise Conflict("a planned look has ended the study", code="study_full")
    if not has_room:
        whose = "model" if len(conditions[0].models) == 1 else "group of models"
        parts = (conditions[0].arm and "exposure", conditions[0].class_ and "class", whose)
        what = " of every ".join(filter(None, parts))
        numbers = {*(wanted or {}).values()}
        count = f"{numbers.pop()} " if len(numbers) == 1 else ""
        raise Conflict(f"every {what} has its {count}evaluators", code="study_full")
    fewest = min(has_room.values())
    return rng.choice([condition for condition, count in has_room.items() if count == fewest])


def lacking(
    study: Study, played: Iterable[tuple[Session, Cursor]], replaced: Mapping[str, int] | None = None
) -> int:
    """Return how many finished sessions are still wanted, over all conditions.

    Args:
        replaced: number of finished sessions, by condition, that others are to replace.
    """
    finished = Counter(session.condition for session, cursor in played if cursor.state == "finished")
    again = Counter(replaced or {})
    return sum(max(wanted + again[name] - finished[name], 0) for name, wanted in study.wanted.items())


def real_counts(study: Study, balance_rng: "Random", is_second: bool) -> list[int]:
    """Return the number of reals in each block of a session.

    With random balance, it is the number of heads in tosses of a fair coin, so that the truth of one
    stimulus says nothing about another's, and at most three standard deviations from half. Two evaluators
    with the same coin, one of them with `is_second`, together see half reals and half fakes.
    """
    sizes = _block_sizes(study.protocol, _classes_of_a_session(study))
    if study.protocol.stimuli.is_half_real:
        return [size // 2 for size in sizes]
    most = [_most_of_a_side(study.protocol, size) for size in sizes]
    heads = [balance_rng.getrandbits(size).bit_count() for size in sizes]
    counts = [min(max(n, size - top), top) for n, size, top in zip(heads, sizes, most, strict=True)]
    return [size - n if is_second else n for n, size in zip(counts, sizes, strict=True)]


def draw_session(
    study: Study,
    pool: Pool,
    condition: Condition | None,
    rng: "Random",
    reals: Sequence[int],
    turn: int = 0,
) -> tuple[tuple[PlannedBlock, ...], tuple[PlannedBlock, ...]]:
    """Return the blocks of a session and its spares, drawn from the complete pool.

    With classes, a block shows one class: that of the condition, if it has one. If evaluators judge all
    classes, HYPE-infinity divides the stimuli among one block for each class, and HYPE-time cycles through
    the classes in random order. A qualification (`condition` None) draws its fakes equally from all models,
    and a mixed session from those of its condition: those of each block, or, in HYPE-time, whose staircase is
    that of one model, all of a block from one of them. The fakes of two models differ by one at most; who has
    one more changes in turn over the blocks of a session and over the sessions of a condition.

    Args:
        reals: number of reals in each block, as returned by `real_counts`.
        turn: number of sessions of the condition before this one.
    """
    draw = _Selection(study, pool, condition, rng)
    sizes = _block_sizes(study.protocol, _classes_of_a_session(study))
    kinds = draw.block_kinds(len(sizes))
    # two consecutive sessions have as many fakes as one has trials, and the first as many as the second reals
    dealt = turn // 2 * sum(sizes) + turn % 2 * sum(reals)
    shares = draw.random_shares() if condition is None else _Shares(condition.models, dealt)
    blocks = tuple(
        draw.block(count, size - count, class_, shares if model is None else _Shares((model,)))
        for size, count, (class_, model) in zip(sizes, reals, kinds, strict=True)
    )
    classes = [class_ for class_, _ in kinds]
    per_class = _even_shares(study.protocol.stimuli.spare_images // 2, len(set(classes)))
    spares = [
        spare
        for half, class_ in zip(per_class, sorted(set(classes)), strict=True)
        for spare in draw.spares(half, class_)
    ]
    return blocks, tuple(spares)


def lack(study: Study, pool: Pool, title: str = "HYPE-infinity") -> str:
    """Return which parts of a pool are too small for a session, and the largest session that they allow.

    Args:
        title: of the method.

    Returns:
        "" if the pool is sufficient.
    """
    if problem := (
        class_problem(study) or _mixed_problem(study) or _draw_problem(study) or _exposure_problem(study)
    ):
        return problem
    short = short_sides(study, pool)
    if not short:
        return ""
    protocol = study.protocol
    blocks = f" in {protocol.stimuli.blocks} blocks" if len(_block_sizes(protocol, ())) > 1 else ""
    return Problem(
        f"study {study.name} lacks pictures for a {title} session of {protocol.stimuli.trials}{blocks}, half "
        f"of them real: it has {short}; {_advice(study, pool)}",
        short.keys,
        [keys_of("images"), keys_of("blocks")],
    )


LOOKS_ARE_PLANNED = (
    "has a plan of looks, and its evaluators judge several models: those of a model that joins would judge "
    "others again whose looks have ended; make another study"
)
"""Why no model can join a study with planned looks whose sessions show several models."""


def join_problem(study: Study) -> str:
    """Return why no model can join a study in which models are shown beside reals; "" if one can.

    Its sessions must show what they would have shown had it been there from the beginning: the same reals,
    drawn in the same way, and beside the same kind of company.
    """
    shown = study.protocol.stimuli
    if study.kind == "qualification":
        return (
            "is a qualification, and whether somebody passes must not depend on the day; make another "
            "qualification"
        )
    if study.protocol.looks.looks and study.is_mixed:
        return LOOKS_ARE_PLANNED
    if shown.is_adaptive:
        return (
            f"samples its pictures adaptively (sampling={shown.sampling}), so that a model "
            "that joins would be judged beside other reals than those of before; make another study, or make "
            "one with sampling=random for models to join"
        )
    if study.is_mixed and shown.models_per_session >= len(study.first_models):
        return (
            f"shows all its {len(study.first_models)} models in every session, and a model that joins would "
            "be judged in other company than they were; make another study, or make one with fewer "
            "models_per_session than models for others to join"
        )
    return ""


def class_problem(study: Study) -> str:
    """Return why a study cannot have the classes that its settings ask for; "" if it can."""
    if study.protocol.stimuli.class_design != BETWEEN:
        return ""
    if study.kind == "qualification":
        return problem_of(
            "class_design=between is for studies: a qualification shows pictures of all classes",
            "class_design",
        )
    if study.classes:
        return ""
    return problem_of(
        "class_design=between needs classes: sub-folders of the same names in the folder of reals and of "
        "every model",
        "class_design",
    )


def short_sides(study: Study, pool: Pool) -> Problem:
    """Return which reals or fakes are fewer than a session needs, such as `12 of 50 reals`; "" if none."""
    sides = _sides(study, pool, study.protocol.stimuli.images)
    short = [side for side in sides if side.there < side.needed]
    lacking = some_of([f"{side.there} of {side.needed} {side.what}" for side in short])
    keys = sorted((side.keys for side in short), key=lambda keys: keys == ("real",))  # stable
    return Problem(lacking, keys[0] if keys else ())


def spares_left(study: Study, pool: Pool) -> int:
    """Return the maximum number of spares of each truth in a session, after all its blocks are drawn."""
    shown = study.protocol.stimuli
    spares = min((side.there - side.needed) * side.parts for side in _sides(study, pool, shown.images))
    return max(min(spares * max(len(_classes_of_a_session(study)), 1), shown.spare_images // 2), 0)


@dataclass(frozen=True)
class _Side:
    """The reals, or a model's fakes, of one class."""

    what: str
    there: int
    needed: int
    keys: Keys
    """The entry of an order that names its pictures."""
    parts: int = 1
    """Number of models that share the fakes of a session."""


def _mixed_problem(study: Study) -> str:
    """Return why a study cannot mix models in a session as its settings say; "" if it can."""
    size, blocks = study.protocol.stimuli.models_per_session, study.protocol.stimuli.blocks
    if size == 1:
        return ""
    if study.kind == "qualification":
        return problem_of(
            "models_per_session is for studies: a qualification shows fakes of all its models",
            "models_per_session",
        )
    if size > len(study.models):
        many = f"the number of the study's models ({some_of(study.models)})"
        return problem_of(
            f"models_per_session must be at most {len(study.models)}, {many}, not {size}",
            "models_per_session",
        )
    classes = _classes_of_a_session(study)
    kinds = size * max(len(classes), 1)
    if study.protocol.has_staircase and blocks % kinds:
        each = f"one model and one of {len(classes)} classes" if classes else "one model"
        enough = -(-blocks // kinds) * kinds
        return problem_of(
            f"with models_per_session={size}, each block of a HYPE-time session shows fakes of {each}, so "
            f"that blocks must be a multiple of {kinds}, not {blocks}; --set blocks={enough}",
            "blocks",
            "models_per_session",
        )
    if study.protocol.has_staircase or _has_each_model(study):
        return ""
    images = study.protocol.stimuli.images
    enough = next(more for more in count(images + images % 2, 2) if _has_each_model(study, more))
    return problem_of(
        f"with models_per_session={size}, a session needs a fake of each of its {size} models, and one with "
        f"images={images} has only {_fewest_fakes(study, images)} fakes; --set images={enough} or more",
        "images",
        "models_per_session",
    )


def _has_each_model(study: Study, images: int | None = None) -> bool:
    """Return whether each session, with blocks of `images`, has a fake of each of its models."""
    if study.protocol.has_staircase:
        return True
    wanted = study.protocol.stimuli.images if images is None else images
    return _fewest_fakes(study, wanted) >= len(study.model_groups[0])


def _fewest_fakes(study: Study, images: int) -> int:
    """Return the smallest number of fakes in a session with blocks of `images`."""
    sizes = _block_sizes(study.protocol.changed(images=images), _classes_of_a_session(study))
    return sum(size - _most_of_a_side(study.protocol, size) for size in sizes)


def _draw_problem(study: Study) -> str:
    """Return why a study cannot draw pictures by need as its settings say; "" if it can."""
    shown = study.protocol.stimuli
    if not shown.is_adaptive:
        return ""
    if study.kind == "qualification":
        return problem_of(
            f"sampling={shown.sampling} is for studies: a qualification samples its pictures at random",
            "sampling",
        )
    if study.protocol.has_exposures:
        return problem_of(
            f"sampling={shown.sampling} goes with HYPE-infinity (--method infinity): with other methods "
            "leave sampling=random",
            "sampling",
        )
    if shown.blocks > 1:
        return problem_of(
            f"sampling={shown.sampling} goes with blocks=1, not {shown.blocks}", "sampling", "blocks"
        )
    return ""


def _exposure_problem(study: Study) -> str:
    """Return why a session cannot show reals and fakes of each model at every exposure; "" if it can."""
    count = len(study.protocol.timing.exposures_ms)
    if count <= 1 or study.protocol.arms:
        return ""
    models = len(study.model_groups[0])
    fakes = sum(_block_sizes(study.protocol, _classes_of_a_session(study))) // 2 // models
    if fakes >= count:
        return ""
    return problem_of(
        f"with {count} exposures_ms, each evaluator needs {count} fakes of each model or more, and has "
        f"{fakes}; --set images={2 * count * models}, or exposure_design=between",
        "exposures_ms",
        "images",
    )


def _sides(study: Study, pool: Pool, images: int) -> list[_Side]:
    """Return each side, with the largest number that a session with blocks of `images` needs of it."""
    sizes = _block_sizes(study.protocol.changed(images=images), _classes_of_a_session(study))
    rounds = -(-len(sizes) // max(len(_classes_of_a_session(study)), 1))
    most = _most_of_a_side(study.protocol, max(sizes, default=0))
    models = max(len(study.models), 1) if study.kind == "qualification" else len(study.model_groups[0])
    # the blocks of a class that show fakes of one model, and the parts of such a block
    of_model, parts = (-(-rounds // models), 1) if study.protocol.has_staircase else (rounds, models)
    sides = []
    for class_ in study.classes or ("",):
        where = f" of class {class_}" if class_ else ""
        sides.append(_Side(f"reals{where}", len(pool.reals.get(class_, ())), most * rounds, ("real",)))
        for model in study.models:
            there = len(pool.fakes.get(model, {}).get(class_, ()))
            sides.append(
                _Side(
                    f"fakes of {model}{where}", there, -(-most // parts) * of_model, ("models", model), models
                )
            )
    return sides


def _advice(study: Study, pool: Pool) -> str:
    """Return what to do about a pool that is too small."""
    protocol = study.protocol
    ways = [f"--set images={most}"] if (most := most_images(study, pool)) else []
    if protocol.has_exposures and protocol.stimuli.blocks > 1:
        single = replace(study, protocol=protocol.changed(blocks=1))
        if most := most_images(single, pool):
            ways.append(f"--set blocks=1 --set images={most}")
    if not ways:
        return "add pictures"
    spare = f", which leaves 1 in {_SPARE_OF} to replace mistimed flashes" if protocol.has_flashes else ""
    return f"add pictures, or ask for fewer: {' or '.join(ways)} is the most for these{spare}"


def most_images(study: Study, pool: Pool) -> int:
    """Return the largest even number of stimuli a block that the pool allows; 0 if it allows not even two.

    Spares are reserved to replace mistimed flashes: without spares a session ends at the first one.
    """
    has_flashes = study.protocol.has_flashes
    for images in range(study.protocol.stimuli.images, 0, -2):
        sides = _sides(study, pool, images)
        spare = [-(-side.needed // _SPARE_OF) if has_flashes else 0 for side in sides]
        is_enough = all(side.there >= side.needed + extra for side, extra in zip(sides, spare, strict=True))
        if is_enough and _has_each_model(study, images):
            sizes = _block_sizes(study.protocol.changed(images=images), _classes_of_a_session(study))
            return images if any(sizes) else 0
    return 0


def pool_note(study: Study, pool: Pool) -> str | None:
    """Return the effect on the scores of a pool smaller than the paper's; None for larger pools.

    What counts is the smallest side: the reals, or the fakes of one model; with classes, of one class.
    """
    classes = _classes_of_a_session(study)
    sizes = _block_sizes(study.protocol, classes)
    shown = max(sizes) // 2 * -(-len(sizes) // max(len(classes), 1))
    sides = [pool.reals, *pool.fakes.values()]
    least = min(len(side.get(class_, ())) for side in sides for class_ in study.classes or ("",))
    if least >= PAPER_POOL:
        return None
    where = " a side and class" if study.classes else " a side"
    if least >= _FEW_TIMES * shown:
        return (
            f"{least:,} pictures{where}, fewer than the paper's {PAPER_POOL:,}; intervals allow for what "
            "evaluators see in common"
        )
    return (
        f"few pictures: {least:,}{where}, of which a session shows {shown:,}. More pictures "
        f"({_FEW_TIMES * shown:,}) narrow the interval more than more people"
    )


class _Selection:
    """Draws stimuli without replacement for all blocks of one session."""

    def __init__(self, study: Study, pool: Pool, condition: Condition | None, rng: "Random"):
        self.study, self.pool, self.rng = study, pool, rng
        self.models = study.models if condition is None else condition.models
        own = condition.class_ if condition else ""
        self.classes = (own,) if own else study.classes or ("",)
        self.decks: dict[tuple[str | None, str], Deck] = {}

    def block_kinds(self, count: int) -> list[tuple[str, str | None]]:
        """Return the class of each block, and the model of its fakes, or None if they are of all models."""
        models = self.models if self.study.protocol.has_staircase else (None,)
        kinds = [(class_, model) for model in models for class_ in self.classes]
        self.rng.shuffle(kinds)
        in_order = list(kinds)
        while len(in_order) < count:
            if len(models) > 1:
                self.rng.shuffle(kinds)
            in_order += kinds
        return in_order[:count]

    def random_shares(self) -> "_Shares":
        return _Shares(self.models, rng=self.rng)

    def spares(self, half: int, class_: str) -> Iterator[PlannedBlock]:
        """Yield the spares of a class, with `half` reals and as many fakes in all.

        In HYPE-time, the blocks of each model have their own, as many reals as fakes: if a session ended
        after fewer replacements of a fake than of a real, the number of replacements would reveal the truth.
        """
        if not self.study.protocol.has_staircase or len(self.models) == 1:
            yield self.block(half, half, class_, self.random_shares(), allow_fewer=True)
            return
        for model, share in self.random_shares().of(half).items():
            few = min(share, self._deck(model, class_).left, self._deck(None, class_).left)
            yield self.block(few, few, class_, _Shares((model,)))

    def block(
        self, reals: int, fakes: int, class_: str, shares: "_Shares", allow_fewer: bool = False
    ) -> PlannedBlock:
        """Return a block of one class, in random order."""
        if self.study.protocol.stimuli.is_by_source:
            return _block_of(self._partners(fakes, class_, shares, allow_fewer), class_)
        trials = self._take(None, class_, reals, allow_fewer)
        for model, share in shares.of(fakes).items():
            trials += self._take(model, class_, share, allow_fewer) if share else []
        self.rng.shuffle(trials)
        return _block_of(trials, class_)

    def _partners(self, count: int, class_: str, shares: "_Shares", allow_fewer: bool) -> "list[_Drawn]":
        """Draw `count` sources not drawn before: of each the real, followed by the fake of one model."""
        deck = self._deck(None, class_)
        if deck.left < count and not allow_fewer:
            raise InvalidInput(f"study {self.study.name} has too few images for one session")
        pairs: list[tuple[_Drawn, _Drawn]] = []
        for model, share in shares.of(count).items():
            places = deck.places(share)
            fakes = self.pool.fakes[model][class_].several(places) if places else ()
            reals = deck.names.several(places) if places else ()
            pairs += [
                (_Drawn(real, None, False), _Drawn(fake, model, False))
                for real, fake in zip(reals, fakes, strict=True)
            ]
        self.rng.shuffle(pairs)
        return [drawn for pair in pairs for drawn in pair]

    def _take(self, model: str | None, class_: str, count: int, allow_fewer: bool) -> "list[_Drawn]":
        """Draw `count` names not drawn before: of the reals if `model` is None, else of the model's fakes."""
        deck = self._deck(model, class_)
        needy = () if allow_fewer else self.pool.needs.get((model, class_), ())
        at_random = ceil(count * self.study.protocol.stimuli.random_sampling_share) if needy else count
        drawn = deck.deal(at_random)
        more = deck.deal_of(needy, count - at_random)
        if len(drawn) + len(more) < count and not allow_fewer:
            raise InvalidInput(f"study {self.study.name} has too few images for one session")
        return [
            _Drawn(name, model, is_by_need)
            for names, is_by_need in ((drawn, False), (more, True))
            for name in names
        ]

    def _deck(self, model: str | None, class_: str) -> "Deck":
        deck = self.decks.get((model, class_))
        if deck is None:
            names = self.pool.reals[class_] if model is None else self.pool.fakes[model][class_]
            deck = self.decks[model, class_] = Deck(names, self.rng)
        return deck


class _Shares:
    """Deals fakes to models in a circle, so that the numbers of two models differ by one at most.

    Args:
        dealt: number of fakes dealt before.
        rng: random generator for the order of the models in the circle; default, their own order.
    """

    def __init__(self, models: Sequence[str], dealt: int = 0, rng: "Random | None" = None):
        self.models, self.dealt, self.rng = models, dealt, rng
        self.circle: list[str] | None = None if rng else list(models)

    def of(self, fakes: int) -> dict[str, int]:
        """Return how many of the next `fakes` are of each model."""
        if self.circle is None:
            self.circle = list(self.models)
            if self.rng is not None:
                self.rng.shuffle(self.circle)
        dealt = Counter(self.circle[i % len(self.circle)] for i in range(self.dealt, self.dealt + fakes))
        self.dealt += fakes
        return {model: dealt[model] for model in self.models}


@dataclass(frozen=True)
class _Drawn:
    """A stimulus of a block."""

    name: str
    model: str | None
    is_by_need: bool


def _block_of(trials: "Sequence[_Drawn]", class_: str) -> PlannedBlock:
    return PlannedBlock(
        tuple(trial.name for trial in trials),
        tuple(REAL if trial.model is None else FAKE for trial in trials),
        tuple(trial.model for trial in trials),
        class_,
        tuple(i for i, trial in enumerate(trials) if trial.is_by_need),
    )


class Deck:
    """Names dealt at random without replacement, in time and memory that do not grow with their number.

    This is a Fisher-Yates shuffle, done only as far as names are dealt, with its swaps in a dictionary.
    """

    def __init__(self, names: Names, rng: "Random"):
        self.names, self.rng = names, rng
        self.dealt = 0
        self.moved: dict[int, int] = {}
        self.gone: set[int] = set()
        self.taken: set[int] = set()
        """Indices dealt out of turn, which their turn has not come to yet."""

    @property
    def left(self) -> int:
        """Number of names that are not dealt yet."""
        return len(self.names) - self.dealt - len(self.taken)

    def deal(self, count: int) -> list[str]:
        """Return the next `count` names, or all that are left."""
        return self.names.several(self.places(count))

    def places(self, count: int) -> list[int]:
        """Deal as `deal`, and return the indices of the names."""
        return [self._next() for _ in range(min(count, self.left))]

    def deal_of(self, places: Sequence[int], count: int) -> list[str]:
        """Return `count` names, drawn from those at some indices; where they do not suffice, from all."""
        if not count:
            return []
        there = [place for place in places if place < len(self.names) and place not in self.gone]
        chosen = self.rng.sample(there, min(count, len(there)))
        self.gone.update(chosen)
        self.taken.update(chosen)
        names = self.names.several(chosen) if chosen else []
        return names + self.deal(count - len(names)) if len(names) < count else names

    def _next(self) -> int:
        place = self._turn()
        while place in self.taken:
            self.taken.discard(place)
            place = self._turn()
        self.gone.add(place)
        return place

    def _turn(self) -> int:
        place = self.rng.randrange(self.dealt, len(self.names))
        drawn = self.moved.pop(place, place)
        first = self.moved.pop(self.dealt, self.dealt)
        if place != self.dealt:
            self.moved[place] = first
        self.dealt += 1
        return drawn


def _classes_of_a_session(study: Study) -> tuple[str, ...]:
    """Return the classes that a session goes through; () if it has one class or none."""
    return () if study.protocol.stimuli.class_design == BETWEEN else study.classes


def _block_sizes(protocol: Protocol, classes: Sequence[str]) -> list[int]:
    if not protocol.has_staircase and classes:
        return [2 * half for half in _even_shares(protocol.stimuli.images // 2, len(classes)) if half]
    return [protocol.stimuli.images] * protocol.stimuli.blocks


def _most_of_a_side(protocol: Protocol, size: int) -> int:
    """Return the most reals, or fakes, in a block of `size`, which leave at least one of the other kind."""
    if protocol.stimuli.is_half_real:
        return size // 2
    return max(min(size // 2 + ceil(_SDS_FROM_HALF * sqrt(size) / 2), size - 1), 0)


def _even_shares(total: int, parts: int) -> list[int]:
    return [total // parts + (i < total % parts) for i in range(parts)]
