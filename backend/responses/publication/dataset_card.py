"""The header of README.md by which `datasets` of Hugging Face loads the tables, each a configuration.

The types of all columns are declared with each configuration, where `datasets` hands them to pandas before it
reads (declared in `dataset_info`, they would come too late: the method `infinity` would have become a number,
and then the text `inf`). pandas has no empty cell among whole numbers or truth values: such a column is read
as a number or as a text (huggingface.co/docs/hub/datasets-manual-configuration).
"""

from typing import Any

from backend.foundation.yaml_text import yaml_text
from backend.responses.publication.data_files import Table, TableColumn, Type
from backend.responses.publication.subject import RESPONSES, Subject
from backend.responses.publication.terms import Terms

_TYPES = {Type.TEXT: "string", Type.WHOLE: "int64", Type.NUMBER: "float64", Type.TRUTH_VALUE: "bool"}
_WITH_EMPTY = {**_TYPES, Type.WHOLE: "float64", Type.TRUTH_VALUE: "string"}
_SIZES = ((1000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def header(subject: Subject, terms: Terms) -> str:
    """Return the header, with the lines of dashes around it. Tables without rows are left out."""
    tables = [table for table in subject.tables if table.rows]
    size = next((name for below, name in _SIZES if subject.responses.rows < below), "1M<n<10M")
    entries: dict[str, Any] = {
        **_licence(terms),
        "pretty_name": subject.name,
        "tags": ["human-evaluation", "generative-models", "hype"],
        "size_categories": [size],
        "configs": [_config(table) for table in tables],
    }
    return f"---\n{yaml_text({name: value for name, value in entries.items() if value})}---\n"


def _licence(terms: Terms) -> dict[str, str]:
    if terms.licence is None:
        return {}
    if terms.licence.hub:
        return {"license": terms.licence.hub}
    return {"license": "other", "license_name": "own", "license_link": terms.licence.url}


def _config(table: Table) -> dict[str, Any]:
    return {
        "config_name": table.name,
        **({"default": True} if table.name == RESPONSES else {}),
        "data_files": [{"split": "train", "path": table.path}],
        "keep_default_na": False,  # a model may be called NA
        "na_values": [""],
        "features": [{"name": column.name, "dtype": _type(column)} for column in table.columns],
    }


def _type(column: TableColumn) -> str:
    return (_WITH_EMPTY if column.has_empty else _TYPES)[column.type]
