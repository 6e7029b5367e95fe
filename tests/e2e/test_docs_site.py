"""The documentation as a site: links, search, accessibility, and the way from the front page to an answer."""

import functools
import http.server
import itertools
import threading

import pytest

from backend.cli import HOMES
from backend.experiment.settings import SETTINGS
from tests.docs_site import broken_links, build, pages_of

from .test_accessibility import violations_in_looks

CLICKS = 2
ANSWERS = {
    "how do my colleagues reach it?": "let-others-in.html",
    "what does it cost?": "planning.html",
    "what does hosting it cost?": "costs.html",
    "may I leave out people who failed a check?": "practice-and-checks.html#the-rule-for-exclusion",
    "why is this model not ranked?": "statistics.html#between-models",
    "how many people do I need?": "planning.html",
    "how do I pay them?": "paying.html",
    "can I score answers that I have already?": "statistics.html#data-from-elsewhere",
    "is my flash as long as I asked for?": "timing.html",
    "can people read it in Japanese?": "languages.html",
    "which metric agrees with people?": "statistics.html#metrics-beside-scores",
    "how does somebody else submit a model?": "competitions.html",
    "what does a report look like?": "gallery.html",
}
FOUND = """(words) => words.filter((word) => {
  const query = Search._parseQuery(word);
  const results = Search._performSearch(...query);
  return !results.some(([page]) => PAGES.includes(page));
})"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs") / "site"
    build(folder, with_gallery=False)
    return folder


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(site):
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=site)
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_no_link_is_broken_and_a_broken_one_would_be_noticed(site, tmp_path):
    assert broken_links(site, ("gallery/",)) == []
    (tmp_path / "a.html").write_text(
        '<h1 id="x"></h1><a href="b.html">b</a><a href="#y">y</a><img src="//z/z">'
    )
    (tmp_path / "c.html").write_text('<a href="a.html#x">x</a><script src="https://z/z.js"></script>')
    assert [problem.split(" ", 2)[1] for problem in broken_links(tmp_path)] == [
        "b.html", "#y", "//z/z", "loads",
    ]  # fmt: skip


@pytest.mark.parametrize("question", ANSWERS)
def test_questions_of_a_newcomer_are_answered_two_clicks_from_the_front_page(site, question):
    pages = {file.name: page for file, page in pages_of(site).items()}

    reached = {"index.html"}
    for _ in range(CLICKS):
        followed = (pages[one.partition("#")[0]].links for one in reached if one.partition("#")[0] in pages)
        reached |= {*itertools.chain.from_iterable(followed)}

    assert ANSWERS[question] in reached


def test_search_finds_each_setting_and_command_by_its_name(page, address):
    page.goto(f"{address}/search.html?q=keep_days")
    page.wait_for_selector("#search-results li a")
    assert "Settings of a study" in page.locator("#search-results li a").all_inner_texts()

    def missing(words, pages):
        return page.evaluate(FOUND.replace("PAGES", str(pages)), [*words])

    assert missing(SETTINGS, ["settings"]) == []
    assert missing(HOMES, ["commands"]) == []
    assert missing(["no_such_setting"], ["settings"]) == ["no_such_setting"]


def test_every_page_is_accessible_and_asks_nobody_else(page, address, site):
    asked = []
    page.on("request", lambda request: asked.append(request.url))

    found = {}
    for file in pages_of(site):
        page.goto(f"{address}/{file.name}")
        looks = [(1280, "light"), (1280, "dark")] if file.name in LOOKED_AT else [(360, "light")]
        found[file.name] = violations_in_looks(page, looks)

    assert {name: broken for name, broken in found.items() if broken} == {}
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


LOOKED_AT = {"index.html", "commands.html", "python.html", "search.html", "statistics.html"}
"""Pages of every kind, which are looked at in the wide window and in both colour schemes."""
