"""Answers that show little: one of everything, all alike, or nothing between; for every judgment."""

from itertools import combinations
from random import Random

from .. import answered
from .test_judgment_reports import looked, vote

MODELS = ("gan", "vae", "flow")
_OTHER = {
    "real": "fake", "fake": "real", "left": "right", "right": "left",
    "same": "different", "different": "same",
}  # fmt: skip


def _infinity():
    return answered.infinity(
        dict(zip(MODELS, (0.5, 0.3, 0.1), strict=True)), 5, 16, **{"class": ["cat", "dog"]}
    )


def _exposures():
    rows = enumerate(_infinity())
    return [{**row, "exposure_ms": (100, 500)[i % 4 // 2], "block": 0} for i, row in rows]


def _pair():
    rng, rows = Random(2), []
    for code, model in enumerate(MODELS):
        for i in range(60):
            truth = rng.choice(["left", "right"])
            shown = [f"real{(i + 1) % 12}.webp", f"{model}{i % 12}.webp"]
            rows.append(
                {
                    "model": model,
                    "evaluator": f"{model}-{i // 12}",
                    "truth": truth,
                    "response": _OTHER[truth] if rng.random() < 0.15 * (code + 1) else truth,
                    "stimulus": " ".join(shown if truth == "left" else shown[::-1]),
                    "class": ("cat", "dog")[i % 2],
                    "trial_index": i % 12,
                }
            )
    return rows


def _items(judge, answers):
    rng, everything = Random(3), [(m, e, k) for m in MODELS for e in range(4) for k in range(8)]
    return [judge(f"e{e}", f"{m}/{k}", rng.choice(answers)) for m, e, k in everything]


def _2afc():
    rng = Random(4)
    return _items(lambda *row: vote(*row[:2], rng.choice(["left", "right"]), row[2]), ["left", "right"])


def _jnd():
    words = ("same", "different")
    checks = [looked(f"e{e}", f"c{k}", words[k % 2], words[k % 2]) for e in range(4) for k in range(6)]
    return [*_items(looked, words), *checks]


def _tournament():
    rng, names = Random(5), (*MODELS, "real")
    return [
        {
            "model": a,
            "evaluator": f"e{e}",
            "truth": "",
            "response": rng.choice(["left", "right"]),
            "left": a,
            "right": b,
            "stimulus": f"{a}{rng.randrange(5)}.png {b}{rng.randrange(5)}.png",
        }
        for e in range(6)
        for a, b in combinations(names, 2)
        for _ in range(2)
    ]


JUDGMENTS = {
    "infinity": _infinity,
    "time": lambda: answered.time(dict(zip(MODELS, (900, 300, 60), strict=True)), 4, blocks=2, images=30),
    "exposures": _exposures,
    "pair": _pair,
    "2afc": _2afc,
    "jnd": _jnd,
    "tournament": _tournament,
}
"""Answers of the usual kind, by method."""


def _changed(change):
    return lambda rows: [{**row, **change(row)} for row in rows]


def _said(**answers):
    """Return rows with other answers to what is scored."""
    return _changed(
        lambda row: (
            {"response": answers.get(row["response"], row["response"])}
            if row.get("trial_kind", "test") == "test"
            else {}
        )
    )


def _chosen(is_chosen):
    return lambda rows: [row for row in rows if is_chosen(row)]


def _people(rows):
    """Return evaluators by model, in the order of their first answers."""
    found = {}
    for row in rows:
        found.setdefault(row["model"], {})[row["evaluator"]] = None
    return {model: [*people] for model, people in found.items()}


def _first_people(count):
    def of(rows):
        people = _people(rows)
        return [row for row in rows if row["evaluator"] in people[row["model"]][:count]]

    return of


def _of_models(*names):
    def is_of(row):
        if row.get("left") in (*MODELS, "real"):
            return {row["left"], row["right"]} <= {*names}
        return row["model"] in (*names, "")

    return _chosen(is_of)


def _identical(rows):
    """Return the answers of each model's first evaluator, as those of all of them."""
    people = _people(rows)
    first = [row for row in rows if row["evaluator"] == people[row["model"]][0]]
    return [{**row, "evaluator": name} for row in first for name in people[row["model"]]]


def _one_each(*keys):
    return lambda rows: [*{tuple(row[key] for key in keys): row for row in reversed(rows)}.values()][::-1]


def _one_of_the_last_model(rows):
    is_last = [i for i, row in enumerate(rows) if row["model"] == MODELS[-1]]
    return [row for i, row in enumerate(rows) if i not in is_last[1:]]


def _ladder(rows):
    """Return answers by which each model is wholly below the next, the last judged wrong always."""
    heights = {name: height for height, name in enumerate((*MODELS, "real"))}
    if rows[0].get("left") in heights:
        wins = [heights[row["left"]] > heights[row["right"]] for row in rows]
        return [
            {**row, "response": "left" if is_left else "right"}
            for row, is_left in zip(rows, wins, strict=True)
        ]
    return [
        {**row, "response": _OTHER[row["truth"]] if row["model"] == MODELS[-1] else row["truth"]}
        if row["truth"]
        else row
        for row in rows
    ]


def _one_reversal(rows):
    first, *others = _ladder(rows)
    return [{**first, "response": _OTHER[first["response"]]}, *others]


def _one_picture(row):
    if "item" in row:
        return {"item": row["item"] and f"{row['model']}/0"}
    shown = row["stimulus"].split()
    return {"stimulus": " ".join(name[:4] for name in shown)}


KINDS = {
    "as usual": lambda rows: rows,
    "one evaluator": _first_people(1),
    "two evaluators": _first_people(2),
    "one model": _of_models("gan"),
    "two models": _of_models("gan", "vae"),
    "all right": _changed(lambda row: {"response": row["truth"] or row["response"]}),
    "all wrong": _changed(lambda row: {"response": _OTHER.get(row["truth"], row["response"])}),
    "always the one": _said(real="fake", right="left", different="same"),
    "always the other": _said(fake="real", left="right", same="different"),
    "always not sure": _said(real="not_sure", fake="not_sure", left="not_sure", right="not_sure"),
    "all ties": lambda rows: [
        {**row, "response": "tie"} for row in rows if row.get("left") in (*MODELS, "real")
    ],
    "no reals": _chosen(lambda row: "real" not in (row["truth"], row.get("left"), row.get("right"))),
    "no fakes": _chosen(lambda row: row["truth"] != "fake"),
    "one picture a side": _changed(_one_picture),
    "one class": _changed(lambda row: {"class": "cat"}),
    "a class of one": lambda rows: [{**row, "class": "cat" if i else "rare"} for i, row in enumerate(rows)],
    "one exposure": _changed(lambda row: {"exposure_ms": 500} if "exposure_ms" in row else {}),
    "one response time": _changed(lambda row: {"rt": 1000.0}),
    "identical evaluators": _identical,
    "one answer of a model": _one_of_the_last_model,
    "one answer of each": _one_each("model", "evaluator", "truth"),
    "one answer": lambda rows: rows[:1],
    "ladder": _ladder,
    "one reversal": _one_reversal,
    "short exposures wrong": _changed(
        lambda row: (
            {"response": row["truth"] if row.get("exposure_ms", 0) > 200 else _OTHER[row["truth"]]}
            if row["truth"]
            else {}
        )
    ),
    "no pictures named": lambda rows: [
        {
            name: cell
            for name, cell in row.items()
            if name not in ("class", "rt") and (name != "stimulus" or "item" in row)
        }
        for row in rows
    ],
}
"""What makes them show little."""
NOT_OF = {
    ("time", "always not sure"): "response must be 'real' or 'fake'",
    **{(method, "always not sure"): "response must be" for method in ("2afc", "tournament")},
}
"""Those that are refused, with a part of the message."""


def rows_of(method, kind):
    return [{"method": method, **row} for row in KINDS[kind](JUDGMENTS[method]())]
