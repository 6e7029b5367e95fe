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


@pytest.fixture
def product(tmp_path):
    product = second_judgment.Product(tmp_path)
    product.create(
        "pairs", ["gan"], "--set", "images=8", "--set", "feedback_ms=50", "--set", "bonus_usd_cents=2"
    )
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


def test_pairs_are_played_scored_and_exported(product, url, page):
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{url}/s/pairs")
    page.click("button:has-text('I agree')")
    page.wait_for_selector("body[data-screen=instructions]")
    told = page.inner_text("main")
    page.click("button:has-text('Start')")
    sides = []
    for i in range(4):
        page.wait_for_selector(f"body[data-screen=question] .choices button:enabled >> nth={i % 2}")
        if i == 0:
            assert page.inner_text("h1") == "Which one is real?"
            assert page.inner_text(".choices").split() == ["Left", "F", "Right", "J"]
            assert page.inner_text("#progress") == "Pair 1 of 4"
            assert violations(page) == []
        sides.append(red_side(page))
        with page.expect_response(re.compile("/answers$")):
            page.keyboard.press("fj"[("left", "right").index(sides[-1])])
    page.wait_for_selector("body[data-screen=done]")
    product.run("export", "pairs", "-o", "out")
    with (product.folder / "out" / "data" / "study-pairs_data.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    scores = json.loads(product.run("score", "pairs", "--json"))

    assert "You will see two pictures, side by side" in told
    assert "For each pair, press F for left or J for right" in told
    assert "$0.08" in page.inner_text("main")
    assert [row["response"] for row in rows] == [row["truth"] for row in rows] == sides
    assert (scores["models"][0]["score"], scores["models"][0]["responses"]) == (0, 4)
    assert faults == []


def red_side(page):
    """Return on which side of the stage a red picture stands beside a blue one."""
    shot = np.asarray(Image.open(io.BytesIO(page.locator(".stage").screenshot())).convert("RGB"), int)
    rows = shot[shot.shape[0] * 3 // 8 : shot.shape[0] * 5 // 8]
    half = shot.shape[1] // 2
    means = [
        rows[:, half // 4 : half * 3 // 4].mean((0, 1)),
        rows[:, half * 5 // 4 : half * 7 // 4].mean((0, 1)),
    ]
    red, blue = ([mean[channel] - mean[1] > AT_LEAST for mean in means] for channel in (0, 2))
    assert sorted(red) == sorted(blue) == [False, True]
    assert red != blue
    return ("left", "right")[red.index(True)]
