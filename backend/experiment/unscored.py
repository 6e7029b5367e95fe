"""Trials that are not scored: practice before the first block, and attention checks among scored trials.

Practice shows pictures that no scored trial shows, half of them real, and always tells whether an answer was
right. In HYPE-time it flashes them for the first exposure of the staircase, which does not move.

An attention check shows a picture whose truth is beyond doubt, or says which answer to give. It stands after
a scored trial drawn at random from all blocks, at most one after each: the order of kinds and places depends
on nothing else, and no block begins with a check. An instruction asks for the answer that the picture itself
would not get, so that a person who follows the picture fails. With a time limit there are no checks by
pictures: at a short exposure no truth is beyond doubt, and a longer flash would mark the check. Fixed
exposures are dealt to practice and to checks as to scored trials (`fixed_exposures`).
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from backend.experiment.groups.unscored import UnscoredSettings
from backend.experiment.protocol import Protocol
from backend.experiment.records import (
    CHECK,
    FAKE,
    INSTRUCTED,
    PRACTICE,
    REAL,
    TEST,
    TRUTHS,
    PlannedBlock,
    Stimulus,
    Study,
)
from backend.experiment.sampling import Pool
from backend.experiment.setting_errors import invalid_setting, problem_of
from backend.foundation.errors import together

if TYPE_CHECKING:
    from random import Random

_OPPOSITE: dict[str, str] = {REAL: FAKE, FAKE: REAL}
_WORDS = {
    PRACTICE: ("practice", "practice_images", "--practice"),
    CHECK: ("attention checks", "picture_checks and instructed_checks", "--checks"),
}
_Trial = tuple[str, str, str | None, str]
"""Stimulus, right answer, model and kind."""


def check(protocol: Protocol, kind: str) -> None:
    """Check that the settings of practice, checks and exclusion fit together and the kind of study.

    Raises:
        InvalidInput: names the settings that do not.
    """
    shown, exclusion, trials = protocol.unscored, protocol.exclusion, protocol.stimuli.trials
    for setting in fields(shown):
        if (value := getattr(shown, setting.name)) % 2:
            raise invalid_setting(
                f"{setting.name} must be even, half of them being real, not {value}", setting.name
            )
    if shown.picture_checks and protocol.has_flashes:
        what = (
            "HYPE-time: at the exposures of a staircase" if protocol.has_staircase else "a time limit: then"
        )
        raise invalid_setting(
            f"picture_checks do not go with {what} no picture is beyond doubt, and a longer flash would mark "
            "the check; use instructed_checks",
            "picture_checks",
        )
    if shown.checks > trials:
        raise invalid_setting(
            f"picture_checks and instructed_checks must be at most as many as the {trials} scored pictures "
            f"of a session, not {shown.checks}",
            "picture_checks",
            "instructed_checks",
        )
    if exclusion.exclude_checks_below and not shown.checks:
        raise invalid_setting(
            "exclude_checks_below needs attention checks; set picture_checks or instructed_checks, or leave "
            "it at 0",
            "exclude_checks_below",
        )
    if exclusion.is_declared and kind == "qualification":
        raise invalid_setting(
            "a qualification gives no scores, so that it has no rule for exclusion; leave "
            "exclude_checks_below and exclude_faster_ms at 0",
            "exclude_checks_below",
            "exclude_faster_ms",
        )


def needed(settings: UnscoredSettings, role: str) -> int:
    """Return how many reals, and how many fakes, of a role a session shows."""
    return (settings.practice_images if role == PRACTICE else settings.checks) // 2


def lack(study: Study, pool: Pool) -> str:
    """Return which stimuli for practice and checks a pool lacks, and what to do; "" if it is sufficient."""
    problems: list[str] = []
    for role, (what, setting, option) in _WORDS.items():
        count = needed(study.protocol.unscored, role)
        parts = pool.aside.get(role, ())
        there = {truth: sum(len(names) for own, _, names in parts if own == truth) for truth in TRUTHS}
        short = [f"{there[truth]} of {count} {truth}s" for truth in TRUTHS if there[truth] < count]
        if short:
            most = 2 * min(there.values())
            message = (
                f"study {study.name} lacks pictures for {what}: it has {', '.join(short)}; lower {setting} "
                f"to at most {most}{' in total' if role == CHECK else ''}, or make the study with more "
                f"pictures ({option} DIR)"
            )
            problems.append(problem_of(message, option.removeprefix("--"), *setting.split(" and ")))
    return together(problems)


def set_aside(
    stimuli: Sequence[Stimulus], settings: UnscoredSettings, rng: "Random", given: Sequence[str] = ()
) -> tuple[Stimulus, ...]:
    """Return a pool with as many stimuli as one session needs taken out of it for practice and instructions.

    All sessions of the study then show the same ones, of any class. Fakes are taken from the models in equal
    parts. Checks by pictures take none: which pictures are beyond doubt is for the researcher to say.

    Args:
        given: roles that have pictures of their own, which need none from the pool.
    """
    roles: dict[str, str] = {}
    for role in (PRACTICE, CHECK):
        count = needed(settings, role) if role == PRACTICE else settings.instructed_checks // 2
        if role in given or not count:
            continue
        free = [stimulus for stimulus in stimuli if not stimulus.role and stimulus.name not in roles]
        models = sorted({stimulus.model for stimulus in free if stimulus.model is not None})
        sides = [(None, count), *zip(models, _shares(count, len(models), rng), strict=True)]
        for model, share in sides:
            names = sorted(stimulus.name for stimulus in free if stimulus.model == model)
            roles |= dict.fromkeys(rng.sample(names, min(share, len(names))), role)
    return tuple(
        replace(each, role=roles[each.name], class_="") if each.name in roles else each for each in stimuli
    )


def with_unscored(
    settings: UnscoredSettings, pool: Pool, blocks: Sequence[PlannedBlock], rng: "Random"
) -> tuple[PlannedBlock, ...]:
    """Return the blocks of a session with its practice block before them and its checks among them."""
    if settings.checks:
        blocks = [*_placed(blocks, _checks(settings, pool, rng), rng)]
    if settings.practice_images:
        drawn = _drawn(settings, pool, PRACTICE, rng)
        practice = [(name, truth, model, PRACTICE) for name, truth, model in drawn]
        rng.shuffle(practice)
        blocks = [_block(practice, ""), *blocks]
    return tuple(blocks)


def right_answer(truth: str, kind: str) -> str:
    """Return the right answer to a trial of a kind by the truth of its stimulus; and the other way round."""
    return _OPPOSITE[truth] if kind == INSTRUCTED else truth


def _checks(settings: UnscoredSettings, pool: Pool, rng: "Random") -> list[_Trial]:
    """Return the checks of a session in random order."""
    drawn = [*_drawn(settings, pool, CHECK, rng)]
    for start in (0, settings.checks // 2):  # which pictures carry instructions is random too
        side = drawn[start : start + settings.checks // 2]
        rng.shuffle(side)
        drawn[start : start + settings.checks // 2] = side
    kinds = [CHECK] * (settings.picture_checks // 2) + [INSTRUCTED] * (settings.instructed_checks // 2)
    trials = [
        (name, right_answer(truth, kind), model, kind)
        for (name, truth, model), kind in zip(drawn, kinds * 2, strict=True)
    ]
    rng.shuffle(trials)
    return trials


def _drawn(
    settings: UnscoredSettings, pool: Pool, role: str, rng: "Random"
) -> Iterator[tuple[str, str, str | None]]:
    """Yield name, truth and model of the stimuli of a role that a session shows, reals first."""
    count = needed(settings, role)
    for truth in TRUTHS if count else ():
        parts = [(model, names) for own, model, names in pool.aside.get(role, ()) if own == truth]
        places = [(part, i) for part, (_, names) in enumerate(parts) for i in range(len(names))]
        drawn = rng.sample(places, count)
        for part, (model, names) in enumerate(parts):
            for name in names.several([i for own, i in drawn if own == part]):
                yield name, truth, model


def _placed(
    blocks: Sequence[PlannedBlock], checks: Sequence[_Trial], rng: "Random"
) -> Iterator[PlannedBlock]:
    """Yield the blocks with each check after another scored trial, drawn at random."""
    after = rng.sample(range(sum(len(block.stimuli) for block in blocks)), len(checks))
    check_after = dict(zip(after, checks, strict=True))
    scored = 0
    for block in blocks:
        trials: list[_Trial] = []
        for name, truth, model in zip(block.stimuli, block.truths, block.models, strict=True):
            trials.append((name, truth, model, TEST))
            if scored in check_after:
                trials.append(check_after[scored])
            scored += 1
        yield _block(trials, block.class_, {block.stimuli[i] for i in block.by_need})


def _block(trials: Sequence[_Trial], class_: str, sampled_by_need: Container[str] = ()) -> PlannedBlock:
    names, truths, models, kinds = zip(*trials, strict=True)
    by_need = tuple(i for i, name in enumerate(names) if name in sampled_by_need)
    return PlannedBlock(names, truths, models, class_, by_need, () if set(kinds) == {TEST} else kinds)


def _shares(total: int, parts: int, rng: "Random") -> list[int]:
    """Return `total` in equal parts, which differ by one at most, in random order."""
    shares = [total // parts + (i < total % parts) for i in range(parts)] if parts else []
    rng.shuffle(shares)
    return shares
