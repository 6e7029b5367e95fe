"""Responses as columns, from which every statistic is computed.

A million responses are some twenty numpy arrays rather than a million objects. Texts are codes into
a list of distinct texts, in order of first appearance. A judge is one evaluator of one model: a person
who judged two models is two judges.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, count, filterfalse
from typing import Any

import numpy as np

from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.records import TRUTHS
from backend.foundation.errors import InvalidInput

NAMES = (
    "session", "stimulus", "class", "flags", "browser", "evidence", "sampling", "reasons", "comment", "mark",
    "item", "left", "right", "surround", "translated",
)  # fmt: skip
"""Optional columns of texts."""
WORDS = ("truth", "response")
"""Columns of texts that tables of all judgments but real or fake have besides `NAMES`."""
NUMBERS = ("trial_index", "frames", "frame_ms", "rt", "confidence", "confidence_points")
"""Optional columns of numbers; an empty cell is NaN."""
FOR_INTERVALS = ("stimulus", "trial_index", "frame_ms", "browser", "sampling")
"""The columns of `NAMES` and `NUMBERS` that the scores use if they exist."""
BESIDE = "beside"
"""A column of `texts` that says which real picture stood beside the fake that `stimulus` names."""
PLACES = ("item", "left", "right")
"""The columns of `NAMES` that scores of other judgments use if they exist."""


@dataclass(frozen=True)
class Coded:
    """A column of texts."""

    codes: np.ndarray
    """Shape (responses,), int32: index into `names`."""
    names: Sequence[Any]

    @cached_property
    def ranks(self) -> np.ndarray:
        """The rank of each code's name among the sorted names, which does not depend on the order of
        responses."""
        order = sorted(range(len(self.names)), key=lambda code: str(self.names[code]))
        ranks = np.empty(len(order), int)
        ranks[order] = np.arange(len(order))
        return ranks

    def in_order(self) -> "Coded":
        """Return the column with codes in the order of the names."""
        names = [self.names[code] for code in np.argsort(self.ranks)]
        return Coded(self.ranks[self.codes].astype(self.codes.dtype), names)


@dataclass(frozen=True)
class Answers:
    """Responses in columns, each of shape (responses,).

    `is_fake` and `said_fake` say of truth and response whether they are the second of the judgment's answers:
    `fake` in real or fake, `right` in pairs. They differ where a response is wrong; so of more than two
    answers, `is_fake` says less (`from_words`). Where no answer is right, it is False. Of a response that is
    `not_sure`, `said_fake` says nothing: `error` and `said` count it as half.
    """

    method: str
    model: Coded
    evaluator: Coded
    is_fake: np.ndarray
    said_fake: np.ndarray
    block: np.ndarray | None = None
    """HYPE-time only: codes of blocks."""
    exposure_ms: np.ndarray | None = None
    """HYPE-time and constant stimuli only; infinite without time limit."""
    texts: Mapping[str, Coded] = field(default_factory=dict)
    """Those of `NAMES` that exist; for all judgments but real or fake also `WORDS`, in lower case."""
    numbers: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Those of `NUMBERS` that exist."""
    simulated: np.ndarray | None = None
    """Whether each is of a simulated session, if known; None once all are of one kind."""
    is_simulated: bool = False
    """Whether all are of simulated sessions, so that nobody saw the stimuli."""
    left_out: int = 0
    """Number of responses of the other kind in the source."""
    notes: tuple[str, ...] = ()
    """What was changed in the responses, in sentences (`analysis/table/recognition.py`)."""
    is_balanced: bool = False
    """Whether an evaluator's value is the mean of the errors on fakes and on reals, not a plain share."""
    excluded: np.ndarray | None = None
    """Whether each is of an evaluator whom the study's rule leaves out; None without a rule, or once the
    others are selected."""
    unexcluded: "Answers | None" = None
    """Everybody's responses, if a rule for exclusion was declared and these are what it leaves."""
    checks: Mapping[Any, tuple[int, int]] = field(default_factory=dict)
    """The attention checks of each evaluator who had some: (right, shown)."""
    checks_by_truth: Mapping[str, Mapping[Any, tuple[int, int]]] = field(default_factory=dict)
    """The same by right answer; for all judgments but real or fake."""
    source: np.ndarray | None = None
    """The index of each original response, if some are repeated: reals that several models share."""
    not_sure: np.ndarray | None = None
    """Whether each response is `not_sure`; None if none is."""
    stratum: np.ndarray | None = None
    """The code of each response's model, if models are taken together of which evaluators judged one each."""
    reasons: tuple[str, ...] = ()
    """The study's list of reasons, which responses name by their numbers from 1; empty if it is not known."""

    def __len__(self) -> int:
        return len(self.is_fake)

    @property
    def has_shares(self) -> bool:
        """Whether values of evaluators are shares of wrong answers (percent), rather than exposures (ms)."""
        return method_named(self.method).unit != "ms"

    @property
    def has_exposures(self) -> bool:
        """Whether exposures follow from a staircase, or are fixed beforehand."""
        return method_named(self.method).has_exposures

    @property
    def has_fixed_exposures(self) -> bool:
        """Whether exposures are those of constant stimuli."""
        return method_named(self.method).has_fixed_exposures

    @property
    def is_real_or_fake(self) -> bool:
        """Whether evaluators judged single stimuli as real or fake."""
        return judgment_of(self.method).answers == TRUTHS

    @property
    def has_truth(self) -> bool:
        """Whether every response is right or wrong."""
        truths = self.texts.get("truth")
        return truths is None or all(truths.names)

    @property
    def blocks(self) -> np.ndarray:
        """`block`.

        Raises:
            ValueError: the method has no blocks.
        """
        return self._present(self.block, "blocks")

    @property
    def exposures_ms(self) -> np.ndarray:
        """`exposure_ms`.

        Raises:
            ValueError: the method has no exposures.
        """
        return self._present(self.exposure_ms, "exposures")

    def _present(self, column: np.ndarray | None, what: str) -> np.ndarray:
        if column is None:
            raise ValueError(f"responses of method {self.method!r} have no {what}")
        return column

    @property
    def asked_ms(self) -> np.ndarray:
        """The exposures (ms) that were asked for, also of answers scored on shown exposures.

        Raises:
            ValueError: the method has no exposures.
        """
        asked = self.numbers.get("asked_ms")
        return self.exposures_ms if asked is None else asked

    @cached_property
    def error(self) -> np.ndarray:
        """The error of each response: 0 if right, 1 if wrong, 0.5 for `not_sure` (`not_sure.error_of`)."""
        return self._with_halves(self.is_fake != self.said_fake)

    @cached_property
    def said(self) -> np.ndarray:
        """How much each response says the second answer, such as `fake`: 0, 1, or 0.5 for `not_sure`."""
        return self._with_halves(self.said_fake)

    @cached_property
    def is_decided(self) -> np.ndarray:
        """Whether each response is one of the judgment's own answers, not `not_sure`."""
        return np.ones(len(self), bool) if self.not_sure is None else ~self.not_sure

    def _with_halves(self, values: np.ndarray) -> np.ndarray:
        return values.astype(float) if self.not_sure is None else np.where(self.not_sure, 0.5, values)

    @cached_property
    def has_image(self) -> np.ndarray:
        """Whether each response names its image."""
        names = self.texts.get("stimulus")
        if names is None:
            return np.zeros(len(self), bool)
        result: np.ndarray = (np.asarray(names.names, object) != "")[names.codes]
        return result

    @cached_property
    def of_model(self) -> list[np.ndarray]:
        """The indices of each model's responses."""
        order = np.argsort(self.model.codes, kind="stable")
        counts = np.bincount(self.model.codes, minlength=len(self.model.names))
        return np.split(order, np.cumsum(counts)[:-1])

    @cached_property
    def image_ranks(self) -> np.ndarray:
        """The rank of each response's image name among all names; -1 if it names none."""
        column = self.texts.get("stimulus")
        if column is None:
            return np.full(len(self), -1)
        return np.where(self.has_image, column.ranks[column.codes], -1)

    @cached_property
    def memo(self) -> dict[str, dict[Any, Any]]:
        """Cache of results computed from these responses, by name."""
        return {}

    @cached_property
    def judges(self) -> "Judges":
        return Judges.of(self)

    @cached_property
    def weight(self) -> np.ndarray:
        """The weight of each response in its judge's share of wrong answers; a judge's weights sum to 1."""
        judges = self.judges
        result: np.ndarray
        if not self.is_balanced:
            result = 1 / judges.seen[judges.of_response]
            return result
        sides = (judges.fakes > 0).astype(int) + (judges.reals > 0)
        mine = np.where(self.is_fake, judges.fakes[judges.of_response], judges.reals[judges.of_response])
        result = 1 / (sides[judges.of_response] * mine)
        return result

    def strata_of(self, judges: np.ndarray) -> np.ndarray | None:
        """Return the strata of some judges; None if there are none."""
        if self.stratum is None:
            return None
        return np.array([self.stratum[self.judges.responses[judge][0]] for judge in judges])

    def residuals(self, rows: np.ndarray) -> np.ndarray:
        """Return the errors of some responses, less the mean error of those of each stratum."""
        errors: np.ndarray = self.error[rows]
        strata = np.zeros(len(rows), int) if self.stratum is None else self.stratum[rows]
        count = np.maximum(np.bincount(strata), 1)
        result: np.ndarray = errors - (np.bincount(strata, errors) / count)[strata]
        return result

    @cached_property
    def first_of_source(self) -> np.ndarray:
        """The indices of the responses given, one each: of repeated ones the first."""
        return np.arange(len(self)) if self.source is None else np.unique(self.source, return_index=True)[1]

    @cached_property
    def is_first(self) -> np.ndarray:
        """Whether each is the first of those that repeat one response given."""
        first = np.zeros(len(self), bool)
        first[self.first_of_source] = True
        return first

    @property
    def given(self) -> int:
        """Number of responses given; one that counts for several models is counted once."""
        return len(self) if self.source is None else len(np.unique(self.source))


@dataclass(frozen=True)
class Judges:
    """What each judge saw, and the sum of their errors; arrays of shape (judges,) except `of_response`."""

    of_response: np.ndarray
    """Shape (responses,): the judge of each response."""
    model: np.ndarray
    """Codes of `Answers.model`."""
    evaluator: np.ndarray
    fakes: np.ndarray
    """Number of fakes seen."""
    reals: np.ndarray
    wrong_fakes: np.ndarray
    """Sum of the errors on fakes: multiples of 0.5."""
    wrong_reals: np.ndarray

    @property
    def seen(self) -> np.ndarray:
        result: np.ndarray = self.fakes + self.reals
        return result

    @property
    def wrong(self) -> np.ndarray:
        result: np.ndarray = self.wrong_fakes + self.wrong_reals
        return result

    @cached_property
    def responses(self) -> list[np.ndarray]:
        """The indices of each judge's responses."""
        order = np.argsort(self.of_response, kind="stable")
        return np.split(order, np.cumsum(self.seen)[:-1])

    @classmethod
    def of(cls, answers: Answers) -> "Judges":
        evaluators = len(answers.evaluator.names)
        pairs = answers.model.codes.astype(np.int64) * evaluators + answers.evaluator.codes
        pair_codes, judge = distinct(pairs, len(answers.model.names) * evaluators)
        cell, size = 2 * judge + answers.is_fake, 2 * len(pair_codes)
        reals, fakes = np.bincount(cell, minlength=size).reshape(-1, 2).T
        wrong_reals, wrong_fakes = np.bincount(cell, answers.error, size).reshape(-1, 2).T
        return cls(
            of_response=judge,
            model=pair_codes // evaluators,
            evaluator=pair_codes % evaluators,
            fakes=fakes,
            reals=reals,
            wrong_fakes=wrong_fakes,
            wrong_reals=wrong_reals,
        )


def distinct(codes: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (the sorted distinct codes, the index of each code among them); codes are below `size`."""
    if size > 4 * len(codes) + 2**20:
        return np.unique(codes, return_inverse=True)
    is_there = np.zeros(size, bool)
    is_there[codes] = True
    places = np.cumsum(is_there, dtype=np.int32) - 1
    return np.flatnonzero(is_there), places[codes].astype(np.int64)


class Coder:
    """Turns texts into codes, in order of first appearance."""

    def __init__(self) -> None:
        self._codes: dict[Any, int] = {}
        self._parts: list[np.ndarray] = []

    def add(self, texts: Sequence[Any]) -> list[Any]:
        """Add texts and return those that are new."""
        new, known = [], self._codes
        try:
            codes = np.fromiter(map(known.__getitem__, texts), np.int32, len(texts))
        except KeyError:
            new = [*filterfalse(known.__contains__, dict.fromkeys(texts))]
            known.update(zip(new, count(len(known)), strict=False))
            codes = np.fromiter(map(known.__getitem__, texts), np.int32, len(texts))
        self._parts.append(codes)
        return new

    def coded(self) -> Coded:
        return Coded(np.concatenate(self._parts) if self._parts else np.empty(0, np.int32), [*self._codes])


def select_simulated(answers: Answers, simulated: bool) -> Answers:
    """Return the answers of real evaluators, or of simulated ones if requested or if there are no others.

    Raises:
        InvalidInput: simulated ones are requested, but there are none.
    """
    column = answers.simulated
    if column is None or not column.any():
        if simulated and len(answers):
            raise InvalidInput(
                "there are no responses of simulated sessions to score; leave --simulated out to score the "
                "real ones"
            )
        return replace(answers, simulated=None)
    if column.all():
        return replace(answers, simulated=None, is_simulated=True)
    wanted = column if simulated else ~column
    kept = filter_rows(replace(answers, simulated=None), wanted)
    return replace(kept, is_simulated=simulated, left_out=int((~wanted).sum()))


def from_words(answers: Answers) -> Answers:
    """Return answers of a judgment other than real or fake with `is_fake` by their words, however many.

    Of `first`, `second` and `third`, a response `first` is wrong where the truth is `third`, though neither
    is the second answer: `is_fake` is then what makes it differ from `said_fake`.
    """
    truth, response = answers.texts["truth"], answers.texts["response"]
    words = {name: code for code, name in enumerate(truth.names)}
    said = np.array([words.get(name, -1) for name in response.names], int)[response.codes]
    is_known = np.array([name != "" for name in truth.names], bool)[truth.codes]
    is_second = is_known & (answers.said_fake ^ (said != truth.codes))
    if answers.not_sure is not None:  # of two answers
        is_second = np.where(answers.not_sure, answers.is_fake, is_second)
    return replace(answers, is_fake=is_second)


def if_any(column: np.ndarray) -> np.ndarray | None:
    """Return a column of Booleans; None if all of them are false."""
    return column if column.any() else None


def truth_value(cell: Any) -> bool | None:
    """Return the value of a `true` or `false` cell, False if it is empty, and None for anything else."""
    if cell is None or cell != cell or cell == "":
        return False
    if isinstance(cell, (bool, np.bool_)):
        return bool(cell)
    return {"true": True, "false": False}.get(cell.lower()) if isinstance(cell, str) else None


def filter_rows(answers: Answers, is_kept: np.ndarray) -> Answers:
    """Return the answers at which `is_kept` is true; names without remaining answers are dropped."""
    return take_rows(answers, np.flatnonzero(is_kept), source=answers.source)


def take_rows(
    answers: Answers, index: np.ndarray, model: Coded | None = None, source: np.ndarray | None = None
) -> Answers:
    """Return the answers at the indices `index`, which may be repeated.

    Args:
        model: models of the returned answers; default, their own.
        source: original response of each of all answers; default, itself.
    """
    is_repeated = source is not None or model is not None
    arrays = ("is_fake", "said_fake", "not_sure", "block", "exposure_ms", "simulated", "excluded", "stratum")
    columns = {name: getattr(answers, name) for name in arrays}
    taken: dict[str, Any] = {
        name: None if column is None else column[index] for name, column in columns.items()
    }
    if answers.not_sure is not None:
        taken["not_sure"] = if_any(taken["not_sure"])
    return replace(
        answers,
        model=_used(_at(answers.model, index) if model is None else model),
        evaluator=_used(_at(answers.evaluator, index)),
        texts={name: _used(_at(column, index)) for name, column in answers.texts.items()},
        numbers={name: column[index] for name, column in answers.numbers.items()},
        source=(index if source is None else source[index]) if is_repeated else None,
        **taken,
    )


def _at(column: Coded, index: np.ndarray) -> Coded:
    return Coded(column.codes[index], column.names)


def _used(column: Coded) -> Coded:
    """Return the column without the names that no answer has."""
    is_there = np.bincount(column.codes, minlength=len(column.names)) > 0
    codes = (np.cumsum(is_there) - 1)[column.codes].astype(np.int32)
    return Coded(codes, [*compress(column.names, is_there)])
