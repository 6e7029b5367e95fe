"""Which of two pictures is real? A judgment of tests, to hold the seam of judgments against."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

from backend.experiment.judgment import Judgment, Method
from backend.experiment.protocol import INFINITY
from backend.experiment.records import REAL, PlannedBlock
from backend.experiment.response_columns import Column


class WhichIsReal(Judgment):
    """A real picture beside a fake one, without a time limit."""

    name = "which_is_real"
    methods: ClassVar = {
        "pair": Method(
            "Pairs",
            "Pairs, share of pairs judged wrong",
            "percent",
            replace(INFINITY, method="pair").changed(images=20, title="Which one is real?"),
        )
    }
    source = "a judgment of tests"
    answers = ("left", "right")
    question = "which of two images is real"
    columns: ClassVar = {"truth": Column("On which side the real picture stood", "left, right")}

    def lack(self, study, pool):
        """Return which side has fewer pictures than a session shows of it."""
        pairs = study.protocol.stimuli.trials // 2
        sides = {
            "reals": pool.reals,
            **{f"fakes of {name}": pool.fakes.get(name, {}) for name in study.models},
        }
        counts = Counter({side: len(_all(by_class)) for side, by_class in sides.items()})
        short = [f"{count} of {pairs} {side}" for side, count in counts.items() if count < pairs]
        return (
            f"study {study.name} lacks pictures for {pairs} pairs: it has {', '.join(short)}" if short else ""
        )

    def draw(self, study, pool, condition, rng, coin, turn):
        """Return pairs, the real one on either side by chance; none is kept to replace another."""
        count, pairs = study.protocol.stimuli.blocks, study.protocol.stimuli.images // 2
        reals = rng.sample(_all(pool.reals), count * pairs)
        (model,) = condition.models
        fakes = rng.sample(_all(pool.fakes[model]), count * pairs)
        sides = [rng.choice(self.answers) for _ in reals]
        shown = [
            f"{real} {fake}" if side == "left" else f"{fake} {real}"
            for side, real, fake in zip(sides, reals, fakes, strict=True)
        ]
        blocks = tuple(
            PlannedBlock(
                tuple(shown[i * pairs : (i + 1) * pairs]),
                tuple(sides[i * pairs : (i + 1) * pairs]),
                (model,) * pairs,
            )
            for i in range(count)
        )
        return blocks, ()

    def truth(self, shown):
        """Return the side of the real picture."""
        return self.answers[[picture.truth for picture in shown].index(REAL)]

    def value(self, method, rows):
        """Return the percent of pairs judged wrong."""
        return Fraction(100 * sum(row["response"] != row["truth"] for row in rows), len(rows))


def _all(by_class):
    return [name for names in by_class.values() for name in names]


JUDGMENT = WhichIsReal()
