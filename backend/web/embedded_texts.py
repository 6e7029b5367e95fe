"""The texts of the script that runs before the modules, and where these cannot run: embedded when served."""

import json
import re

from backend.administration.catalogues import catalogue
from backend.experiment.languages import LANGUAGES

_EMPTY = "var TEXTS = {};"
_NAMED = re.compile(r'\btexts\["([a-z_.]+)"\]')


def with_texts(source: str) -> str:
    """Return a script with the texts that it names, in all languages, in place of its empty `TEXTS`.

    Any other script is returned as it is. All is on the line of `TEXTS`, so that others keep their numbers.
    """
    if _EMPTY not in source:
        return source
    keys = sorted({*_NAMED.findall(source)})
    texts = {language: {key: catalogue(language)[key] for key in keys} for language in LANGUAGES}
    return source.replace(
        _EMPTY, f"var TEXTS = {json.dumps(texts, ensure_ascii=False, separators=(',', ':'))};"
    )
