"""The rows of the table of a competition, from scores by hand."""

import pytest

from backend.competitions.progress import ModelProgress
from backend.competitions.ranking import table_rows
from backend.competitions.submissions import Submission
from backend.competitions.terms import Terms

from .. import sample_studies as studies

DONE = ModelProgress(2, "2026-01-01T", "2026-01-02T", 200, ("2026-01-02T", "2026-01-02T"))


def scored(score, half=1.0):
    interval = {"ci": [score - half, score + half], "df": None}
    return {"score": score, "ci": None, "interval": interval, "evaluators": 2}


def submitted(model, number, **facts):
    at = f"2026-01-{number:02}T00:00:00Z"
    return Submission(f"{number:024x}", "faces", "ann", model, f"ann {model}", "0" * 64, at, **facts)


def rows_of(scores, own, counts="best"):
    study = studies.study(models=tuple(scores), images=8, evaluators=2)
    found = {name: scored(one) for name, one in scores.items()}
    progress = dict.fromkeys(scores, DONE)
    return table_rows(study, Terms("Faces", counts=counts), own, progress, found, [*found])


@pytest.mark.parametrize(("counts", "chosen"), [("best", "b"), ("last", "c")])
def test_ranks_allow_for_the_tries_that_are_not_shown(counts, chosen):
    # half-widths of 1 combine to 1.41; for two models that is the limit, for four (six pairs) it is 1.90
    scores = {"gan": 50.0, "ann a": 10.0, "ann b": 51.6, "ann c": 51.6 if counts == "last" else 20.0}
    own = [submitted(name, number, joined_at="x") for number, name in enumerate("abc", 1)]

    alone = rows_of({name: scores[name] for name in ("gan", f"ann {chosen}")}, own, counts)
    among = rows_of(scores, own, counts)

    assert [(row["model"], row["ranks"], row["tries"]) for row in alone] == [
        (chosen, [1, 1], 1),
        ("gan", [2, 2], None),
    ]
    assert [(row["model"], row["ranks"], row["tries"]) for row in among] == [
        (chosen, [1, 2], 3),
        ("gan", [1, 2], None),
    ]
