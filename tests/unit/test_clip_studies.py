"""Studies of clips, from folders to report, by the commands and by the jobs of the server."""

import io
import json
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click import Context
from click.testing import CliRunner
from PIL import Image

pytest.importorskip("av")

from backend.cli import main
from backend.report.build import ReportOptions, study_info
from backend.report.thumbnails import content_of, thumbnails
from backend.stimuli.clips.clip_file import read
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.task.replies import public_study
from tests.unit.stimuli.clips.made_clips import moving, write_sides, write_video

SMALL = "--size 32 --set images=8 --set spare_images=0 --set evaluators=3"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder of clips with a study of them, in which simulated evaluators took part."""
    root = tmp_path_factory.mktemp("clips")
    write_sides(root, count=6, frames=6)
    for i in range(6):
        write_video(root / "veo" / f"{i}.mp4", moving(300 + i, 6))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        told = run(f"create faces --real real --model sora=sora {SMALL}")
        run("simulate faces --at-once 1")
    return root, told


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """Return a copy of it, as the working directory."""
    copy = tmp_path / "copy"
    shutil.copytree(made[0], copy)
    monkeypatch.chdir(copy)
    return copy


def run(line):
    result = CliRunner().invoke(main, line.split(), prog_name="openhype")
    assert result.exit_code == 0, result.output
    return result.output


def refused(line):
    result = CliRunner().invoke(main, line.split(), prog_name="openhype")
    assert result.exit_code == 1, result.output
    return result.output


def stored():
    return open_store("sqlite:///openhype.db", Path("openhype-data"))


def study(name="faces"):
    return stored().study(name)


def files(folder, name="faces"):
    return sorted((folder / "openhype-data" / "images" / name).glob("*.clip"))


def test_folders_of_videos_make_a_study_of_clips_without_being_told(folder, made):
    public = public_study(study(), None)

    assert "made the study faces: 1 model, 8 clips a session" in made[1]
    assert "note: clips have 6 frames: 12 frames a second (the rate of most), cut to 0.5 s" in made[1]
    assert re.search(r"note: a session loads \d\S* MB: 8 clips of 0.0\d+ MB each", made[1])
    assert public["medium"] == "clip"
    assert public["clip"] == {
        "codec": "vp09.00.10.08",
        "frames": 6,
        "fps": [12, 1],
        "width": 32,
        "height": 32,
    }
    assert "You will see videos, one at a time" in public["consent"]["text"]
    assert len(files(folder)) == 12


def test_simulated_evaluators_are_scored_and_reported_with_film_strips(folder):
    told = run("score faces --simulated")
    assert re.search(r"^sora +\d", told, re.MULTILINE)
    assert "clips judged wrong, best first" in told

    data = DataDir(folder / "openhype-data")
    names = [path.name for path in files(folder)[:2]]
    strips = thumbnails(data.picture, "faces", names)
    info = study_info(stored(), study(), datetime.now(UTC), ReportOptions(simulated=True))
    assert info.are_clips
    assert [Image.open(io.BytesIO(content_of(strips[name]))).size for name in names] == [(384, 96)] * 2


def test_a_published_data_set_says_that_its_stimuli_are_clips(folder):
    run("export faces --simulated --out out")

    told = json.loads((folder / "out" / "materials" / "study.json").read_text("utf-8"))
    assert told["medium"] == "clip"
    assert told["clip"]["frames"] == 6
    texts = [(folder / "out" / name).read_text("utf-8") for name in ("README.md", "dataset_description.json")]
    assert "the question whether clips are real or generated" in texts[0]
    assert "Public file name of the clip" in texts[1]
    assert not any(re.search(r"\bpictures?\b", text) for text in texts)


@pytest.mark.parametrize("command", ["score out", "score out --full", "report out -o told"])
def test_what_reads_a_data_set_of_clips_says_clips_as_of_the_study(folder, command):
    run("export faces --simulated --out out")

    said = run(f"{command} --simulated")
    words = said + "".join(page.read_text("utf-8") for page in folder.glob("told/*.html"))

    assert "clips" in words
    shown = re.sub(r"(?s)<style>.*?</style>|<script.*?</script>|<[^>]*>", " ", words)
    assert re.findall(r".{30}\b[Pp]ictures?\b.{30}", shown) == []


def test_a_study_of_clips_is_run_again(folder):
    run("rerun faces")

    assert study("faces-2").clip == study().clip
    assert [path.name for path in files(folder, "faces-2")] == [path.name for path in files(folder)]


def test_a_model_of_clips_joins_in_the_form_of_the_study(folder):
    before = [read(path.read_bytes())[0] for path in files(folder)]

    run("join faces --model veo=veo")

    heads = [read(path.read_bytes())[0] for path in files(folder)]
    assert len(heads) == 18
    assert {*heads} == {*before}
    assert study().models == ("sora", "veo")
    assert len({path.stat().st_size for path in files(folder)}) == 1


def test_a_clip_that_the_study_has_already_does_not_join(folder):
    shutil.copy(folder / "real" / "0.mp4", folder / "veo" / "x.mp4")

    assert "x.mp4 shows the same picture as" in refused("join faces --model veo=veo")


def test_pictures_do_not_join_a_study_of_clips(folder):
    (folder / "stills").mkdir()
    for i, frame in enumerate(moving(1, 6)):
        frame.save(folder / "stills" / f"{i}.png")

    assert (
        "study faces shows clips, and the folder of model stills holds pictures; a study never mixes them"
        in refused("join faces --model stills=stills")
    )


def test_flashes_of_clips_are_masked_by_their_own_frames(folder):
    told = run(
        "create flashes --real real --model sora=sora --method exposures --size 32 --set images=4 "
        "--set spare_images=0 --set exposures_ms=200,unlimited --set masks=phase"
    )

    assert len(study("flashes").masks) == 64
    assert {name.partition(".")[2] for name in study("flashes").masks} == {"webp"}
    assert "photosensitivity: " in told


def test_pairs_and_tournaments_are_of_clips_too(folder):
    run(f"create pairs --real real --model sora=sora --method pair {SMALL} --set images=4")
    run(
        f"create cup --real real --model sora=sora --model veo=veo --method tournament {SMALL} --set images=4"
    )

    assert [study(name).medium for name in ("pairs", "cup")] == ["clip", "clip"]


def test_a_real_clip_stands_beside_the_fake_made_from_its_first_frame(folder):
    for i in range(6):
        write_video(folder / "vid" / f"{i}.mp4", [moving(i, 6)[0], *moving(400 + i, 6)[1:]])
    shutil.copy(folder / "vid" / "2.mp4", folder / "vid" / "9.mp4")
    shutil.move(folder / "vid" / "4.mp4", folder / "vid" / "44.mp4")
    line = (
        f"create near --real real --model vid=vid --method pair {SMALL} --set images=4 --set pairing=source"
    )

    alone = refused(line)
    told = run(f"{line} --skip-bad")

    run("simulate near --at-once 1")
    run("export near --simulated --out out")
    sources = {one.name: one.source for one in stored().stimuli("near")}
    rows = (folder / "out" / "data" / "study-near_data.csv").read_text("utf-8").splitlines()
    shown = [re.findall(r"[0-9a-f]{32}\.clip", row) for row in rows[1:]]
    assert "4 (no usable file of vid), 44 (no usable file of the reals)" in alone
    assert "note: 5 sources, matched by name, with one file of every side each" in told
    assert "note: left out, since not every side has one file of it: 4, 44" in told
    assert re.search(
        r"note: first frames of vid and their partners of the reals are 0\.\d+ of 255 levels apart", told
    )
    assert "begin more like another" not in told
    assert len(sources) == len(files(folder, "near")) == 10
    assert len(shown) == 12
    assert all(sources[left] == sources[right] for left, right in shown)


def test_clips_that_do_not_begin_like_their_partner_are_named(folder):
    for i in range(6):
        write_video(folder / "vid" / f"{i}.mp4", [moving(i ^ (i < 2), 6)[0], *moving(400 + i, 6)[1:]])

    told = run(
        f"create near --real real --model vid=vid --method pair {SMALL} --set images=4 --set pairing=source"
    )

    assert (
        "2 of 6 clips of vid begin more like another clip of the reals than like their partner: 0, 1" in told
    )


def test_costs_are_those_of_the_clips_that_a_study_has(folder):
    told = run("costs faces")

    each = files(folder)[0].stat().st_size
    assert f"faces (HYPE-infinity) with its own 12 clips of {each / 1e3:.0f} kB each:" in told
    assert f"| sent | {(8 * each + 130_000 + 12_000) / 1e3:.0f} kB |" in told
    assert re.search(r"^\| CloudFront's share \| \| \d\d% \|$", told, re.MULTILINE)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "create x --real real --model sora=mixed --size 32 --set images=2",
            "is a still picture: a study shows clips or pictures",
        ),
        ("create x --real real --model sora=sora --set mark=click", "marks are made on pictures; with clips"),
        (
            "create x --items items --method 2afc",
            "2AFC (method 2afc) is for pictures, and the folders hold clips",
        ),
        ("create x --items items --method jnd", "clips go with the methods "),
    ],
)
def test_what_does_not_go_with_clips_is_refused_in_words(folder, line, message):
    shutil.copytree(folder / "sora", folder / "mixed")
    moving(1, 1)[0].save(folder / "mixed" / "0.png")
    for part in ("ref", "p0", "p1"):
        write_video(folder / "items" / "a" / part / "0.mp4", moving(1, 3))

    assert message in refused(line)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("metrics faces", "metrics are of pictures, and study faces shows clips"),
        ("site faces --out site", "a demo without a server shows pictures, and faces shows clips"),
    ],
)
def test_what_works_with_pictures_alone_is_refused_in_words(folder, line, message):
    assert message in refused(line)


def test_marks_cannot_be_asked_for_later(folder):
    assert "marks are made on pictures" in refused("set faces mark=click")


def test_without_pyav_it_is_said_how_to_get_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)

    told = refused(f"create x --real real --model sora=sora {SMALL}")

    assert "reading clips needs av, which is not installed; run: " in told
    assert "from a machine that has it" in told


COMMANDS = {
    "agree": "agree faces no.csv",
    "backup": "backup saved",
    "clear": "clear faces --simulated --yes",
    "competition": "competition faces --title Clips",
    "copy": "copy faces --from sqlite:///openhype.db --to sqlite:///other.db",
    "delete": "delete faces --yes faces",
    "export": "export faces --simulated --out out",
    "join": "join faces --model veo=veo",
    "leaderboard": "leaderboard faces --simulated --out table",
    "links": "links faces --count 1 --url https://study.example",
    "looks": "looks faces",
    "masks": "masks faces --out masks.png",
    "metrics": "metrics faces",
    "pause": "pause faces",
    "pay": "pay faces",
    "preregister": "preregister faces",
    "recruit": "recruit faces",
    "replicate": "replicate faces faces",
    "report": "report faces --simulated --out report",
    "rerun": "rerun faces",
    "resume": "resume faces",
    "score": "score faces --simulated",
    "set": "set faces feedback_ms=300",
    "simulate": "simulate faces --evaluators 3 --at-once 1",
    "site": "site faces --out site",
    "status": "status faces",
    "update-sampling": "update-sampling faces",
}
"""One line of each command that names a study."""
OF_FILES_OR_SERVERS = {
    *(
        "admit-waiting",
        "calibrate",
        "convergence",
        "costs",
        "create",
        "demo",
        "deploy",
        "distances",
        "distort",
    ),
    *(
        "members",
        "plan",
        "preview",
        "published",
        "qualification",
        "restore",
        "retention",
        "serve",
        "settings",
    ),
    *("submit", "upload", "work"),
}


def test_every_command_stands_in_the_table():
    assert {*main.list_commands(Context(main))} == {*COMMANDS} | OF_FILES_OR_SERVERS


@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS)
def test_every_command_takes_a_study_of_clips_or_refuses_it_in_words(folder, line):
    result = CliRunner().invoke(main, line.split(), prog_name="openhype")

    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in (0, 1), result.output
    assert result.exit_code == 0 or result.output.strip().splitlines()[-1].startswith("openhype: ")
