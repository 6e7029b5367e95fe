"""Style sheets as they are served, without comments: the same rules for a browser."""

import pytest

from backend.web import assets

RULES = """async (text) => {
  const sheet = await new CSSStyleSheet().replace(text);
  return [...sheet.cssRules].map((rule) => rule.cssText);
}"""


@pytest.mark.parametrize("name", [assets.name(path) for path in assets.files() if path.suffix == ".css"])
def test_a_style_sheet_is_served_with_the_rules_of_its_source(page, name):
    path = assets.FRONTEND / name
    served = assets.served(path).decode()

    rules = page.evaluate(RULES, served)

    assert rules == page.evaluate(RULES, path.read_text("utf-8"))
    assert len(rules) > 5
    assert "/*" not in served
