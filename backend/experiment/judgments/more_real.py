"""Which of two pictures looks more real? A tournament of models: fake against fake (Zhou et al. 2019, 6).

The pictures of a trial are of two models (or, if the reals take part, one may be real), and of one class
where there are classes; with `pairing=source` also of one source, each of which a session shows once. No
answer is right. Every session shows all models: which pairs, `pair_design` decides from the answers so far.
The strengths of the models follow from all answers together
(`analysis/models/bradley_terry.py`).
"""

from collections.abc import Mapping, Sequence
from math import exp
from typing import TYPE_CHECKING, Any, ClassVar

from backend.experiment import sampling
from backend.experiment.groups.consent import consent
from backend.experiment.groups.follow_ups import ALL, NONE
from backend.experiment.groups.looks import LOOKS
from backend.experiment.groups.page import PageSettings
from backend.experiment.groups.stimuli import EXACT_BALANCE, MOST_MODELS, RANDOM_SAMPLING, WITHIN
from backend.experiment.judgment import (
    UNSCORED,
    Judgment,
    Method,
    Plan,
    Planning,
    Refusal,
    Turn,
    look_refusals,
    refuse,
)
from backend.experiment.pair_design import Strengths, session_pairs, sided, standing
from backend.experiment.protocol import Protocol
from backend.experiment.records import CLIPS, PICTURES, REAL, PlannedBlock, Stimulus, Study
from backend.experiment.response_columns import Column, Kind
from backend.experiment.sampling import Deck, Pool
from backend.experiment.session import Picture
from backend.experiment.setting_errors import keys_of, problem_of
from backend.experiment.setting_groups import JudgmentSettings, setting
from backend.foundation.counted_nouns import some_of
from backend.foundation.errors import InvalidInput, Problem
from backend.foundation.frozen import dataclass

if TYPE_CHECKING:
    from random import Random

LEFT, RIGHT, TIE = "left", "right", "tie"
MOST_CONTESTANTS = 100
"""Above, the counts of all pairs would be too large for one entry of a store."""
_BETWEEN_MODELS = ", "
SIMULATED_TIES = 0.5
"""Davidson's tie parameter of simulated evaluators: a fifth of the answers to equal contestants are ties."""


@dataclass(frozen=True)
class TournamentSettings(JudgmentSettings):
    """What a tournament compares, and how it is answered."""

    ties: bool = setting(
        False,
        "evaluators can also answer that two pictures look equally real",
        label="Ties",
    )
    real_contestant: bool = setting(
        False,
        "the real pictures take part as one more contestant, in every session, as a fixed point of reference",
        label="Real pictures as a contestant",
    )


TOURNAMENT = Protocol("tournament", page=PageSettings(feedback=False), judgment=TournamentSettings()).changed(
    images=60,
    spare_images=0,
    models_per_session=MOST_MODELS,
    title="Which one looks more real?",
    consent_text=consent("pictures, two at a time, and say which of the two looks more real"),
    minutes=6,
)


class MoreReal(Judgment):
    """Two pictures side by side: which looks more real, or, as a setting, neither."""

    name = "more_real"
    trial_shows = "pair"
    methods: ClassVar = {
        "tournament": Method(
            "Tournament",
            "Tournament, strength: log-odds of looking more real than the mean model",
            "",
            TOURNAMENT,
            label="Tournament of models",
            meaning=(
                "Pictures of two models stand side by side, and evaluators choose the one that looks more "
                "real. Models are ranked by a Bradley-Terry model. It takes two models or more."
            ),
            is_common=True,
            takes=(*LOOKS, "pairing"),
            planning=Planning(0.5, "simulated", right_usd_cents=0, fewest_models=2),
        )
    }
    source = "Zhou et al., 2019"
    media = (PICTURES, CLIPS)
    answers = (LEFT, RIGHT, TIE)
    counts_pairs = True
    has_truth = False
    question = "which of two pictures looks more real"
    own_columns = ("left", "right")
    columns: ClassVar = {
        "method": Column("Tournament: pairs of models", "tournament", Kind.CHOICE),
        "model": Column("The two contestants, in alphabetical order, separated by a comma"),
        "stimulus": Column("Public file names of the two pictures, the left one first"),
        "class": Column("Class of both pictures, where the study has classes"),
        "truth": Column("Empty: no answer is right or wrong"),
        "response": Column(
            "Which picture looks more real, or that both do equally", "left, right, tie", Kind.CHOICE
        ),
        "value": Column("Share of the evaluator's decided answers that were for the left", "percent"),
        "left": Column("Whose picture stood on the left: a model's name, or `real`"),
        "right": Column("Whose picture stood on the right: a model's name, or `real`"),
    }

    def answers_of(self, protocol: Protocol) -> tuple[str, ...]:
        return self.answers if settings_of(protocol).ties else (LEFT, RIGHT)

    def judges_reals(self, protocol: Protocol) -> bool:
        return settings_of(protocol).real_contestant

    def contestants(self, study: Study) -> tuple[str, ...]:
        return _contestants(study.models, study.protocol)

    def outcome(self, model: str, answer: str) -> tuple[tuple[str, str], int]:
        left, right = _sides(model)
        first, second = sorted((left, right))
        winner = {LEFT: left, RIGHT: right}.get(answer)
        return (first, second), 1 if winner is None else 0 if winner == first else 2

    def check(self, protocol: Protocol, kind: str) -> None:
        """Check that the settings fit this judgment, of which no answer is right.

        Raises:
            InvalidInput: names a setting that does not.
        """
        refuse("a tournament", _refusals(protocol, kind, self.answers_of(protocol)))

    def lack(self, study: Study, pool: Pool) -> str:
        if len(study.models) < 2:
            return problem_of(
                f"a tournament compares models with each other and needs two or more, and study {study.name} "
                f"has {len(study.models)}; add --model NAME=DIR, or compare one model with the reals "
                "(--method pair)",
                "models",
            )
        contestants = self.contestants(study)
        if len(contestants) > MOST_CONTESTANTS:
            return problem_of(
                f"a tournament has at most {MOST_CONTESTANTS} contestants, not {len(contestants)}", "models"
            )
        if named := [model for model in study.models if model.casefold() == REAL]:
            return Problem(
                f"in a tournament no model can be called {named[0]!r}: the responses file calls the reals so",
                ("models", named[0]),
            )
        trials = _trials(study)
        needed = most_of_a_contestant(max(trials), sum(trials), len(contestants))
        if study.protocol.stimuli.is_by_source:
            needed = max(trials) if _has_class_blocks(study) else sum(trials)
        short = [
            Problem(
                f"{there} of {needed} {_what(contestant)}{f' of class {class_}' if class_ else ''}",
                ("real",) if contestant == REAL else ("models", contestant),
            )
            for class_ in study.classes or ("",)
            for contestant in contestants
            if (there := len(_names(pool, contestant, class_))) < needed
        ]
        if not short:
            return ""
        return Problem(
            f"study {study.name} lacks pictures for a session of {sum(trials)} pairs: it has "
            f"{some_of(short)}; add pictures, or ask for fewer pairs (--set images=N)",
            short[0].keys,
            [keys_of("images")],
        )

    def join_problem(self, study: Study) -> str:
        return sampling.LOOKS_ARE_PLANNED if study.protocol.looks.looks else ""

    def draw(self, study: Study, pool: Pool, turn: Turn) -> Plan:
        """Return the blocks of a session, one for each class if there are several; none has spares."""
        condition, rng = turn.condition, turn.rng
        contestants = _contestants(condition.models if condition else study.models, study.protocol)
        classes = (condition.class_,) if condition and condition.class_ else study.classes or ("",)
        now = pool.standing
        if now is None or now.size != len(contestants):
            now = standing(len(contestants), {})
        trials = _trials(study)
        pairs = sided(session_pairs(now, sum(trials), rng, _appearances(now)), rng)
        order = rng.sample(classes, len(classes))
        decks: dict[tuple[int, str], Deck] = {}

        def place(contestant: int, class_: str) -> list[int]:
            key = contestant, class_
            if key not in decks:
                decks[key] = Deck(_names(pool, contestants[contestant], class_), rng)
            dealt = decks[key].places(1)
            if not dealt:
                raise InvalidInput(f"study {study.name} has too few images for one session")
            return dealt

        def pictures(pair: tuple[int, int], class_: str) -> str:
            is_by_source = study.protocol.stimuli.is_by_source
            places = [place(0, class_)] * 2 if is_by_source else [place(one, class_) for one in pair]
            sides = [_names(pool, contestants[one], class_) for one in pair]
            return " ".join(names.several(own)[0] for names, own in zip(sides, places, strict=True))

        blocks = []
        for number, count in enumerate(trials):
            own, pairs = pairs[:count], pairs[count:]
            rng.shuffle(own)
            class_ = order[number % len(order)]
            blocks.append(
                PlannedBlock(
                    tuple(pictures(pair, class_) for pair in own),
                    ("",) * count,
                    tuple(_BETWEEN_MODELS.join((contestants[a], contestants[b])) for a, b in own),
                    class_,
                )
            )
        return tuple(blocks), ()

    def truth(self, shown: Sequence[Stimulus]) -> str:
        return ""

    def row(self, picture: Picture, item: Stimulus | None) -> dict[str, Any]:
        """Return who stood where, and both in alphabetical order as the model."""
        left, right = _sides(picture.model or "")
        return {"left": left, "right": right, "model": _BETWEEN_MODELS.join(sorted((left, right)))}

    def simulated_choice(self, strengths: Sequence[float], protocol: Protocol, rng: "Random") -> str:
        """Return an answer by the model of Bradley and Terry, with Davidson's ties if allowed."""
        left, right = strengths
        weights = [exp((left - right) / 2), exp((right - left) / 2)]
        if settings_of(protocol).ties:
            weights.append(SIMULATED_TIES)
        return rng.choices(self.answers_of(protocol), weights)[0]

    def value(self, method: str, rows: Sequence[Mapping[str, Any]]) -> float:
        """Return the percentage of an evaluator's decided answers that are for the left."""
        decided = [row["response"] for row in rows if row["response"] != TIE]
        return 100 * decided.count(LEFT) / len(decided) if decided else 50.0


def settings_of(protocol: Protocol) -> TournamentSettings:
    """Return a tournament's own settings; of another method, their defaults."""
    own = protocol.judgment
    return own if isinstance(own, TournamentSettings) else TournamentSettings()


def _contestants(models: Sequence[str], protocol: Protocol) -> tuple[str, ...]:
    """Return the contestants of a tournament: its models, and last the reals if they take part."""
    return (*models, REAL) if settings_of(protocol).real_contestant else tuple(models)


def _sides(model: str) -> tuple[str, str]:
    """Return who stood left and right, from what a plan has as the model of a trial."""
    left, _, right = model.partition(_BETWEEN_MODELS)
    return left, right


def most_of_a_contestant(trials: int, of_session: int, contestants: int) -> int:
    """Return the most pictures of one contestant that a block of `trials` can show.

    Appearances in a session differ by one at most, and so do those before the block.
    """
    return min(-(-2 * of_session // contestants), 2 * trials // contestants + 2, trials)


def _trials(study: Study) -> list[int]:
    """Return the number of pairs in each block of a session."""
    shown = study.protocol.stimuli
    if _has_class_blocks(study):
        count = len(study.classes)
        shares = [shown.trials // count + (i < shown.trials % count) for i in range(count)]
        return [share for share in shares if share]
    return [shown.images] * shown.blocks


def _has_class_blocks(study: Study) -> bool:
    """Return whether each block of a session shows a class of its own."""
    return bool(study.classes) and study.protocol.stimuli.class_design == WITHIN


def _appearances(now: Strengths) -> list[float]:
    """Return how often each contestant appeared in the answers so far."""
    counts = [0.0] * now.size
    for pair, answers in now.answers.items():
        for contestant in pair:
            counts[contestant] += answers
    return counts


def _names(pool: Pool, contestant: str, class_: str) -> Any:
    sides = pool.reals if contestant == REAL else pool.fakes.get(contestant, {})
    return sides.get(class_, ())


def _what(contestant: str) -> str:
    return "reals" if contestant == REAL else f"fakes of {contestant}"


def _refusals(protocol: Protocol, kind: str, answers: Sequence[str]) -> list[Refusal]:
    """Return what a tournament does not support, each with whether the settings ask for it."""
    shown, asked = protocol.stimuli, protocol.follow_ups
    return [
        *look_refusals(protocol, kind),
        (kind == "qualification", "is no qualification, for no answer is right; make a study", ("kind",)),
        (
            protocol.page.feedback,
            "has no feedback, for no answer is right; leave feedback=false",
            ("feedback",),
        ),
        (
            protocol.pay.bonus_usd_cents > 0,
            "has no pay for right answers, for no answer is right; leave bonus_usd_cents=0 and set "
            "base_usd_cents",
            ("bonus_usd_cents",),
        ),
        (protocol.page.debrief, "has no debrief; leave debrief=false", ("debrief",)),
        (
            bool(protocol.unscored.practice_images or protocol.unscored.checks),
            "has no practice trials and attention checks; leave them out",
            UNSCORED,
        ),
        (
            protocol.exclusion.exclude_checks_below > 0,
            "has no attention checks; leave out exclude_checks_below",
            ("exclude_checks_below",),
        ),
        (
            shown.models_per_session != MOST_MODELS,
            "shows all models in every session; leave out models_per_session",
            ("models_per_session",),
        ),
        (
            shown.balance != EXACT_BALANCE,
            "has no share of reals; leave balance=session",
            ("balance",),
        ),
        (
            shown.sampling != RANDOM_SAMPLING,
            "samples its pictures at random, and chooses its pairs itself; leave sampling=random",
            ("sampling",),
        ),
        (
            bool(asked.reasons or asked.comment != NONE) and asked.reasons_for not in (*answers, ALL),
            f"has no answer {asked.reasons_for!r}; set reasons_for=all",
            ("reasons_for", "reasons", "comment"),
        ),
        (asked.mark != NONE, "has no marks; leave mark=none", ("mark",)),
    ]


JUDGMENT = MoreReal()
