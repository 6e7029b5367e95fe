"""Exports: what the validator of Psych-DS asks for, what was stored, and nothing that names a person."""

import csv
import dataclasses
import json
import re
import tracemalloc
from collections import Counter
from itertools import count
from random import Random

import pytest

from backend.analysis.image_error_rates import image_table
from backend.analysis.quality import evaluator_table
from backend.analysis.table.evaluator_values import values_by_model
from backend.experiment import sampling
from backend.experiment.records import Condition, Response
from backend.experiment.session import Cursor
from backend.foundation.errors import Conflict, NotFound
from backend.responses.codebook import COLUMNS, FILES
from backend.responses.export import export, keyword_of
from backend.responses.readers import read_answers
from backend.responses.study_data import study_scores
from tests.unit.response_rows import score_file

from .. import sample_studies as studies


def psychds_problems(folder):
    """Return what breaks the rules of psychds-validator 1.5.0 whose level is `error`.

    Source: github.com/psych-ds/psychds-validator at 6239b2e, src/setup/defaultSchema.json (rules.files,
    rules.errors, compiled_metadata), src/files/csv.ts and src/validators/filenameValidate.ts.
    """
    described = json.loads((folder / "dataset_description.json").read_text("utf-8"))
    yield from (
        f"{key} missing" for key in ("name", "description", "variableMeasured") if not described.get(key)
    )
    if described.get("@context") != "https://schema.org/" or described.get("@type") != "Dataset":
        yield "not a Dataset of schema.org"
    variables = {variable["name"] for variable in described["variableMeasured"]}
    files = sorted((folder / "data").iterdir())
    if not files:
        yield "no data file"
    headers = set()
    for path in files:
        if not re.fullmatch(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv", path.name):
            yield f"{path.name} has no keywords"
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = csv.reader(file, strict=True)
        if len(set(header)) < len(header) or any(len(row) != len(header) for row in rows):
            yield f"{path.name} is no table"
        yield from (f"{column} of {path.name} not described" for column in set(header) - variables)
        headers |= set(header)
    yield from (f"{name} in no file" for name in variables - headers)


def table(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def file_of(paths, which):
    return next(path for path in paths if f"_description-{which}_" in path.name)


@pytest.fixture
def exported(world, tmp_path):
    """Return a function that exports a study of the world."""

    def run(study, folder="out", simulated=False):
        return export(world.store, study, tmp_path / folder, simulated)

    return run


@pytest.fixture
def faces(world):
    """Return a study of two models and classes, with six finished sessions and one that broke off."""
    study = world.add(
        studies.study(classes=("cats", "dogs"), images=20, blocks=2, spare_images=0, evaluators=4)
    )
    rng = Random(1)
    for wrong in range(6):
        world.player().play(right=lambda truth, k=wrong: rng.random() > k / 8)
    broken = world.player()
    broken.begin()
    broken.answer()
    return study


def test_an_export_breaks_no_rule_of_psych_ds(faces, exported, tmp_path):
    exported(faces)

    assert [*psychds_problems(tmp_path / "out")] == []
    for name in ("README.md", "CHANGES.md", ".psychds-ignore"):  # asked for by its warnings
        assert (tmp_path / "out" / name).stat().st_size > 0


def test_the_rules_find_a_column_that_is_not_described(faces, exported, tmp_path):
    exported(faces)
    path = tmp_path / "out" / "dataset_description.json"
    path.write_text(path.read_text("utf-8").replace('"name": "rt"', '"name": "reaction_time"'), "utf-8")

    problems = {*psychds_problems(tmp_path / "out")}

    assert "rt of study-faces_data.csv not described" in problems
    assert "reaction_time in no file" in problems


def test_the_first_file_scores_as_the_study_does(world, faces, exported):
    scored = exported(faces)[0]

    assert scored.name == "study-faces_data.csv"
    assert score_file(scored) == study_scores(world.store, faces)


def test_the_folder_scores_as_its_first_file_and_one_without_is_refused(faces, exported, tmp_path):
    scored = exported(faces)[0]

    assert score_file(tmp_path / "out") == score_file(scored)
    with pytest.raises(NotFound, match=r"materials is a folder without responses; name a file"):
        score_file(tmp_path / "out" / "materials")


def test_the_table_of_evaluators_is_that_of_the_analysis(faces, exported):
    paths = exported(faces)
    answers = read_answers(paths[0], details=True)

    rows = table(file_of(paths, "evaluators"))

    expected = {row["evaluator"]: row for row in evaluator_table(answers, values_by_model(answers))}
    assert len(rows) == len(expected) == 6
    for row in rows:
        wanted = expected[row["evaluator"]]
        assert {name: row[name] for name in wanted if name in row} == {
            name: str(value) for name, value in wanted.items() if name in row
        }


def test_the_table_of_images_is_that_of_the_analysis(faces, exported):
    paths = exported(faces)

    rows = table(file_of(paths, "images"))

    expected = image_table(read_answers(paths[0], details=True))
    numbers = ("number_guesses", "number_guesses_generated", "soft_label", "error")

    def told(found, generated):
        return {
            (row["model"], generated(row), row["image_path"]): [float(row[name]) for name in numbers]
            for row in found
        }

    assert told(rows, lambda row: row["generated"] == "true") == told(expected, lambda row: row["generated"])
    assert {row["class"] for row in rows} == {"cats", "dogs"}


def test_tables_of_images_and_evaluators_reconcile(faces, exported):
    paths = exported(faces)

    images, evaluators = (table(file_of(paths, which)) for which in ("images", "evaluators"))

    for model in faces.models:
        seen, wrong = Counter(), Counter()
        for row in images:
            if row["model"] == model:
                guesses = int(row["number_guesses"])
                seen["images"] += guesses
                wrong["images"] += round(float(row["error"]) * guesses)
        for row in evaluators:
            if row["model"] == model:
                seen["evaluators"] += int(row["responses"])
                wrong["evaluators"] += round((1 - float(row["accuracy"])) * int(row["responses"]))
        assert seen["images"] == seen["evaluators"] > 0
        assert wrong["images"] == wrong["evaluators"]


def test_what_does_not_count_stands_in_files_of_its_own(faces, exported):
    paths = exported(faces)

    assert len(table(file_of(paths, "unfinished"))) == 1
    assert table(file_of(paths, "replaced")) == []
    assert len(table(paths[0])) == 6 * 20


def test_what_the_page_kept_is_an_event_with_its_time(world, exported):
    study = world.add(studies.study(images=4, spare_images=0))
    player = world.player()
    player.begin()
    player.answer()
    happened = [{"event": "blur", "time_ms": 4100}, {"event": "focus", "time_ms": 5200.5}]
    reply = player.post("answers", player.body() | {"interactions": happened})

    events = table(file_of(exported(study), "events"))

    assert reply.status_code == 200
    assert [(event["event"], event["trial"], float(event["time"])) for event in events] == [
        ("blur", "1", 4100),
        ("focus", "1", 5200.5),
    ]


def test_what_the_flags_tell_is_an_event_of_its_trial(world, exported):
    study = world.add(studies.study(images=4, spare_images=0))
    player = world.player()
    player.begin()
    for flags in (["simulated"], ["hidden", "mistimed"], [], []):
        reply = player.post("answers", player.body() | {"flags": flags})
        player.next = reply.json["next"]

    events = table(file_of(exported(study), "events"))

    assert [(event["event"], event["trial"], event["time"]) for event in events] == [("hidden", "1", "")]


def test_no_id_of_a_panel_and_no_secret_leaves(world, exported, tmp_path):
    study = studies.study(images=4, spare_images=2, redirect_url="https://panel.example/?cc=CANARY-CODE")
    stimuli = [
        type(s)(s.name, s.truth, s.model, s.class_, f"/home/canary-path/{s.source}")
        for s in studies.pool(study)
    ]
    world.store.add_study(study, stimuli)
    panel = {"PROLIFIC_PID": "canary-pid", "STUDY_ID": "canary-study", "SESSION_ID": "canary-session"}
    player = world.player(panel=panel)
    player.play()
    (session, _), *_ = world.store.sessions("faces")
    assert session.panel == panel  # or else the canary was never in

    exported(study)

    written = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()).lower()
    secrets = [session.evaluator_key, session.secret_hash, session.completion_code, str(session.seed)]
    secrets += [player.token, player.token.rpartition(".")[2], "canary"]
    assert session.evaluator.encode() in written
    assert [secret for secret in secrets if secret.lower().encode() in written] == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("faces", "faces"),
        ("faces64", "faces64"),
        # sha256 of the name: printf faces-64 | sha256sum
        ("faces-64", "faces64xf352c7a0"),
    ],
)
def test_a_study_without_hyphens_is_named_as_it_is(name, expected):
    assert keyword_of(name) == expected


def test_names_that_differ_by_hyphens_alone_differ_in_files():
    names = ["a-b-c", "ab-c", "a-bc", "abc", "-abc", "a--bc"]

    assert len({keyword_of(name) for name in names}) == len(names)
    assert all(re.fullmatch("[a-zA-Z0-9]+", keyword_of(name)) for name in names)


def test_exporting_again_replaces_what_was_there_and_tells_what_changed(world, faces, exported, tmp_path):
    exported(faces)
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    exported(faces)
    again = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    world.player().play()
    exported(faces)

    assert before == again
    changes = (tmp_path / "out" / "CHANGES.md").read_text("utf-8").splitlines()
    assert [line.partition(": ")[2] for line in changes[2:]] == [
        "120 responses of 6 finished sessions",
        "140 responses of 7 finished sessions",
    ]


def test_a_folder_with_another_data_set_is_left_alone(world, faces, exported):
    exported(faces)
    other = world.add(studies.study("digits"))

    with pytest.raises(Conflict, match=r"out holds another data set \(faces\); choose another folder"):
        exported(other)


def test_a_study_without_answers_is_exported_empty(world, exported, tmp_path):
    paths = exported(world.add(studies.study()))

    assert [len(table(path)) for path in paths[: len(FILES)]] == [0] * len(FILES)
    assert [*psychds_problems(tmp_path / "out")] == []


def test_a_qualification_is_exported_though_it_has_no_scores(world, exported):
    study = world.add(studies.study("entry", kind="qualification", images=20, spare_images=0))
    world.player("entry").play()

    paths = exported(study)

    (row,) = table(file_of(paths, "evaluators"))
    assert (row["model"], row["responses"], row["accuracy"]) == ("", "20", "1.0")
    assert {row["model"] for row in table(file_of(paths, "images"))} == {"", "gan", "vae"}


def test_every_column_of_every_file_is_explained_and_no_other():
    assert {column for columns, _ in FILES.values() for column in columns} == set(COLUMNS)


class Endless:
    """A store of as many finished sessions of 100 answers as are asked for, made as they are read."""

    def __init__(self, study, sessions):
        self.study, self.count = study, sessions
        stimuli = studies.pool(study, each=200)
        self.pool, self.session = sampling.pool_of(stimuli), studies.session(study, stimuli)

    def answered(self, _study, _simulated):
        for i in range(self.count):
            blocks, _ = sampling.draw_session(self.study, self.pool, Condition(("gan",)), Random(i), [50])
            session = dataclasses.replace(self.session, id=f"s{i:06}", evaluator=f"e{i:06}", blocks=blocks)
            yield session, Cursor(trial_index=100, state="finished"), self.responses(session)

    def entries(self, _):
        return iter(())

    def finished(self, _study, _simulated):
        return self.count, ""

    def responses(self, session):
        (block,) = session.blocks
        rng = Random(session.id)
        return [
            Response(
                i, 0, name, rng.choice(("real", "fake")), None, None, None, 16.7, None, 400.0, (), "2026"
            )
            for i, name in zip(count(), block.stimuli, strict=False)
        ]


def peak_of_export(study, sessions, out):
    store = Endless(study, sessions)
    tracemalloc.start()
    export(store, study, out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.slow("writes an export ten times as long")
def test_ten_times_the_answers_need_no_more_memory(tmp_path):
    study = studies.study(models=("gan",), spare_images=0)
    export(Endless(study, 2), study, tmp_path / "warm")  # what is imported is not the export's

    small, large = (peak_of_export(study, n, tmp_path / str(n)) for n in (20, 200))

    written = (tmp_path / "200" / "data" / "study-faces_data.csv").read_bytes()
    assert written.count(b"\n") == 20_001
    assert large < 1.2 * small < len(written)


def test_real_and_simulated_sessions_are_data_sets_of_their_own(world, faces, exported, tmp_path):
    for wrong in range(4):
        world.player(simulated=True).play(right=lambda truth, k=wrong: k > 1)
    real, rehearsed = exported(faces), exported(faces, "simulated", simulated=True)

    for paths, kind in ((real, "false"), (rehearsed, "true")):
        assert {row["simulated"] for row in table(paths[0])} == {kind}
        assert {row["simulated"] for row in table(file_of(paths, "evaluators"))} == {kind}
    assert [*psychds_problems(tmp_path / "simulated")] == []
    assert score_file(real[0]) == study_scores(world.store, faces)
    assert score_file(rehearsed[0]) == study_scores(world.store, faces, simulated=True)
    assert score_file(rehearsed[0])["simulated"] is True
    for name in ("README.md", "dataset_description.json"):
        assert "They are simulated: nobody looked" in (tmp_path / "simulated" / name).read_text("utf-8")
        assert "They are simulated" not in (tmp_path / "out" / name).read_text("utf-8")


@pytest.mark.parametrize("simulated", [True, False])
def test_neither_kind_is_written_over_the_other(world, faces, exported, simulated):
    world.player(simulated=True).play()
    exported(faces, simulated=simulated)

    with pytest.raises(Conflict, match=r"out holds another data set \(faces"):
        exported(faces, simulated=not simulated)


def test_the_size_of_pictures_and_notices_of_equal_answers_are_exported(world, exported):
    world.add(studies.study("faces", images=4, models=("gan",)))
    player = world.player()
    player.begin(shown_css_px=409.6, shown_px=512)
    for flags in ([], ["same_answer_notice"], ["interrupted"]):
        player.answer(flags=flags)
    player.answer(
        shown_css_px=300, shown_px=600, pixel_ratio=2, page_scale=1.5, surround="filter", translated="pl"
    )

    paths = exported(world.store.study("faces"))

    scored, (evaluator,) = table(paths[0]), table(file_of(paths, "evaluators"))
    assert [(row["shown_css_px"], row["shown_px"]) for row in scored] == [
        *[("409.6", "512")] * 3, ("300", "600"),  # of the block, unless the trial says otherwise
    ]  # fmt: skip
    assert [row["translated"] for row in scored] == ["", "", "", "pl"]
    assert [scored[3][name] for name in ("pixel_ratio", "page_scale", "surround")] == ["2", "1.5", "filter"]
    assert evaluator["same_answer_notices"] == "1"
    events = [(row["event"], row["trial"]) for row in table(file_of(paths, "events"))]
    assert events == [("same_answer_notice", "1"), ("interrupted", "2")]
    assert read_answers(paths[0], details=True).texts["flags"].names == [
        "", "same_answer_notice", "interrupted",
    ]  # fmt: skip
