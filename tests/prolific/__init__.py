"""A fake of Prolific's API on loopback, for tests: `with prolific.running() as fake: …`.

`books` is what Prolific knows and does (studies, places, money), `api` its HTTP interface as a function,
`server` that function behind a socket that can fail, `webhooks` what it sends by itself.
"""

from .books import Books, Clock, Refusal
from .server import Fake, running
from .webhooks import signature

__all__ = ["Books", "Clock", "Fake", "Refusal", "running", "signature"]
