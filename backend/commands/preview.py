"""The command `preview`: a study as its evaluators see it, with nothing recorded."""

import sys
import threading
import webbrowser
from contextlib import closing, suppress

import click

from backend.commands.setup import Setup, command, option


@command()
@click.argument("name")
@option("--host", default="127.0.0.1")
@option("--port", "", click.IntRange(0, 65535), default=0)
@option("--no-browser", "Do not open a browser.", bool)
def preview(setup: Setup, name: str, host: str, port: int, no_browser: bool) -> None:
    """Show the study NAME as its evaluators see it; nothing is recorded."""
    from backend.foundation.timestamps import utc_now
    from backend.handlers import evaluators_app
    from backend.web.previews import Previews
    from backend.web.server import listen, local_url, make_server, serve

    study, previews = setup.study(name), Previews(evaluators_app, utc_now)
    path = previews.open(name, lambda preview: preview.add(setup.store, setup.data, study), lasts=None)
    with (
        listen(host, port) as listening,
        closing(make_server(previews.alone, listening)) as server,
        suppress(KeyboardInterrupt),  # Ctrl-C stops it before it serves, too
    ):
        url = f"{local_url(listening)}{path}"
        click.echo(f"preview of {name}: {url}")
        click.echo("nothing is recorded; stop with Ctrl-C, which ends the preview")
        sys.stdout.flush()
        if not no_browser:
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        serve(server)
