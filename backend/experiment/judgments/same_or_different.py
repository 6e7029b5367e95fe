"""Are two pictures, one after the other, the same? Just noticeable differences (Zhang et al. 2018, 3.2).

A trial shows p0, then nothing, then p1; the order of the two is that of the paper. Test pairs have no right
answer: what counts is the share of people to whom they look the same. Sentinels have one: pairs of equal
pictures, and pairs of which one has heavy noise. In a session they stand anywhere among the test pairs, and
whatever is done with a test pair is done with them: they show for as long, earn nothing, get no feedback,
and a spare of their own kind replaces one that was not shown as planned. So nothing but the pictures tells
them from the rest. Training, with feedback, comes before.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar

from backend.experiment import items
from backend.experiment.fixed_exposures import SHORTEST_MS, label
from backend.experiment.groups.consent import consent
from backend.experiment.groups.page import PageSettings
from backend.experiment.groups.stimuli import MOST_MODELS, WITHIN
from backend.experiment.groups.timing import TimingSettings
from backend.experiment.groups.unscored import UnscoredSettings
from backend.experiment.items import Trial
from backend.experiment.judgment import Judgment, Method, Plan, Planning, Refusal, Turn, refuse
from backend.experiment.made_items import Change, MadeItems
from backend.experiment.protocol import Protocol
from backend.experiment.records import CHECK, PRACTICE, TEST, Stimulus, Study
from backend.experiment.response_columns import Column, Kind
from backend.experiment.sampling import Pool
from backend.experiment.session import Picture
from backend.experiment.setting_errors import problem_of
from backend.experiment.setting_groups import setting
from backend.foundation.errors import together
from backend.foundation.frozen import dataclass

if TYPE_CHECKING:
    from random import Random

SAME, DIFFERENT = "same", "different"
SAME_OF_SENTINELS = Fraction(32, 40)
"""Share of the sentinels that are pairs of equal pictures (3.2)."""
SAME_OF_TRAINING = Fraction(4, 10)
"""The same of the training pairs; one of the others is obvious (3.2)."""
_EQUAL: tuple[Change, ...] = ("none", "none")
_NOISY: tuple[Change, ...] = ("none", "heavy_noise")
_SUBTLE: tuple[Change, ...] = ("none", "subtle")
_MADE_TIMES = 2
"""Sentinels that are made, as a multiple of those that a session shows, besides those to replace some."""
_WORDS = {
    CHECK: ("sentinels", "picture_checks", "--checks"),
    PRACTICE: ("training pairs", "practice_images", "--practice"),
}


@dataclass(frozen=True)
class JndSettings(items.ItemSettings):
    """How often each pair is judged, and the time between its pictures."""

    gap_ms: float = setting(
        250,
        "how long nothing is shown between the two pictures",
        SHORTEST_MS,
        10000,
        shapes_flashes=True,
        label="Pause between the pictures (ms)",
    )


JND = Protocol(
    "jnd",
    timing=TimingSettings(exposures_ms=(1000.0,), countdown_from=1, mask_count=0),
    judgment=JndSettings(judgments_per_item=3),
    page=PageSettings(feedback=False),
    unscored=UnscoredSettings(practice_images=10, picture_checks=40),
).changed(
    images=160,
    spare_images=40,
    size_px=0,
    models_per_session=MOST_MODELS,
    reasons_for="all",
    title="Same or different?",
    consent_text=consent(
        "pairs of pictures, one picture shortly after the other, and say of each pair whether its two "
        "pictures are the same or different",
        "which differences between pictures people notice",
    ),
    minutes=15,
)
"""A session of Zhang et al. 2018, 3.2: 160 test pairs and 40 sentinels, after 10 training pairs."""


class SameOrDifferent(Judgment):
    """Two pictures a trial, one after the other: the same, or different."""

    name = "same_or_different"
    methods: ClassVar = {
        "jnd": Method(
            "JND",
            "Just noticeable differences, share of pairs judged the same",
            "percent",
            JND,
            label="Same or different? (JND)",
            meaning=(
                "Two pictures flash one after the other, and evaluators say whether they were the same. The "
                "result is which differences people notice."
            ),
            takes=("exposures_ms",),
            planning=Planning(10),
        )
    }
    source = "Zhang et al., 2018"
    trial_shows = "pair"
    answers = (SAME, DIFFERENT)
    has_truth = False
    votes = (SAME, DIFFERENT)
    question = "whether two pictures, shown one after the other, are the same or different"
    parts = ("p0", "p1")
    item_answers = (SAME, DIFFERENT)
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
        title = self.methods[protocol.method].title
        items.check(protocol, kind, title)
        refuse(title, _refusals(protocol))

    def made_items(self, protocol: Protocol, given: Sequence[str]) -> list[MadeItems]:
        """Return sentinels (equal pictures, or one with heavy noise) and training pairs of the paper's kinds.

        Every session shows the same training pairs. Of sentinels there are several times as many as one
        session shows, and those that replace some.
        """
        spares = protocol.stimuli.spare_images
        sentinels = {
            answer: _MADE_TIMES * count + spares if count else 0
            for answer, count in of_sentinels(protocol.unscored.picture_checks).items()
        }
        training = of_training(protocol.unscored.practice_images)
        obvious = ceil(training[DIFFERENT] / 10)
        made = [
            MadeItems(CHECK, SAME, _EQUAL, sentinels[SAME]),
            MadeItems(CHECK, DIFFERENT, _NOISY, sentinels[DIFFERENT]),
            MadeItems(PRACTICE, SAME, _EQUAL, training[SAME]),
            MadeItems(PRACTICE, DIFFERENT, _NOISY, obvious),
            MadeItems(PRACTICE, DIFFERENT, _SUBTLE, training[DIFFERENT] - obvious),
        ]
        return [each for each in made if each.count and each.role not in given]

    def with_pool(self, protocol: Protocol, pool: Pool, is_given: Container[str]) -> Protocol:
        return items.with_pool(protocol, pool, is_given)

    def lack(self, study: Study, pool: Pool) -> str:
        return together([items.lack(study, pool, "pairs"), *_lacking_known(study, pool)])

    def notes(self, study: Study, pool: Pool) -> list[str]:
        """Return how many judgments each pair gets, and the effects of few spares."""
        wanted, there = study.protocol.stimuli.spare_images, _counts(pool, CHECK)
        left = {"test": items.count_of(pool, study.models) - study.protocol.stimuli.trials}
        left |= {
            truth: there[truth] - count for truth, count in _known(study.protocol)[CHECK].items() if count
        }
        short = [f"{max(count, 0)} spare {what} pairs" for what, count in left.items() if count < wanted]
        notes = items.notes(study, pool, "pairs")
        if short:
            notes.append(
                f"the pairs leave {', '.join(short)} a session, of {wanted} wanted, to replace those that "
                "were not shown as planned; a session that uses them up ends early, and is paid"
            )
        return notes

    def draw(self, study: Study, pool: Pool, turn: Turn) -> Plan:
        """Return the pairs of a turn with sentinels among them and training before, and its spares."""
        protocol, known = study.protocol, _known(study.protocol)
        key = f"{study.name} {study.created_at}"
        tests = [
            Trial(name, "", set_, TEST)
            for name, set_ in items.names_of_turn(
                pool, study.models, protocol.stimuli.trials, turn.number, key
            )
        ]
        spares = protocol.stimuli.spare_images
        sentinels, others = _drawn_known(pool, CHECK, known[CHECK], spares, turn.rng)
        training, _ = _drawn_known(pool, PRACTICE, known[PRACTICE], 0, turn.rng)
        blocks = items.planned(protocol, tests, sentinels, training, _p0_first, turn.rng)
        unshown = [*_spare_tests(pool, study.models, tests, spares, turn.rng), *others]
        spare_block = items.block(unshown, _p0_first, turn.rng)
        exposure_ms = protocol.timing.exposures_ms[0]
        timed = [
            replace(block, exposures_ms=(exposure_ms,) * len(block.stimuli))
            for block in (*blocks, spare_block)
        ]
        return tuple(timed[:-1]), tuple(timed[-1:])

    def truth(self, shown: Sequence[Stimulus]) -> str:
        return shown[0].truth

    def row(self, picture: Picture, item: Stimulus | None) -> dict[str, Any]:
        return {"item": item.source} if item else {}

    def value(self, method: str, rows: Sequence[Mapping[str, Any]]) -> Fraction:
        """Return the percentage of the test pairs that an evaluator took for the same."""
        tests = [row for row in rows if row.get("trial_kind") in (None, "", TEST)]
        return Fraction(100 * sum(row["response"] == SAME for row in tests), len(tests))

    def simulated_answer(self, item: Stimulus, names: Sequence[str], accuracy: float, rng: "Random") -> str:
        """Return an answer by the difference of an item's pictures, which is the same for all evaluators.

        Args:
            accuracy: probability, averaged over items, of noticing the difference.
        """
        return DIFFERENT if _is_noticed(item.source, accuracy, rng) else SAME


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


def _known(protocol: Protocol) -> dict[str, dict[str, int]]:
    """Return how many pairs of each known answer a session shows, by role."""
    return {
        CHECK: of_sentinels(protocol.unscored.picture_checks),
        PRACTICE: of_training(protocol.unscored.practice_images),
    }


def _refusals(protocol: Protocol) -> list[Refusal]:
    """Return what may be wrong with the times, as for `refuse`."""
    timing = protocol.timing
    return [
        (
            len(timing.exposures_ms) != 1 or timing.exposures_ms[0] is None,
            "shows both pictures for one time in ms, such as exposures_ms=1000, not "
            f"{','.join(map(label, timing.exposures_ms)) or 'none'}",
            ("exposures_ms",),
        ),
        (
            timing.exposure_design != WITHIN,
            "has one exposure; leave exposure_design=within",
            ("exposure_design",),
        ),
        (
            timing.mask_count > 0,
            "shows no masks: nothing stands between the two pictures, and nothing follows them; leave "
            "mask_count=0",
            ("mask_count",),
        ),
    ]


def _lacking_known(study: Study, pool: Pool) -> list[str]:
    """Return which sentinels and training pairs a pool lacks, and what to do about it."""
    problems: list[str] = []
    for role, wanted in _known(study.protocol).items():
        there, (what, setting, option) = _counts(pool, role), _WORDS[role]
        few = [f"{there[truth]} of {n} {truth}" for truth, n in wanted.items() if there[truth] < n]
        if few:
            problems.append(
                problem_of(
                    f"study {study.name} lacks {what}: it has {', '.join(few)}; lower {setting}, or add "
                    f"pairs ({option} DIR)",
                    setting,
                    option.removeprefix("--"),
                )
            )
    return problems


def _spare_tests(
    pool: Pool, models: Sequence[str], tests: Sequence[Trial], count: int, rng: "Random"
) -> list[Trial]:
    """Return pairs that a session does not show, to replace some: of each set in proportion, rounded up."""
    shown, spares = {trial.item for trial in tests}, []
    for set_, names in items.set_names(pool, models):
        own = sum(trial.model == set_ for trial in tests)
        wanted = ceil(count * own / len(tests))
        places = rng.sample(range(len(names)), min(len(names), wanted + own))
        unseen = [name for name in names.several(places) if name not in shown]
        spares += [Trial(name, "", set_, TEST) for name in unseen[:wanted]]
    return spares


def _drawn_known(
    pool: Pool, role: str, wanted: Mapping[str, int], spares: int, rng: "Random"
) -> tuple[list[Trial], list[Trial]]:
    """Return pairs with a known answer for a session, and up to `spares` of each answer to replace them."""
    shown, left = [], []
    for truth, count in wanted.items():
        names = [name for name, own in items.aside_of(pool, role) if own == truth]
        drawn = rng.sample(names, min(len(names), count + spares if count else 0))
        trials = [Trial(name, truth, "", role) for name in drawn]
        shown += trials[:count]
        left += trials[count:]
    return shown, left


def _counts(pool: Pool, role: str) -> dict[str, int]:
    """Return the number of pairs of a role, by their known answers."""
    answers = [truth for _, truth in items.aside_of(pool, role)]
    return {truth: answers.count(truth) for truth in (SAME, DIFFERENT)}


def _p0_first(name: str, truth: str, rng: "Random") -> tuple[str, str]:
    """Return the pictures of a pair in the order of display, and the right answer, if there is one."""
    return name, truth


def _is_noticed(item: str, accuracy: float, rng: "Random") -> bool:
    """Return whether a simulated evaluator notices the difference between an item's pictures.

    P = Phi(m + z) with z standard normal over items, the same for all evaluators. The mean over items is
    Phi(m / sqrt(2)), from which m follows.

    Args:
        accuracy: this mean, 0 to 1.
    """
    if accuracy in (0, 1):
        return accuracy == 1
    normal, z = NormalDist(), items.standard_normal(f"difference of {item}")
    return rng.random() < normal.cdf(sqrt(2) * normal.inv_cdf(accuracy) + z)


JUDGMENT = SameOrDifferent()
