"""A server's process that decides the looks of a study once, as soon as a file is there.

    python -m tests.unit.looking_process STORE DATA STUDY BEGIN AT

It prints a line when it waits, and then what it decided as JSON.
"""

import json
import sys
import time
from pathlib import Path

from backend.responses import study_looks
from backend.stores.opening import open_store


def main(url, data, study, begin, at):
    import backend.analysis.look_decisions
    import backend.analysis.newcomer_looks  # noqa: F401 - imported before, so that both decide at once

    store = open_store(url, Path(data))
    record = store.study(study)
    print("waits", flush=True)  # noqa: T201
    while not Path(begin).exists():
        time.sleep(0.001)
    made = study_looks.decide(store, record, at)
    newcomers = {name: one["looks"] for name, one in made["newcomers"].items()}
    print(json.dumps([made["looks"], newcomers]))  # noqa: T201
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
