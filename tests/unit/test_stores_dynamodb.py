"""What is DynamoDB's own: what an answer costs, faults of the service, expiry, and its URL."""

from collections import Counter
from random import Random

import pytest

from backend.datadir import DataDir
from backend.stores.calls import Calls, connect, parse_url
from backend.stores.dynamodb import DynamoStore

from . import studies
from .conftest import World

CHROME = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
)
DISPLAY = {
    "frame_ms": 16.666666507720947,
    "refresh_hz": 60.00000057220461,
    "jitter_ms": 0.0123,
    "is_variable": False,
    "pixel_ratio": 1.25,
    "screen_width": 1920,
    "screen_height": 1080,
    "full_screen": True,
    "user_agent": CHROME,
}
PANEL = {"PROLIFIC_PID": "5f" * 12, "STUDY_ID": "6a" * 12, "SESSION_ID": "7b" * 12}


class Meter:
    """Counts calls and the capacity units that they took."""

    def __init__(self):
        self.calls, self.units = Counter(), Counter()

    def __call__(self, operation, units):
        self.calls[operation] += 1
        self.units[operation] += units

    @property
    def write_units(self):
        return sum(self.units[name] for name in ("put_item", "update_item", "delete_item"))


def metered(url, meter, **options):
    table, named = parse_url(url)
    return DynamoStore(Calls(connect(named), table, meter=meter), **options)


@pytest.mark.parametrize(("method", "most_units"), [("time", 470), ("infinity", 115)])
def test_a_session_costs_about_a_write_unit_an_answer(table, tmp_path, method, most_units):
    meter, rng = Meter(), Random(1)
    world = World(metered(table, meter), DataDir(tmp_path))
    world.add(studies.study(method=method), each=300)
    world.store.study("faces")
    list(world.store.stimuli("faces"))
    meter.calls.clear()
    meter.units.clear()

    player = world.player(panel=PANEL)
    while player.done is None:
        player.begin(**DISPLAY)
        finished = False
        while not finished:
            facts = (
                studies.flash(rng, player.next["exposure_ms"]) if method == "time" else {"rt": rng.random()}
            )
            world.clock.move(milliseconds=rng.randrange(3000, 9000))
            finished = player.answer(rng.random() < 0.8, **facts)["block_finished"]

    assert meter.write_units <= most_units
    assert sum(meter.calls.values()) <= most_units
