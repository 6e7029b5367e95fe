"""A colleague on another computer plays a study at the address that `serve` prints.

With root the computers are two network namespaces with a cable between; without, a second loopback address.
"""

import os
import re
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager

import pytest

from tests.browser import launch_options
from tests.e2e.conftest import Player
from tests.e2e.test_accessibility import violations_in_looks
from tests.isolation import interruptible

HOST, GUEST = "openhype-host", "openhype-guest"
LAYOUT = f"""
ip netns add {HOST}
ip netns add {GUEST}
ip link add oh-cable0 netns {HOST} type veth peer name oh-cable1 netns {GUEST}
ip -n {HOST} addr add 10.77.0.1/24 dev oh-cable0
ip -n {GUEST} addr add 10.77.0.2/24 dev oh-cable1
ip -n {HOST} link set lo up
ip -n {GUEST} link set lo up
ip -n {HOST} link set oh-cable0 up
ip -n {GUEST} link set oh-cable1 up
"""


@contextmanager
def two_computers():
    """Yield what starts a program on the host, and on the guest; the option of `serve`, and its address."""
    is_possible = os.geteuid() == 0 and shutil.which("ip")
    with ExitStack() as stack:
        for name in (HOST, GUEST) if is_possible else ():
            stack.callback(subprocess.run, ["ip", "netns", "del", name], capture_output=True)
        if is_possible and subprocess.run(["sh", "-ec", LAYOUT], capture_output=True).returncode == 0:
            enter = ["ip", "netns", "exec"]
            yield [*enter, HOST], [*enter, GUEST], "0.0.0.0", "10.77.0.1"
        else:
            yield [], [], "127.0.0.2", "127.0.0.2"


@pytest.fixture
def computers():
    with two_computers() as found:
        yield found


@pytest.fixture
def served(computers, site):
    """The lines that `serve` prints on the host, where the study `faces` is."""
    host, _, listens, _ = computers
    site.create("faces", images=2, feedback_ms=50)
    options = ["--host", listens, "--port", "0", "--data", str(site.data.root), "--no-worker"]
    command = [*host, sys.executable, "-m", "backend", "serve", *options]
    with interruptible(), subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline()]
        while lines[-1] and "stop with Ctrl-C" not in lines[-1]:
            lines.append(process.stdout.readline())
        yield "".join(lines)
        process.terminate()


@pytest.fixture
def guest(computers, playwright, tmp_path):
    """A browser on the guest."""
    options = launch_options()
    program = options.get("executable_path", playwright.chromium.executable_path)
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\nexec {" ".join(computers[1])} {program} "$@"\n')
    script.chmod(0o700)
    browser = playwright.chromium.launch(**{**options, "executable_path": str(script)})
    yield browser.new_page()
    browser.close()


def test_a_colleague_plays_a_study_at_the_address_that_serve_prints(computers, served, site, guest):
    *_, address = computers
    link = re.search(r"study faces: (http://\S+)/s/faces", served)
    console = re.search(r"\n  (http://\S+#sign-in=\S+)", served)[1]
    site.url = link[1]
    colleague = Player(guest, site)

    colleague.begin("faces")
    for _ in range(2):
        colleague.wait("question")
        colleague.answer({"real": "j", "fake": "f"}[colleague.see()])
    colleague.wait("done")
    guest.goto(console)
    guest.wait_for_selector("main a[href='/console/studies/faces']")
    guest.goto(f"{site.url}/console/studies/faces")
    shown = guest.wait_for_selector(".address code").inner_text()

    for words in ("QR code", "Let others in") if address != "127.0.0.2" else ("Let others in",):
        guest.click(f"summary:has-text('{words}')")
    seen = violations_in_looks(guest)

    assert seen == {}
    assert link[1].startswith(f"http://{address}:")
    assert shown == f"{link[1]}/s/faces"
    _, cursor, answers = site.stored("faces")
    assert (cursor.state, len(answers)) == ("finished", 2)
    assert colleague.faults == []
