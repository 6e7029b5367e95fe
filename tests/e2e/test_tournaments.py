"""A tournament played to its end in Chromium: two pictures side by side, ties as a third answer."""

import shutil
from datetime import UTC, datetime

import pytest

from backend.administration.create import StudySpec, create
from backend.responses.study_data import study_rows

from .conftest import PAID_BY_LINK, SIZE
from .test_accessibility import violations

MODELS = ("gan-secret", "vae-secret", "dit-secret")


def made(site, folder, name, **settings):
    """Create a tournament of three models, each with a third of the fakes."""
    for place, picture in enumerate(sorted((site.folders / "gan").iterdir())):
        of = folder / MODELS[place % 3]
        of.mkdir(exist_ok=True)
        shutil.copy(picture, of)
    quick = {"size_px": SIZE, "shortest_answer_ms": 0}
    settings = {**quick, "panel": PAID_BY_LINK, "bonus_usd_cents": 0, "images": 6, **settings}
    models = tuple((model, folder / model) for model in MODELS)
    order = StudySpec(name, "study", "tournament", site.folders / "real", models, settings)
    return create(site.store, site.data, order, datetime.now(UTC))


@pytest.mark.core
def test_a_tournament_with_ties_is_played_by_keys_and_buttons_and_tells_no_model(player, site, tmp_path):
    study = made(site, tmp_path, "cup", ties="true")
    page = player.page
    player.visit("cup")
    player.press("consent")
    player.wait("instructions")
    told = page.inner_text("main")
    player.press("instructions")
    texts = []
    for key in ("f", "g", "j", "h"):
        player.wait("question")
        texts.append(page.content())
        if key == "f":
            assert page.inner_text("h1") == "Which one looks more real?"
            assert page.inner_text(".choices").split() == ["Left", "F", "Equally", "real", "G", "Right", "J"]
            assert violations(page) == []
        player.answer(key)
    for place in (1, 2):
        player.wait("question")
        player.act_and_move_on(lambda place=place: page.click(f".choices button >> nth={place}"))
    player.wait("done")

    rows = [*study_rows(site.store, study)]
    assert [row["response"] for row in rows] == ["left", "tie", "right", "tie", "tie", "right"]
    assert all({row["left"], row["right"]} < {*MODELS} for row in rows)
    assert "two pictures at a time, side by side" in told
    assert "you can say so" in told
    assert not any(model in text for text in texts for model in MODELS)


def test_without_ties_there_are_two_answers(player, site, tmp_path):
    made(site, tmp_path, "cup", images=2)
    player.visit("cup")
    player.press("consent")
    player.press("instructions")
    player.wait("question")

    assert player.page.inner_text(".choices").split() == ["Left", "F", "Right", "J"]
    player.page.keyboard.press("g")
    player.answer("f")
    player.answer("j")
    player.wait("done")
    assert [response.response for response in site.stored("cup")[2]] == ["left", "right"]
