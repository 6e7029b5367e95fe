"""Time to the consent page on a slow line: as served, and with the same files without optimizations.

Without them, no module is preloaded, the study is requested once all modules run, and nothing is
compressed. The line is Chromium's emulation of 400 ms latency and 400 kbit/s.
"""

import re
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from backend.handlers import create_app
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.web.server import in_background
from tests import browser
from tests.unit import sample_studies as studies

LATENCY_MS, BYTES_PER_SECOND = 400, 50_000
ROUNDS = 3


def run() -> dict:
    """Return the ratio of times; for each variant, the seconds, requests and bytes received."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        data = DataDir(Path(folder))
        store = open_store("sqlite:///openhype.db", data.root)
        study = studies.study("faces", images=8, panel="link")
        store.add_study(study, studies.pool(study))
        app = create_app(store, data, data.keys())
        chromium = playwright.chromium.launch(**browser.launch_options())
        with in_background(app) as ours, in_background(without_help(app)) as plain:
            rounds = [(_loaded(chromium, ours), _loaded(chromium, plain)) for _ in range(ROUNDS)]
        chromium.close()
        store.close()
    mine, theirs = (
        {
            "seconds": median(each["seconds"] for each in side),
            "requests": side[0]["requests"],
            "bytes": side[0]["bytes"],
        }
        for side in zip(*rounds, strict=True)
    )
    return {
        "time to consent on a slow line, ours / without preloads and compression": {
            "ratio": mine["seconds"] / theirs["seconds"], "goal": "under 0.7", "ours": mine, "plain": theirs,
        },
    }  # fmt: skip


def without_help(app: Callable) -> Callable:
    """Return the application without preloads, early request, and compression."""

    def plain(environ: dict, start_response: Callable) -> Iterable[bytes]:
        environ = {name: value for name, value in environ.items() if name != "HTTP_ACCEPT_ENCODING"}
        if not environ["PATH_INFO"].startswith("/s/"):
            return app(environ, start_response)
        started: list = []
        page = b"".join(app(environ, lambda *told: started.extend(told)))
        page = re.sub(rb'<link rel="modulepreload"[^>]*>|<script defer[^>]*></script>', b"", page)
        status, headers = started[:2]
        start_response(status, [(n, v) for n, v in headers if n != "Content-Length"])
        return [page]

    return plain


def _loaded(chromium: Browser, url: str) -> dict[str, float]:
    context = chromium.new_context()
    page = context.new_page()
    wire = context.new_cdp_session(page)
    wire.send("Network.enable")
    speed = {"downloadThroughput": BYTES_PER_SECOND, "uploadThroughput": BYTES_PER_SECOND}
    wire.send("Network.emulateNetworkConditions", {"offline": False, "latency": LATENCY_MS, **speed})
    received: list[float] = []
    wire.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    began = time.perf_counter()
    page.goto(f"{url}/s/faces", wait_until="commit")
    page.wait_for_selector("body[data-screen=consent]", timeout=60_000)
    seconds = time.perf_counter() - began
    context.close()
    return {"seconds": seconds, "requests": len(received), "bytes": sum(received)}
