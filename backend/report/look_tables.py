"""Decisions of planned looks formatted as text for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def as_table(made: Mapping[str, Any]) -> str:
    """Return decisions, a result of `look_decisions.decisions`, as text."""
    plan = made["plan"]
    kind = " (simulated sessions)" if made["simulated"] else ""
    lines = [
        f"looks at {', '.join(map(str, plan['looks']))} evaluators of each model; aim {plan['aim']}{kind}"
    ]
    for look in made["looks"]:
        lines += ["", *_look(look)]
    lines += ["", *_after(made), f"plan {made['digest'][:12]}, answers {(made['data'] or 'none')[:12]}"]
    return "\n".join(lines)


def _look(look: Mapping[str, Any]) -> Iterator[str]:
    counts = ", ".join(f"{count} of {model}" for model, count in look["evaluators"].items())
    yield f"look {look['look']} ({counts}; p below {look['error']:.4f}): {look['decision']}: {look['reason']}"
    for row in look["scores"]:
        yield f"  {row['model']}: {row['score']:.1f} {_ends(row['ci'])}"
    for row in look["pairs"]:
        yield (
            f"  {row['a']} - {row['b']}: {row['difference']:+.1f}, p {row['p']:.4f}, usual interval "
            f"{_ends(row['ci'])}, repeated {_ends(row['repeated_ci'])}: {row['state']}"
        )


def _after(made: Mapping[str, Any]) -> Iterator[str]:
    stopped = made["stopped"]
    if stopped is None:
        waits = ", ".join(f"{count} of {model}" for model, count in made["waits_for"].items())
        yield f"the next look needs {waits} more"
        return
    saved = "" if made["saved"] is None else f"; {made['saved']} evaluators fewer than the fixed plan"
    yield f"stopped at look {stopped['look']}{saved}"
    yield "the repeated interval holds whenever a study stops; the usual one is a little short after looks"
    if stopped["p"] is not None:
        bias = "" if stopped["bias"] is None else f"; the difference is about {stopped['bias']:.1f} too large"
        yield f"p under stopping {stopped['p']:.4f}{bias}"


def _ends(ci: Sequence[float] | None) -> str:
    return "(no interval)" if ci is None else f"({ci[0]:.1f} to {ci[1]:.1f})"
