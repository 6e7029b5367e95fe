"""A study's answers as a Psych-DS data set: plain files that outlive the software.

`data/study-<name>_data.csv` holds the responses of finished sessions (what is scored);
`…_desc-unfinished_data.csv` those of sessions that broke off; `…_desc-replaced_data.csv` the answers
to mistimed flashes, in whose place others stand. Written row by row;
no panel id, key or source path is in them.
"""

import json
import os
import re
from pathlib import Path

from backend.protocol import to_json
from backend.records import Study
from backend.responses import COLUMNS, write_responses
from backend.results import study_rows
from backend.stores import Store


def export(store: Store, study: Study, out: Path) -> list[Path]:
    """Write the data set into `out`, made if missing; return the files, the scored one first.

    A file appears whole or not at all.
    """
    (out / "data").mkdir(parents=True, exist_ok=True)
    keyword = re.sub(r"[^a-z0-9]", "", study.name.lower())
    paths = {"scored": out / "data" / f"study-{keyword}_data.csv"}
    for which in ("unfinished", "replaced"):
        paths[which] = out / "data" / f"study-{keyword}_desc-{which}_data.csv"
    for which, path in paths.items():
        partial = path.with_name(f".{path.name}.partial")
        with partial.open("w", encoding="utf-8", newline="") as file:
            write_responses(study_rows(store, study, which), file)
        os.replace(partial, path)
    description = out / "dataset_description.json"
    description.write_text(json.dumps(_description(study), indent=2, ensure_ascii=False) + "\n", "utf-8")
    return [*paths.values(), description]


def _description(study: Study) -> dict:
    protocol = to_json(study.protocol)
    protocol["panel"] = study.protocol.panel.name  # its addresses and codes may let others be credited
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": study.name,
        "description": f"Answers of evaluators in the HYPE-{study.protocol.method} study {study.name}",
        "dateCreated": study.created_at,
        "variableMeasured": list(COLUMNS),
        "openhype": {"models": study.models, "protocol": protocol, "notes": study.notes},
    }
