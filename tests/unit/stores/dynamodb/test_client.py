"""Calls of DynamoDB whose replies end early."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from backend.foundation.errors import StoreFailed
from backend.stores.dynamodb.client import Calls, connect, key
from tests.dynamodb import REGION

ITEM = {**key("session", "1"), "v": {"N": "3"}}
CALLS = {
    "get": (lambda calls: calls.get("session", "1"), {"Item": ITEM}),
    "newest": (lambda calls: calls.newest("session"), {"Items": [ITEM], "Count": 1}),
    "each": (lambda calls: next(calls.each("session")), {"Items": [ITEM], "Count": 1}),
    "many": (lambda calls: calls.many([("session", "1")])[0], {"Responses": {"table": [ITEM]}}),
    "update": (
        lambda calls: calls.update("session", "1", "SET v = :v", "v = :v", ITEM, returns_before=True),
        {"Attributes": ITEM},
    ),
}


@pytest.fixture
def server():
    """A DynamoDB that gives `server.reply`, of the first time the first `server.cut` bytes only."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.calls = 0
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.calls += 1
        body = self.server.reply
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.cut if self.server.calls == 1 else None])

    def log_message(self, *args):
        pass


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("share", [0, 0.5, 0.99])
def test_a_reply_that_ends_early_is_asked_for_again(server, name, share):
    call, reply = CALLS[name]
    server.reply = json.dumps(reply).encode()
    server.cut = int(share * len(server.reply))
    client = connect({"region": REGION, "endpoint": f"http://127.0.0.1:{server.server_port}"})

    assert call(Calls(client, "table", sleep=lambda seconds: None)) == ITEM

    assert server.calls == 2
    client.close()


class Throttled:
    """A client of DynamoDB that answers at most `served` of the keys it is asked for in one call."""

    def __init__(self, served):
        self.served, self.asked = served, 0

    def batch_get_item(self, **request):
        self.asked += 1
        keys = request["RequestItems"]["table"]["Keys"]
        return {
            "Responses": {"table": keys[: self.served]},
            "UnprocessedKeys": {"table": {"Keys": keys[self.served :]}} if keys[self.served :] else {},
        }


@pytest.mark.parametrize(("count", "served"), [(1000, 90), (1000, 99), (100, 1), (35, 3), (2500, 99)])
def test_many_keys_arrive_while_each_reply_brings_some(count, served):
    wanted = [key("session", str(i)) for i in range(count)]

    items = Calls(Throttled(served), "table", sleep=lambda seconds: None).many(
        ("session", str(i)) for i in range(count)
    )

    assert sorted(map(str, items)) == sorted(map(str, wanted))


def test_many_keys_are_given_up_after_ten_replies_in_a_row_without_one():
    client = Throttled(0)

    with pytest.raises(StoreFailed, match="did not answer 10 times"):
        Calls(client, "table", sleep=lambda seconds: None).many([("session", "1")])

    assert client.asked == 10
