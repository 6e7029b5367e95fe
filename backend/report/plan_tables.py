"""Plans of studies formatted as text for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.experiment.judgments import method_named
from backend.experiment.money import format_money

WRITTEN_UNITS = {"percent": "percentage points", "ms": "ms", "log-odds": "log-odds"}


def as_table(plan: Mapping[str, Any]) -> str:
    """Return a plan as text for a terminal: its aim, a line for each row, and its assumptions."""
    if "plan" in plan:
        return _looks_table(plan)
    unit = WRITTEN_UNITS[plan["unit"]]
    lines = [_title(plan, unit), *_columns(plan)]
    lines += [f"{row['model']}: {row['why_none']}" for row in plan["rows"] if row["why_none"]]
    best = [row for row in plan["rows"] if row["best"]]
    if best:
        lines += ["", "the number of images an evaluator that costs least, for the same aim", *_bests(best)]
    return "\n".join([*lines, "", *(f"- {text}" for text in plan["assumptions"])])


def _title(plan: Mapping[str, Any], unit: str) -> str:
    aim, method = plan["aim"], method_named(plan["method"]).title
    wanted = []
    if aim["width"] is not None:
        sure = f"in {aim['assurance']:.0%} of studies"
        wanted.append(f"a {100 * aim['level']:g}% interval at most {aim['width']:g} {unit} wide {sure}")
    if aim["difference"] is not None:
        wanted.append(f"a difference of {aim['difference']:g} {unit} significant with power {aim['power']:g}")
    count = aim["models"]
    return f"{method}, {' and '.join(wanted)}; cost and hours for {count} model{'s' if count != 1 else ''}"


def _columns(plan: Mapping[str, Any]) -> Iterator[str]:
    rows = plan["rows"]
    names = {"width": "interval", "difference": "test"}
    tests = [name for name in names if name in rows[0]["evaluators_for"]]
    tests = tests if len(tests) > 1 else []
    has_fee = plan["costs"]["fee_percent"] > 0
    models, digits = plan["aim"]["models"], 2 if plan["unit"] == "log-odds" else 1
    has_people = any(row["people"] and row["people"] != row["evaluators"] * models for row in rows)
    width = _width(rows)
    heads = [f"{'model':<{width}}", "  score", "     SD", "images", *(f"{names[name]:>8}" for name in tests)]
    heads += ["evaluators", *(["people"] if has_people else [])]
    yield "  ".join([*heads, f"{'cost':>10}", *(["      fees"] if has_fee else []), " hours"])
    for row in rows:
        cells = [f"{row['model']:<{width}}", f"{row['score']:>7.{digits}f}", f"{row['sd']:>7.2f}"]
        cells += [f"{row['images']:>6}", *(f"{_count(row['evaluators_for'][name]):>8}" for name in tests)]
        cells += [f"{_count(row['evaluators']):>10}"]
        cells += [f"{_count(row['people']):>6}"] if has_people else []
        cells += [f"{_usd(row['usd']):>10}"]
        cells += [f"{_usd(row['fee_usd']):>10}"] if has_fee else []
        yield "  ".join([*cells, f"{_hours(row['hours']):>6}"])


def _width(rows: Sequence[Mapping[str, Any]]) -> int:
    return max(5, *(len(row["model"]) for row in rows))


def _bests(rows: list[Mapping[str, Any]]) -> Iterator[str]:
    width = _width(rows)
    yield f"{'model':<{width}}  images  evaluators  {'cost':>10}  {'hours':>6}  saves"
    for row in rows:
        best = row["best"]
        cells = [f"{row['model']:<{width}}", f"{best['images']:>6}", f"{best['evaluators']:>10}"]
        yield "  ".join([*cells, f"{_usd(best['usd']):>10}", f"{_hours(best['hours']):>6}", _saving(best)])


def _saving(best: Mapping[str, Any]) -> str:
    if best["saving_usd"] is None:
        return ""
    return _usd(best["saving_usd"]) if best["saving_usd"] > 0 else "nothing"


def _count(evaluators: int | None) -> str:
    return "none" if evaluators is None else f"{evaluators}"


def _hours(hours: float | None) -> str:
    return "" if hours is None else f"{hours:.1f}"


def _usd(value: float | None) -> str:
    return "" if value is None else format_money(value * 100, "USD")


def _looks_table(plan: Mapping[str, Any]) -> str:
    """Return a plan of looks, compared with the fixed one, as text for a terminal."""
    looks, width = plan["plan"]["looks"], _width(plan["rows"])
    digits = 2 if plan["unit"] == "log-odds" else 1
    names = {"fixed": f"{looks[-1]}", "looks": ",".join(map(str, looks))}
    column = max(5, *map(len, names.values()))
    heads = ("people", "if equal", "cost", "minutes", "reached", "error", "covers", "bias", "smallest")
    lines = [
        f"{method_named(plan['method']).title}, looks at {names['looks']} evaluators of each model; aim "
        f"{plan['plan']['aim']}; cost and minutes for {plan['models']} models that differ by "
        f"{plan['difference']:g} {WRITTEN_UNITS[plan['unit']]}",
        f"{'model':<{width}}  {'looks':<{column}}  " + "  ".join(f"{head:>9}" for head in heads),
    ]
    for row in plan["rows"]:
        if row["why_none"]:
            lines.append(f"{row['model']}: {row['why_none']}")
            continue
        for name, shown in names.items():
            cells = "  ".join(f"{cell:>9}" for cell in _looks_cells(row[name], digits))
            lines.append(f"{row['model']:<{width}}  {shown:<{column}}  {cells}")
    return "\n".join([*lines, "", *(f"- {text}" for text in plan["assumptions"])])


def _looks_cells(row: Mapping[str, Any], digits: int) -> Iterator[str]:
    yield from (f"{row[name]:.1f}" for name in ("people", "people_if_equal"))
    yield _usd(row["usd"])
    yield f"{60 * row['hours']:.0f}"
    yield from ("" if row[name] is None else f"{row[name]:.1%}" for name in ("reached", "error", "coverage"))
    yield f"{row['bias']:+.2f}"
    yield "" if row["smallest"] is None else f"{row['smallest']:.{digits}f}"
