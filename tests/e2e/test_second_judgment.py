"""A second judgment, one module on each side, is played in a browser and scored."""

import csv
import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from .. import second_judgment
from .test_accessibility import violations

AT_LEAST = 100
"""Of 255: how bright the colour of a picture is on average, and how much brighter than the others."""
PLACES = ("first", "second", "third")

QUICK = ("images=4", "feedback_ms=50", "bonus_usd_cents=2", "shortest_answer_ms=0")


@pytest.fixture
def product(tmp_path):
    product = second_judgment.Product(tmp_path)
    product.create("rows", ["gan"], *(word for each in QUICK for word in ("--set", each)))
    return product


@pytest.fixture
def url(product):
    server = product.start("serve", "--port", "0")
    for line in server.stdout:
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            break
    yield found[0]
    server.terminate()
    server.communicate(timeout=30)


def test_rows_are_played_scored_and_exported(product, url, page):
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{url}/s/rows")
    page.click("button:has-text('I agree')")
    page.wait_for_selector("body[data-screen=instructions]")
    told = page.inner_text("main")
    page.click("button:has-text('Start')")
    places = []
    for i in range(4):
        page.wait_for_selector(f"body[data-screen=question] .choices button:enabled >> nth={i % 3}")
        if i == 0:
            assert page.inner_text("h1") == "Which one is the odd one out?"
            assert page.inner_text(".choices").split() == ["First", "F", "Second", "G", "Third", "J"]
            assert page.inner_text("#progress") == "Row 1 of 4"
            assert (
                page.get_attribute(".stage canvas", "aria-label") == "The pictures to judge, side by side: 3"
            )
            assert violations(page) == []
        places.append(blue_place(page))
        with page.expect_response(re.compile("/answers$")):
            page.keyboard.press("fgj"[PLACES.index(places[-1])])
    page.wait_for_selector("body[data-screen=done]")
    product.run("export", "rows", "-o", "out")
    with (product.folder / "out" / "data" / "study-rows_data.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    scores = json.loads(product.run("score", "rows", "--json"))

    assert "You will see three pictures, side by side" in told
    assert "For each row, press F, G or J" in told
    assert "$0.08" in page.inner_text("main")
    assert [row["response"] for row in rows] == [row["truth"] for row in rows] == places
    assert (scores["models"][0]["score"], scores["models"][0]["responses"]) == (0, 4)
    assert faults == []


def blue_place(page):
    """Return at which place of the stage a blue picture stands beside two red ones, each over its button."""
    shot = np.asarray(Image.open(io.BytesIO(page.locator(".stage").screenshot())).convert("RGB"), int)
    stage = page.locator(".stage").bounding_box()
    blue = []
    for button in page.locator(".choices button").all():
        box = button.bounding_box()
        left, right = round(box["x"] - stage["x"]), round(box["x"] + box["width"] - stage["x"])
        means = shot[:, left + 2 : right - 2].mean((0, 1))
        assert abs(means[0] - means[2]) > AT_LEAST
        blue.append(means[2] > means[0])
    assert blue.count(True) == 1
    return PLACES[blue.index(True)]
