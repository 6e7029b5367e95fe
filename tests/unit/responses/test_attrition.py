"""Who began, who finished, and why not: counted by hand over a study that people leave in every way."""

import json
from datetime import timedelta

import pytest
from click.testing import CliRunner

from backend.cli import main
from backend.experiment.session import mark_returned
from backend.report import page
from backend.report.build import ReportOptions, study_report
from backend.responses.attrition import attrition
from backend.task.withdrawal import withdraw

from .. import sample_studies as studies

EVALUATORS = {"gan": 6, "vae": 4}
AT = "2026-01-01T00:00:00.000Z"


def ways_out(world):
    """Let ten people come: of gan 2 finish, of vae 4; the others leave in a way of their own."""
    study = world.add(studies.study(images=8, evaluators=6, method="infinity", base_usd_cents=100))
    players = {"gan": [], "vae": []}
    for _ in range(10):
        player = world.player()
        players[world.store.session(player.state["session"]).model].append(player)
    assert {model: len(some) for model, some in players.items()} == {"gan": 5, "vae": 5}
    finished, also, silent, withdrawn, back = players["gan"]
    for player in (finished, also, *players["vae"][:4]):
        player.play()
    silent.begin()
    silent.answer()
    withdrawn.begin()
    withdrawn.answer()
    withdraw(world.store, study, withdrawn.state["session"], AT)
    back.begin()
    session = back.state["session"]
    cursor = world.store.cursor(session)
    world.store.move(session, cursor.version, mark_returned(cursor, AT))
    # the fifth of vae opened a session and never saw a picture
    return study


def found(world, study, **later):
    return attrition(world.store, study, world.clock.now + timedelta(**later))


def test_everybody_is_counted_once_by_what_became_of_them(world):
    study = ways_out(world)

    now, later = found(world, study), found(world, study, hours=9)

    none = dict.fromkeys(("returned", "timed_out", "broke_off", "ended", "withdrawn", "under_way"), 0)
    gan, vae = later["models"]
    assert {**gan, "ci": None} == {
        "model": "gan", "opened": 5, "began": 5, "finished": 2, **none, "returned": 1, "broke_off": 1,
        "withdrawn": 1, "left": 0.6, "ci": None,
    }  # fmt: skip
    assert {**vae, "ci": None} == {
        "model": "vae", "opened": 5, "began": 4, "finished": 4, **none, "left": 0.0, "ci": None,
    }  # fmt: skip
    assert [row["under_way"] for row in now["models"]] == [1, 0]
    assert now["models"][0]["left"] == 0.5
    # 3 of 5 against 0 of 4: of the C(9, 3) = 84 ways to choose who left, C(5, 3) + C(4, 3) = 14 are as uneven
    assert later["test"]["p"] == pytest.approx(14 / 84)
    assert later["test"]["method"] == "exact"


def test_simulated_sessions_and_real_ones_are_counted_apart(world):
    study = ways_out(world)
    world.player(simulated=True).play()

    real, simulated = found(world, study), attrition(world.store, study, world.clock.now, simulated=True)

    assert sum(row["opened"] for row in real["models"]) == 10
    assert sum(row["finished"] for row in simulated["models"]) == 1
    assert sum(row["withdrawn"] for row in simulated["models"]) == 0


def test_the_command_tells_it_of_a_study_and_that_a_file_does_not_know_it(world, tmp_path):
    ways_out(world)
    path = tmp_path / "r.csv"
    path.write_text("model,evaluator,truth,response\ngan,a,fake,real\ngan,b,real,real\n")

    def run(*arguments):
        done = CliRunner().invoke(main, ["score", *map(str, arguments), "--full"])
        assert done.exit_code == 0, done.stderr
        return done.stdout

    text = run("faces", "--data", tmp_path)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "model opened began finished returned broke off withdrawn left 95% interval" in lines
    assert "gan 5 5 2 1 1 1 60% [15, 95]" in lines
    assert any(line.startswith("vae 5 4 4 0 0 0 0% [") for line in lines)
    assert "not shown to lose evaluators at different rates (χ²(1) = 3.60, p = .17, exact test" in text
    assert json.loads(run("faces", "--json", "--data", tmp_path))["findings"]["attrition"]["models"]
    assert "Who began and did not finish is not known here" in run(path)
    assert json.loads(run(path, "--json"))["findings"]["attrition"] is None


@pytest.mark.slow("draws every figure")
def test_the_report_has_a_section_with_a_table(world):
    study = ways_out(world)

    report = study_report(
        world.store, world.data.picture, study, world.clock.now + timedelta(hours=9), ReportOptions()
    )

    (section,) = (section for section in report.sections if section.id == "attrition")
    assert section.paragraphs[0] == "9 evaluators began, 6 of them finished."
    assert "not shown to lose evaluators at different rates (χ²(1) = 3.60, p = .17" in section.paragraphs[1]
    (table,) = section.tables
    assert [column.head for column in table.columns] == [
        "model", "opened", "began", "finished", "returned", "broke off", "withdrawn", "left", "95% interval",
    ]  # fmt: skip
    assert table.cells[0] == ["gan", "5", "5", "2", "1", "1", "1", "60%", "[15, 95]"]
    assert "Who began and who finished" in page.html(report)
