"""Which of two pictures is real? A real one beside a fake: two alternatives, forced choice (2AFC).

An evaluator's value is the percentage of pairs judged wrong, 50 if real and fake cannot be told apart, as in
HYPE-infinity. Unlike there, nobody can call everything fake: one picture of each pair is real, so that an
inclination to a side costs the same on both. With sensitivity d', a pair is judged right with probability
Phi(d' / sqrt(2)) where one picture is with Phi(d' / 2) (Macmillan and Creelman, Detection Theory, chapter 7).

`images`, `spare_images` and the settings of practice and checks count pairs. Pictures are drawn as for
HYPE-infinity, as many reals as fakes, none repeated in a session; a real and a fake of the same block, and
so of the same class, make a pair; with `pairing=source` those of one source.

The real picture is on either side by the toss of a fair coin (`balance=people`, the default): then neither
earlier answers nor feedback say anything about the next pair, and the sides of two consecutive evaluators
mirror each other, so that their sum is even. With `balance=session` exactly half of each block are left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, comb, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from backend.experiment import sampling
from backend.experiment.dealt_exposures import with_exposures
from backend.experiment.fixed_exposures import parse_exposures
from backend.experiment.groups.consent import consent
from backend.experiment.groups.looks import LOOKS
from backend.experiment.groups.stimuli import CHANCE_BALANCE, EXACT_BALANCE, WITHIN
from backend.experiment.judgment import Judgment, Method, Plan, Planning, Turn
from backend.experiment.not_sure import error_of
from backend.experiment.protocol import Protocol
from backend.experiment.records import CLIPS, PICTURES, REAL, TEST, PlannedBlock, Session, Stimulus, Study
from backend.experiment.response_columns import Column, Kind
from backend.experiment.sampling import Pool
from backend.experiment.session import Cursor, Picture
from backend.experiment.setting_errors import keys_of, problem_of
from backend.foundation.errors import Problem

if TYPE_CHECKING:
    from random import Random

LEFT, RIGHT = "left", "right"
SIDES = (LEFT, RIGHT)
_MOST_PAIRS, _MOST_SPARES = 2500, 500

PAIR = Protocol("pair").changed(
    images=50,
    balance=CHANCE_BALANCE,
    title="Which one is real?",
    consent_text=consent(
        "pairs of pictures, side by side: one picture is real, the other was made by a computer. You say "
        "which one is real"
    ),
)
"""As many pictures as HYPE-infinity shows, two at a time."""
PAIR_QUALIFICATION = PAIR.changed(evaluators=100000, title="Which one is real: a short test")


class WhichIsReal(Judgment):
    """A real picture beside a fake one."""

    name = "which_is_real"
    methods: ClassVar = {
        "pair": Method(
            "Pairs",
            "Pairs, share of pairs judged wrong",
            "percent",
            PAIR,
            PAIR_QUALIFICATION,
            "Which one is real?",
            "A real picture and a generated one stand side by side, and evaluators choose the real one. The "
            "score is the share of pairs in which they chose the generated one.",
            is_common=True,
            takes=(*LOOKS, "exposures_ms", "not_sure", "pairing"),
            planning=Planning(10),
        )
    }
    source = "Macmillan and Creelman, 2005"
    media = (PICTURES, CLIPS)
    answers = SIDES
    question = "which of two pictures, side by side, is real"
    trial_shows = "pair"
    d_prime_divisor = sqrt(2)
    own_columns = (LEFT, RIGHT)
    columns: ClassVar = {
        "method": Column("Pairs of a real and a fake image", "pair", Kind.CHOICE),
        "model": Column("Model that generated the fake of the pair"),
        "stimulus": Column("Public file names of the two images, from left to right"),
        "truth": Column("On which side the real image stood", "left, right", Kind.CHOICE),
        "response": Column(
            "Which image the evaluator took for the real one; `not_sure` in studies that allow it, half an "
            "error",
            "left, right, not_sure",
            Kind.CHOICE,
        ),
    }

    def check(self, protocol: Protocol, kind: str) -> None:
        """Check that this judgment supports the settings of a study of `kind`.

        Raises:
            InvalidInput: names what is not supported.
        """
        self.check_settings(
            protocol,
            kind,
            [
                (
                    kind == "qualification" and bool(protocol.timing.exposures_ms),
                    _UNTIMED_TEST,
                    ("exposures_ms", "kind"),
                ),
                (
                    protocol.stimuli.is_adaptive,
                    "samples pairs at random; leave sampling=random",
                    ("sampling",),
                ),
                (
                    protocol.stimuli.images > _MOST_PAIRS,
                    f"has at most {_MOST_PAIRS} pairs a block (images)",
                    ("images",),
                ),
                (
                    protocol.stimuli.spare_images > _MOST_SPARES,
                    f"has at most {_MOST_SPARES} spare pairs (spare_images)",
                    ("spare_images",),
                ),
            ],
        )

    def lack(self, study: Study, pool: Pool) -> str:
        if problem := sampling.class_problem(study):
            return problem
        shown, exposures = study.protocol.stimuli, len(study.protocol.timing.exposures_ms)
        if exposures > shown.trials and study.protocol.timing.exposure_design == WITHIN:
            return problem_of(
                f"with {exposures} exposures_ms, each evaluator needs {exposures} pairs or more, and has "
                f"{shown.trials}; --set images={exposures}, or exposure_design=between",
                "exposures_ms",
            )
        pictures = _in_pictures(study)
        short = sampling.short_sides(pictures, pool)
        if not short:
            return ""
        most = sampling.most_images(pictures, pool) // 2
        fewer = f", or ask for fewer pairs: --set images={most}" if most >= 2 else ""
        blocks = f" in {shown.blocks} blocks" if shown.blocks > 1 else ""
        return Problem(
            f"study {study.name} lacks pictures for a session of {shown.trials} pairs{blocks}, a real and a "
            f"fake each: it has {short}; add pictures{fewer}",
            short.keys,
            [keys_of("images"), keys_of("blocks")],
        )

    def notes(self, study: Study, pool: Pool) -> list[str]:
        """Return the effects of a small pool, and how likely it is to pass a qualification by guessing."""
        protocol, pictures = study.protocol, _in_pictures(study)
        sentences = []
        if study.kind == "study":
            sentences.append(sampling.pool_note(pictures, pool))
        else:
            chance = passing_by_guessing(protocol.stimuli.trials, protocol.admission.pass_share)
            sentences.append(
                f"somebody who guesses passes this qualification with a probability of {chance:.2g}"
            )
        wanted, left = protocol.stimuli.spare_images, sampling.spares_left(pictures, pool)
        if protocol.has_flashes and left < wanted:
            sentences.append(
                f"the pictures leave {left} of {wanted} spare pairs to replace mistimed flashes; a session "
                "that uses them up ends early, and is paid"
            )
        return [*filter(None, sentences)]

    def join_problem(self, study: Study) -> str:
        return sampling.join_problem(study)

    def draw(self, study: Study, pool: Pool, turn: Turn) -> Plan:
        pictures = _in_pictures(study)
        reals = sampling.real_counts(pictures, turn.balance_rng, is_second=False)
        condition, rng = turn.condition, turn.rng
        drawn, drawn_spares = sampling.draw_session(pictures, pool, condition, rng, reals, turn.number)
        is_exact = study.protocol.stimuli.balance == EXACT_BALANCE
        blocks: Sequence[PlannedBlock] = [
            _paired(block, _sides(len(block.stimuli) // 2, is_exact, turn)) for block in drawn
        ]
        if exposures := study.protocol.timing.exposures_ms:
            own = parse_exposures(condition.arm) if condition and condition.arm else exposures
            blocks = with_exposures(blocks, own, is_exact, rng)
        return tuple(blocks), tuple(_spare_pairs(block, rng) for block in drawn_spares)

    def truth(self, shown: Sequence[Stimulus]) -> str:
        return SIDES[[picture.truth for picture in shown].index(REAL)]

    def row(self, picture: Picture, item: Stimulus | None) -> dict[str, Any]:
        """Return what stood on each side: `real`, or the model of the fake."""
        return {side: REAL if side == picture.truth else picture.model for side in SIDES}

    def value(self, method: str, rows: Sequence[Mapping[str, Any]]) -> Fraction:
        """Return the percentage of pairs that an evaluator judged wrong; `not_sure` is half wrong."""
        errors = sum(error_of(row["response"], row["truth"]) for row in rows)
        return Fraction(100 * errors) / len(rows)

    def qualification_result(self, session: Session, protocol: Protocol, cursor: Cursor) -> dict[str, Any]:
        """Return whether a qualification was passed: finished, with at least `pass_share` right."""
        pairs = sum(block.kind(i) == TEST for block in session.blocks for i in range(len(block.stimuli)))
        right = sum(cursor.right.get(side, 0) for side in SIDES) / pairs
        needed = protocol.admission.pass_share
        return {
            "passed": cursor.state == "finished" and right >= needed,
            "right": right,
            "needed": needed,
            "may_retake": protocol.admission.retakes,
        }


_UNTIMED_TEST = "has no qualification with a time limit; leave exposures_ms out"


def passing_by_guessing(pairs: int, pass_share: float) -> float:
    """Return the probability (0 to 1) that somebody who guesses gets a share of `pass_share` right or more.

    This is the upper tail of the binomial distribution with probability 1/2.
    """
    # the share is compared as `qualification_result` compares it, so that both agree to the last pair
    right = next((k for k in range(ceil(pairs * pass_share) + 1) if k / pairs >= pass_share), pairs + 1)
    return float(sum(comb(pairs, k) for k in range(right, pairs + 1)) / 2**pairs)


def _in_pictures(study: Study) -> Study:
    """Return a study of single pictures whose sessions show as many reals and fakes as those of `study`."""
    shown = study.protocol.stimuli
    protocol = study.protocol.changed(
        images=2 * shown.images, spare_images=2 * shown.spare_images, balance=EXACT_BALANCE
    )
    return replace(study, protocol=protocol)


def _sides(count: int, is_exact: bool, turn: Turn) -> list[str]:
    """Return the sides of the real pictures of a block.

    Args:
        is_exact: half of them left; if `count` is odd, one side, by chance, has one more. Otherwise as many
            are left as tosses by `balance_rng` show heads, and for the second of two evaluators as many
            as show tails, so that in either case no side says anything about another.
    """
    if is_exact:
        lefts = count // 2 + (count % 2 and turn.rng.randrange(2))
    else:
        heads = turn.balance_rng.getrandbits(count).bit_count() if count else 0
        lefts = count - heads if turn.is_second else heads
    sides = [LEFT] * lefts + [RIGHT] * (count - lefts)
    turn.rng.shuffle(sides)
    return sides


def _paired(block: PlannedBlock, sides: Sequence[str]) -> PlannedBlock:
    """Return a block of pairs of the reals and the fakes of `block`, each in its order there."""
    shown = [*zip(block.stimuli, block.models, strict=True)]
    reals = [name for name, model in shown if model is None]
    fakes = [(name, model) for name, model in shown if model is not None]
    pairs = [
        (f"{real} {fake}" if side == LEFT else f"{fake} {real}", side, model)
        for real, (fake, model), side in zip(reals, fakes, sides, strict=False)
    ]
    stimuli, truths, models = zip(*pairs, strict=True) if pairs else ((), (), ())
    return PlannedBlock(stimuli, truths, models, block.class_)


def _spare_pairs(block: PlannedBlock, rng: "Random") -> PlannedBlock:
    """Return the spares of a class: for each model, as many with the real left as right, or one more.

    Who has used up those of one side has not been told more often that it was this side than the other.
    """
    turns: dict[str | None, int] = {}
    sides = []
    for model in (model for model in block.models if model is not None):
        turns[model] = turns.get(model, rng.randrange(2)) + 1
        sides.append(SIDES[turns[model] % 2])
    return _paired(block, sides)


JUDGMENT = WhichIsReal()
