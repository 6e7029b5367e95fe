"""Commands that run studies: `serve`, `status`, `simulate` and `demo`."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import click

from backend.commands.browser import has_screen, shown
from backend.commands.jobs import worker_beside
from backend.commands.serving import Addresses, reach_lines, study_lines
from backend.commands.setup import PATH, SEED, Number, Setup, command, option, progress_bar, server_url
from backend.experiment.observer import PICTURE_SD
from backend.experiment.records import Study
from backend.foundation.addresses import VARIABLE, origin_of, parse_public, study_page
from backend.foundation.errors import InvalidInput
from backend.uploads.limits import ALL_GB, EACH_GB, FREE_GB, GB, Quota
from backend.web.session_rate_limit import PER_HOUR, PER_MINUTE

_WATCH_SECONDS = 2.0


def _session_limit(span: str, default: int, text: str) -> Callable:
    """An option of how many sessions one address opens in a minute or an hour."""
    variable = f"OPENHYPE_SESSIONS_PER_{span.upper()}"
    names = f"--sessions-per-{span} per_{span}"
    return option(names, text, click.IntRange(0), "N", default=default, envvar=variable)


def _upload_limit(name: str, default: int, text: str) -> Callable:
    """An option of how much may be uploaded (GB), read by the worker as well."""
    variable = f"OPENHYPE_{name.upper().replace('-', '_')}"
    return option(f"--{name}", text, click.IntRange(0, 10**9 - 1), "GB", default=default, envvar=variable)


@command()
@option("--host", default="127.0.0.1")
@option("--port", "", click.IntRange(0, 65535), default=8000)
@option(
    "--url public",
    "Where everybody reaches the pages, as https://study.lab.edu: all links begin with it.",
    metavar="URL",
    envvar=VARIABLE,
    show_envvar=True,
)
@option(
    "--behind-proxy",
    "Trust X-Forwarded-For, -Proto, -Host and -Prefix of one proxy in front.",
    bool,
    envvar="OPENHYPE_BEHIND_PROXY",
    show_envvar=True,
)
@option(
    "--base-path",
    "The path below which browsers reach the pages, as /hype for https://lab.example/hype/; the proxy "
    "may take it off or leave it.",
    default="",
    metavar="PATH",
    envvar="OPENHYPE_BASE_PATH",
    show_envvar=True,
)
@option(
    "--sign-in-header",
    "With --behind-proxy: the header in which the proxy names the member whom it has authenticated; it "
    "counts only beside the proxy's secret (docs/access.md).",
    metavar="NAME",
    envvar="OPENHYPE_SIGN_IN_HEADER",
    show_envvar=True,
)
@option(
    "--origin origins",
    "Another address at which browsers reach these pages, as https://faces.lab.example; else only "
    "pages at the address that requests name may change anything. May be repeated.",
    metavar="URL",
    multiple=True,
    envvar="OPENHYPE_ORIGINS",
)
@_session_limit("minute", PER_MINUTE, "New sessions of one client address, at most; 0 for any number.")
@_session_limit("hour", PER_HOUR, "The same in an hour.")
@_upload_limit("upload-gb", EACH_GB, "What one member's uploads may have in all, and one archive unpacked.")
@_upload_limit("uploads-gb", ALL_GB, "What all members' uploads may have.")
@_upload_limit("free-gb", FREE_GB, "Disk space that uploads leave free.")
@option("--no-browser", "Do not open the console in a browser, where there is a screen.", bool)
@option("--no-sign-in-link", "Print no link that signs in; for a server whose output others read.", bool)
@option("--no-worker", "Start no worker; `openhype work` does jobs, on this or another machine.", bool)
def serve(
    setup: Setup,
    host: str,
    port: int,
    public: str | None,
    behind_proxy: bool,
    base_path: str,
    sign_in_header: str | None,
    origins: tuple[str, ...],
    per_minute: int,
    per_hour: int,
    upload_gb: int,
    uploads_gb: int,
    free_gb: int,
    no_browser: bool,
    no_sign_in_link: bool,
    no_worker: bool,
) -> None:
    """Serve the task page and the API on this machine."""
    from backend.members.sign_in_links import SignInLinks
    from backend.uploads.local_uploads import LocalUploads
    from backend.web.origins import parse_origin
    from backend.web.proxies import sign_in_header as make_header
    from backend.web.server import listen
    from backend.web.session_rate_limit import Openings

    try:
        allowed = frozenset(map(parse_origin, origins))
    except InvalidInput as error:
        raise click.BadParameter(str(error), param_hint="'--origin'") from None
    base_path, public = _parse_base(base_path, public)
    if public:
        allowed |= {parse_origin(origin_of(public))}
    try:
        proxy = make_header(sign_in_header, behind_proxy, setup.data, os.environ)
    except InvalidInput as error:
        raise click.BadParameter(str(error), param_hint="'--sign-in-header'") from None
    quota = Quota(upload_gb * GB, uploads_gb * GB, free_gb * GB)
    for name, value in (("UPLOAD", upload_gb), ("UPLOADS", uploads_gb), ("FREE", free_gb)):
        os.environ[f"OPENHYPE_{name}_GB"] = str(value)  # for the worker, which inherits it
    uploads = LocalUploads(setup.data, quota)
    openings = Openings(per_minute, per_hour)
    options = {"allowed": allowed, "openings": openings, "uploads": uploads, "proxy": proxy}
    options |= {"base_path": base_path, "base_url": public}
    options["sign_in_links"] = None if no_sign_in_link else SignInLinks()
    with listen(host, port) as listening:
        _serve(
            setup,
            listening,
            behind_proxy=behind_proxy,
            has_worker=not no_worker,
            is_opened=not no_browser,
            **options,
        )


def _parse_base(base_path: str, public: str | None) -> tuple[str, str | None]:
    """Return the base path, by default that of the public address, and the public address below it."""
    from urllib.parse import urlsplit

    from backend.web.proxies import parse_base_path

    try:
        public = parse_public(public) if public else None
        path = urlsplit(public).path if public else ""
    except InvalidInput as error:
        raise click.BadParameter(str(error), param_hint="'--url'") from None
    try:
        base_path = parse_base_path(base_path or path)
    except InvalidInput as error:
        raise click.BadParameter(str(error), param_hint="'--base-path'" if base_path else "'--url'") from None
    if path not in ("", base_path):
        raise click.UsageError(f"--url ends in {path}, and --base-path is {base_path}")
    return base_path, public if path or public is None else public + base_path


def _serve(
    setup: Setup,
    listening: Any,
    start_page: Any = None,
    behind_proxy: bool = False,
    has_worker: bool = True,
    is_opened: bool = False,
    **options: Any,
) -> None:
    """Serve on a socket that already listens, so that a port in use is reported before any work."""
    from backend.foundation.file_permissions import tighten
    from backend.handlers import create_app
    from backend.stores.opening import sqlite_path
    from backend.stores.served_address import served
    from backend.task.withdrawal import finish
    from backend.web.server import is_everywhere, make_server, reached_at
    from backend.web.server import serve as run

    for note in tighten(setup.data.root, sqlite_path(setup.url, setup.data.root)):
        click.echo(note, err=True)
    finish(setup.store)
    watch = _open_panel_watch(setup)
    if start_page:
        options["front"] = start_page.front
    addresses = _addresses(listening, options.get("base_path", ""), options.get("base_url"))
    app = create_app(
        setup.store,
        setup.data,
        setup.data.keys(),
        watch=watch,
        behind_proxy=behind_proxy,
        other_urls=lambda: _addresses(listening, options.get("base_path", "")).others,
        **options,
    )
    server = make_server(app, listening, behind_proxy=behind_proxy)
    with ExitStack() as stack, suppress(KeyboardInterrupt):  # Ctrl-C stops it before it serves, too
        stack.callback(server.close)
        stack.enter_context(served(setup.data, setup.url, addresses.shown, reached_at(listening)))
        link = _sign_in_link(addresses.shown, options.get("sign_in_links"))
        _print_addresses(setup, listening, addresses, link, is_demo=start_page is not None)
        _print_proxy(setup, options.get("proxy"), behind_proxy and is_everywhere(listening))
        sys.stdout.flush()
        if start_page is not None:
            stack.callback(start_page.stop)
            start_page.start(app, addresses.local)
        if watch is not None:
            stack.callback(watch.stop)
            watch.start()
        if has_worker:
            worker = worker_beside(setup, addresses.local)
            stack.callback(worker.stop)
            worker.start()
        if link and is_opened and has_screen(os.environ):
            stack.enter_context(shown(link, setup.data))
        run(server)


def _addresses(listening: Any, base_path: str, public: str | None = None) -> Addresses:
    """Return where a server is reached that listens on a socket, below a path."""
    from backend.web.server import local_url, other_urls

    others = [] if public else [url + base_path for url in other_urls(listening)]
    return Addresses(local_url(listening) + base_path, others, public)


def _sign_in_link(base: str, links: Any) -> str:
    """Return a new one-time link to the console, "" where none is wanted."""
    from backend.foundation.timestamps import utc_now

    return links.issue(base, utc_now()) if links else ""


def _print_addresses(setup: Setup, listening: Any, addresses: Addresses, link: str, is_demo: bool) -> None:
    from backend.web.server import is_everywhere

    studies = setup.store.studies()
    if not studies and not is_demo:
        click.echo(
            f"no study yet in {setup.data.root}: make one in the console or with `openhype create`, or try "
            "`openhype demo`; it is served as soon as it is made"
        )
    reached = [] if is_demo else reach_lines(addresses, is_everywhere(listening))
    for line in [*study_lines(studies, addresses), *reached]:
        click.echo(line)
    click.echo(f"console: {addresses.shown}/console; results: {addresses.shown}/results")
    if link:
        click.echo(f"sign in to the console by this link, once, within ten minutes:\n  {link}")
    click.echo(f"researcher's key: {setup.data.root / 'keys.json'}; stop with Ctrl-C")


def _print_proxy(setup: Setup, proxy: Any, is_open: bool) -> None:
    """Print what the server believes of its proxy, and whether others can say the same."""
    from backend.web.proxies import SECRET, secret_place

    if proxy:
        click.echo(
            f"members are signed in by the proxy's header {proxy.name}; it counts only beside {SECRET}, with "
            f"the secret in {secret_place(setup.data, os.environ)}"
        )
    if is_open:
        click.echo(
            "note: a client that reaches this port without the proxy can claim any address; allow "
            "the proxy only (--host 127.0.0.1, or a firewall)",
            err=True,
        )


def _open_panel_watch(setup: Setup) -> Any:
    """Return who keeps places at Prolific in agreement, where there is a token to ask it with."""
    from backend.commands.recruit import make_watch
    from backend.recruitment.sync import recruited

    if os.environ.get("PROLIFIC_TOKEN") or os.environ.get("PROLIFIC_TOKEN_FILE"):
        return make_watch(setup)
    for study in recruited(setup.store, "prolific"):
        click.echo(
            f"note: {study.name} recruits at Prolific, and there is no PROLIFIC_TOKEN here; "
            f"have `openhype recruit {study.name} --watch` run where there is",
            err=True,
        )
    return None


@command()
@click.argument("name", required=False)
@option("--json as_json", "Print JSON.", bool)
@option("--watch is_watched", "Keep showing it live, with scores.", bool)
def status(setup: Setup, name: str | None, as_json: bool, is_watched: bool) -> None:
    """List the studies, or show how far the study NAME is."""
    from backend.foundation.timestamps import readable, utc_now
    from backend.jobs.rerun_schedule import schedule_of
    from backend.web.progress import as_text, progress

    studies = (setup.store.studies() if setup.has_store else []) if name is None else [setup.study(name)]
    if not studies:
        click.echo(
            "[]" if as_json else "no study yet; make one with `openhype create`, or try `openhype demo`"
        )
    elif is_watched:
        _watch(setup, studies, as_json)
    else:
        lines = [progress(setup.store, study, utc_now()) for study in studies]
        text = "\n".join(as_text(data) for data in lines)
        click.echo(json.dumps(lines[0] if name else lines, indent=2) if as_json else text)
        if not name or as_json:
            return
        if again := schedule_of(setup.store, studies[0]):
            click.echo(f"  made again every {again.days} days, next on {readable(again.next_at)}")
        if address := setup.address:
            click.echo(f"  link: {study_page(address, name)}")


def _watch(setup: Setup, studies: list[Study], as_json: bool) -> None:
    import time

    from backend.commands.live import follow
    from backend.foundation.timestamps import utc_now
    from backend.web.monitor import Watch

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    watches = [Watch(setup.store, study) for study in studies]
    is_screen = sys.stdout.isatty() and not as_json
    follow(
        lambda: [watch.with_scores(utc_now()) for watch in watches],
        write,
        lambda: time.sleep(_WATCH_SECONDS),
        shutil.get_terminal_size().columns if is_screen else None,
        json.dumps if as_json else None,
    )


@command()
@click.argument("name")
@option(
    "--evaluators",
    "Total; default: as many as the study wants, minus those simulated before.",
    click.IntRange(1),
    "N",
)
@option(
    "--accuracy observers",
    "0.81, dprime=1.2, or threshold=250,slope=3,lapse=0.02,guess=0.5; `all=…` for every model not named.",
    metavar="MODEL=OBSERVER",
    example="gan=0.8",
)
@option(
    "--strength strengths",
    "In a tournament, how real a model (or `real`) looks; default: evenly from -1 to 1, in their order.",
    metavar="MODEL=LOG_ODDS",
    example="gan=0.5",
)
@option(
    "--sd",
    "SD between evaluators of accuracy, or of each strength in a tournament.",
    Number(0, 0.5),
    default=0.0,
    show_default=False,
)
@option(
    "--picture-sd",
    "SD between the pictures of a model, in probits: some fool everybody.",
    Number(0, 2),
    default=PICTURE_SD,
)
@option(
    "--url",
    "A running server, which asks for the key of the data directory or OPENHYPE_KEY; default: one of "
    "its own on this store.",
    callback=server_url,
)
@option("--seed", "", SEED, default=0)
@option("--at-once", "", click.IntRange(1, 256), default=8)
def simulate(setup: Setup, name: str, observers: tuple, strengths: tuple, **options: Any) -> None:
    """Have simulated evaluators take part in the study NAME, through the real HTTP API.

    Their sessions are marked as simulated, and count, pay and limit nothing.
    """
    from backend.commands.simulated_evaluators import simulate as run

    done = run(
        setup.store,
        setup.data,
        name,
        dict(observers),
        strengths=dict(strengths),
        progress=progress_bar,
        **options,
    )
    if not done:
        click.echo(
            f"{name} has as many simulated sessions as it wants of real ones; ask for more with "
            f"--evaluators N, or remove them with: openhype clear {name} --simulated"
        )
        return
    click.echo(f"{done} simulated evaluators finished {name}; next: openhype score {name} --simulated")


@command()
@option("--port", "", click.IntRange(0, 65535), default=8000)
@option("--no-browser", "Do not open a browser.", bool)
@option("--folders", "Write pictures for the README's example into DIR; serve nothing.", PATH, "DIR")
def demo(setup: Setup, port: int, no_browser: bool, folders: Path | None) -> None:
    """Serve the sample studies, which are made meanwhile if they are missing."""
    from backend.commands.demonstration import StartPage, write_example
    from backend.members.sign_in_links import SignInLinks
    from backend.web.server import listen

    if folders is not None:
        write_example(folders)
        return
    with listen("127.0.0.1", port) as listening:
        _serve(setup, listening, StartPage(setup, is_opened=not no_browser), sign_in_links=SignInLinks())
