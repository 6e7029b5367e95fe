"""What Lambda would not send is said in words."""

import gc
import importlib
import json
import sys
from types import SimpleNamespace

import pytest

from tests import function

EVENT = function.function_url_event("GET", "/api/studies", {}, b"")


@pytest.fixture
def reply_to(monkeypatch):
    """Return a function that gives the entry point's reply, with this body from Zappa's handler."""

    def reply_to(body, is_binary=False):
        made = {"statusCode": 200, "headers": {}, "body": body, "isBase64Encoded": is_binary}
        monkeypatch.setitem(sys.modules, "zappa.handler", SimpleNamespace(lambda_handler=lambda *_: made))
        monkeypatch.delitem(sys.modules, "deploy.entry_point", raising=False)
        return importlib.import_module("deploy.entry_point").handle(EVENT, None)

    yield reply_to
    gc.unfreeze()
    gc.enable()


@pytest.mark.parametrize(
    ("text", "is_binary"),
    [("a", False), ('"', False), ("\n", False), ("é", False), ("\u2028", False), ("A", True)],
)
def test_the_longest_reply_passes_and_a_longer_one_is_refused_in_words(reply_to, text, is_binary):
    bare = function.size_of(reply_to("", is_binary))
    each = len(json.dumps(text, ensure_ascii=False).encode()) - 2
    longest = (function.MOST_BYTES - bare) // each

    passed, refused = reply_to(text * longest, is_binary), reply_to(text * (longest + 1), is_binary)

    assert (passed["statusCode"], len(passed["body"])) == (200, longest)
    assert refused["statusCode"] == 501
    error = json.loads(refused["body"])["error"]
    assert (error["code"], "this reply has 6.3 MB" in error["message"]) == ("too_long", True)
