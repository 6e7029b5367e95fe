"""docs/api.md lists every route with who may call it, and a body that the route takes."""

import re

import pytest

from backend.web.openapi import operations
from tests import api_page


def test_the_page_lists_every_route_as_it_is_declared():
    text = api_page.PAGE.read_text("utf-8")

    listed = re.findall(r"^\| `((?:GET|POST|PUT) [^`]+)` \| ", text, re.M)
    assert sorted(listed) == sorted(operations())
    assert api_page.written(text) == text, "write it anew with: python -m tests.api_page"


@pytest.mark.parametrize("name", [name for name, each in operations().items() if each.takes is not None])
def test_the_example_of_a_body_is_one_that_the_route_takes(name):
    declared = operations()[name].takes

    assert api_page.accepts(declared, api_page.example(declared))
