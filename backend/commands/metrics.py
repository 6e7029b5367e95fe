"""Command that compares sets of pictures: `metrics`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from backend.commands.setup import (
    FILE,
    FOLDER,
    LEVEL,
    PATH,
    SEED,
    Setup,
    command,
    elapsed_time,
    option,
    progress_bar,
    say,
    screen_width,
)


@command()
@click.argument("name", metavar="STUDY", required=False)
@option(
    "--real", "Instead of a study: folder of real images, or a file of their features.", PATH, "DIR|FILE.npz"
)
@option(
    "--model models",
    "Folder or file of features of a model; repeatable.",
    metavar="NAME=DIR|FILE.npz",
    example="stylegan=images/stylegan",
)
@option(
    "--extractor extractors",
    "Of features: layout (default), or torch-fidelity:inception-v3-compat and others of that package; "
    "repeatable.",
    metavar="NAME",
    multiple=True,
)
@option(
    "--weights",
    "Weights of an extractor that needs them; with several, once for each, in their order.",
    PATH,
    "FILE",
    multiple=True,
)
@option("--extractor-name", "Of files of features that do not say it.", metavar="NAME", default="")
@option("--seed", "Of the bootstrap and of subsets.", SEED, default=0)
@option("--replicates", "Of the bootstrap.", click.IntRange(0, 1_000_000), "N")
@option("--kid-subsets", "Of the kernel distance's SD.", click.IntRange(1, 1_000_000), "N")
@option("--kid-subset-size", "Pictures in a subset.", click.IntRange(2, 10_000_000), "N")
@option("--neighbours", "Of precision and recall.", click.IntRange(1, 1000), "K")
@option("--density-neighbours", "Of density and coverage.", click.IntRange(1, 1000), "K")
@option("--extrapolate", "Also extrapolate the Frechet distance to infinitely many pictures.", bool)
@option("--skip-bad", "Leave out files that cannot be read as pictures.", bool)
@option("--json as_json", "Print JSON, with full precision.", bool)
@option("-o --out", "Also write the values into a CSV, as `openhype report --metrics` reads it.", FILE, "CSV")
@option("--save-features", "Also write the features into files in this directory.", FOLDER, "DIR")
@LEVEL
def metrics(
    setup: Setup,
    name: str | None,
    real: Path | None,
    models: tuple[tuple[str, str], ...],
    extractors: tuple[str, ...],
    weights: tuple[Path, ...],
    extractor_name: str,
    skip_bad: bool,
    as_json: bool,
    out: Path | None,
    save_features: Path | None,
    level: float,
    **chosen: Any,
) -> None:
    """Compare models' pictures with the reals: those that people judged in STUDY, or those in folders.

    Frechet and kernel distance (FID and KID, if the features are Inception's), precision, recall, density and
    coverage, with intervals. Those of a study are kept with it, and shown in its report; if people finished
    it, how far they order the models as people do is printed too.
    """
    from backend.foundation.atomic_files import write_whole
    from backend.foundation.timestamps import utc_now
    from backend.metrics import study_metrics
    from backend.metrics.runs import Plan, folder_runs, study_runs
    from backend.metrics.set_distances import Options
    from backend.report import metrics as agreement
    from backend.report import picture_metrics
    from backend.report.context import FindingsView
    from backend.report.elements import Report
    from backend.report.text_report import as_sections

    if (name is None) == (real is None and not models):
        raise click.UsageError("name a study, or give folders: --real DIR --model NAME=DIR …")
    if name is None and (real is None or not models):
        raise click.UsageError("--real DIR and at least one --model NAME=DIR are needed")
    options = Options(level=level, **{key: value for key, value in chosen.items() if value is not None})
    cache = setup.data.cache("features")
    plan = Plan(cache, options, extractors, weights, skip_bad, save_features, progress_bar, say)
    scores: dict[str, Any] | None = None
    not_kept: OSError | None = None
    if name is None:
        assert real is not None  # checked above
        runs = folder_runs(plan, {None: real, **_models(models)}, extractor_name)
    else:
        study = setup.study(name)
        runs, sets = study_runs(plan, setup.store, setup.data, study)
        try:
            stored = study_metrics.keep(setup.data, study, runs, sets, utc_now())
        except OSError as error:  # a full disk: print what was computed all the same
            not_kept = error
        else:
            with elapsed_time("agreement"):
                scores = agreement.metric_findings(
                    setup.store, study, study_metrics.metrics_of(stored), level
                )
    if as_json:
        rows = scores["findings"]["metrics"] if scores else []
        result = {"study": name, "runs": runs, "agreement": rows}
        click.echo(json.dumps(result, indent=2, allow_nan=False))
    else:
        about = [picture_metrics.section(runs), agreement.section(FindingsView(scores)) if scores else None]
        sections = tuple(section for section in about if section)
        click.echo(as_sections(Report("", "", (), (), sections), screen_width()))
    if out is not None:
        write_whole({out: picture_metrics.as_csv(runs).encode()})
        click.echo(str(out), err=True)
    if not_kept is not None:
        raise not_kept


def _models(models: Sequence[tuple[str, str]]) -> dict[str | None, Path]:
    from backend.administration.study_spec import check_models

    check_models([name for name, _ in models])
    return {name: Path(place) for name, place in models}
