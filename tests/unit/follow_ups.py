"""Simulated answers with what is asked after them: confidence, reasons, comments, marks."""

from random import Random

REASONS = ("hands", "eyes", "light")


def rows(models=(("gan", 0.6), ("vae", 1.4)), evaluators=8, images=24, points=5, seed=1, boxes=False):
    """Return rows of HYPE-infinity; `models` have a sensitivity d' each. 6 pictures a side are shared.

    Fakes are marked at a place of their own, reals anywhere; `hands` is given more often for fakes.
    """
    rng, found = Random(seed), []
    for model, sensitivity in models:
        for e in range(evaluators):
            for trial in range(images):
                truth = ("fake", "real")[trial % 2]
                signal = rng.gauss(sensitivity / 2 if truth == "fake" else -sensitivity / 2, 1)
                number = rng.randrange(6)
                row = {
                    "model": model,
                    "evaluator": f"{model}-{e}",
                    "trial_index": trial,
                    "stimulus": f"{model if truth == 'fake' else 'photo'}-{number}.png",
                    "truth": truth,
                    "response": "fake" if signal > 0 else "real",
                    "confidence": min(points, 1 + int(abs(signal) / 0.5)),
                    "confidence_points": points,
                    "confidence_rt": 600.0,
                }
                found.append({**row, **_of_fake(rng, truth, number, boxes)} if signal > 0 else row)
    return found


def _of_fake(rng, truth, number, boxes):
    is_fake = truth == "fake"
    place = (150 + 120 * number, 300) if is_fake else (rng.uniform(100, 900), rng.uniform(100, 900))
    mark = [round(min(900, max(0, rng.gauss(each, 50)))) for each in place]
    given = [str(i) for i, share in enumerate((0.6 if is_fake else 0.2, 0.3, 0.1), 1) if rng.random() < share]
    return {
        "reasons": " ".join(given),
        "comment": rng.choice(["", "", "", "odd ear", "=HYPERLINK(1)", "<script>alert(1)</script>"]),
        "mark": " ".join(map(str, [*mark, 100, 80] if boxes else mark)),
    }
