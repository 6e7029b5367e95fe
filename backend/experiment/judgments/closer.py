"""Which of two pictures is closer to a reference? Two alternatives forced choice, 2AFC.

Zhang et al. (CVPR 2018, section 2.2) show a reference between two distorted versions of it, without a time
limit. No answer is right or wrong, but for sentinels, "pairs of patches with obvious deformations, e.g., a
large amount of Gaussian noise vs a small amount", of which about 90% of their workers passed 14 of 15. An
answer to a sentinel earns nothing and is not told, so that only the pictures tell it from others.
"""

from collections.abc import Container, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from backend.experiment import items
from backend.experiment.groups.consent import consent
from backend.experiment.groups.follow_ups import ALL
from backend.experiment.groups.stimuli import MOST_MODELS
from backend.experiment.judgment import Judgment, Method, Plan, Planning, Turn, pictures_of
from backend.experiment.made_items import Change, MadeItems
from backend.experiment.protocol import Protocol
from backend.experiment.records import CHECK, PRACTICE, TEST, Stimulus, Study
from backend.experiment.response_columns import Column
from backend.experiment.sampling import Pool
from backend.experiment.session import Picture

if TYPE_CHECKING:
    from random import Random

LEFT, RIGHT = "left", "right"
P0, P1 = "p0", "p1"
_OTHER = {P0: P1, P1: P0}
SENTINELS = 15
"""A session shows so many; 14 of them right, 93%, is above the share that the default rule asks for."""
_PASS = 0.9
_TRIPLETS = 90
"""With the sentinels 105 trials; at about 3 s each (2.2) some five minutes, the paper says no number."""
_MINUTES = 6
_MADE_TIMES = 4
"""Sentinels that are made, as a multiple of those that a session shows."""


class Closer(Judgment):
    """A reference between two distorted pictures."""

    name = "closer"
    trial_shows = "triplet"
    methods: ClassVar = {
        "2afc": Method(
            "2AFC",
            "2AFC, share of answers for p1",
            "percent",
            Protocol("2afc", judgment=items.ItemSettings()).changed(
                images=_TRIPLETS,
                size_px=0,
                spare_images=0,
                models_per_session=MOST_MODELS,
                picture_checks=SENTINELS,
                exclude_checks_below=_PASS,
                feedback=False,
                reasons_for=ALL,
                minutes=_MINUTES,
                title="Which one is closer?",
                consent_text=consent(
                    "three pictures at a time, a reference and two others, and say which of the two looks "
                    "more like the reference",
                    "how similar pictures look",
                ),
            ),
            label="Which one is closer? (2AFC)",
            meaning=(
                "Of two distorted pictures, evaluators choose the one closer to a reference. The answers "
                "measure how well perceptual metrics agree with people."
            ),
            planning=Planning(),
        )
    }
    source = "Zhang et al., 2018"
    answers = (LEFT, RIGHT)
    has_truth = False
    votes = (P0, P1)
    question = "which of two pictures is closer to a reference"
    parts = ("ref", P0, P1)
    item_answers = (P0, P1)
    own_columns = ("item", "left", "right")
    columns: ClassVar = {
        "model": Column("Set of triplets"),
        "stimulus": Column("Public file names of the three pictures, from left to right"),
        "truth": Column(
            "Side of the closer picture, of sentinels and practice; empty where no answer is right",
            "left, right",
        ),
        "response": Column(
            "Which picture the evaluator called closer to the one in the middle", "left, right"
        ),
    }

    def check(self, protocol: Protocol, kind: str) -> None:
        items.check(protocol, kind, self.methods[protocol.method].title)

    def made_items(self, protocol: Protocol, given: Sequence[str]) -> list[MadeItems]:
        """Return sentinels and practice triplets: a reference with weak noise, and with heavy noise."""
        wanted = {
            CHECK: _MADE_TIMES * protocol.unscored.picture_checks,
            PRACTICE: protocol.unscored.practice_images,
        }
        changes: dict[str, tuple[Change, ...]] = {
            P0: ("none", "weak_noise", "heavy_noise"),
            P1: ("none", "heavy_noise", "weak_noise"),
        }
        return [
            MadeItems(role, closer, changes[closer], count // 2 + (count % 2 and closer == P0))
            for role, count in wanted.items()
            if count and role not in given
            for closer in (P0, P1)
        ]

    def with_pool(self, protocol: Protocol, pool: Pool, is_given: Container[str]) -> Protocol:
        return items.with_pool(protocol, pool, is_given)

    def lack(self, study: Study, pool: Pool) -> str:
        return items.lack(study, pool, "triplets")

    def notes(self, study: Study, pool: Pool) -> list[str]:
        return items.notes(study, pool, "triplets")

    def draw(self, study: Study, pool: Pool, turn: Turn) -> Plan:
        """Return the triplets of a turn, with sentinels among them and practice before."""
        key = f"{study.name} {study.created_at}"
        size = study.protocol.stimuli.trials
        scored = items.names_of_turn(pool, study.models, size, turn.number, key)
        trials = [items.Trial(name, "", model, TEST) for name, model in scored]
        counts = {
            CHECK: study.protocol.unscored.picture_checks,
            PRACTICE: study.protocol.unscored.practice_images,
        }
        checks, practice = (
            [
                items.Trial(name, truth, "", role)
                for name, truth in turn.rng.sample(items.aside_of(pool, role), count)
            ]
            for role, count in counts.items()
        )
        return items.planned(study.protocol, trials, checks, practice, _sided, turn.rng), ()

    def truth(self, shown: Sequence[Stimulus]) -> str:
        """Return ""; the right answer of an item depends on the order of its pictures (`item_truth`)."""
        return ""

    def item_truth(self, item: Stimulus, names: Sequence[str]) -> str:
        return self._side_of(item, names, item.truth) if item.truth else ""

    def row(self, picture: Picture, item: Stimulus | None) -> dict[str, Any]:
        if item is None:
            return {}
        names = pictures_of(picture.stimulus)
        parts = dict(zip(pictures_of(item.name), self.parts, strict=True))
        return {"item": item.source, "left": parts[names[0]], "right": parts[names[-1]]}

    def value(self, method: str, rows: Sequence[Mapping[str, Any]]) -> Fraction:
        """Return the percentage of an evaluator's answers that prefer p1.

        It says nothing of the evaluator. `judge` of a triplet is the same share over its evaluators.
        """
        return Fraction(100 * sum(row[row["response"]] == P1 for row in rows), len(rows))

    def vote(self, row: Mapping[str, Any]) -> str:
        return str(row[row["response"]])

    def simulated_answer(self, item: Stimulus, names: Sequence[str], accuracy: float, rng: "Random") -> str:
        """Return an answer by the difference of utility of the two pictures (`items.prefers_second`)."""
        chosen = P1 if items.prefers_second(item.source, accuracy, rng) else P0
        return self._side_of(item, names, chosen)

    def _side_of(self, item: Stimulus, names: Sequence[str], part: str) -> str:
        picture = pictures_of(item.name)[self.parts.index(part)]
        return LEFT if names[0] == picture else RIGHT


def _sided(name: str, truth: str, rng: "Random") -> tuple[str, str]:
    """Return the pictures of a triplet from left to right, and the side of the closer one, if it is known.

    Which of the two stands on the left is a fair coin, whatever the truth.
    """
    ref, p0, p1 = pictures_of(name)
    left = rng.choice((P0, P1))
    sides = {left: LEFT, _OTHER[left]: RIGHT}
    shown = f"{p0} {ref} {p1}" if left == P0 else f"{p1} {ref} {p0}"
    return shown, sides[truth] if truth else ""


JUDGMENT = Closer()
