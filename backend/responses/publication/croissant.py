"""A data set described in JSON-LD as Croissant 1.1.

Source: docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html.
"""

import re
from typing import Any

from backend.responses.publication.data_files import Table, TableColumn, Type
from backend.responses.publication.rai import CONFORMS_TO as RAI
from backend.responses.publication.rai import rai_fields
from backend.responses.publication.subject import Subject
from backend.responses.publication.terms import Creator, Terms

CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
_CROISSANT_TERMS = (
    "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field",
    "fileObject", "fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset",
    "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex", "repeated",
    "replace", "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in _CROISSANT_TERMS},
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
}
"""The terms of the specification, by which JSON-LD reads the rest of the file."""
_TYPES = {
    Type.TEXT: "sc:Text",
    Type.WHOLE: "sc:Integer",
    Type.NUMBER: "sc:Float",
    Type.TRUTH_VALUE: "sc:Boolean",
}


def croissant(subject: Subject, terms: Terms) -> dict[str, Any]:
    """Return the description of a data set, as JSON-LD. Tables without rows have no record set."""
    first, _ = subject.period
    fields = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [CONFORMS_TO, RAI],
        "name": subject.name,
        "description": subject.summary,
        "keywords": ["HYPE", "human evaluation", "generative models"],
        "version": terms.release,
        "license": terms.licence and terms.licence.url,
        "url": terms.url,
        "creator": [_agent(creator) for creator in terms.creators],
        "citeAs": bibtex(subject, terms),
        "dateCreated": first,
        "datePublished": terms.published_on,
        "inLanguage": "en",
        "isLiveDataset": False,
        **rai_fields(subject),
        "distribution": [_file(table) for table in subject.tables],
        "recordSet": [_record_set(table) for table in subject.tables if table.rows],
    }
    return {name: value for name, value in fields.items() if value not in ("", [], None)}


def bibtex(subject: Subject, terms: Terms) -> str:
    """Return an entry for bibliographies; '' while nobody is named as creator."""
    if not terms.creators:
        return ""
    year = terms.published_on[:4]
    key = re.sub(r"[^A-Za-z0-9]", "", f"{terms.creators[0].family}{subject.study.name}") or "study"
    authors = " and ".join(
        f"{_tex(creator.family)}, {_tex(creator.given)}"
        if creator.is_person
        else f"{{{_tex(creator.family)}}}"
        for creator in terms.creators
    )
    entries = {
        "author": authors,
        "title": f"{{{_tex(subject.title)}}}",
        "year": year,
        "version": terms.release,
        "url": terms.url,
        "note": _tex(f"Collected with openhype {subject.version}"),
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in entries.items() if value)
    return f"@misc{{{key}{year},\n{lines}\n}}"


_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "{}%&#_$"},
}


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in text)


def _agent(creator: Creator) -> dict[str, str]:
    if not creator.is_person:
        return {"@type": "sc:Organization", "name": creator.name}
    return {
        "@type": "sc:Person",
        "name": creator.name,
        "givenName": creator.given,
        "familyName": creator.family,
    }


def _file(table: Table) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": table.path,
        "name": table.path.rpartition("/")[2],
        "description": table.description,
        "contentUrl": table.path,
        "contentSize": f"{table.bytes} B",
        "encodingFormat": "text/csv",
        "sha256": table.sha256,
    }


def _record_set(table: Table) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.description,
        "field": [_field(table, column) for column in table.columns],
    }


def _field(table: Table, column: TableColumn) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{column.name}",
        "name": column.name,
        "description": column.description,
        "dataType": _TYPES[column.type],
        "source": {"fileObject": {"@id": table.path}, "extract": {"column": column.name}},
    }
