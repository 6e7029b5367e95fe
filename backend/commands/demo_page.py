"""The start page of the demo: what openhype is, the sample studies to play, and their progress.

Only `openhype demo` has it; `/` on a server of studies lists nothing.
"""

from flask import Flask, Response, abort, redirect, request
from werkzeug.wrappers import Response as Redirect

from backend.commands import demo_studies as studies
from backend.commands.demo_making import Making
from backend.stores.datadir import DataDir
from backend.web import headers

FRONT = "start.html"
"""The page of the frontend that is served at `/`."""


def add_pages(app: Flask, data: DataDir, making: Making) -> None:
    """Add the routes of the start page to `app`; redirect to it from a study that is not ready yet."""

    @app.get("/api/demo")
    def demo_status() -> dict:
        return making.status(request.script_root)

    @app.get("/demo/<int:number>.png")
    def example(number: int) -> Response:
        path = studies.example(data, number)
        if not path.exists():
            abort(404)
        return Response(path.read_bytes(), content_type=headers.content_type(path.name))

    @app.before_request
    def wait_for_study() -> Redirect | None:
        folder, _, name = request.path.strip("/").partition("/")
        is_made = folder != "s" or making.is_ready(name)
        return None if is_made else redirect(f"{request.script_root}/#{name}")
