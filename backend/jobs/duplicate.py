"""A study as a draft of another one: its settings, pages and questions, and its pictures as they were sent.

What was sent is known of studies that were made from uploads, for as long as the uploads are there.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from backend.administration import intake_facts
from backend.administration.catalogues import in_its_language
from backend.administration.rerun import free_name
from backend.administration.setting_list import typed
from backend.administration.study_spec import base_protocol
from backend.experiment.groups.timing import OWN_MASKS
from backend.experiment.judgments import judgment_of
from backend.experiment.languages import OwnText
from backend.experiment.protocol import values_of
from backend.experiment.records import Study
from backend.jobs.queue import MAKING
from backend.stores.store import Store


def draft_of(store: Store, study: Study, is_there: Callable[[str], bool]) -> tuple[dict[str, Any], list[str]]:
    """Return the body of a draft of the same study under another name, and what its pictures lack.

    Args:
        is_there: whether an upload, by its id, can be used.

    Returns:
        The second: folders of the order, such as `models/gan`, whose pictures have to be sent again.
    """
    ordered = _order_of(store, study)
    entries, uploads = ordered.get("entries", {}), ordered.get("uploads", _unknown(study))
    present = {folder: upload for folder, upload in uploads.items() if upload and is_there(upload)}
    settings = _settings(study, entries.get("settings", {}))
    entries = {name: entries[name] for name in ("skip_bad", "strict") if name in entries}
    if settings.get("panel", "").startswith("{"):  # a record of its own
        entries["panel"] = json.loads(settings.pop("panel"))
    body = {
        "name": free_name(store, study.name),
        "kind": study.kind,
        "method": study.protocol.method,
        "settings": settings,
        "preprocess": [*intake_facts.read(store, study).preprocess],
        **entries,
        **_pictures(present),
        "pages": [_entries(page) for page in study.pages],
        "questions": [_entries(question) for question in study.questions],
    }
    return body, [folder for folder in uploads if folder not in present]


def _order_of(store: Store, study: Study) -> dict[str, Any]:
    entry = store.entry(MAKING, study.name)
    if entry is None or entry.data["at"] != study.created_at:  # another study had its name
        return {}
    return dict(entry.data["args"])


def _unknown(study: Study) -> dict[str, str]:
    parts = "items" if judgment_of(study.protocol.method).has_items else "models"
    reals = {} if parts == "items" else {"real": ""}
    return reals | {f"{parts}/{model}": "" for model in study.models}


def _settings(study: Study, ordered: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that differ from those of a new study, as they are posted.

    Title and consent text follow from the language again, unless they are the researcher's own. The number of
    evaluators of a study of items follows from its pictures, unless it was ordered.
    """
    protocol, base = study.protocol, base_protocol(study.kind, study.protocol.method)
    language, texts = protocol.language.language, protocol.language.texts
    usual = values_of(in_its_language(base.changed(language=language, texts=texts), ()))
    usual |= {"language": base.language.language, "texts": ()}
    differ = {name: value for name, value in values_of(protocol).items() if value != usual[name]}
    if judgment_of(protocol.method).has_items and "evaluators" not in ordered:
        differ.pop("evaluators", None)
    if protocol.timing.masks == OWN_MASKS:
        differ.pop("masks")
    return {name: _table(value) if name == "texts" else typed(name, value) for name, value in differ.items()}


def _table(texts: Sequence[OwnText]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for language, key, text in texts:
        (table.setdefault(language, {}) if language else table)[key] = text
    return table


def _pictures(uploads: dict[str, str]) -> dict[str, Any]:
    folders: dict[str, Any] = {}
    for folder, upload in uploads.items():
        part, _, name = folder.partition("/")
        if name:
            key = {"models": "model", "items": "set"}[part]
            folders.setdefault(part, []).append({key: name, "upload": upload})
        else:
            folders[part] = upload
    return folders


def _entries(record: Any) -> dict[str, Any]:
    """Return the entries of a study.toml for a page or a question: those that are no defaults."""
    given = {each.name for each in fields(record) if getattr(record, each.name) != each.default}
    entries: dict[str, Any] = {name: value for name, value in asdict(record).items() if name in given}
    entries |= {name: [*value] for name, value in entries.items() if isinstance(value, tuple)}
    if condition := entries.pop("shown_if", None):
        entries["if"] = {"question": condition["question"], "is": [*condition["answers"]]}
    return entries
