"""Number formatting for readers: rounded, with units and intervals; p-values as journals print them."""

from collections.abc import Mapping, Sequence
from typing import Any

NONE = "–"
MINUS = "−"
WHY = {
    "returned": "returned",
    "timed_out": "timed out",
    "broke_off": "broke off",
    "ended": "closed early",
    "withdrawn": "withdrawn",
    "under_way": "under way",
}
"""Labels of the outcomes of evaluators who began and have not finished."""
_EVIDENCE = {
    "element": "browser",
    "worker_element": "clock and browser",
    "worker_video": "clock and compositor",
    "worker": "clock",
    "callback": "clock",
}
EVIDENCE = (
    "Shown times are measured by the browser, which knows what a display showed; by its compositor, which "
    "knows what was handed to the display; or by the clock, which knows when a picture was drawn."
)
SPREADS = {
    "criterion": "evaluators' criterion",
    "sensitivity": "evaluators' d'",
    "reals": "real pictures",
    "fakes": "fake pictures",
}
"""What the standard deviations of the crossed model are of."""
_SIGNS = {"percent": "%", "ms": " ms", "points": " points", "log-odds": "", "": ""}


def amount(value: float | None, unit: str = "", digits: int = 1) -> str:
    """Return a number with its unit (`percent`, `ms`, `points` or none); a dash for None."""
    if value is None:
        return NONE
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", MINUS) + _SIGNS[unit]


def interval(ci: Sequence[float | None] | None, unit: str = "", digits: int = 1) -> str:
    """Return `48.2 to 53.1%`; `up to …` or `… or more` if the data do not bound an end (None)."""
    if ci is None or all(end is None for end in ci):
        return NONE
    low, high = ci
    if low is None:
        return f"up to {amount(high, unit, digits)}"
    if high is None:
        return f"{amount(low, unit, digits)} or more"
    return f"{amount(low, '', digits)} to {amount(high, unit, digits)}"


def brackets(ci: Sequence[float | None] | None, digits: int = 1) -> str:
    """Return `[48.2, 53.1]`, for tables; `?` for an end that the data do not bound (None)."""
    if ci is None or all(end is None for end in ci):
        return NONE
    return f"[{', '.join('?' if end is None else amount(end, '', digits) for end in ci)}]"


def share_brackets(ci: Sequence[float] | None) -> str:
    """Return an interval of a share (0 to 1) in whole percent, such as `[48, 53]`."""
    return brackets(ci and [100 * end for end in ci], 0)


def estimate(value: float | None, ci: Sequence[float | None] | None, unit: str = "", digits: int = 1) -> str:
    """Return a number and its interval, if it has one: `50.7% [48.2, 53.1]`."""
    text, ends = amount(value, unit, digits), brackets(ci, digits)
    return text if value is None or ends == NONE else f"{text} {ends}"


def share_estimate(share: float | None, ci: Sequence[float] | None, digits: int = 1) -> str:
    """Return a share (0 to 1) and its interval in percent, without the sign."""
    return estimate(None if share is None else 100 * share, ci and [100 * end for end in ci], "", digits)


def threshold(fit: Mapping[str, Any], unit: str = "") -> str:
    """Return a fitted threshold: `219 [180, 266]`, `≤ 100` or `≥ 1000`; an end may be `≤ 100` as well."""
    low, high = fit["floor_ms"], fit["ceiling_ms"]
    if fit["censored"]:
        end = f"≤ {low:g}" if fit["censored"] == "floor" else f"≥ {high:g}"
        return end + _SIGNS[unit]
    ends = [
        f"{end:.0f}" if end is not None else f"≤ {low:.0f}" if i == 0 else f"≥ {high:.0f}"
        for i, end in enumerate(fit["ci"] or ())
    ]
    text = amount(fit["ms"], unit, 0)
    return f"{text} [{', '.join(ends)}]" if ends else text


def ranks(range_: Sequence[int] | None) -> str:
    """Return a range of ranks, such as `1 to 3`, or the only one that is possible."""
    if range_ is None:
        return NONE
    best, worst = range_
    return str(best) if best == worst else f"{best} to {worst}"


def share(value: float | None, digits: int = 0) -> str:
    """Return a share (0 to 1) in percent."""
    return amount(None if value is None else 100 * value, "percent", digits)


def evidence(shares: Mapping[str, float]) -> str:
    """Return how shown times were measured, with the percentage of responses of each kind.

    Args:
        shares: share (0 to 1) of responses by source of the measurement.
    """
    kinds: dict[str, float] = {}
    for word, part in shares.items():
        kind = _EVIDENCE.get(word, word)
        kinds[kind] = kinds.get(kind, 0.0) + part
    return ", ".join(f"{kind} {share(part)}" for kind, part in kinds.items()) or NONE


def coefficient(value: float | None, digits: int = 2) -> str:
    """Return a number that cannot exceed 1, without its leading zero: `.72`, `−.03`."""
    if value is None:
        return NONE
    text = amount(value, "", digits)
    return text.replace("0.", ".", 1) if text.lstrip(MINUS).startswith("0.") else text


def coefficients(ends: Sequence[float] | None, digits: int = 2) -> str:
    """Return an interval of such a number: `[.41, .88]`."""
    return NONE if ends is None else f"[{', '.join(coefficient(end, digits) for end in ends)}]"


def coefficient_estimate(value: float | None, ci: Sequence[float] | None, digits: int = 2) -> str:
    """Return such a number and its interval, if it has one: `.72 [.41, .88]`."""
    text = coefficient(value, digits)
    return text if value is None or ci is None else f"{text} {coefficients(ci, digits)}"


def rho(correlation: Mapping[str, Any]) -> str:
    """Return the correlation with its p-value; the exact one (all orders) for few models, if known."""
    exact = correlation.get("p_exact")
    p = p_value(correlation["p"]) if exact is None else f"{p_value(exact)} over all orders"
    return f"ρ = {coefficient(correlation['rho'])}, {p}"


def p_value(p: float | None) -> str:
    """Return `p = .023`, or `p < .001`."""
    if p is None:
        return NONE
    if p > 0.995:
        return "p > .99"
    return "p < .001" if p < 0.001 else f"p = {_of_one(p)}"


def bare_p(p: float | None) -> str:
    """Return a p-value for a column headed p."""
    return NONE if p is None else p_value(p).removeprefix("p ").removeprefix("= ")


def degrees(df: float | None) -> str:
    """Return degrees of freedom, without decimals if they are an integer, else with one; None is infinite."""
    if df is None:
        return "∞"
    return f"{df:.0f}" if float(df).is_integer() else f"{df:.1f}"


def chi_squared(value: float, df: int, p: float) -> str:
    """Return `χ²(3) = 7.81, p = .050`."""
    return f"χ²({df}) = {value:.2f}, {p_value(p)}"


def f_test(test: Mapping[str, Any]) -> str:
    """Return `F(3, 116) = 100.60, p < .001`."""
    between, within = (degrees(df) for df in test["df"])
    return f"F({between}, {within}) = {test['F']:.2f}, {p_value(test['p'])}"


def capital(text: str) -> str:
    """Return a text with a capital letter first."""
    return text[:1].upper() + text[1:]


def listing(names: Sequence[str], most: int = 6) -> str:
    """Return `a, b and c`; for more than `most` names, the first ones and the number of the others."""
    names = [*names]
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def level(value: float) -> str:
    """Return a confidence level (0 to 1) as `95%`."""
    return f"{100 * value:g}%"


def verdict(differs: bool) -> str:
    """Return the result of a test of two models in words."""
    return "differ significantly" if differs else "no significant difference"


def short(name: str, length: int) -> str:
    """Return a name shortened in the middle to at most `length` characters, for figures.

    Its end is retained, where names that begin alike usually differ, such as `name@4000` and `name@9000`.
    """
    if len(name) <= length:
        return name
    tail = length // 2 - 1
    return f"{name[: length - tail - 1].rstrip()}…{name[-tail:].lstrip()}"


def _of_one(p: float) -> str:
    return (f"{p:.3f}" if p < 0.0995 else f"{p:.2f}").removeprefix("0")
