"""A demo of a study as static files: the page, some of the stimuli, and their truths.

It runs on any web server, without one of ours: `frontend/task/demo.js` draws the session, steps the staircase
and shows the visitor's own score among the published ones. Nothing is recorded. The truths of the
stimuli are in `study.json`, so that a demo measures nobody.
"""

import html
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from backend.experiment.judgments import judgment_of
from backend.experiment.judgments.real_or_fake import JUDGMENT
from backend.experiment.published import published_scores
from backend.experiment.records import FAKE, PICTURES, REAL, Stimulus, Study
from backend.foundation.errors import Conflict, InvalidInput
from backend.stores.store import Store
from backend.task import replies
from backend.web import assets, headers

_SEED = 2019
_NOTICE = (
    "This is a demo. You see how a study looks from inside, and at the end how you did. Nothing is recorded "
    "or sent, nobody is paid, and the answers can be found in this page's files: it is no study."
)


def write_site(
    store: Store,
    study: Study,
    images: Path,
    out: Path,
    each: int = 100,
    progress: Callable | None = None,
) -> Path:
    """Write the demo of `study` to the folder `out`, which may be new or empty; return its page.

    Args:
        images: the folder of the study's image files.
        each: maximum number of stimuli taken from the reals, and from each model.

    Raises:
        Conflict: `out` is not empty.
        InvalidInput: `each` or the study's stimuli are too few for a session, or the study has another kind
            of judgment, mixed sessions, or fixed exposures.
    """
    if judgment_of(study.protocol.method) is not JUDGMENT:
        raise InvalidInput(f"a demo shows real-or-fake studies; {study.name} asks for something else")
    if study.medium != PICTURES:
        raise InvalidInput(f"a demo without a server shows pictures, and {study.name} shows {study.medium}s")
    if study.protocol.timing.exposures_ms:
        raise InvalidInput(
            f"a demo plays studies without time limit and with a staircase; {study.name} has fixed exposures"
        )
    if study.is_mixed:
        raise InvalidInput(
            f"a demo shows fakes of one model a session, and {study.name} has "
            f"models_per_session={study.protocol.stimuli.models_per_session}; make a study with "
            "models_per_session=1 for the demo"
        )
    if out.exists() and any(out.iterdir()):
        raise Conflict(f"{out} is not empty; choose a new folder")
    pictures = _sampled(list(store.stimuli(study.name)), study, each)
    (out / "i").mkdir(parents=True)
    for asset in assets.files():
        copy = out / "assets" / assets.name(asset)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(assets.served(asset))
    names = [*(picture.name for picture in pictures), *study.masks]
    for name in progress(names, len(names), "pictures") if progress else names:
        shutil.copyfile(images / name, out / "i" / name)
    (out / "study.json").write_text(json.dumps(_described(study, pictures), separators=(",", ":")), "utf-8")
    page = out / "index.html"
    page.write_text(_page(study), "utf-8")
    return page


def _sampled(stimuli: Sequence[Stimulus], study: Study, each: int) -> list[Stimulus]:
    protocol = study.protocol
    need = protocol.stimuli.images // 2 * protocol.stimuli.blocks
    if each < need:
        raise InvalidInput(
            f"a session of {study.name} shows {need} of a kind, so --each must be {need} or more"
        )
    rng = Random(_SEED)
    taken: list[Stimulus] = []
    for model in (None, *study.models):
        available = [stimulus for stimulus in stimuli if stimulus.model == model and not stimulus.role]
        if len(available) < need:
            raise InvalidInput(
                f"study {study.name} has {len(available)} pictures of a kind; a demo needs {need}"
            )
        taken += rng.sample(available, min(each, len(available)))
    return sorted(taken, key=lambda stimulus: stimulus.name)


def _described(study: Study, pictures: Sequence[Stimulus]) -> dict[str, Any]:
    protocol = study.protocol
    public = replies.public_study(study, None)
    public["consent"]["text"] = _NOTICE
    public["pay"] = {"base_usd_cents": 0, "bonus_usd_cents": 0}
    public |= {"images": protocol.stimuli.trials, "practice": 0}  # a demo has neither practice nor checks
    public |= {"debrief": True, "repeat_visits": True, "demonstration": True}
    public["answers"] = list(JUDGMENT.answers)  # a third one is not scored there
    public |= {"panel_parameters": [], "person_parameters": [], "signature_parameter": None, "preview": None}
    return {
        "study": public,
        "protocol": replies.protocol_of(protocol),
        "unit": JUDGMENT.methods[protocol.method].unit,
        "blocks": protocol.stimuli.blocks,
        "images": protocol.stimuli.images,
        "staircase": vars(protocol.timing.staircase) if protocol.timing.staircase else None,
        "mask_count": protocol.timing.mask_count,
        "masks": [f"i/{name}" for name in study.masks],
        "models": list(study.models),
        "pictures": [
            {
                "url": f"i/{picture.name}",
                "truth": REAL if picture.model is None else FAKE,
                "model": picture.model,
            }
            for picture in pictures
        ],
        "published": published_scores(protocol.method),
        "published_without_flashes": published_scores("infinity"),
    }


def _page(study: Study) -> str:
    """Return the server's page, set to use the demo, with the headers that a meta element can carry."""
    policy = headers.PAGE["Content-Security-Policy"]
    carried = "; ".join(part for part in policy.split("; ") if not part.startswith("frame-ancestors"))
    meta = (
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(carried)}">\n'
        f'<meta name="referrer" content="{headers.PAGE["Referrer-Policy"]}">\n'
    )
    text = (assets.FRONTEND / "index.html").read_text("utf-8").replace('"/assets/', '"assets/')
    text = text.replace('<meta name="viewport"', f'{meta}<meta name="viewport"')
    return text.replace("<body ", f'<body data-demo="study.json" data-study="{html.escape(study.name)}" ')
