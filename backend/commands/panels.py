"""Commands that invite evaluators: `links`."""

import click

from backend.commands.setup import Setup, command, option


@command()
@click.argument("name")
@option("--count", "How many links.", click.IntRange(1, 100_000), "N", required=True)
@option("--url", "Where evaluators reach it; default: where it is served at this moment.")
def links(setup: Setup, name: str, count: int, url: str | None) -> None:
    """Print private links to the study NAME, one a person; the store keeps their hashes only."""
    from backend.experiment.panel import PRIVATE_LINK
    from backend.foundation.addresses import study_page
    from backend.task.eligibility import issue_links

    study = setup.study(name)
    base = url or setup.address
    if not base:
        raise click.UsageError("say where evaluators reach it, --url https://…, or start `openhype serve`")
    for token in issue_links(setup.store, setup.data.keys().hashing, study.name, count):
        click.echo(f"{study_page(base, study.name)}?{PRIVATE_LINK}={token}")
    if not study.protocol.admission.panel.private_links:
        click.echo("note: the open link works as well; `--panel private` makes a study without one", err=True)
