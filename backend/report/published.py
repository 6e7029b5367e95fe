"""The papers' tables recomputed, as the sections of a report; docs/published.md explains them."""

from collections.abc import Mapping
from typing import Any

from backend.analysis.comparisons import published_tables
from backend.experiment.published import CELEBA, CIFAR, FFHQ
from backend.report import formatting
from backend.report.elements import Column, Report, Section, Table, cell_of
from backend.report.formatting import amount, bare_p, brackets, coefficient

_VERDICTS = {True: "yes", False: "no", None: formatting.NONE}
_BANNER = (
    "N is the paper of NeurIPS 2019, W that of the workshop at ICLR 2019, each with the number of its table "
    "or section. W 6 prints the SDs of N 2 with two digits."
)
_FOLLOWS = Column("follows", cell_of("follows", _VERDICTS.__getitem__), is_number=False)


def report() -> Report:
    """Return all that is recomputed, and whether what is printed follows."""
    sections = (_means(), _correlations(), _scores())
    return Report("The papers' tables, recomputed", "", (), (), sections, banner=_BANNER)


def _means() -> Section:
    rows = published_tables.recomputed_tests()
    tests = Table(
        "tests",
        "From the printed means and SDs; in brackets the range that their rounding leaves",
        (
            Column("data", _data, is_number=False),
            Column("table", cell_of("table"), is_number=False),
            Column("printed", _printed_test, is_number=False),
            Column("recomputed", _test, is_number=False),
            Column("p", lambda row: _p_range(row["p"], row["p_ends"])),
            _FOLLOWS,
        ),
        rows,
    )
    pairs = Table(
        "pairs",
        "Pairs of models (Tukey) of which the papers say whether they differ",
        (
            Column("data", _data, is_number=False),
            Column("table", lambda row: row["printed"].table.where, is_number=False),
            Column("pair", lambda row: " − ".join(row["pair"]), is_number=False),
            Column("printed", lambda row: f"p {row['said'].text}", is_number=False),
            Column("p", lambda row: _p_range(row["p"], row["p_ends"])),
            _FOLLOWS,
        ),
        published_tables.recomputed_pairs(),
    )
    without, modes = published_tables.without_bessel(), published_tables.with_modes_as_inputs()
    squared = next(row for row in rows if row["printed"].table is FFHQ)
    notes = (
        f"Without the factor n / (n − 1) of a bootstrap's variance, F of {CELEBA.data} from W 6 would be "
        f"{amount(without['value'])} {brackets(without['ends'])}.",
        f"The square of t of {FFHQ.data} ({FFHQ.where}) is {amount(squared['value'] ** 2, '', 2)} "
        f"{brackets([end**2 for end in squared['ends']], 2)}.",
        f"HYPE-time with the modes of 90 blocks of a model as inputs, not the means of 30 evaluators: F is "
        f"{amount(modes['F'])} if blocks of an evaluator correlate with r = {coefficient(modes['r'])}, and "
        f"then p of StyleGAN and ProGAN is {bare_p(modes['p'])}.",
    )
    return Section("means", "Tests of means", (), tables=(tests, pairs), notes=notes)


def _correlations() -> Section:
    table = Table(
        "correlations",
        "Spearman's rank correlations, from the printed scores and metrics",
        (
            Column("models", lambda row: row["printed"].models, is_number=False),
            Column("n", cell_of("models")),
            Column("of", lambda row: f"{row['printed'].score}, {row['printed'].other}", is_number=False),
            Column("paper", lambda row: row["printed"].where, is_number=False),
            Column("printed", _printed_rho, is_number=False),
            Column("ρ", lambda row: coefficient(row["rho"], 3)),
            Column("p", cell_of("p", bare_p)),
            Column("p over all orders", cell_of("p_exact", bare_p)),
            Column("p of the printed ρ", cell_of("p_of_printed", bare_p)),
            _FOLLOWS,
        ),
        published_tables.recomputed_correlations(),
    )
    alike = sum(
        (a.kid, a.precision) == (b.kid, b.precision) for a, b in zip(CELEBA.rows, CIFAR.rows, strict=True)
    )
    note = (
        f"KID and precision are the same in {CELEBA.where} ({CELEBA.data}) and {CIFAR.where} ({CIFAR.data}) "
        f"for {alike} of {len(CIFAR.rows)} models."
    )
    return Section("correlations", "Correlations with metrics", (), tables=(table,), notes=(note,))


def _scores() -> Section:
    rows = published_tables.checked_scores()
    errors = [row["is_mean"] for row in rows if row["is_mean"] is not None]
    outside = [f"{row['model']} ({row['table']})" for row in rows if not row["is_inside"]]
    table_6 = published_tables.table_6()
    differing = [
        f"{row.model} {row.std:g} for {std:g}"
        for row, std in zip(CELEBA.rows, table_6.stds, strict=True)
        if abs(row.std - std) > published_tables.HALF + table_6.half_std
    ]
    notes = (
        f"{sum(errors)} of {len(errors)} scores of HYPE-infinity are the mean of errors on fakes and reals.",
        f"{len(rows) - len(outside)} of {len(rows)} intervals contain their score, all but those of "
        f"{formatting.listing(outside)}.",
        f"SDs of {CELEBA.where} that do not round W 6's for 30 evaluators: {formatting.listing(differing)}.",
    )
    return Section("scores", "Scores, intervals and SDs", notes)


def _data(row: Mapping[str, Any]) -> str:
    table = row["printed"].table
    return f"{table.data}, HYPE-time" if table.method == "time" else table.data


def _printed_test(row: Mapping[str, Any]) -> str:
    printed = row["printed"]
    parts = [f"{printed.statistic} = {printed.value.text}"] if printed.value else []
    return ", ".join([*parts, _printed_p(printed.p)] if printed.p else parts) or formatting.NONE


def _printed_rho(row: Mapping[str, Any]) -> str:
    printed = row["printed"]
    rho = printed.rho.text.replace("-", formatting.MINUS)
    return f"{rho}, {_printed_p(printed.p)}" if printed.p else rho


def _printed_p(p: Any) -> str:
    return f"p {p.text}" if p.text[0] in "<>" else f"p = {p.text}"


def _test(row: Mapping[str, Any]) -> str:
    df = ", ".join(map(formatting.degrees, row["df"]))
    digits = 1 if row["value"] >= 100 else 2
    return f"{row['statistic']}({df}) = {amount(row['value'], '', digits)} {brackets(row['ends'], digits)}"


def _p_range(p: float, ends: list[float]) -> str:
    text, low, high = map(bare_p, (p, *ends))
    return text if low == high == text else f"{text} [{low}, {high}]"
