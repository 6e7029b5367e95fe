"""A study of mixed sessions, played to its end in Chromium: fakes of two models beside the same reals."""

import shutil
from collections import Counter
from datetime import UTC, datetime

import pytest

from backend.administration.create import StudySpec, create
from backend.responses.study_data import study_rows

from .conftest import PAID_BY_LINK, SIZE
from .test_accessibility import violations

MODELS = ("gan-secret", "vae-secret")


def made(site, folder, name, **settings):
    """Create a study with half of the fakes as those of another model."""
    for place, picture in enumerate(sorted((site.folders / "gan").iterdir())):
        of = folder / MODELS[place % 2]
        of.mkdir(exist_ok=True)
        shutil.copy(picture, of)
    quick = {"size_px": SIZE, "masks": "phase", "shortest_answer_ms": 0}
    settings = {**quick, "panel": PAID_BY_LINK, "models_per_session": 2, **settings}
    models = tuple((model, folder / model) for model in MODELS)
    method = settings.pop("method", "infinity")
    order = StudySpec(name, "study", method, site.folders / "real", models, settings)
    return create(site.store, site.data, order, datetime.now(UTC))


def test_a_session_of_two_models_is_played_and_the_page_tells_no_model(player, site, tmp_path):
    study = made(site, tmp_path, "faces", images=8, spare_images=0, feedback_ms=20, debrief="true")
    player.visit("faces")
    player.press("consent")
    player.press("instructions")
    texts = []
    for _ in range(8):
        player.wait("question")
        texts.append(player.page.content())
        player.answer("r")
    player.wait("done")
    end = player.page.inner_text("main")

    session, cursor, responses = site.stored("faces")
    assert (cursor.state, len(responses), session.models) == ("finished", 8, MODELS)
    assert Counter(session.blocks[0].models) == {None: 4, MODELS[0]: 2, MODELS[1]: 2}
    judged = Counter(row["model"] for row in study_rows(site.store, study))
    assert judged == {"": 4, MODELS[0]: 2, MODELS[1]: 2}
    assert not any(model in text for text in texts for model in MODELS)
    assert "gan-secret, vae-secret" in end
    assert "No other session has judged these models yet" in end
    assert violations(player.page) == []


@pytest.mark.alone
def test_hype_time_shows_a_block_of_each_model(player, site, tmp_path):
    made(site, tmp_path, "faces", method="time", blocks=2, images=4, spare_images=100, countdown_ms=100,
         feedback_ms=20)  # fmt: skip
    player.visit("faces")
    player.play_two_blocks()

    session, cursor, _ = site.stored("faces")
    assert cursor.state == "finished"
    assert sorted({model for model in block.models if model}.pop() for block in session.blocks) == list(
        MODELS
    )
