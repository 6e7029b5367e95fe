"""The languages of the texts that evaluators see, and the texts that a researcher wrote in place of ours.

The texts themselves are in `text_LANGUAGE.js` of `frontend/texts/`; `languages.js` there has the same list.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from backend.foundation.errors import InvalidInput, brief, under
from backend.foundation.suggestions import did_you_mean

LANGUAGES = {
    "en": "English",
    "de": "German",
    "es": "Spanish",
    "fr": "French",
    "pt": "Portuguese",
    "ja": "Japanese",
    "zh": "Chinese (simplified)",
    "ar": "Arabic",
}
CHOOSE = "choose"
"""Value of the setting `language` if evaluators choose."""
_LONGEST = 20_000
"""Characters of one text: more than any consent text has."""

OwnText = tuple[str, str, str]
"""A researcher's text: its language ('' for every language), its key in the catalogue, and the text."""


def check_language(language: str) -> None:
    """Raise InvalidInput if no study can be in `language`."""
    if language in LANGUAGES or language == CHOOSE:
        return
    codes = {name.lower(): code for code, name in LANGUAGES.items()} | {code: code for code in LANGUAGES}
    near = codes.get(language.lower()) or codes.get(language.lower().replace("_", "-").partition("-")[0])
    hint = f"; did you mean `{near}`?" if near else did_you_mean(language, [CHOOSE])
    known = ", ".join(f"{code} ({name})" for code, name in LANGUAGES.items())
    raise InvalidInput(f"language must be {known}, or {CHOOSE}, not {brief(language)}{hint}")


def parse_texts(value: Any) -> tuple[OwnText, ...]:
    """Return a researcher's texts from a table: keys to texts, and tables of these by language.

    Args:
        value: the table, or the text of a TOML file that contains it.

    Raises:
        InvalidInput: it is no such table, or a text is empty, overlong or not text.
    """
    if isinstance(value, str):
        value = _table(value)
    if isinstance(value, tuple):
        return value
    if not isinstance(value, Mapping):
        raise InvalidInput(f"texts must be a table of keys and texts, not {brief(value)}")
    texts = []
    for name, part in value.items():
        is_language = name in LANGUAGES
        if is_language and not isinstance(part, Mapping):
            raise InvalidInput(
                f"texts.{name} must be a table of keys and texts, not {brief(part)}", keys=(name,)
            )
        entries = _flat(part) if is_language else _flat({name: part})
        for key, text in entries:
            with under(*((name,) if is_language else ()), key):
                texts.append((name if is_language else "", key, _text(key, text)))
    return tuple(sorted(texts))


def own_texts(entries: tuple[OwnText, ...], language: str) -> dict[str, str]:
    """Return the researcher's texts in a language by key; those of every language where it has none."""
    return {
        key: text for wanted in ("", language) for written_in, key, text in entries if written_in == wanted
    }


def texts_for_page(language: str, entries: tuple[OwnText, ...]) -> dict[str, dict[str, str]]:
    """Return the researcher's texts by language and key, for the languages that a study's page may be in."""
    spoken = LANGUAGES if language == CHOOSE else (language,)
    return {each: own for each in spoken if (own := own_texts(entries, each))}


def _table(text: str) -> Mapping[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(f'texts must be TOML, lines such as "answer.fake" = "AI": {error}') from None


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield keys and values; TOML reads a key with dots that has no quotes as tables within tables."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"the text {key!r} must be text, not {brief(value)}")
    if len(value) > _LONGEST:
        raise InvalidInput(f"the text {key!r} must have at most {_LONGEST:,} characters, not {len(value):,}")
    if any(0xD800 <= ord(letter) <= 0xDFFF for letter in value):
        raise InvalidInput(f"the text {key!r} must be text that can be written as UTF-8, not {value[:40]!a}")
    return value
