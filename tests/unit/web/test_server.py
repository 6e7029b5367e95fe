"""The server of one machine."""

import subprocess
import sys
import time

from waitress.trigger import trigger

from backend.web.server import in_background

COMES_AND_GOES = """
import threading
from backend.web.server import _keep_to_one_core

def come_and_go():
    while not done.is_set():
        threading.Thread(target=int).start()

done = threading.Event()
others = [threading.Thread(target=come_and_go) for _ in range(4)]
for other in others:
    other.start()
try:
    for _ in range(2000):
        _keep_to_one_core()
finally:
    done.set()
"""


def test_threads_that_end_do_not_keep_the_server_from_starting():
    found = subprocess.run([sys.executable, "-c", COMES_AND_GOES], capture_output=True, text=True)

    assert found.stderr == ""


def test_a_server_whose_thread_is_awake_when_it_is_to_stop_closes_nothing_too_early(world, monkeypatch):
    written = trigger._physical_pull

    def awake_before(self):
        written(self)  # as of a request that ends at this moment
        time.sleep(0.1)
        written(self)

    with in_background(world.app):
        monkeypatch.setattr(trigger, "_physical_pull", awake_before)
