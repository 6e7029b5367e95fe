"""Simulated answers, seeded: what reports and their tests are made from."""

from random import Random

from backend.analysis.table.response_rows import answers_of
from backend.report.findings import FindingsOptions, findings

INFINITY = {"stylegan": 0.5, "progan": 0.4, "began": 0.1}
"""Error rates by model."""
TIME = {"stylegan": 450, "progan": 300, "began": 150}
"""Thresholds by model, ms."""


def infinity(models=INFINITY, evaluators=30, images=100, seed=1, spread=0.08, **columns):
    """Return rows of HYPE-infinity; `columns` gives more, each a list to choose from."""
    rng = Random(seed)
    rows = []
    for model, rate in models.items():
        for e in range(evaluators):
            mine = min(0.95, max(0.0, rng.gauss(rate, spread))) if spread else rate
            for trial in range(images):
                truth = ("fake", "real")[trial % 2]
                is_wrong = rng.random() < mine
                rows.append(
                    {
                        "model": model,
                        "evaluator": f"{model}-{e}",
                        "trial_index": trial,
                        "truth": truth,
                        "response": truth if not is_wrong else {"real": "fake", "fake": "real"}[truth],
                        "stimulus": f"{model if truth == 'fake' else 'photo'}-{rng.randrange(200)}.png",
                        "rt": max(200.0, rng.gauss(1100, 350)),
                        **{name: rng.choice(values) for name, values in columns.items()},
                    }
                )
    return rows


def time(models=TIME, evaluators=12, blocks=3, images=150, seed=1):
    """Return rows of HYPE-time: three right in a row lower the exposure by 30 ms, a wrong raises it by 10."""
    rng = Random(seed)
    rows = []
    for model, threshold in models.items():
        for e in range(evaluators):
            mine = threshold * (0.7 + 0.6 * rng.random())
            for block in range(blocks):
                ms, run = 500, 0
                for trial in range(images):
                    truth = rng.choice(["real", "fake"])
                    is_right = rng.random() < 0.5 + 0.47 / (1 + (mine / ms) ** 3)
                    rows.append(
                        {
                            "model": model,
                            "evaluator": f"{model}-{e}",
                            "block": block,
                            "trial_index": block * images + trial,
                            "exposure_ms": ms,
                            "truth": truth,
                            "response": truth if is_right else {"real": "fake", "fake": "real"}[truth],
                            "stimulus": f"{truth}-{rng.randrange(200)}.png",
                            "rt": max(200.0, rng.gauss(700, 150)),
                        }
                    )
                    run = run + 1 if is_right else 0
                    if run == 3:
                        ms, run = max(100, ms - 30), 0
                    elif not is_right:
                        ms = min(1000, ms + 10)
    return rows


def found(rows, method="infinity", metrics=None, **options):
    """Return the findings of rows."""
    return findings(answers_of(rows, method), FindingsOptions(metrics=metrics or {}), **options)
