"""Addresses that are printed or told in replies: one that works, whoever asks and wherever."""

import re
import signal
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from backend.cli import main
from backend.commands.serving import Addresses, reach_lines, study_lines
from backend.competitions.terms import Terms, set_terms
from backend.handlers import create_app
from backend.stores.served_address import write_address
from backend.web.server import listen, local_url, other_urls
from tests.isolation import interruptible

from .. import sample_studies as studies
from ..web.members import as_member

PUBLIC = "https://study.lab.edu/hype"
LOOPBACK = re.compile(r"127\.0\.0\.1|localhost|:8000")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def served_study(world):
    """A study that recruits, takes in models, pays people to wait and has private links."""
    study = world.add(studies.study(images=8, base_usd_cents=200))
    set_terms(world.store, study, Terms("Faces", published=True), world.clock())
    return study


def run(world, *arguments, **environment):
    where = ["--data", str(world.data.root), "--store", world.store.url]
    done = CliRunner().invoke(main, [*arguments, *where], env=environment)
    assert done.exit_code == 0, done.output
    return done.output


# Every place that prints an address


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["status", "faces"], f"link: {PUBLIC}/s/faces\n"),
        (["links", "faces", "--count", "1"], f"{PUBLIC}/s/faces?link="),
        (["recruit", "faces"], None),
        (["competition", "faces"], f"page: {PUBLIC}/competitions/faces\n"),
    ],
)
def test_commands_print_the_public_address(command, expected, world, served_study):
    printed = run(world, *command, OPENHYPE_URL=f"{PUBLIC}/")

    assert (expected or f"address of the task page: {PUBLIC}/s/faces\n") in printed
    assert not LOOPBACK.search(printed)


def test_replies_tell_the_public_address_whatever_host_was_asked(world, served_study):
    app = create_app(world.store, world.data, world.data.keys(), world.clock, base_url=PUBLIC)
    http, key = app.test_client(), as_member(world.data.keys().researcher)

    record = http.get("/api/studies/faces/record", headers=key)
    private = http.post("/api/studies/faces/links", headers=key, json={"count": 1}).json["links"][0]
    page = http.get("/competitions/faces").text

    assert record.json["links"]["evaluators"] == f"{PUBLIC}/s/faces"
    assert record.json["links"]["reach"] == "internet"
    assert private.startswith(f"{PUBLIC}/s/faces?")
    assert f"--url {PUBLIC}<" in page
    assert not LOOPBACK.search(record.text + private)


def test_a_researcher_at_the_server_gets_a_link_that_others_reach(world, served_study):
    others = ["http://192.168.1.20:8000", "http://10.0.0.3:8000"]
    options = {"other_urls": lambda: others}
    app = create_app(world.store, world.data, world.data.keys(), world.clock, **options)
    key = as_member(world.data.keys().researcher)

    def links(host):
        http = app.test_client()
        return http.get("/api/studies/faces/record", headers={**key, "Host": host}).json["links"]

    here, elsewhere = links("127.0.0.1:8000"), links("10.0.0.3:8000")
    others.clear()
    alone = links("localhost:8000")

    assert (here["evaluators"], here["reach"]) == ("http://192.168.1.20:8000/s/faces", "network")
    assert elsewhere["evaluators"] == "http://10.0.0.3:8000/s/faces"
    assert (alone["evaluators"], alone["reach"]) == ("http://localhost:8000/s/faces", "this_computer")
    assert here["qr"].startswith("data:image/svg+xml")
    assert alone["qr"] is None


def test_an_address_of_a_running_server_is_known_to_other_commands(world, served_study):
    unknown = run(world, "status", "faces")
    with socket.create_server(("127.0.0.1", 0)) as server:
        write_address(world.data, world.store.url, "http://10.0.0.3:8000", server.getsockname())
        known = run(world, "status", "faces")

    assert "link: " not in unknown
    assert "link: http://10.0.0.3:8000/s/faces\n" in known
    assert "link: " not in run(world, "status", "faces")


def test_no_private_link_is_issued_to_where_nobody_serves(world, served_study):
    where = ["--data", str(world.data.root), "--store", world.store.url]

    done = CliRunner().invoke(main, ["links", "faces", "--count", "1", *where])

    assert done.exit_code == 2
    assert "--url https://…, or start `openhype serve`" in done.stderr


# What `serve` prints


def served(*arguments, **environment):
    """Serve until all addresses are printed; return what was printed."""
    command = [sys.executable, "-m", "backend", "serve", "--port", "0", *arguments]
    with interruptible(), subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline()]
        while lines[-1] and "stop with Ctrl-C" not in lines[-1]:
            lines.append(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
    return "".join(lines)


def test_serve_says_that_its_links_reach_this_computer_only_and_what_to_do(folder):
    printed = served()

    assert "these links reach this computer only; to let others in, start it with --host 0.0.0.0" in printed
    assert "docs/let-others-in.md" in printed
    assert re.search(r"console: http://127\.0\.0\.1:\d+/console", printed)
    assert re.search(r"\n  http://127\.0\.0\.1:\d+/console#sign-in=once_\S{43}\n", printed)


def test_ctrl_c_stops_a_server_that_has_just_said_so(folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("backend.commands.service.worker_beside", interrupted)

    ended = CliRunner().invoke(main, ["serve", "--port", "0", "--no-browser"])

    assert ended.exit_code == 0, ended.output
    assert ended.stdout.splitlines()[-1].endswith("stop with Ctrl-C")


def test_serve_prints_the_public_address_with_its_path_and_no_sign_in_where_others_read(folder):
    printed = served("--url", PUBLIC, "--no-sign-in-link")

    assert f"console: {PUBLIC}/console; results: {PUBLIC}/results\n" in printed
    assert re.search(
        rf"whoever reaches {PUBLIC} can take part; .* at http://127\.0\.0\.1:\d+/hype\n", printed
    )
    assert "sign-in" not in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--url", "study.lab.edu"], "must be like https://study.lab.edu, not 'study.lab.edu'"),
        (["--url", PUBLIC, "--base-path", "/other"], "--url ends in /hype, and --base-path is /other"),
        (["--url", "https://lab.edu/s"], "a base path cannot begin with /s"),
    ],
)
def test_a_public_address_that_cannot_be_is_refused(arguments, message, folder):
    done = CliRunner().invoke(main, ["serve", *arguments])

    assert (done.exit_code, list(folder.iterdir())) == (2, [])
    assert message in done.stderr


def lines(addresses, is_everywhere=False):
    return "\n".join(reach_lines(addresses, is_everywhere))


def test_who_reaches_the_links_is_said_of_each_way_to_serve():
    local = "http://127.0.0.1:8000"

    assert "this computer only" in lines(Addresses(local))
    assert "in no network at the moment" in lines(Addresses(local), is_everywhere=True)
    network = lines(Addresses(local, ["http://10.0.0.3:8000", "http://[fd00::3]:8000"]), True)
    assert "whoever is in the network" in network
    assert network.endswith("other addresses of this computer: http://[fd00::3]:8000")


def test_a_terminal_shows_the_qr_code_of_the_newest_studys_link(monkeypatch):
    old, new = (
        SimpleNamespace(kind="study", name=name, created_at=at) for name, at in [("a", "1"), ("b", "2")]
    )
    network, alone = (
        Addresses("http://127.0.0.1:8000", ["http://10.0.0.3:8000"]),
        Addresses("http://[::1]:8000"),
    )
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)

    *links, code = study_lines([new, old], network)

    assert links == ["study b: http://10.0.0.3:8000/s/b", "study a: http://10.0.0.3:8000/s/a"]
    assert len(code.splitlines()) == 15  # version 2: 25 modules, and 2 around, two in a line (ISO 18004)
    assert [*study_lines([new], alone)] == ["study b: http://[::1]:8000/s/b"]
    monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False)
    assert len([*study_lines([new, old], network)]) == 2


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2"])
def test_a_loopback_address_is_none_for_others(host):
    with listen(host, 0) as listening:
        assert local_url(listening) == f"http://{host}:{listening.getsockname()[1]}"
        assert other_urls(listening) == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_server_of_all_interfaces_has_this_machines_addresses(host, monkeypatch):
    from ipaddress import ip_address

    own = [ip_address("10.0.0.3"), ip_address("fd00::3")]
    monkeypatch.setattr("backend.web.server.own_addresses", lambda: own)
    with listen(host, 0) as listening:
        port = listening.getsockname()[1]

        four, six = f"http://10.0.0.3:{port}", f"http://[fd00::3]:{port}"
        assert other_urls(listening) == ([four, six] if host == "::" else [four])
