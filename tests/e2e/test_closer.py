"""Sessions of 2AFC in Chromium: a reference in the middle, sentinels among the triplets, to the end."""

import json
from datetime import UTC, datetime

import numpy as np
import pytest
from PIL import Image

from backend.administration.create import StudySpec, create
from backend.responses.study_data import study_rows

from .test_accessibility import violations_in_looks

SIZE = 64
KEYS = {"left": "f", "right": "j"}
CLOSER = """(() => {
  const canvas = document.querySelector("canvas");
  const { width, height } = canvas;
  const all = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const places = [0, (width - height) / 2, width - height].map(Math.round);
  const distance = (a, b) => {
    let sum = 0;
    for (let y = 0; y < height; y += 2)
      for (let x = 0; x < height; x += 2)
        for (let c = 0; c < 3; c++)
          sum += (all[4 * (y * width + a + x) + c] - all[4 * (y * width + b + x) + c]) ** 2;
    return sum;
  };
  return distance(places[0], places[1]) < distance(places[2], places[1]) ? "left" : "right";
})()"""


@pytest.fixture
def triplets(site, tmp_path):
    """Create a study of triplets in which p0 is the closer one of those with even numbers."""

    def made(name, count=6, **settings):
        rng = np.random.default_rng(3)
        folder = tmp_path / name / "traditional"
        for part in ("ref", "p0", "p1"):
            (folder / part).mkdir(parents=True)
        for i in range(count):
            small = rng.integers(40, 216, (4, 4, 3)).astype("uint8")
            reference = np.asarray(
                Image.fromarray(small).resize((SIZE, SIZE), Image.Resampling.BICUBIC), float
            )
            noise = (
                rng.normal(0, 1, (2, SIZE, SIZE, 3))
                * np.array([6, 40] if i % 2 == 0 else [40, 6])[:, None, None, None]
            )
            for part, levels in zip(("ref", "p0", "p1"), (reference, *(reference + noise)), strict=True):
                picture = Image.fromarray(levels.clip(0, 255).astype("uint8"))
                picture.save(folder / part / f"{i:03d}.png")
        settings = {
            "images": count,
            "picture_checks": 3,
            "judgments_per_item": 1,
            "shortest_answer_ms": 0,
            "panel": site.record,
        } | settings
        order = StudySpec(name, "study", "2afc", None, (), settings, items=(("", folder),))
        return create(site.store, site.data, order, datetime.now(UTC))

    return made


def play(player, *ends, act=None):
    """Answer with the closer side until a screen of `ends` comes; return the progress texts seen."""
    seen = []
    while player.wait("question", *ends) == "question":
        side = player.page.evaluate(CLOSER)
        seen.append(player.page.inner_text("#progress"))
        if act is None:
            player.answer(KEYS[side])
        else:
            player.act_and_move_on(lambda side=side: act(side))
    return seen


@pytest.mark.core
def test_a_session_is_played_by_keyboard_to_its_end_and_stored_by_parts(player, site, triplets):
    triplets("sim", base_usd_cents=100)

    player.visit("sim")
    player.press("consent")
    player.wait("instructions")
    told = player.page.inner_text("main")
    player.press("instructions")
    progress = play(player, "done")

    assert "The one in the middle is the reference" in told
    assert progress == [f"Comparison {n} of 9" for n in range(1, 10)]
    assert player.page.inner_text("#earned") == ""
    rows = list(study_rows(site.store, site.store.study("sim")))
    tests = {row["item"]: row for row in rows if row["trial_kind"] == "test"}
    checks = [row for row in rows if row["trial_kind"] == "check"]
    assert set(tests) == {f"traditional/{i:03d}" for i in range(6)}
    for i in range(6):
        row = tests[f"traditional/{i:03d}"]
        assert row[row["response"]] == ("p0" if i % 2 == 0 else "p1")
        assert (row["truth"], {row["left"], row["right"]}) == ("", {"p0", "p1"})
    assert [row["response"] == row["truth"] for row in checks] == [True] * 3
    _, cursor, _ = site.stored("sim")
    assert cursor.state == "finished"


def test_practice_tells_what_was_right_and_the_rest_tells_nothing(player, site, triplets):
    triplets("sim", practice_images=2)
    verdicts = []
    page = player.page
    page.route(
        "**/answers",
        lambda route: (
            lambda reply: (verdicts.append(reply.json()["was_correct"]), route.fulfill(response=reply))
        )(route.fetch()),
    )

    player.visit("sim")
    player.press("consent")
    player.press("instructions")
    practice = play(player, "instructions")
    player.press("instructions")
    play(player, "done")

    assert practice == ["Practice: 1 of 2", "Practice: 2 of 2"]
    assert verdicts == [True, True] + [None] * 9


@pytest.mark.core
def test_on_a_phone_it_is_played_by_tapping_and_every_screen_is_accessible(page, player, site, triplets):
    triplets("sim")
    page.set_viewport_size({"width": 390, "height": 844})
    found = {}

    def check(screen):
        player.wait(screen)
        found[screen] = violations_in_looks(page, [(390, "light"), (390, "dark")])

    player.visit("sim")
    check("consent")
    page.click("main .primary")
    check("instructions")
    page.click("main .primary")
    check("question")
    wide = page.evaluate("document.documentElement.scrollWidth")
    play(player, "done", act=lambda side: page.click(f".choices button >> nth={int(side == 'right')}"))
    check("done")

    assert found == {screen: {} for screen in ("consent", "instructions", "question", "done")}
    assert wide <= 390


@pytest.mark.parametrize("language", ["de", "es", "fr", "pt", "ja", "zh", "ar"])
def test_in_every_language_the_left_button_is_on_the_left(player, site, triplets, language):
    study = triplets("sim", language=language)
    from backend.administration.catalogues import catalogue

    texts = catalogue(language)
    player.visit("sim")
    player.wait("consent")
    offer = player.page.inner_text("main")
    player.press("consent")
    player.press("instructions")
    player.wait("question")
    left, right = (player.page.locator(".choices button").nth(i).bounding_box()["x"] for i in range(2))
    labels = player.page.locator(".choices button").all_inner_texts()

    assert study.protocol.consent.title == texts["title.closer"]
    assert texts["consent.text.closer"].split("\n\n")[1] in offer
    assert left < right
    assert [texts["answer.left"] in labels[0], texts["answer.right"] in labels[1]] == [True, True]
    assert player.heading() == texts["closer.question"]
    assert texts["closer.reference"] in player.page.inner_text(".captions")


def test_what_the_server_sends_tells_sentinels_from_the_rest_by_nothing_but_pictures(player, site, triplets):
    triplets("sim", base_usd_cents=100)
    blocks, answers, sizes = [], [], set()

    def pass_on(route):
        """Note a reply on its way: once the page has moved on, the browser no longer has it."""
        reply = route.fetch()
        if "/i/sim/" in route.request.url:
            sizes.add(len(reply.body()))
        else:
            (blocks if route.request.url.endswith("/blocks") else answers).append(reply.json())
        route.fulfill(response=reply)

    for path in ("**/blocks", "**/answers", "**/i/sim/**"):
        player.page.route(path, pass_on)

    player.visit("sim")
    player.press("consent")
    player.press("instructions")
    play(player, "done")

    session, _, _ = site.stored("sim")
    (block,) = blocks
    assert len(sizes) == 1
    assert {len(urls.split(" ")) for urls in block["images"]} == {3}
    assert block["instructed"] == []
    kinds = [session.blocks[0].kind(i) for i in range(9)]
    told = [{key: value for key, value in answer.items() if key in _ALIKE} for answer in answers[:-1]]
    assert {json.dumps(each, sort_keys=True) for each in told} == {json.dumps(told[0], sort_keys=True)}
    assert sorted(set(kinds)) == ["check", "test"]


_ALIKE = {"was_correct", "replaced_by", "may_end", "block_finished", "earned_usd_cents", "done"}
