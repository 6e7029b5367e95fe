"""`kill -9` in the middle of many sessions: what was acknowledged is there, once, and all finish."""

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from backend.commands.simulated_evaluators import Client
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.task.picture_names import PictureNames
from tests.ports import free_port
from tests.unit.whole_sessions import take_part

from . import sample_studies as studies

SESSIONS = 50


@contextlib.contextmanager
def server(data, port):
    command = [sys.executable, "-m", "backend", "serve", "--data", str(data), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        process.stdout.readline()  # it listens once it has said so
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


@pytest.mark.slow("a process is killed again and again")
def test_a_killed_server_has_lost_and_doubled_nothing(tmp_path):
    study = studies.study(images=40, evaluators=SESSIONS)
    store = open_store("sqlite:///openhype.db", tmp_path)
    store.add_study(study, studies.pool(study, each=60))
    names = PictureNames(DataDir(tmp_path).keys().hashing)
    pictures = {s.name: s for s in store.stimuli("faces")}
    port, given, lock = free_port(), {}, threading.Lock()

    def evaluator(i):
        mine = []

        def answer(truth, model, exposure_ms, shown):
            mine.append(truth if (len(mine) + i) % 3 else {"real": "fake", "fake": "real"}[truth])
            return mine[-1]

        client = Client(f"http://127.0.0.1:{port}")
        done = take_part(
            client, study, pictures, answer, {"PROLIFIC_PID": secrets.token_hex(12)}, names=names
        )
        client.close()
        with lock:
            given[done["token"].partition(".")[0]] = mine

    with ThreadPoolExecutor(SESSIONS) as pool:
        with server(tmp_path, port):
            runs = [pool.submit(evaluator, i) for i in range(SESSIONS)]
            until = time.monotonic() + 120
            while sum(cursor.trial_index for _, cursor in store.sessions("faces")) < 200:
                assert time.monotonic() < until
                time.sleep(0.02)
        at_kill = {session.id: store.responses(session.id) for session, _ in store.sessions("faces")}
        assert sum(map(len, at_kill.values())) < SESSIONS * 40, "the kill came too late to test anything"
        with server(tmp_path, port):
            for run in runs:
                run.result(timeout=120)

    finished = {
        s.id: store.responses(s.id) for s, cursor in store.sessions("faces") if cursor.state == "finished"
    }
    assert len(given) == SESSIONS
    for session_id, mine in given.items():
        assert [response.response for response in finished[session_id]] == mine
    for session_id, before in at_kill.items():
        assert store.responses(session_id)[: len(before)] == before
    store.close()
