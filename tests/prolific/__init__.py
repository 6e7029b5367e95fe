"""A fake of Prolific's API, for tests, as strict as the real one: `with prolific.running() as fake: …`.

`books` is what Prolific knows and does (studies, places, money), by the rules in `studies` and `wallets`;
`api` is its HTTP interface as a function, `server` that function behind a socket, or without one, that can
fail (`faults`); `hooks` is what it sends by itself, `signing` the signature of its links. `README.md` has
the source of each rule.
"""

from .books import Books, Clock
from .hooks import signature
from .refusals import Refusal
from .server import Fake, running

__all__ = ["Books", "Clock", "Fake", "Refusal", "running", "signature"]
