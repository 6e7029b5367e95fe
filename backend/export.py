"""A study's answers as a Psych-DS data set: plain files that outlive the software.

`data/study-<name>_data.csv` holds the responses of finished sessions (what is scored);
`data/study-<name>_desc-unfinished_data.csv` those of sessions that broke off. Written row by row;
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
    paths = [
        out / "data" / f"study-{keyword}_data.csv",
        out / "data" / f"study-{keyword}_desc-unfinished_data.csv",
    ]
    for path, finished in zip(paths, (True, False), strict=True):
        partial = path.with_name(f".{path.name}.partial")
        with partial.open("w", encoding="utf-8", newline="") as file:
            write_responses(study_rows(store, study, finished=finished), file)
        os.replace(partial, path)
    description = out / "dataset_description.json"
    description.write_text(json.dumps(_description(study), indent=2, ensure_ascii=False) + "\n", "utf-8")
    return [*paths, description]


def _description(study: Study) -> dict:
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": study.name,
        "description": f"Answers of evaluators in the HYPE-{study.protocol.method} study {study.name}",
        "dateCreated": study.created_at,
        "variableMeasured": list(COLUMNS),
        "openhype": {"models": study.models, "protocol": to_json(study.protocol), "notes": study.notes},
    }
