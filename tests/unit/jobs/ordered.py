"""Orders of studies in tests: pictures sent as uploads, requests over HTTP, and a worker for the jobs."""

import io

import numpy as np
from PIL import Image

from backend.jobs.worker import Worker
from backend.uploads.local_uploads import LocalUploads
from tests.unit.uploads import streams


def picture(seed, size=(16, 16), form="PNG", **options):
    """Return the file of a picture of noise."""
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3)).astype("uint8")
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, form, **options)
    return buffer.getvalue()


def noise(first, count=30, suffix="png", **options):
    """Return files of pictures by their names."""
    return {f"{i}.{suffix}": picture(first + i, **options) for i in range(count)}


class Orders:
    """A member who orders studies."""

    def __init__(self, world, member="owner"):
        self.world, self.member = world, member
        self.uploads = LocalUploads(world.data)
        self.worker = Worker(world.store, world.data, self.uploads, tick_s=0.02)

    def sent(self, files):
        """Return the id of a complete upload of these files."""
        return streams.send(self.uploads, self.member, files, self.world.clock()).id

    def faces(self, **changes):
        """Return the order of a small study."""
        return {
            "name": "faces",
            "real": self.sent(noise(0)),
            "models": [{"model": "gan", "upload": self.sent(noise(1000))}],
            "settings": {"images": 20, "size_px": 16, "evaluators": 3},
            **changes,
        }

    def call(self, verb, path, body=None):
        headers = {"X-Openhype-Token": self.world.data.keys().researcher}
        return self.world.http.open(
            f"/api{path}",
            method=verb,
            headers=headers,
            buffered=True,
            **({"json": body} if body is not None else {}),
        )

    def ordered(self, body, path="/studies"):
        reply = self.call("POST", path, body)
        assert reply.status_code == 202, reply.json
        return reply.json["job"]

    def done(self, body, path="/studies"):
        """Order, have the worker do the job, and return it as the API shows it."""
        job = self.ordered(body, path)
        self.worker.run_once()
        return self.call("GET", f"/jobs/{job}").json

    def audit(self, **changes):
        job = self.done(self.faces(**changes), "/audits")
        assert job["state"] == "done", job
        return job["result"]


def signed_panel(keys):
    """Return the record of a panel whose links are signed, with the address of its keys."""
    claims = {"person": "sub"}
    return {
        "name": "campus",
        "evaluator": "person",
        "signature": {"parameter": "proof", "keys": keys, "claims": claims},
    }
