"""Who needs a completion code, and which answers the last page counts."""

import pytest

from .. import sample_studies as studies
from ..test_handlers import late_flash

UNPAID = {"base_usd_cents": 0, "bonus_usd_cents": 0}


@pytest.mark.parametrize(
    ("settings", "needs_code"),
    [
        ({"panel": "link", **UNPAID}, False),
        ({"panel": "link", "base_usd_cents": 100}, True),
        ({"panel": "prolific", **UNPAID}, True),
        ({"panel": "sona", **UNPAID}, True),
    ],
    ids=["unpaid by link", "paid by hand", "Prolific", "SONA"],
)
def test_a_code_is_needed_where_a_panel_or_the_payer_asks_for_it(world, settings, needs_code):
    world.add(studies.study(images=4, **settings))

    assert world.player(panel={}).play()["needs_code"] is needs_code


@pytest.mark.parametrize(
    ("pay", "answered"),
    [(UNPAID, 8), ({"base_usd_cents": 100, "bonus_usd_cents": 1}, 11)],
    ids=["unpaid", "paid"],
)
def test_answers_to_flashes_that_failed_are_counted_only_where_they_are_paid(world, pay, answered):
    world.add(studies.study(method="time", images=8, blocks=1, spare_images=30, panel="link", **pay))
    player = world.player(panel={})
    player.begin()
    for _ in range(3):
        reply = player.answer(**late_flash())
        player.images[0] = reply["replaced_by"].rpartition("/")[2]
    done = None
    while done is None:
        done = player.answer()["done"]

    assert (done["right"], done["answered"]) == (answered, answered)
