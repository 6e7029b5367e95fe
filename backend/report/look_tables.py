"""Decisions of planned looks formatted as text for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.foundation.timestamps import readable


def as_table(made: Mapping[str, Any]) -> str:
    """Return decisions, a result of `look_decisions.decisions`, as text."""
    plan = made["plan"]
    kind = " (simulated sessions)" if made["simulated"] else ""
    lines = [
        f"looks at {', '.join(map(str, plan['looks']))} evaluators of each model; aim {plan['aim']}{kind}"
    ]
    for look in made["looks"]:
        lines += ["", *_look(look, 1 if made["unit"] else 2)]
    lines += ["", *_after(made), f"plan {made['digest'][:12]}, answers {(made['data'] or 'none')[:12]}"]
    for model, own in made.get("newcomers", {}).items():
        lines += ["", *_newcomer(model, own, 1 if made["unit"] else 2)]
    return "\n".join(lines)


def as_replay(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what `study_looks.replayed` returns as text."""
    said = [", ".join(filter(None, [row["outcome"], row["difference"]])) for row in rows]
    whose = [f" of {row['newcomer']}" if row["newcomer"] else "" for row in rows]
    lines = [
        f"look {row['look']}{of} ({row['decision']}): {text}"
        for row, of, text in zip(rows, whose, said, strict=True)
    ]
    return "\n".join(lines or ["no look was decided"])


def _newcomer(model: str, own: Mapping[str, Any], digits: int) -> Iterator[str]:
    looks = own["looks"]
    others = [name for name in looks[0]["evaluators"] if name != model] if looks else []
    yield f"looks of {model}, which joined{', against ' if others else ''}{', '.join(others)}"
    for look in looks:
        yield from _look(look, digits)
    if own["stopped"]:
        yield f"stopped at look {own['stopped']['look']}; {own['saved']} evaluators fewer than the fixed plan"
    elif own["waits_for"]:
        yield f"its next look needs {own['waits_for'][model]} more evaluators"
    else:
        yield "its first look waits for the last one of the models that the study was made with"


def _look(look: Mapping[str, Any], digits: int) -> Iterator[str]:
    counts = ", ".join(f"{count} of {model}" for model, count in look["evaluators"].items())
    bar = "" if look["error"] is None else f"; p below {look['error']:.4f}"
    at = f", recorded {readable(look['at'])}" if "at" in look else ""
    yield f"look {look['look']} ({counts or 'nobody'}{bar}){at}: {look['decision']}: {look['reason']}"
    for row in look["scores"]:
        ranks = f", rank {row['ranks'][0]} to {row['ranks'][1]}" if "ranks" in row else ""
        yield f"  {row['model']}: {row['score']:.{digits}f} {_ends(row['ci'], digits)}{ranks}"
    for row in look["pairs"]:
        pair = f"  {row['a']} - {row['b']}: "
        if row["p"] is None:
            yield f"{pair}no test, as no evaluators differ: {row['state']}"
            continue
        yield (
            f"{pair}{row['difference']:+.{digits}f}, p {row['p']:.4f}, usual interval "
            f"{_ends(row['ci'], digits)}, repeated {_ends(row['repeated_ci'], digits)}: {row['state']}"
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
        bias = "" if stopped["bias"] is None else f"; the difference is about {stopped['bias']:.2g} too large"
        yield f"p under stopping {stopped['p']:.4f}{bias}"
    elif any(row["repeated_p"] is not None for row in stopped["pairs"]):
        yield "repeated p-values, which hold for all pairs whyever the study stopped:"
        for row in stopped["pairs"]:
            if row["repeated_p"] is None:
                continue
            more = ""
            if row["bias"] is not None:
                more = f"; in such studies bias {row['bias']:+.2g}, usual intervals cover {row['covers']:.1%}"
            yield f"  {row['a']} - {row['b']}: {row['repeated_p']:.4f}{more}"


def _ends(ci: Sequence[float] | None, digits: int) -> str:
    return "(no interval)" if ci is None else f"({ci[0]:.{digits}f} to {ci[1]:.{digits}f})"
