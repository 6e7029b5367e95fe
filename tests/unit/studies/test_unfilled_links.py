"""Visits by links that a panel did not fill in are counted, up to a bound."""

from backend.studies import unfilled_links

from .. import sample_studies as studies

AT = "2026-01-05T00:00:00Z"


def versions(world):
    return world.store.entry(unfilled_links.BOOK, "faces").version


def test_visits_beyond_the_bound_cost_no_write_and_add_no_row(world):
    study = world.add(studies.study(images=4))
    for _ in range(unfilled_links.MOST):
        unfilled_links.note(world.store, "faces", ["PROLIFIC_PID"], AT)
    written = versions(world)

    for name in ("PROLIFIC_PID", "SESSION_ID"):
        unfilled_links.note(world.store, "faces", [name], AT)

    assert versions(world) == written == unfilled_links.MOST
    warning = unfilled_links.warning(world.store, study)
    assert f"(PROLIFIC_PID {unfilled_links.MOST} or more; the last at" in warning


def test_every_visit_is_counted_before(world):
    study = world.add(studies.study(images=4))

    for names in (["PROLIFIC_PID"], ["PROLIFIC_PID", "SESSION_ID"]):
        unfilled_links.note(world.store, "faces", names, AT)

    assert "(PROLIFIC_PID 2, SESSION_ID 1; the last at" in unfilled_links.warning(world.store, study)
