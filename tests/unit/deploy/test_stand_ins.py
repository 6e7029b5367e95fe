"""The stand-ins for Lambda and CloudFront have the limits that AWS publishes, as they say themselves."""

import hashlib
import http.client
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from urllib.parse import urlsplit

import pytest

from tests.cloudfront import Cloudfront, serving
from tests.function import MOST_BYTES, Function

OWN = """
import subprocess, sys, threading, time

counts = {"requests": 0, "thread": 0}
CHILD = '''
import sys, time
for _ in range(2000):
    print(1, file=open(sys.argv[1], "a"), flush=True)
    time.sleep(0.01)
'''

def count():
    while True:
        counts["thread"] += 1
        time.sleep(0.01)

def handle(event, context):
    counts["requests"] += 1
    path, query = event["rawPath"], event["rawQueryString"]
    if path == "/api/sessions/long":
        return {"statusCode": 200, "body": "a" * int(query)}
    if path == "/api/sessions/start":
        threading.Thread(target=count, daemon=True).start()
        subprocess.Popen([sys.executable, "-c", CHILD, query], start_new_session=True)
        time.sleep(0.3)
    if path == "/api/sessions/slow":
        time.sleep(1)
    return {"statusCode": 200, "body": f"{counts['requests']} {counts['thread']}"}
"""
ENVELOPE = len('{"statusCode": 200, "body": ""}')


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Return a function that starts so many instances of a function of the tests' own behind CloudFront."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "own.py").write_text(OWN)
    with ExitStack() as stack:

        def start(count=1, **limits):
            running = [stack.enter_context(closing(Function(folder, {}, "own.handle"))) for _ in range(count)]
            cloudfront = Cloudfront("no-bucket", {"api": running}, **limits)
            return cloudfront, stack.enter_context(serving(cloudfront))

        yield start


def ask(url, target, method="GET", body=b""):
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)) as connection:
        digest = {"X-Amz-Content-Sha256": hashlib.sha256(body).hexdigest()}
        connection.request(method, f"/api/sessions/{target}", body, digest)
        reply = connection.getresponse()
        return reply.status, reply.read()


def test_a_reply_that_is_too_long_is_a_502_that_is_no_json(start):
    _, url = start()

    longest = ask(url, f"long?{MOST_BYTES - ENVELOPE}")
    longer = ask(url, f"long?{MOST_BYTES - ENVELOPE + 1}")

    assert (longest[0], len(longest[1])) == (200, MOST_BYTES - ENVELOPE)
    assert longer == (502, b"<h1>502 Bad Gateway</h1>")


def test_a_request_that_is_too_long_does_not_reach_the_function(start):
    _, url = start()

    refused = ask(url, "x", "POST", bytes(MOST_BYTES * 3 // 4))  # base64 takes four bytes for three

    assert refused[0] == 413
    assert ask(url, "x")[1] == b"1 0"


def test_ten_requests_a_second_are_taken_for_each_instance(start):
    second = [0.0]
    cloudfront, url = start(2, clock=lambda: second[0])

    with ThreadPoolExecutor(8) as pool:
        replies = [*pool.map(lambda _: ask(url, "x"), range(40))]
    second[0] = 1.0

    refused = [reply for reply in replies if reply[0] != 200]
    assert {*refused} == {(429, b"<h1>429 Too Many Requests</h1>")}
    assert cloudfront.counts["Too Many Requests"] == len(refused) == 20
    assert ask(url, "x")[0] == 200


def test_what_a_request_started_goes_on_during_the_next_one_only(start, tmp_path):
    _, url = start()
    written = tmp_path / "written"

    _, started = ask(url, f"start?{written}")[1].split()
    before = written.read_bytes()
    time.sleep(1)
    after = written.read_bytes()
    _, thread = ask(url, "x")[1].split()
    ask(url, "slow")

    assert len(before) == len(after) > 0
    assert int(thread) - int(started) < 60  # a hundred in the second between
    assert len(written.read_bytes()) > len(after)


def test_a_get_is_sent_again_after_the_time_for_a_reply_and_a_post_is_not(start):
    cloudfront, url = start(2, timeout_s=0.5)

    posted = ask(url, "slow", "POST")
    timeouts = cloudfront.counts["timeouts"]
    time.sleep(1)
    got = ask(url, "slow")

    assert posted == got == (504, b"<h1>504 Gateway Timeout</h1>")
    assert (timeouts, cloudfront.counts["timeouts"]) == (1, 1 + 3)
