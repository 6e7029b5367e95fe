"""A researcher who calls the API, and the worker of the server."""

from backend.jobs.queue import job
from backend.jobs.worker import Worker


class Researcher:
    """Calls routes of a world with the researcher's key."""

    def __init__(self, world):
        self.world = world
        self.headers = {"X-Openhype-Token": world.data.keys().researcher}

    def get(self, path, status=200, **options):
        reply = self.world.http.get(f"/api/{path}", headers=self.headers, buffered=True, **options)
        assert reply.status_code == status, reply.get_data(as_text=True)[:2000]
        return reply.json if reply.is_json else reply

    def post(self, path, body=None, status=200):
        reply = self.world.http.post(f"/api/{path}", json={} if body is None else body, headers=self.headers)
        assert reply.status_code == status, reply.get_data(as_text=True)[:2000]
        return reply.json

    def refused(self, path, body, status, code):
        """Post what is refused; return the message."""
        error = self.post(path, body, status)["error"]
        assert error["code"] == code, error
        return error["message"]

    def job(self, path, body=None, url=None):
        """Post what enqueues a job, have it done, and return it as it ended."""
        return self.done(self.post(path, body, 202)["job"], url)

    def done(self, name, url=None):
        world = self.world
        Worker(world.store, world.data, url=url, clock=world.clock).run_once()
        return job(world.store, name)
