"""Small studies and sessions to test with: named pools, no pictures on disk."""

import dataclasses
from random import Random

from backend.experiment import sampling
from backend.experiment.judgment import Turn
from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.records import FAKE, REAL, Condition, Session, Stimulus, Study
from backend.experiment.settings import new_protocol

CREATED_AT = "2026-01-01T00:00:00.000Z"


def study(name="faces", method="infinity", kind="study", models=("gan", "vae"), classes=(), **settings):
    """Return a study with settings as text or values; its panel is Prolific unless they name another."""
    of_method = method_named(method)
    base = of_method.qualification if kind == "qualification" else of_method.protocol
    numbers = new_protocol(base, kind, {"panel": "prolific", **settings})
    masks = tuple(f"{i:032x}.png" for i in range(900, 910)) if numbers.has_flashes else ()
    return Study(name, kind, models, numbers, CREATED_AT, classes=classes, masks=masks)


def replaced(of, **changes):
    """Return a study with other facts in its record."""
    return dataclasses.replace(of, **changes)


def pool(of, each=60, seed=1):
    """Return stimuli for a study: `each` reals and fakes of each model, for every class."""
    rng = Random(seed)
    stimuli = []
    for class_ in of.classes or ("",):
        for model in (None, *of.models):
            truth = REAL if model is None else FAKE
            stimuli += [
                Stimulus(f"{rng.getrandbits(128):032x}.png", truth, model, class_, f"{i}.png")
                for i in range(each)
            ]
    return stimuli


def session(of, stimuli=None, model="gan", seed=1, session_id="s1", secret_hash="x"):
    """Return a session drawn from the study's pool."""
    drawn = sampling.pool_of(stimuli if stimuli is not None else pool(of))
    rng = Random(seed)
    condition = None if model is None else Condition((model,))
    blocks, spares = judgment_of(of.protocol.method).draw(of, drawn, Turn(condition, 0, rng, rng))
    return Session(
        id=session_id,
        study=of.name,
        models=() if model is None else (model,),
        evaluator=f"e-{session_id}",
        evaluator_key=None,
        secret_hash=secret_hash,
        completion_code="CODE",
        seed=seed,
        opened_at=CREATED_AT,
        blocks=blocks,
        spares=spares,
    )


def recruitment(**facts):
    """Return what is stored of a recruitment, with these facts."""
    return {
        "state": "published",
        "panel_study": "",
        "internal_name": "openhype faces",
        "url": "",
        "codes": {},
        "places": 50,
        "fee_percent": "42.8",
        "vat_percent": "20",
        "currency": "USD",
        "workspace": "",
        "project": "",
        "screen_out": None,
        "by_server": False,
        "is_signed": False,
        "budget_usd_cents": None,
        **facts,
    }


def flash(rng, exposure_ms, frame_ms=1000 / 60):
    """Return what a page measures of a flash on a steady display, as it posts it."""
    planned = [30, 30, 30, max(1, round(exposure_ms / frame_ms)), 2, 2, 2, 2]
    phase_ms = [frames * frame_ms + rng.randrange(-20, 21) * 0.005 for frames in planned]
    timing = {
        "evidence": "element",
        "lateness_ms": rng.random(),
        "planned_frames": planned,
        "achieved_frames": planned,
        "phase_ms": phase_ms,
    }
    return {
        "shown_ms": phase_ms[3],
        "frames": planned[3],
        "frame_ms": frame_ms,
        "mask_ms": phase_ms[4:],
        "timing": timing,
        "rt": rng.lognormvariate(6, 0.4),
    }
