"""Creating studies with practice and checks from real folders: what is refused, and what files say."""

from datetime import UTC, datetime

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.administration.create import create
from backend.administration.study_spec import read_spec
from backend.cli import main
from backend.foundation.errors import InvalidInput
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store


def draw(folder, count, seed):
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    for i in range(count):
        Image.fromarray(rng.integers(0, 255, (32, 32, 3)).astype("uint8")).save(folder / f"{i}.png")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of pictures, in which commands run."""
    draw(tmp_path / "real", 12, 1)
    draw(tmp_path / "gan", 12, 2)
    for i, side in enumerate(("real", "fake")):
        draw(tmp_path / "practice" / side, 3, 10 + i)
        draw(tmp_path / "obvious" / side, 3, 20 + i)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words, settings=()):
    sets = [word for setting in settings for word in ("--set", setting)]
    basic = ["create", "s", "--real", "real", "--model", "gan=gan", "--size", "32", "--set", "images=8"]
    return CliRunner().invoke(main, [*basic, *words, *sets])


def stimuli(folder, name="s"):
    store = open_store("sqlite:///openhype.db", folder / "openhype-data")
    found = list(store.stimuli(name))
    store.close()
    return found


def test_a_study_is_made_simulated_and_scored_with_all_of_it(folder):
    made = run(
        "--practice",
        "practice",
        "--checks",
        "obvious",
        "--evaluators",
        "4",
        settings=[
            "practice_images=4",
            "picture_checks=2",
            "instructed_checks=2",
            "exclude_checks_below=0.5",
        ],
    )
    assert made.exit_code == 0, made.output
    assert (
        "not scored: 4 practice pictures before it, 2 attention checks by pictures, 2 attention checks by "
        "instructions" in made.output
    )

    simulated = CliRunner().invoke(main, ["simulate", "s", "--seed", "1"])
    scores = CliRunner().invoke(main, ["score", "s", "--simulated", "--full"])

    assert (simulated.exit_code, scores.exit_code) == (0, 0), simulated.output + scores.output
    assert "The rule for exclusion that was declared with the study leaves out " in scores.output
    assert "Attention checks" in scores.output


def test_all_files_of_a_study_are_of_one_length_form_and_kind_of_name(folder):
    """Files of practice and checks differ from others in nothing but the picture."""
    run("--practice", "practice", "--checks", "obvious", settings=["practice_images=4", "picture_checks=2"])

    roles = {each.name: each.role for each in stimuli(folder)}
    files = sorted((folder / "openhype-data" / "images" / "s").iterdir())
    assert {path.name for path in files} == set(roles)
    assert len({(path.stat().st_size, path.stat().st_mode, path.stat().st_mtime) for path in files}) == 1
    assert len({(len(path.name), path.suffix) for path in files}) == 1
    assert sorted(roles.values()).count("practice") == sorted(roles.values()).count("check") == 6


def test_without_a_folder_practice_is_set_aside_from_the_pool(folder):
    made = run(settings=["practice_images=4", "instructed_checks=2"])

    assert made.exit_code == 0, made.output
    aside = [(each.role, each.truth) for each in stimuli(folder) if each.role]
    assert sorted(aside) == [
        ("check", "fake"),
        ("check", "real"),
        *[("practice", "fake")] * 2,
        *[("practice", "real")] * 2,
    ]


@pytest.mark.parametrize(
    ("words", "settings", "message"),
    [
        (["--practice", "practice"], [], "practice has pictures for practice, and practice_images is 0"),
        (["--checks", "obvious"], [], "obvious has pictures for attention checks, and picture_checks is 0"),
        ([], ["picture_checks=2"], "picture_checks need pictures whose truth is beyond doubt: --checks DIR"),
        (
            ["--practice", "practice"],
            ["practice_images=8"],
            "for practice: it has 3 of 4 reals, 3 of 4 fakes; lower practice_images to at most 6",
        ),
        (
            ["--checks", "obvious"],
            ["picture_checks=4", "instructed_checks=4"],
            "lacks pictures for attention checks: it has 3 of 4 reals, 3 of 4 fakes",
        ),
        ([], ["practice_images=20"], "20 pictures are set aside for practice and instructions, unless"),
        (
            ["--practice", "nowhere"],
            ["practice_images=2"],
            "the folder of practice reals, nowhere/real, does not exist",
        ),
        ([], ["exclude_checks_below=0.8"], "exclude_checks_below needs attention checks"),
        ([], ["exclude_error_above=0.5"], "no rule for exclusion is called 'exclude_error_above'"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_left(folder, words, settings, message):
    refused = run(*words, settings=settings)

    assert refused.exit_code == 1
    assert message in refused.stderr
    assert not (folder / "openhype-data" / "images" / "s").exists()
    assert "s" not in CliRunner().invoke(main, ["status"]).stdout.split()


def test_a_picture_that_is_scored_and_checked_is_refused_by_its_content(folder):
    (folder / "obvious" / "real" / "other.png").write_bytes((folder / "real" / "0.png").read_bytes())

    refused = run("--checks", "obvious", settings=["picture_checks=2"])

    assert refused.exit_code == 1
    assert "appears on more than one side (real/0.png shows the same picture as" in refused.stderr
    assert "obvious/real/other.png" in refused.stderr


def test_folders_with_classes_are_refused_for_practice(folder):
    draw(folder / "practice" / "real" / "cats", 2, 30)
    for path in (folder / "practice" / "real").glob("*.png"):
        path.unlink()

    refused = run("--practice", "practice", settings=["practice_images=2"])

    assert refused.exit_code == 1
    assert "pictures for practice and checks have no classes" in refused.stderr


def test_settings_may_change_until_people_come_within_what_is_there(folder):
    run("--checks", "obvious", settings=["picture_checks=2"])

    lowered = CliRunner().invoke(main, ["set", "s", "picture_checks=4"])
    refused = CliRunner().invoke(main, ["set", "s", "picture_checks=8"])

    assert lowered.exit_code == 0, lowered.output
    assert "lacks pictures for attention checks: it has 3 of 4 reals" in refused.stderr


def test_a_file_describes_it_all(folder):
    (folder / "s.toml").write_text(
        'name = "s"\nreal = "real"\npractice = "practice"\nchecks = "obvious"\n[models]\ngan = "gan"\n'
        "[settings]\nimages = 8\nsize_px = 32\npractice_images = 4\npicture_checks = 2\n"
    )

    store, data = open_store("sqlite:///openhype.db", folder), DataDir(folder)
    study = create(store, data, read_spec(folder / "s.toml"), datetime.now(UTC))

    assert (study.protocol.unscored.practice_images, study.protocol.unscored.checks) == (4, 2)
    store.close()


def test_a_rule_for_time_alone_needs_no_checks(folder):
    assert run(settings=["exclude_faster_ms=200"]).exit_code == 0


def test_a_folder_with_pictures_for_nothing_is_named(folder):
    spec = 'name = "s"\nreal = "real"\nchecks = "obvious"\n[models]\ngan = "gan"\n[settings]\nsize_px = 32\n'
    (folder / "s.toml").write_text(spec)
    store, data = open_store("sqlite:///openhype.db", folder), DataDir(folder)

    with pytest.raises(InvalidInput, match="has pictures for attention checks, and picture_checks is 0"):
        create(store, data, read_spec(folder / "s.toml"), datetime.now(UTC))
    store.close()
