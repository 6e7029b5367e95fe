"""A payer in a process of its own that ends, without a farewell, at a step named on its command line.

    python -m tests.unit.killed_payer DATA STUDY PANEL_STUDY SIDE CALL COUNT

The process is gone at the COUNT-th time that it is SIDE (`before`, `after`) CALL.
"""

import os
import sys
from pathlib import Path

from backend.foundation.timestamps import utc_now
from backend.panels.prolific import open_prolific
from backend.payment import payer as paying
from backend.stores.opening import open_store

from .payment.test_payer_faults import PANEL_CALLS, STORE_CALLS, Fated


class Exit:
    """A fate that ends the process."""

    def __init__(self, side, name, count):
        self._where, self._left = (side, name), count

    def meet(self, side, name, _):
        self._left -= (side, name) == self._where
        if self._left == 0:
            os._exit(9)


def main(data, study, panel_study, side, name, count):
    store = open_store("sqlite:///openhype.db", Path(data))
    fate = Exit(side, name, int(count))
    payer = paying.Payer(
        Fated(store, fate, STORE_CALLS), store.study(study), Fated(open_prolific(), fate, PANEL_CALLS),
        panel_study, utc_now, batch=3,
    )  # fmt: skip
    payer.run()
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
