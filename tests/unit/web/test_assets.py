"""The page's files: preloads that name what is imported, versions that are kept, and compression."""

import gzip
import posixpath
import re

import pytest

from backend.web import assets, headers
from backend.web.comments import without_comments

from .. import sample_studies as studies

IMPORTED = re.compile(r'^(?:import|export)\b(?:[^;]*?from)? "(\.{1,2}/[a-z_/]+\.js)"', re.MULTILINE)
SCRIPT = re.compile(r'<script type="module" src="/assets/([a-z_/]+\.js)">')
PRELOADED = re.compile(r'<link rel="modulepreload" href="/assets/([a-z_/]+\.js)">')
MAIN = f"/assets/{assets.version()}/task/main.js"
PAGES = [path for path in sorted(assets.FRONTEND.glob("*.html")) if SCRIPT.search(path.read_text("utf-8"))]


def source(name):
    return (assets.FRONTEND / name).read_text("utf-8")


def graph(*names):
    """Return the modules and what they import, and so on; what is imported in passing (`import()`) is not."""
    found, left = set(), list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += [below(name, address) for address in IMPORTED.findall(source(name))]
    return found


def below(name, address):
    """Return the module that another one, `name`, calls `address`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), address))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_preloads_what_its_module_imports_and_nothing_else(page):
    text = page.read_text("utf-8")
    (module,) = SCRIPT.findall(text)

    preloaded = PRELOADED.findall(text)

    assert {*preloaded, module} == graph(module)
    assert len(set(preloaded)) == len(preloaded)


def test_what_flashes_need_before_consent_is_preloaded_once_a_study_is_known_to_have_them():
    (named,) = re.findall(r"NEEDED_FOR_FLASHES = \[(.*?)\]", source("task/first.js"), re.S)
    in_passing = re.findall(r'=> import\("\./(\w+\.js)"\)', source("task/entry.js"))

    preloaded = {below("task/first.js", address) for address in re.findall(r'"([a-z_./]+\.js)"', named)}
    assert preloaded == graph(*(f"task/{name}" for name in in_passing)) - graph("task/main.js")


@pytest.mark.parametrize(
    ("address", "sent"),
    [(MAIN, "*"), (f"/assets/{assets.version()}/shared/style.css", None),
     ("/timing.html", None), ("/s/faces", None), ("/api/studies/faces", None)],
)  # fmt: skip
def test_modules_alone_are_there_for_a_frame_without_an_origin(world, address, sent):
    world.add(studies.study("faces", images=8))

    reply = world.http.get(address, headers={"Origin": "null"})

    assert (reply.status_code, reply.headers.get("Access-Control-Allow-Origin")) == (200, sent)


@pytest.mark.parametrize("module", ["main.js", "wait.js", "withdraw_page.js", "start.js", "timing.js"])
def test_evaluators_load_nothing_of_the_console(module):
    assert [name for name in graph(f"task/{module}") if name.startswith("console/")] == []


def named(*modules):
    return {f"task/{module}.js" for module in modules}


def test_what_only_plays_is_not_loaded_before_consent():
    assert graph("task/main.js") & named("playing", "trials", "presenter", "flash", "demo") == set()


def test_what_only_some_studies_have_is_not_loaded_by_others():
    of_some = named("flash", "presenter", "planner", "fitness", "display") | {"staircase.js"}
    of_others = named(
        "follow_ups", "confidence", "mark", "debrief", "debrief_end", "questions", "demonstration"
    )
    of_others |= {"texts/more_en.js"}

    assert graph("task/main.js", "task/playing.js") & (of_some | of_others) == set()
    assert graph("task/flash.js") >= of_some
    assert graph("task/follow_ups.js") >= named("confidence", "mark")


@pytest.mark.parametrize(
    "address", ["/", "/s/faces", "/s/nothing", "/timing.html", "/wait/faces", "/w/none", "/console"]
)
def test_everything_that_a_page_loads_is_there_and_is_kept_for_good(world, address):
    world.add(studies.study("faces", images=8))
    page = world.http.get(address)
    loaded = re.findall(r'"(/assets/[^"]+)"', page.text)

    replies = {path: world.http.get(path) for path in loaded}

    assert page.headers["Cache-Control"] == headers.REVALIDATE
    assert loaded
    assert {reply.status_code for reply in replies.values()} == {200}
    assert {reply.headers["Cache-Control"] for reply in replies.values()} == {headers.IMMUTABLE}
    assert {path.split("/")[2] for path in loaded} == {assets.version()}


def test_a_file_of_another_version_is_what_is_there_now_and_is_not_kept(world):
    older = world.http.get(f"/assets/{'0' * 12}/task/main.js")

    assert older.text == without_comments(source("task/main.js"), ".js")
    assert older.headers["Cache-Control"] == headers.REVALIDATE


def test_the_version_changes_with_any_file(tmp_path):
    (tmp_path / "a.js").write_text("1")
    (tmp_path / "b.js").write_text("2")

    def version():
        return assets.version(tmp_path)

    versions = [version()]
    (tmp_path / "b.js").write_text("other")
    versions.append(version())
    (tmp_path / "c.css").write_text("")
    versions.append(version())
    (tmp_path / "note.txt").write_text("of no account")

    assert len(set(versions)) == 3
    assert version() == versions[-1]
    assert all(re.fullmatch("[0-9a-f]{12}", each) for each in versions)


@pytest.mark.parametrize("name", ["comments.py", "embedded_texts.py"])
def test_the_version_changes_with_how_files_are_changed_when_served(tmp_path, monkeypatch, name):
    (tmp_path / "a.js").write_text("1")
    before = assets.version(tmp_path)
    other = tmp_path / name
    other.write_text("")
    changed = tuple(other if path.name == name else path for path in assets._SERVING)

    monkeypatch.setattr(assets, "_SERVING", changed)

    assert assets.version(tmp_path) != before


def test_a_file_is_read_once_until_it_changes(tmp_path):
    (tmp_path / "a.js").write_text("/* 1 */ a;")
    first = assets.served(tmp_path / "a.js")
    again = assets.served(tmp_path / "a.js")
    (tmp_path / "a.js").write_text("/* 1 */ other;")

    assert first is again
    assert (first, assets.served(tmp_path / "a.js")) == (b"a;", b"other;")


@pytest.mark.parametrize(("accepted", "encoding"), [("gzip, br", "gzip"), ("br", None), ("gzip;q=0", None)])
def test_files_are_compressed_for_who_takes_it(world, accepted, encoding):
    reply = world.http.get(MAIN, headers={"Accept-Encoding": accepted})

    body = gzip.decompress(reply.data) if encoding else reply.data
    assert reply.headers.get("Content-Encoding") == encoding
    assert reply.headers["Vary"] == "Accept-Encoding"
    assert reply.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert body.decode() == without_comments(source("task/main.js"), ".js")


@pytest.mark.parametrize(
    "address", ["/s/faces", "/console", "/wait/faces", "/w/x", "/timing.html", "/s/none"]
)
@pytest.mark.parametrize(("accepted", "encoding"), [("gzip, br", "gzip"), ("br", None), ("gzip;q=0", None)])
def test_pages_are_compressed_for_who_takes_it(world, address, accepted, encoding):
    """CloudFront does not compress pages that it may not cache, such as the console's."""
    world.add(studies.study("faces", images=8))
    plain = world.http.get(address)

    reply = world.http.get(address, headers={"Accept-Encoding": accepted})

    body = gzip.decompress(reply.data) if encoding else reply.data
    assert (reply.headers.get("Content-Encoding"), body) == (encoding, plain.data)
    assert "Accept-Encoding" in reply.vary


@pytest.mark.parametrize("address", ["/s/faces", MAIN])
def test_what_a_browser_has_already_is_not_sent_again(world, address):
    world.add(studies.study("faces", images=8))
    first = world.http.get(address)

    again = world.http.get(address, headers={"If-None-Match": first.headers["ETag"]})
    changed = world.http.get(address, headers={"If-None-Match": '"another"'})

    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["Content-Security-Policy"] == first.headers["Content-Security-Policy"]
    assert (changed.status_code, changed.data) == (200, first.data)
