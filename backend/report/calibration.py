"""The report of a calibration of LPIPS: what it is worth on held-out triplets."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from backend.foundation.counted_nouns import counted
from backend.metrics.calibration.calibrate import BEFORE, CALIBRATED
from backend.metrics.calibration.split import HELD_OUT
from backend.metrics.pairs.nets import NETS
from backend.report import agreement, figures, formatting, simulated
from backend.report.elements import Column, Figure, Report, Section, Table, cell_of

_SHOWN_TRIPLETS = 10


def report(data: Mapping[str, Any], date: str, version: str) -> Report:
    facts = [
        ("Source", data["source"]),
        ("Metric", _title(data)),
        ("Triplets", f"{data['triplets']:,}"),
        ("References", f"{data['references']:,}"),
    ]
    facts += [("Votes", f"{data['votes']:,}")] if data["votes"] is not None else []
    facts += [("Evaluators", f"{data['evaluators']:,}")] if data["evaluators"] is not None else []
    facts += [("Weights", data["file"]), ("Page", f"{date}, openhype {version}")]
    by_set = agreement.section(_held_out(data))
    made = Report(
        f"LPIPS calibrated: {data['source']}",
        " ".join(_sentences(data)[:2]),
        tuple(facts),
        (),
        (
            _scores(data),
            replace(by_set, title="Held-out triplets", paragraphs=()),
            _weights(data),
            _settings(data),
        ),
        {"calibration": data},
    )
    return simulated.marked(made) if data["simulated"] else made


def _held_out(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return next(row["agreement"] for row in data["shares"] if row["share"] == HELD_OUT)


def _share_rows(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each share, of the last column of its scores: the average of the sets."""
    rows = []
    for share in data["shares"]:
        agreement = share["agreement"]
        last = agreement["columns"][-1]["column"]
        metrics = {row["metric"]: row for row in agreement["metrics"] if row["column"] == last}
        (human,) = (row for row in agreement["human"] if row["column"] == last)
        (pair,) = (row for row in agreement["pairs"] if row["column"] == last)
        rows.append(
            {
                "share": share["share"],
                "triplets": agreement["items"],
                "references": share["references"],
                "human": human["unbiased"],
                "human_ci": human["ci"],
                "as_printed": human["as_printed"],
                "oracle": human["oracle"],
                "before": metrics[BEFORE]["score"],
                "before_ci": metrics[BEFORE]["ci"],
                "calibrated": metrics[CALIBRATED]["score"],
                "calibrated_ci": metrics[CALIBRATED]["ci"],
                "difference": pair["difference"],
                "difference_ci": pair["ci"],
            }
        )
    return rows


def _scored(row: Mapping[str, Any], name: str) -> str:
    return formatting.estimate(row[name], row[f"{name}_ci"])


def _percent(row: Mapping[str, Any], name: str) -> str:
    return formatting.estimate(row[name], row[f"{name}_ci"], "percent")


def _title(data: Mapping[str, Any]) -> str:
    return f"LPIPS v{data['lpips_version']}, {NETS[data['net']].title}"


def _over(data: Mapping[str, Any]) -> str:
    of = "triplets" if data["evaluators"] is None else "evaluators and triplets"
    return f"{formatting.level(data['level'])} intervals over {of}"


def _origin(data: Mapping[str, Any]) -> str:
    return "as published" if data["trunk"]["is_published"] else "not recognised as published"


def _before(data: Mapping[str, Any]) -> str:
    """Return what the metric was before, in a few words."""
    start = data["start"]
    if start["kind"] != "file":
        return "equal weights"
    known = start["published_version"]
    return f"the published v{known}" if known else start["file"]


def _fit(data: Mapping[str, Any]) -> str:
    fit, schedule = data["fit"], data["schedule"]
    if schedule["patience"] is None:
        return f"fit: {schedule['name']} schedule, the weights after all of its {fit['steps']:,} steps"
    return f"fit: {fit['steps']:,} steps; the loss on the validation share was lowest at step {fit['step']:,}"


def _sentences(data: Mapping[str, Any]) -> tuple[str, ...]:
    row = _share_rows(data)[-1]
    last = _held_out(data)["columns"]
    where = "" if len(last) == 1 else " (averages of the sets)"
    sentences = [
        f"On {counted(row['triplets'], 'held-out triplet')} of {counted(row['references'], 'reference')}, "
        "which took part neither in the fit nor in its stopping, the calibrated metric agrees with "
        f"{_percent(row, 'calibrated')} of people's judgments, and the metric as it was ({_before(data)}) "
        f"with {_percent(row, 'before')}{where}.",
        _verdict(row),
    ]
    if row["human"] is not None:
        people = _percent(row, "human")
        sentences.append(f"People agree with one another in {people} of pairs of votes on these triplets.")
    return tuple(sentences)


def _verdict(row: Mapping[str, Any]) -> str:
    by = formatting.estimate(row["difference"], row["difference_ci"], "points", 2)
    if row["difference_ci"] is None:
        return "It orders the pictures of all held-out triplets as before: nothing shows that it is better."
    low, high = row["difference_ci"]
    if low > 0:
        return f"The calibrated metric agrees better with people than before: by {by}."
    if high < 0:
        return f"The calibrated metric agrees worse with people than before, by {by}: do not use it."
    return f"It is not shown to be better than before: the interval of the difference, {by}, contains 0."


def _notes(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield what to bear in mind about the numbers."""
    fit, schedule = data["fit"], data["schedule"]
    yield (
        "the fit has seen the train share, and its stopping the validation share: only the held-out scores "
        "say how the metric does on other pictures"
    )
    if schedule["patience"] is not None and fit["step"] == 0:
        yield "the loss on the validation share never fell: the weights are those of the start"
    if schedule["patience"] is not None and fit["is_at_limit"] and fit["step"] > 0.9 * fit["steps"]:
        yield "the loss on the validation share still fell at the last steps: more may help (--steps)"
    if not data["trunk"]["is_published"]:
        yield (
            f"the trunk {data['trunk']['file']} is not recognised as the published one: with that "
            "one, the package lpips gives other distances"
        )
    if not any(layer["largest"] for layer in data["layers"]):
        yield "every weight is 0, so that all distances are 0: this is no metric"
    if data["references"] < data["triplets"]:
        yield (
            f"{data['triplets']:,} triplets have {data['references']:,} references; intervals count triplets "
            "of one reference as independent, and are too narrow if these resemble one another"
        )
    if data["evaluators"] is not None:
        yield (
            "evaluators judged triplets of every share: those held out are of other pictures, not of other "
            "people"
        )


def _scores(data: Mapping[str, Any]) -> Section:
    shares = Table(
        "calibration",
        f"2AFC scores (%) by share, with {_over(data)}; human: agreement of pairs of votes; before: "
        f"{_before(data)}.",
        (
            Column("share", lambda row: row["share"], is_number=False),
            Column("triplets", lambda row: f"{row['triplets']:,}"),
            Column("references", lambda row: f"{row['references']:,}"),
            Column(agreement.HUMAN, lambda row: formatting.amount(row["human"])),
            Column(agreement.AS_PRINTED, lambda row: formatting.amount(row["as_printed"])),
            Column("oracle", lambda row: formatting.amount(row["oracle"])),
            Column("before", lambda row: _scored(row, "before")),
            Column("calibrated", lambda row: _scored(row, "calibrated")),
            Column("difference (points)", lambda row: _scored(row, "difference")),
        ),
        _share_rows(data),
    )
    return Section(
        "calibration",
        "Calibration",
        (*_sentences(data)[2:], f"{formatting.capital(_fit(data))}."),
        lead=shares,
        figures=(_curve(data),),
        notes=tuple(_notes(data)),
    )


def _curve(data: Mapping[str, Any]) -> Figure:
    curve = data["fit"]["curve"]
    columns = [
        ("step", "step", 0), ("train loss", "train_loss", 4), ("validation loss", "validation_loss", 4),
        ("train score (%)", "train_score", 1), ("validation score (%)", "validation_score", 1),
    ]  # fmt: skip
    table = Table(
        "learning_curve",
        "Cross entropy and 2AFC score by step, without dropout",
        tuple(
            Column(head, cell_of(key, partial(formatting.amount, digits=digits)))
            for head, key, digits in columns
        ),
        curve,
        is_folded=True,
    )

    first, best = curve[0], next(row for row in curve if row["step"] == data["fit"]["step"])
    return Figure(
        "learning_curve",
        "Learning curve",
        "Cross entropy with people's votes, and 2AFC score, by step of the fit; the vertical line marks the "
        "step whose weights are kept.",
        f"Validation loss {first['validation_loss']:.3f} at the start and {best['validation_loss']:.3f} at "
        f"step {best['step']:,}; validation score {first['validation_score']:.1f}% and "
        f"{best['validation_score']:.1f}%.",
        lambda width_in: figures.calibration.learning_curve(curve, data["fit"]["step"], width_in),
        table,
    )


def _weights(data: Mapping[str, Any]) -> Section:
    def part(row: Mapping[str, Any], name: str) -> str:
        return formatting.amount(row[name])

    table = Table(
        "layers",
        "Weights by layer: how many are 0, their mean, and the layer's part (%) of the distances of held-out "
        "triplets",
        (
            Column("layer", lambda row: f"{row['layer']}"),
            Column("channels", lambda row: f"{row['channels']:,}"),
            Column("0 before", lambda row: f"{row['zeros_before']:,}"),
            Column("0 now", lambda row: f"{row['zeros']:,}"),
            Column("mean before", lambda row: formatting.amount(row["mean_before"], "", 3)),
            Column("mean now", lambda row: formatting.amount(row["mean"], "", 3)),
            Column("part before", lambda row: part(row, "part_before")),
            Column("part now", lambda row: part(row, "part")),
        ),
        data["layers"],
    )
    call = f'lpips.LPIPS(net="{data["net"]}", version="{data["lpips_version"]}", model_path="{data["file"]}")'
    return Section(
        "weights",
        "Weights",
        (
            f"{data['file']} has the linear layers in the format of the reference implementation, whose "
            f"package loads them with {call}.",
        ),
        lead=table,
        tables=(_split(data),),
    )


def _split(data: Mapping[str, Any]) -> Table:
    return Table(
        "split",
        f"Share of each triplet (seed {data['seed']}); the files have all of them",
        tuple(Column(name, cell_of(name), is_number=False) for name in ("item", "set", "share")),
        data["split"],
        shown=_SHOWN_TRIPLETS,
        is_folded=True,
    )


def _settings(data: Mapping[str, Any]) -> Section:
    schedule, start = data["schedule"], data["start"]
    rows = [
        ("LPIPS", _title(data)),
        ("trunk", f"{data['trunk']['file']}, {_origin(data)}, hash {data['trunk']['hash'][:12]}"),
        ("start", start["kind"] if start["file"] is None else f"{start['file']}, hash {start['hash'][:12]}"),
        ("schedule", schedule["name"]),
        ("most steps", f"{schedule['steps']:,}"),
        ("learning rate", f"{schedule['rate']:g}"),
        ("batch", f"{schedule['batch']:,}"),
        ("dropout", f"{schedule['dropout']:g}"),
        ("seed", f"{data['seed']}"),
        ("weights", f"hash {data['weights']['hash'][:12]}"),
        *((name, version) for name, version in data["programs"].items()),
    ]
    table = Table(
        "calibration_settings",
        "Settings and versions",
        (
            Column("name", lambda row: row["name"], is_number=False),
            Column("value", lambda row: row["value"], is_number=False),
        ),
        [{"name": name, "value": value} for name, value in rows],
    )
    return Section("settings", "Settings", (), lead=table)
