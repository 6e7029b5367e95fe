"""Which of three pictures is the odd one out? A judgment of tests, to hold the seam of judgments against."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from backend.experiment.groups.consent import consent
from backend.experiment.judgment import Judgment, Method
from backend.experiment.protocol import Protocol
from backend.experiment.records import FAKE, PlannedBlock
from backend.experiment.response_columns import Column
from backend.experiment.setting_groups import JudgmentSettings, setting


@dataclass(frozen=True)
class OddSettings(JudgmentSettings):
    """What only this judgment has to be told."""

    places: int = setting(3, "places, from the left, at which the fake picture may stand", 2, 3)


class OddOneOut(Judgment):
    """Two real pictures and a fake one, without a time limit; `images` counts the rows of three."""

    name = "odd_one_out"
    methods: ClassVar = {
        "odd": Method(
            "Odd one out",
            "Odd one out, share of rows judged wrong",
            "percent",
            Protocol("odd", judgment=OddSettings()).changed(
                images=10,
                title="Which one is the odd one out?",
                consent_text=consent("pictures, three at a time, and say which one does not belong"),
            ),
            label="Odd one out of three",
            meaning="Evaluators see rows of three pictures, and say which one was made by a computer.",
        )
    }
    source = "a judgment of tests"
    answers = ("first", "second", "third")
    question = "which of three images is generated"
    columns: ClassVar = {"truth": Column("At which place the fake picture stood", "first, second, third")}

    def lack(self, study, pool):
        """Return which side has fewer pictures than a session shows of it."""
        rows = study.protocol.stimuli.trials
        sides = {
            "reals": (pool.reals, 2 * rows),
            **{f"fakes of {name}": (pool.fakes.get(name, {}), rows) for name in study.models},
        }
        short = [
            f"{count} of {wanted} {side}"
            for side, (by_class, wanted) in sides.items()
            if (count := len(_all(by_class))) < wanted
        ]
        return (
            f"study {study.name} lacks pictures for {rows} rows: it has {', '.join(short)}" if short else ""
        )

    def draw(self, study, pool, turn):
        """Return rows, the fake one at any place by chance; none is kept to replace another."""
        count, rows = study.protocol.stimuli.blocks, study.protocol.stimuli.images
        reals = turn.rng.sample(_all(pool.reals), 2 * count * rows)
        (model,) = turn.condition.models
        fakes = turn.rng.sample(_all(pool.fakes[model]), count * rows)
        allowed = self.answers[: study.protocol.judgment.places]
        places = [turn.rng.choice(allowed) for _ in fakes]
        shown = []
        for i, (fake, place) in enumerate(zip(fakes, places, strict=True)):
            row = reals[2 * i : 2 * i + 2]
            row.insert(self.answers.index(place), fake)
            shown.append(" ".join(row))
        blocks = tuple(
            PlannedBlock(
                tuple(shown[i * rows : (i + 1) * rows]),
                tuple(places[i * rows : (i + 1) * rows]),
                (model,) * rows,
            )
            for i in range(count)
        )
        return blocks, ()

    def truth(self, shown):
        """Return the place of the fake picture."""
        return self.answers[[picture.truth for picture in shown].index(FAKE)]

    def value(self, method, rows):
        """Return the percent of rows judged wrong."""
        return Fraction(100 * sum(row["response"] != row["truth"] for row in rows), len(rows))


def _all(by_class):
    return [name for names in by_class.values() for name in names]


JUDGMENT = OddOneOut()
