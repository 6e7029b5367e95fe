"""Results of a tournament: simulated judges with known strengths, and what the results rest on."""

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest

from backend.analysis.judgment_scores import JudgmentScores, scores_of
from backend.analysis.models import first_place
from backend.analysis.models.bradley_terry import fit
from backend.analysis.models.paired_answers import PairedAnswers, paired_of
from backend.analysis.models.tournament import checks, fit_strengths, strengths
from backend.analysis.table.response_rows import answers_of
from backend.foundation.errors import InvalidInput
from validate.tournaments import simulated as simulated_pairs


def simulated(strengths, evaluators, trials, rng, ties=0.0, spread=0.0, left=0.0):
    """Return answers by the model; `spread`: SD of a strength between evaluators; `left`: its advantage."""
    size = len(strengths)
    first, second = np.triu_indices(size, 1)
    whose = np.repeat(np.arange(evaluators), trials)
    pair = np.concatenate([np.resize(rng.permutation(len(first)), trials) for _ in range(evaluators)])
    turned = rng.random(len(pair)) < 0.5
    a, b = np.where(turned, second[pair], first[pair]), np.where(turned, first[pair], second[pair])
    own = np.array(strengths) + spread * rng.normal(size=(evaluators, size))
    d = own[whose, a] - own[whose, b] + left
    drawn = rng.random(len(d)) * (np.exp(d / 2) + ties + np.exp(-d / 2))
    outcome = np.where(drawn < np.exp(d / 2), 0, np.where(drawn < np.exp(d / 2) + ties, 1, 2))
    names = tuple(f"m{i}" for i in range(size))
    return PairedAnswers(names, tuple(map(str, range(evaluators))), a, b, outcome, whose)


def results(answers, level=0.95):
    found = fit_strengths(answers, np.random.default_rng(0), 400)
    return strengths(answers, found, level) | checks(answers, found.fitted, level)


def paired_answers(rows):
    return paired_of(answers_of([{"model": "m", "truth": "", **row} for row in rows], "tournament"))


@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_known_strengths_come_back_and_intervals_cover():
    true, seen, covered, ranked = np.array([-1.0, -0.3, 0.3, 1.0]), [], [], []
    rng = np.random.default_rng(4)
    for _ in range(60):
        found = results(simulated(true, 20, 30, rng, ties=0.4, spread=0.3))
        rows = {row["model"]: row for row in found["contestants"]}
        rows = [rows[f"m{i}"] for i in range(4)]
        seen.append([row["strength"] for row in rows])
        covered.append([row["ci"][0] <= t <= row["ci"][1] for row, t in zip(rows, true, strict=True)])
        ranked.append(all(row["ranks"][0] <= 4 - i <= row["ranks"][1] for i, row in enumerate(rows)))

    # the spread of judges makes the mean judge's log-odds smaller by 2 to 4%
    assert np.mean(seen, axis=0) == pytest.approx(true, abs=0.06)
    assert 0.9 <= np.mean(covered) <= 0.99
    assert np.mean(ranked) >= 0.95


@pytest.mark.slow("searches exhaustively")
def test_the_fewest_answers_that_change_the_first_place_are_those_of_an_exhaustive_search():
    searched = 0
    for seed in range(30):
        answers = simulated([0.6, 0.0, -0.3], 6, 6, np.random.default_rng(seed))
        fitted = fit(answers.games, answers.counts, ties=False)
        if fitted.is_penalised:
            continue

        change = first_place.without_answers(answers, fitted)

        fewest = exhaustive(answers, fitted)
        assert fewest is None or change.count == fewest
        searched += fewest is not None
    assert searched >= 15


def exhaustive(answers, fitted):
    leader, cells = fitted.strengths.argmax(), [(p, o) for p in range(len(answers.games)) for o in (0, 2)]
    for number in range(1, 6):
        for chosen in combinations_with_replacement(cells, number):
            counts = answers.counts.copy()
            for cell in chosen:
                counts[cell] -= 1
            if (counts >= 0).all():
                rest = fit(answers.games, counts, ties=False).strengths
                if rest.max() > rest[leader] + 1e-9:
                    return number
    return None


def test_without_the_evaluators_that_it_rests_on_another_is_first():
    answers = simulated([0.3, 0.0, -0.5], 15, 12, np.random.default_rng(2), ties=0.3, spread=0.8)

    found = results(answers)["first_place"]

    fewest = found["evaluators"]
    assert fewest["leader"] != found["leader"]
    assert 1 <= fewest["count"] < 15
    assert found["turned"]["count"] <= found["removed"]["count"]


def test_a_preference_for_the_left_is_found_and_none_where_there_is_none():
    rng = np.random.default_rng(3)

    biased = results(simulated([0.5, 0, -0.5], 40, 30, rng, left=0.4))["sides"]
    fair = results(simulated([0.5, 0, -0.5], 40, 30, rng))["sides"]

    assert biased["log_odds"] == pytest.approx(0.4, abs=0.15)
    assert biased["p"] < 1e-4
    assert biased["ci"][0] > 0.5
    assert fair["p"] > 0.01


def test_a_cycle_is_found_and_does_not_fit():
    rows = [
        row(f"e{person}", *pair)
        for person in range(20)
        for pair in (("rock", "scissors"), ("scissors", "paper"), ("paper", "rock"))
        for _ in range(2)
    ] + [
        row(f"e{person}", *pair)
        for person in range(20)
        for pair in (("paper", "scissors"), ("scissors", "rock"), ("rock", "paper"))
    ]

    found = results(paired_answers(rows))

    assert (found["cycles"]["circular"], found["cycles"]["triples"]) == (1, 1)
    assert found["fit"]["p"] < 0.001
    assert [row["strength"] for row in found["contestants"]] == pytest.approx([0, 0, 0], abs=1e-6)


def row(evaluator, winner, loser, **more):
    return {"evaluator": evaluator, "left": winner, "right": loser, "response": "left", **more}


def test_groups_that_no_answer_connects_are_named():
    rows = [row("e1", "a", "b"), row("e2", "b", "a"), row("e1", "c", "d"), row("e2", "d", "c")]

    with pytest.raises(InvalidInput, match="between these groups there are none: a, b; c, d"):
        results(paired_answers(rows))


def test_a_single_model_beside_the_reals_is_refused():
    with pytest.raises(InvalidInput, match="two models or more, not on a, real"):
        results(paired_answers([row("e1", "a", "real")]))


def test_the_reals_are_a_reference_that_does_not_count_in_the_mean():
    rows = [
        row(f"e{person}", winner, loser)
        for person in range(8)
        for winner, loser in (
            ("a", "b"),
            ("b", "a"),
            ("a", "real"),
            ("real", "a"),
            ("real", "b"),
            ("real", "b"),
            ("b", "real"),
            ("a", "b"),
        )
    ]

    found = {row["model"]: row for row in results(paired_answers(rows))["contestants"]}

    assert found["a"]["strength"] + found["b"]["strength"] == pytest.approx(0, abs=1e-9)
    assert found["real"]["is_real"]
    assert not found["a"]["is_real"]


def test_who_never_lost_is_named():
    rows = [row(f"e{person}", "a", other) for person in range(5) for other in "bc"]
    rows += [row("e1", "b", "c"), row("e2", "c", "b")]

    found = results(paired_answers(rows))

    assert found["penalised"] == [["a"], ["b", "c"]]


def test_who_lost_everything_has_no_interval_and_moves_nobody_else():
    """Ford (1957): the likelihood has no maximum; the strengths of the others are as without it."""
    rng = np.random.default_rng(1)
    rows = [
        row(f"e{person}", *(["b", "c"] if rng.random() < 0.7 else ["c", "b"]))
        for person in range(20)
        for _ in range(10)
    ]
    lost = [row(f"e{person}", winner, "a") for person in range(20) for winner in "bc" for _ in range(5)]

    without, found = results(paired_answers(rows)), results(paired_answers(rows + lost))

    of = {each["model"]: each for each in found["contestants"]}
    for each in without["contestants"]:  # half a win and half a loss more, of 100 answers each
        assert of[each["model"]]["strength"] == pytest.approx(each["strength"], abs=0.02)
        assert of[each["model"]]["ci"] == pytest.approx(each["ci"], abs=0.03)
    assert (of["a"]["ci"], of["a"]["std"], of["a"]["win_percent_ci"]) == (None, None, None)
    assert [pair["ci"] is None for pair in found["differences"]] == [False, True, True]
    assert of["a"]["rank"] == 3
    assert of["b"]["strength"] + of["c"]["strength"] == pytest.approx(0)


@pytest.mark.parametrize("others", ["bc", "b"])
def test_where_nothing_is_contradicted_there_is_no_interval(others):
    rows = [row(f"e{person}", "a", other) for person in range(9) for other in others]
    rows += [row(f"e{person}", "b", "c") for person in range(9) if "c" in others]

    found = results(paired_answers(rows))

    assert [each["ci"] for each in found["contestants"]] == [None] * (1 + len(others))
    assert {pair["ci"] for pair in found["differences"]} == {None}
    assert found["contestants"][0]["model"] == "a"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"left": ""}, "left and right must name a contestant in every response"),
        ({"left": "b"}, "left and right must be two contestants, not both b"),
        ({"response": "real"}, "response must be 'left', 'right' or 'tie', not 'real'"),
    ],
)
def test_a_row_that_is_no_comparison_is_refused(bad, message):
    with pytest.raises(InvalidInput, match=message):
        paired_answers([row("e1", "a", "b"), {**row("e1", "a", "b"), **bad}])


def test_one_evaluator_has_strengths_and_no_intervals():
    found = results(paired_answers([row("e1", "a", "b"), row("e1", "b", "a"), row("e1", "a", "b")]))

    assert [row["ci"] for row in found["contestants"]] == [None, None]
    assert found["contestants"][0]["strength"] == pytest.approx(np.log(2) / 2)


@pytest.mark.parametrize(("models", "people", "pictures"), [(4, 30, 20), (6, 10, 50)])
def test_shared_pictures_make_no_model_better(models, people, pictures):
    """60 tournaments of equal models, 60 pairs a person: over evaluators alone 65% are covered, of 95."""
    rng, covered, told, ranked = np.random.default_rng(pictures), [], [], []
    for _ in range(60):
        answers = simulated_pairs(np.zeros(models), people, 60, 0.0, rng, pictures, 0.3)
        found = strengths(answers, fit_strengths(answers, rng, 300), 0.95)
        covered += [row["ci"][0] <= 0 <= row["ci"][1] for row in found["contestants"]]
        told += [row["p"] < 0.05 for row in found["differences"]]
        ranked.append(all(row["ranks"] == [1, models] for row in found["contestants"]))
        assert found["share_of_pictures"] > 0

    assert np.mean(covered) > 0.9
    assert np.mean(told) < 0.1
    assert np.mean(ranked) > 0.85


def test_pictures_that_nobody_shares_add_nothing():
    rng = np.random.default_rng(1)
    plain = simulated([0.5, 0.0, -0.5], 12, 30, rng)
    apart = replace(plain, pictures=np.arange(2 * len(plain)).reshape(-1, 2))

    unnamed, named = (
        strengths(each, fit_strengths(each, np.random.default_rng(2), 200), 0.95) for each in (plain, apart)
    )

    assert (unnamed["share_of_pictures"], named["share_of_pictures"]) == (None, 0.0)
    assert named["contestants"] == unnamed["contestants"]


def test_which_answer_shows_which_pictures_is_read_from_the_stimulus():
    rows = [
        {"left": "a", "right": "b", "response": "left", "evaluator": e, "stimulus": name}
        for e, name in (("1", "x y"), ("2", "z y"), ("3", ""), ("4", "x"))
    ]

    found = paired_of(answers_of([{"model": "a, b", "truth": "", **row} for row in rows], "tournament"))

    (x, y), (z, again), *unnamed = found.pictures.tolist()
    assert (y == again, len({x, y, z}), unnamed) == (True, 3, [[-1, -1]] * 2)


def test_ranks_are_the_tournaments_own_unless_some_contestants_are_not_shown():
    """Among K = 3, the variance of a difference is up to K / (K - 2) = 3 times the sum of the two."""
    rows = [
        {"model": "a", "score": 1.0, "ci": [0.6, 1.4], "evaluators": 500, "ranks": [1, 1]},
        {"model": "b", "score": 0.0, "ci": [-0.4, 0.4], "evaluators": 500, "ranks": [2, 2]},
    ]
    how = scores_of("tournament")

    assert how.rank_ranges(rows, 0.95, 2, 2) == [[1, 1], [2, 2]]
    assert JudgmentScores().rank_ranges(rows, 0.95, 3, 3) == [(1, 1), (2, 2)]
    assert how.rank_ranges(rows, 0.95, 2, 3) == [(1, 2), (1, 2)]
