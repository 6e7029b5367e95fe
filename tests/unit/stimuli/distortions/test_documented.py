"""docs/distortions.md states what the code draws."""

import re
from pathlib import Path

from backend.stimuli import distorted_set
from backend.stimuli.distortions import TRADITIONAL, sentinels
from backend.stimuli.distortions.distortion import Choice, Uniform

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "distortions.md").read_text("utf-8")


def described(other):
    match other:
        case Uniform():
            text = f"`{other.name}` {other.low:g} to {other.high:g} {other.unit}"
        case Choice():
            text = f"`{other.name}` {', '.join(map(str, other.values))} {other.unit}"
        case _:
            text = f"`{other.name}`"
    return text.strip()


def test_the_table_of_distortions_is_that_of_the_code():
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| [^|]+ \| (.*?) \|$", PAGE, re.M)

    assert rows == [
        (
            one.name,
            one.sub_type,
            f"`{one.magnitude.name}` | {one.magnitude.mildest:g} | {one.magnitude.strongest:g} | "
            f"{one.magnitude.unit} | {'; '.join(map(described, one.others))}".rstrip(),
        )
        for one in TRADITIONAL.values()
    ]


def test_the_columns_of_the_table_are_explained():
    section = PAGE.partition("## The table")[2].partition("\n## ")[0]

    explained = [
        name for row in re.findall(r"^\| (`.+?) \|", section, re.M) for name in re.findall(r"`(\w+)`", row)
    ]
    assert tuple(explained) == distorted_set.COLUMNS


def test_numbers_of_the_text_are_those_of_the_code():
    options = distorted_set.SetOptions()
    low, high = distorted_set.SUBTLE_POSITIONS

    assert f"(`--subtle`, {options.subtle:g} by\ndefault)" in PAGE
    assert f"(positions {low:g} to {high:g})" in PAGE
    assert f"({options.size_px} by default, as in BAPPS)" in PAGE
    assert f"`--longest 1` to\n`--longest {distorted_set.LONGEST}`" in PAGE
    assert f"deviation of {sentinels.WEAK_SD:g} and of {sentinels.HEAVY_SD:g} levels" in PAGE
    low, high = sentinels.SUBTLE_POSITIONS
    assert f"(positions {low:g} to {high:g})" in PAGE
    assert f"picture by {sentinels.VISIBLE_DIFFERENCE:g} ΔE or more" in PAGE


def test_the_example_runs():
    names = {}

    exec(re.search(r"^```python\n(.*?)^```", PAGE, re.M | re.S)[1], names)

    assert names["distorted"].shape == (64, 64, 3)
    assert (names["distorted"] != names["picture"]).any()
