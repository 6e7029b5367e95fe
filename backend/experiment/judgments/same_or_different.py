"""Are two pictures, one after the other, the same? Just noticeable differences (Zhang et al. 2018, 3.2).

A trial shows p0, then nothing, then p1; the order of the two is that of the paper. Test pairs have no right
answer: what counts is the share of people to whom they look the same. Sentinels have one: pairs of equal
pictures, and pairs of which one has heavy noise. In a session they stand anywhere among the test pairs, and
whatever is done with a test pair is done with them: they show for as long, earn nothing, get no feedback,
and a spare of their own kind replaces one that was not shown as planned. So nothing but the pictures tells
them from the rest. Training, with feedback, comes before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from backend.experiment import protocol as protocols
from backend.experiment.fixed_exposures import label
from backend.experiment.judgment import Judgment, Method, Plan
from backend.experiment.protocol import ALL, NONE, WITHIN, Protocol
from backend.experiment.records import CHECK, PRACTICE, TEST, Condition, PlannedBlock, Stimulus, Study
from backend.experiment.response_columns import Column, Kind
from backend.experiment.sampling import Pool
from backend.experiment.session import Picture
from backend.foundation.errors import InvalidInput

if TYPE_CHECKING:
    from random import Random

SAME, DIFFERENT = "same", "different"
SAME_OF_SENTINELS = Fraction(32, 40)
"""Share of the sentinels that are pairs of equal pictures (3.2)."""
SAME_OF_TRAINING = Fraction(4, 10)
"""The same of the training pairs; one of the others is obvious, and the rest are test-like (3.2)."""
_WORDS = {
    CHECK: ("sentinels", "picture_checks", "--checks"),
    PRACTICE: ("training pairs", "practice_images", "--practice"),
}


@dataclass(frozen=True)
class _Pair:
    """A trial: names of its pictures, right answer ('' if there is none), set and kind."""

    name: str
    truth: str
    set_: str | None
    kind: str


class SameOrDifferent(Judgment):
    """Two pictures a trial, one after the other: the same, or different."""

    name = "same_or_different"
    methods: ClassVar = {
        "jnd": Method(
            "JND", "Just noticeable differences, share of pairs judged the same", "percent", protocols.JND
        )
    }
    source = "Zhang et al., 2018"
    answers = (SAME, DIFFERENT)
    has_truth = False
    votes = (SAME, DIFFERENT)
    question = "whether two pictures, shown one after the other, are the same or different"
    has_items = True
    own_columns = ("item",)
    columns: ClassVar = {
        "method": Column("Just noticeable differences", "jnd", Kind.CHOICE),
        "model": Column("Set that the pair belongs to; empty for sentinels and training pairs"),
        "stimulus": Column("Public file names of the two pictures, the first one first"),
        "truth": Column(
            "What the pair is, where it is known: sentinels and training pairs; empty for test pairs",
            "same, different",
        ),
        "response": Column("What the evaluator took the pair for", "same, different", Kind.CHOICE),
        "exposure_ms": Column("How long each picture was to be shown", "ms", Kind.EXPOSURE),
        "shown_ms": Column("How long the first picture was shown, as measured", "ms", Kind.NUMBER),
        "frames": Column(
            "Refreshes of the display for which the first picture was shown", "whole number", Kind.WHOLE
        ),
        "planned_frames": Column(
            "Refreshes planned for each number of the countdown, the first picture, the gap and the second "
            "picture",
            "whole numbers, separated by spaces",
            Kind.LIST,
        ),
        "trial_kind": Column(
            "Whether it is a test pair (`test`), a sentinel (`check`) or a training pair (`practice`)",
            "test, check, practice",
            Kind.CHOICE,
        ),
    }

    def check(self, protocol: Protocol, kind: str) -> None:
        """Check that the settings fit this judgment, whose test pairs have no right answer.

        Raises:
            InvalidInput: names a setting that does not.
        """
        for is_wrong, message in _refusals(protocol, kind):
            if is_wrong:
                raise InvalidInput(f"JND {message}")

    def lack(self, study: Study, pool: Pool) -> str:
        needed = max(_shares(study.protocol.stimuli.trials, study.model_groups[0], 0).values())
        short = [
            f"{there} of {needed} pairs of {set_}"
            for set_ in study.models
            if (there := len(_names_of(pool, set_))) < needed
        ]
        problems = [
            f"study {study.name} lacks pairs for a JND session of {study.protocol.stimuli.trials}: it has "
            f"{', '.join(short)}; add pairs, or ask for fewer (--set images=N)"
        ]
        lacking = [] if not short else problems
        for role, wanted in _known_pairs(study.protocol).items():
            there = _counts(pool, role)
            few = [
                f"{there[truth]} of {count} {truth}"
                for truth, count in wanted.items()
                if there[truth] < count
            ]
            if few:
                what, setting, option = _WORDS[role]
                lacking.append(
                    f"study {study.name} lacks {what}: it has {', '.join(few)}; lower {setting}, or add "
                    f"pairs ({option} DIR)"
                )
        return "; ".join(lacking)

    def notes(self, study: Study, pool: Pool) -> list[str]:
        """Return the effects of a small pool on the replacement of pairs that were not shown as planned."""
        wanted = study.protocol.stimuli.spare_images
        of_set = _shares(study.protocol.stimuli.trials + wanted, study.model_groups[0], 0)
        short = [set_ for set_ in study.models if len(_names_of(pool, set_)) < max(of_set.values())]
        notes = []
        if short:
            notes.append(
                f"the pairs of {', '.join(short)} leave fewer than {wanted} spares a session, which replace "
                "pairs that were not shown as planned; a session that uses them up ends early, and is paid"
            )
        there = _counts(pool, CHECK)
        few = [
            f"{there[truth] - count} {truth}"
            for truth, count in _known_pairs(study.protocol).get(CHECK, {}).items()
            if there[truth] - count < min(wanted, count)
        ]
        if few:
            notes.append(
                f"the sentinels leave {', '.join(few)} to replace those that were not shown as planned; a "
                "session that uses them up ends early, and is paid"
            )
        return notes

    def draw(
        self,
        study: Study,
        pool: Pool,
        condition: Condition | None,
        rng: "Random",
        coin: "Random",
        turn: int,
    ) -> Plan:
        shown, exposure_ms = study.protocol.stimuli, study.protocol.timing.exposures_ms[0]
        sets = condition.models if condition else study.models
        tests, spares = _test_pairs(study, pool, sets, rng, turn)
        known = _known_pairs(study.protocol)
        sentinels, spare_sentinels = _drawn_known(pool, CHECK, known.get(CHECK, {}), shown.spare_images, rng)
        training, _ = _drawn_known(pool, PRACTICE, known.get(PRACTICE, {}), 0, rng)
        rng.shuffle(training)
        mixed = [*tests, *sentinels]
        rng.shuffle(mixed)
        parts = [mixed[start :: shown.blocks] for start in range(shown.blocks)]
        blocks = tuple(_block(part, exposure_ms) for part in (training, *parts) if part)
        return blocks, (_block([*spares, *spare_sentinels], exposure_ms),)

    def truth(self, shown: Sequence[Stimulus]) -> str:
        return shown[0].truth

    def row(self, picture: Picture, item: Stimulus | None) -> dict[str, Any]:
        return {"item": item.source if item else ""}

    def value(self, method: str, rows: Sequence[Mapping[str, Any]]) -> Fraction:
        """Return the percentage of the test pairs that an evaluator took for the same."""
        tests = [row for row in rows if row.get("trial_kind") in (None, "", TEST)]
        return Fraction(100 * sum(row["response"] == SAME for row in tests), len(tests))


def of_sentinels(count: int) -> dict[str, int]:
    """Return how many of a session's sentinels are same, and how many different."""
    return _split(count, SAME_OF_SENTINELS)


def of_training(count: int) -> dict[str, int]:
    """Return how many of a session's training pairs are same, and how many different."""
    return _split(count, SAME_OF_TRAINING)


def _split(count: int, share: Fraction) -> dict[str, int]:
    """Return `count` in two parts, of which none is empty where there are two or more."""
    same = min(max(round(count * share), 1), count - 1) if count > 1 else count
    return {SAME: same, DIFFERENT: count - same}


def _known_pairs(protocol: Protocol) -> dict[str, dict[str, int]]:
    """Return how many pairs of each known answer a session shows, by role."""
    wanted = {
        CHECK: of_sentinels(protocol.unscored.picture_checks),
        PRACTICE: of_training(protocol.unscored.practice_images),
    }
    return {role: counts for role, counts in wanted.items() if any(counts.values())}


def _refusals(protocol: Protocol, kind: str) -> list[tuple[bool, str]]:
    """Return what may be wrong with the settings: whether it is, and what to say after the method's name."""
    asked, timing, shown = protocol.follow_ups, protocol.timing, protocol.stimuli
    no_truth = "for a test pair has no right answer"
    return [
        (kind == "qualification", "has no qualifications; make a study"),
        (
            protocol.page.feedback,
            f"has no feedback, {no_truth}; leave feedback=false (training always has it)",
        ),
        (
            protocol.pay.bonus_usd_cents > 0,
            f"has no bonus, {no_truth}; set base_usd_cents, and leave bonus_usd_cents=0",
        ),
        (protocol.page.debrief, f"has no debrief, {no_truth}; leave debrief=false"),
        (asked.mark != NONE, "has no marks; leave mark=none"),
        (
            bool(asked.reasons or asked.comment != NONE) and asked.reasons_for != ALL,
            f"has no answer {asked.reasons_for!r}; set reasons_for=all",
        ),
        (not shown.is_half_real, "has no real pictures to balance; leave balance=session"),
        (shown.class_design != WITHIN, "has no classes; leave class_design=within"),
        (shown.draw == "uncertain", "has no model of uncertain pairs; set draw=least-seen or draw=random"),
        (timing.staircase is not None, "has no staircase"),
        (
            len(timing.exposures_ms) != 1 or timing.exposures_ms[0] is None,
            f"shows both pictures for one time in ms, such as exposures_ms=1000, not "
            f"{','.join(map(label, timing.exposures_ms)) or 'none'}",
        ),
        (timing.exposure_design != WITHIN, "has one exposure; leave exposure_design=within"),
        (
            timing.mask_count > 0,
            "shows no masks: nothing stands between the two pictures, and nothing follows them; leave "
            "mask_count=0",
        ),
        (
            protocol.unscored.instructed_checks > 0,
            "has sentinels in place of instructions, which would be known for checks; set picture_checks, "
            "and leave instructed_checks=0",
        ),
        (
            protocol.exclusion.exclude_checks_below > 0 and not protocol.unscored.picture_checks,
            "has no sentinels to exclude by; set picture_checks, or leave exclude_checks_below=0",
        ),
    ]


def _shares(total: int, sets: Sequence[str], turn: int) -> dict[str, int]:
    """Return `total` in equal parts, one for each set; who has one more changes from session to session."""
    each, more = divmod(total, len(sets))
    start = turn * more
    extra = {(start + i) % len(sets) for i in range(more)}
    return {set_: each + (i in extra) for i, set_ in enumerate(sets)}


class _Listed:
    """The names of a set over all its classes, as one sequence."""

    def __init__(self, parts: Sequence[Any]):
        self.parts = parts

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def several(self, places: Sequence[int]) -> list[str]:
        """Return the names at the indices `places`, in their order."""
        found: dict[int, str] = {}
        start = 0
        for part in self.parts:
            own = [place for place in places if start <= place < start + len(part)]
            names = part.several([place - start for place in own])
            found |= dict(zip(own, names, strict=True))
            start += len(part)
        return [found[place] for place in places]


def _names_of(pool: Pool, set_: str) -> _Listed:
    by_class = pool.fakes.get(set_, {})
    return _Listed([by_class[class_] for class_ in sorted(by_class)])


def _test_pairs(
    study: Study, pool: Pool, sets: Sequence[str], rng: "Random", turn: int
) -> tuple[list[_Pair], list[_Pair]]:
    """Return the test pairs of a session, in equal parts of its sets, and their spares."""
    shown = study.protocol.stimuli
    wanted, spare = (_shares(total, sets, turn) for total in (shown.trials, shown.spare_images))
    tests, spares = [], []
    for set_ in sets:
        names = _names_of(pool, set_)
        places = rng.sample(range(len(names)), min(len(names), wanted[set_] + spare[set_]))
        drawn = [_Pair(name, "", set_, TEST) for name in names.several(places)]
        tests += drawn[: wanted[set_]]
        spares += drawn[wanted[set_] :]
    return tests, spares


def _drawn_known(
    pool: Pool, role: str, wanted: Mapping[str, int], spares: int, rng: "Random"
) -> tuple[list[_Pair], list[_Pair]]:
    """Return pairs with a known answer for a session, and up to `spares` of each answer to replace them."""
    shown, left = [], []
    for truth, count in wanted.items():
        names = _Listed([names for own, _, names in pool.aside.get(role, ()) if own == truth])
        places = rng.sample(range(len(names)), min(len(names), count + spares))
        drawn = [_Pair(name, truth, None, role) for name in names.several(places)]
        shown += drawn[:count]
        left += drawn[count:]
    return shown, left


def _counts(pool: Pool, role: str) -> dict[str, int]:
    """Return the number of pairs of a role, by their known answers."""
    return {
        truth: sum(len(names) for own, _, names in pool.aside.get(role, ()) if own == truth)
        for truth in (SAME, DIFFERENT)
    }


def _block(pairs: Sequence[_Pair], exposure_ms: float | None) -> PlannedBlock:
    kinds = tuple(pair.kind for pair in pairs)
    return PlannedBlock(
        tuple(pair.name for pair in pairs),
        tuple(pair.truth for pair in pairs),
        tuple(pair.set_ for pair in pairs),
        kinds=() if set(kinds) <= {TEST} else kinds,
        exposures_ms=(exposure_ms,) * len(pairs),
    )


JUDGMENT = SameOrDifferent()
