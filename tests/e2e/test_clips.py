"""Studies of clips, played in a browser: each frame at its refresh, and what is stored of that."""

import pytest

from backend.administration.study_spec import StudySpec
from backend.responses.study_data import study_rows
from tests.unit.stimuli.clips.made_clips import write_sides

from .conftest import PAID_BY_LINK, SIZE
from .test_accessibility import violations

pytest.importorskip("av", reason="clips are prepared with PyAV")

FPS, FRAMES = 24, 12
BUTTON = ".controls button"
PLAYS = """(() => {
  window.drawn = [];
  CanvasRenderingContext2D.prototype.drawImage = new Proxy(CanvasRenderingContext2D.prototype.drawImage, {
    apply(target, pen, values) {
      window.drawn.push(performance.now());
      window.onDrawn?.(window.drawn.length);
      return Reflect.apply(target, pen, values);
    },
  });
})()"""
"""Note when each picture was drawn, and tell who wants to know."""
HIDE = """isHidden => {
  Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
STOP_AT_ONCE = """new MutationObserver((_, watch) => {
  const button = document.querySelector(".playing .controls button");
  if (!button) return;
  watch.disconnect();
  button.click();
}).observe(document, { subtree: true, attributes: true, attributeFilter: ["class"] })"""
"""Press the button as soon as the first clip is to play, before a frame of it is drawn."""
TELLS_NO_TIMES = """window.PerformanceObserver = class extends PerformanceObserver {
  constructor() { super(() => {}); }
  takeRecords() { return []; }
}"""
"""The page waits half a second for presentation times which do not come."""
NO_DECODER = "delete globalThis.VideoDecoder"
CLOSINGS = """(() => {
  window.freed = 0;
  ImageBitmap.prototype.close = new Proxy(ImageBitmap.prototype.close, {
    apply(target, picture, values) {
      window.freed += 1;
      return Reflect.apply(target, picture, values);
    },
  });
})()"""
"""Count the pictures that were freed."""


@pytest.fixture(scope="session")
def clips(tmp_path_factory):
    return write_sides(tmp_path_factory.mktemp("clips"), 8, FRAMES, FPS)


@pytest.fixture
def made(site, clips):
    def made(method="infinity", **settings):
        real, models = clips
        quick = {"size_px": SIZE, "panel": PAID_BY_LINK, "shortest_answer_ms": 0, "feedback_ms": 20}
        order = StudySpec(
            "faces", "study", method, real, tuple(models.items()), {**quick, "spare_images": 0, **settings}
        )
        return site.copies.put(order, site.store, site.data)

    return made


def facts(site):
    return [response.facts for response in site.stored("faces")[2]]


def watch(player, plays=1):
    """Wait until the clip of the question has been drawn `plays` times to its end."""
    player.wait("question")
    player.page.wait_for_function(
        "count => window.drawn.length >= count", arg=plays * FRAMES * player.per_frame, timeout=30000
    )
    player.page.wait_for_timeout(300)


@pytest.fixture
def player(player):
    player.per_frame = 1
    player.page.add_init_script(PLAYS)
    return player


def answer(player, key):
    player.page.evaluate("window.drawn = []")
    player.answer(key)


@pytest.mark.core
def test_clips_play_again_and_again_until_they_are_judged(player, site, made):
    study = made(images=4)
    player.begin("faces")
    for key in "fjf":
        watch(player, plays=2)
        answer(player, key)
    player.wait("question")
    assert "Video 4 of 4" in player.page.inner_text("body")
    assert violations(player.page) == []
    player.answer("j")
    player.wait("done")

    _, cursor, responses = site.stored("faces")
    assert (cursor.state, len(responses)) == ("finished", 4)
    for each in facts(site)[:3]:
        assert each["clip_plays"] >= 1
        assert each["clip_seen_whole"] is True
        assert each["clip_cadence"] == "2:3"
        assert each["clip_frames_off"] is not None
    assert [row["clip_cadence"] for row in study_rows(site.store, study)] == ["2:3"] * 4


def test_a_clip_that_was_judged_makes_room_for_the_next_while_the_feedback_is_read(player, site, made):
    made(images=2, feedback_ms=2000)
    player.page.add_init_script(CLOSINGS)
    player.begin("faces")
    watch(player)
    player.page.keyboard.press("f")
    player.wait("feedback")

    assert player.page.evaluate("window.freed") == FRAMES


def test_a_clip_that_plays_once_is_played_again_as_often_as_is_allowed(player, site, made):
    made(images=2, clip_play="once", clip_replays=1)
    player.begin("faces")
    watch(player)
    page = player.page
    page.wait_for_selector(f"{BUTTON}:text('Play again (1 left)')")
    page.keyboard.press("Space")
    watch(player, plays=2)
    page.wait_for_selector(f"{BUTTON}:disabled")
    answer(player, "f")
    player.wait("question")
    assert page.evaluate("window.drawn.length") <= FRAMES + 1
    player.answer("j")
    player.wait("done")

    first = facts(site)[0]
    assert first["clip_plays"] == 2 or first["clip_frames_off"]  # a busy machine may leave out the last frame


def test_a_clip_that_was_stopped_before_its_first_frame_can_still_be_played(player, site, made):
    made(images=2, clip_play="once", clip_replays=0)
    page = player.page
    page.add_init_script(STOP_AT_ONCE)
    player.begin("faces")
    page.wait_for_selector(f"{BUTTON}:text('Play')")
    page.wait_for_timeout(500)
    assert page.evaluate("window.drawn.length") == 0

    page.click(BUTTON)
    watch(player)
    page.wait_for_selector(f"{BUTTON}:disabled")
    answer(player, "f")
    assert facts(site)[0]["clip_plays"] == 1


def test_a_clip_that_is_answered_before_the_browser_tells_its_times_was_seen_to_its_end(player, site, made):
    made(images=2, clip_play="once", clip_replays=0)
    player.page.add_init_script(TELLS_NO_TIMES)
    player.begin("faces")
    watch(player)
    answer(player, "f")
    player.wait("question")

    assert facts(site)[0]["clip_plays"] == 1


def test_who_wants_less_motion_is_asked_before_a_clip_plays(player, site, made):
    made(images=2)
    page = player.page
    page.emulate_media(reduced_motion="reduce")
    player.visit("faces")
    player.press("consent")
    player.wait("instructions")
    assert "asks for less motion" in page.inner_text("main")
    player.press("instructions")
    page.wait_for_selector(f"{BUTTON}:text('Play')")
    page.wait_for_timeout(500)
    assert page.evaluate("window.drawn.length") == 0

    page.click(BUTTON)
    watch(player)
    page.wait_for_selector(f"{BUTTON}:text('Play again')")
    answer(player, "f")
    assert facts(site)[0]["clip_plays"] == 1


def test_a_clip_that_was_hidden_is_played_from_its_beginning_and_flagged(player, site, made):
    made(images=2, clip_play="once", clip_replays=1)
    page = player.page
    page.add_init_script(
        f"window.onDrawn = (n) => n === 3 && setTimeout(() => ({HIDE})(window.isLeft = true))"
    )
    player.begin("faces")
    page.wait_for_function("() => window.isLeft")
    page.wait_for_timeout(700)
    before = page.evaluate("window.drawn.length")
    assert before < FRAMES
    page.evaluate("window.onDrawn = null; window.drawn = []")
    page.evaluate(HIDE, False)
    watch(player)
    page.wait_for_selector(f"{BUTTON}:text('Play again (1 left)')")
    answer(player, "f")

    response = site.stored("faces")[2][0]
    assert "hidden" in response.flags
    assert response.facts["clip_plays"] == 1


def test_two_clips_play_in_step(player, site, made):
    made("pair", images=2)
    player.per_frame = 2
    player.begin("faces")
    watch(player)
    assert "Videos to judge" in player.page.content() or "videos to judge" in player.page.content()
    answer(player, "f")
    watch(player)
    player.answer("j")
    player.wait("done")

    assert [each["clip_seen_whole"] for each in facts(site)] == [True, True]


def test_a_browser_that_cannot_play_clips_is_told_before_consent(player, site, made):
    made(images=2)
    player.page.add_init_script(NO_DECODER)
    player.visit("faces")
    player.wait("check")
    player.page.wait_for_selector("main .primary")

    assert player.heading() == "The videos cannot be shown here"
    assert "Firefox on a computer" in player.page.inner_text("main")
    assert violations(player.page) == []
    assert list(site.store.sessions("faces")) == []


@pytest.mark.alone
def test_flashes_of_clips_show_their_first_frames_and_then_masks(player, site, made):
    made("exposures", images=4, spare_images=4, exposures_ms="125, 250", masks="phase", countdown_ms=100)
    player.visit("faces")
    player.press("consent")
    player.press("instructions")
    player.start_flashes()
    player.play_flashes("done")

    responses = site.stored("faces")[2]
    assert len(responses) >= 4  # a busy machine's flashes are replaced until the spares are used up
    for response in responses:
        frames = round(response.exposure_ms * FPS / 1000)
        picture = response.timing.planned_frames[3]
        assert len(response.timing.planned_frames) == 3 + 1 + 4
        assert picture == sum([2, 3][i % 2] for i in range(frames))
        assert response.facts["clip_plays"] == 0
        if not {"mistimed", "hidden"} & {*response.flags}:
            assert response.facts["clip_frames_off"] == 0


def test_the_debrief_shows_the_first_frame_of_each_clip(player, site, made):
    made(images=2, debrief=True)
    player.begin("faces")
    for _ in range(2):
        player.wait("question")
        player.answer("f")
    player.wait("done")
    page = player.page

    page.click(".gallery details > summary")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.gallery img')].every(({ naturalWidth: px }) => px === 384)"
    )
    assert page.locator(".gallery img").count() == 2

    assert violations(page) == []


def test_where_some_clips_flash_and_some_play_the_flashes_have_no_button_to_play_them(player, site, made):
    made("exposures", images=4, spare_images=12, exposures_ms="200,unlimited", countdown_ms=100)
    page, seen = player.page, {}
    player.begin("faces")
    player.start_flashes()
    while player.wait("question", "done") == "question":  # a busy machine's flashes are replaced
        is_visible = page.is_visible(BUTTON)
        player.answer("f")
        seen[page.evaluate("window.openhype.lastTrial.exposure_ms")] = is_visible

    assert seen == {200: False, None: True}
