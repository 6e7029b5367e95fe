"""A page that the browser translates plays on, and the session says so."""

import pytest

TRANSLATOR = """(() => {
  const skip = "[translate=no], script, style, font, canvas";
  const change = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) found.push(walker.currentNode);
    for (const node of found) {
      if (!node.data.trim() || node.parentElement.closest(skip)) continue;
      const outer = document.createElement("font"), inner = document.createElement("font");
      inner.textContent = node.data.replace(/[a-z]/gi, (letter) => `${letter}\\u0301`);
      outer.append(inner);
      node.replaceWith(outer);
    }
  };
  const begin = () => {
    MARK;
    change();
    const all = {childList: true, subtree: true, characterData: true};
    new MutationObserver(change).observe(document.body, all);
  };
  addEventListener("load", () => setTimeout(begin));
})()"""
"""Replaces every text node, as translators do; text that is replaced is seen by its accents."""
CHROME = 'document.documentElement.className = "translated-ltr"; document.documentElement.lang = "pl"'
FIREFOX = 'document.documentElement.lang = "pt-BR"'
EXTENSION = ""


@pytest.mark.parametrize(("mark", "language"), [(CHROME, "pl"), (FIREFOX, "pt-BR"), (EXTENSION, "unknown")])
def test_a_translated_page_plays_to_its_end_and_the_session_says_so(player, site, mark, language):
    site.create("faces", images=4, feedback_ms=50)
    player.page.add_init_script(TRANSLATOR.replace("MARK", mark))

    player.visit("faces")
    player.wait("consent")
    player.page.wait_for_selector("h1 > font > font")
    player.press("consent")
    player.press("instructions")
    counts = []
    for _ in range(4):
        player.wait("question")
        player.page.wait_for_timeout(50)
        counts.append(player.page.inner_text("#progress").replace("\u0301", ""))
        assert [each.lower() for each in player.page.locator(".choices kbd").all_inner_texts()] == ["f", "j"]
        player.answer(player.see()[0])
    player.wait("done")

    assert counts == [f"Picture {n} of 4" for n in range(1, 5)]
    session, _, responses = site.stored("faces")
    assert session.device["translated"] == language
    assert [response.facts["translated"] for response in responses] == [language] * 4
