"""CITATION.cff of a data set: Citation File Format 1.2.0 (citation-file-format.github.io)."""

from typing import Any

from backend.foundation.yaml_text import yaml_text
from backend.responses.publication.subject import Subject
from backend.responses.publication.terms import Creator, Terms

_METHOD = {
    "type": "conference-paper",
    "title": "HYPE: A Benchmark for Human eYe Perceptual Evaluation of Generative Models",
    "year": 2019,
    "collection-title": "Advances in Neural Information Processing Systems 32",
    "authors": [
        {"family-names": family, "given-names": given}
        for family, given in (
            ("Zhou", "Sharon"),
            ("Gordon", "Mitchell L."),
            ("Krishna", "Ranjay"),
            ("Narcomey", "Austin"),
            ("Fei-Fei", "Li"),
            ("Bernstein", "Michael S."),
        )
    ],
}
"""The paper of the method, for studies of real or fake."""

_NEWER = frozenset({"CDLA-Permissive-2.0"})
"""Known licences that are not in the list of the format's schema, which is SPDX's of 2021-05-14."""


def citation(subject: Subject, terms: Terms) -> str:
    """Return the file's text; '' while nobody is named as creator, without whom the format is not valid."""
    if not terms.creators:
        return ""
    licence = terms.licence
    spdx = licence.spdx if licence and licence.spdx not in _NEWER else ""
    entries: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use these data, please cite them as below.",
        "type": "dataset",
        "title": subject.title,
        "abstract": subject.summary,
        "authors": [_author(creator) for creator in terms.creators],
        "version": terms.release,
        "date-released": terms.published_on,
        "license": spdx,
        "license-url": licence.url if licence and not spdx else "",
        "url": terms.url,
        "keywords": ["HYPE", "human evaluation", "generative models"],
        "references": [_METHOD] if subject.judgment.name == "real_or_fake" else [],
    }
    return yaml_text({name: value for name, value in entries.items() if value})


def _author(creator: Creator) -> dict[str, str]:
    if not creator.is_person:
        return {"name": creator.name}
    return {"family-names": creator.family, "given-names": creator.given}
