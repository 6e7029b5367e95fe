"""Equivalence of pairs in words: which are equivalent, which differ, which are undecided."""

import pytest

from backend.report import comparisons, equivalence
from backend.report.context import FindingsView

PAIRS = {"ab": (0.001, 0.9), "ac": (0.4, 0.01), "bc": (0.3, 0.2), "ad": (0.01, 0.02)}
"""p of the difference, and of equivalence."""


def found_of(names, margin=5.0, has_pictures=True):
    """Return a view of pairs of models of one letter, which are in `PAIRS`."""
    p_of = {
        name: {
            "margin": margin,
            "p_holm": None if margin is None else PAIRS[name][1],
            "equivalent_within": 6.5,
        }
        for name in names
    }
    effect = None if margin is None else {"d": 0.2, "d_ci": [-0.1, 0.5], "sd": 45.0}
    over = [
        {"a": name[0], "b": name[1], "p": 0.5, "ci": [0, 1], "equivalence": p_of[name], "effect": effect}
        for name in names
    ]
    return FindingsView(
        {
            "unit": "ms" if margin is None else "percent",
            "settings": {"level": 0.95},
            "pairs": [{"a": name[0], "b": name[1], "p": PAIRS[name][0]} for name in names],
            "over_pictures": {"pairs": over, "advised": False} if has_pictures else None,
            "findings": {},
        }
    )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ab", "a and b differ significantly."),
        ("ac", "a and c are equivalent within 5 points; no significant difference."),
        (
            "bc",
            "b and c do not differ significantly, which does not show them equal; nor were they shown to be "
            "equivalent within 5 points.",
        ),
        ("ad", "a and d differ significantly, though by less than 5 points."),
    ],
)
def test_a_single_pair_is_said_to_differ_to_be_equivalent_or_neither(name, sentence):
    assert comparisons.verdict(found_of([name])) == sentence
    assert equivalence.verdicts(found_of([name])) == ()


def test_of_several_pairs_one_sentence_names_each_kind():
    found = found_of([*PAIRS])

    assert comparisons.verdict(found) == (
        "2 of 4 pairs of models differ significantly; 1 is equivalent within 5 points."
    )
    assert equivalence.verdicts(found) == (
        "Equivalent within 5 points: a and c; different, but by less than 5 points: a and d; different: a "
        "and b; undecided: b and c.",
    )
    assert equivalence.verdicts(found_of(["ab", "bc"])) == (
        "Equivalent within 5 points: none; different: a and b; undecided: b and c.",
    )


def test_hype_time_has_the_smallest_margin_and_no_verdict():
    found = found_of(["ab", "bc"], margin=None)

    (table,) = equivalence.tables(found)
    assert [column.head for column in table.columns] == ["pair", "equivalent within (ms)"]
    assert table.cells == [["a − b", "6.5"], ["b − c", "6.5"]]
    assert equivalence.verdicts(found) == ()
    assert equivalence.notes(found)[0].startswith("No margin in ms is tested")


def test_the_table_has_p_the_smallest_margin_and_d_over_evaluators_and_pictures():
    (table,) = equivalence.tables(found_of(["ac"]))

    assert dict(zip([column.head for column in table.columns], table.cells[0], strict=True)) == {
        "pair": "a − c",
        "p (within 5 points, Holm)": ".010",
        "equivalent within (points)": "6.5",
        "d (over evaluators and pictures)": "0.20 [−0.10, 0.50]",
    }


def test_where_no_pictures_are_named_nothing_is_said_of_equivalence():
    found = found_of(["ac", "bc"], has_pictures=False)

    assert (equivalence.verdicts(found), equivalence.tables(found), equivalence.notes(found)) == ((), (), ())
    assert comparisons.verdict(found) == (
        "None of the 2 pairs of models differs significantly, which does not show them equal."
    )
