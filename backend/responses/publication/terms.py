"""What the researcher declares about a published data set: who made it, its licence, where and when."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from backend.foundation.errors import InvalidInput
from backend.foundation.suggestions import did_you_mean

_LICENCES = (
    "CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-4.0",
    "CC-BY-NC-ND-4.0", "ODC-By-1.0", "ODbL-1.0", "PDDL-1.0", "CDLA-Permissive-1.0",
    "CDLA-Permissive-2.0", "Apache-2.0", "MIT",
)  # fmt: skip
"""SPDX identifiers of licences that Hugging Face's hub knows."""
_HUB_NAMES = {"ODC-By-1.0": "odc-by", "ODbL-1.0": "odbl", "PDDL-1.0": "pddl"}
"""Names at the hub that are not the identifier in lower case
(huggingface.co/docs/hub/repositories-licenses)."""
_SPDX = "https://spdx.org/licenses/"
_SEMANTIC_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", re.ASCII)
_LONGEST = 500


@dataclass(frozen=True)
class Creator:
    """Who made a data set: a person (`Family, Given`), or otherwise an organisation or group."""

    family: str
    given: str = ""
    """'' for an organisation."""

    @property
    def is_person(self) -> bool:
        """Whether it is a person."""
        return bool(self.given)

    @property
    def name(self) -> str:
        """The name as it is read: `Ada Lovelace`."""
        return f"{self.given} {self.family}" if self.is_person else self.family


@dataclass(frozen=True)
class Licence:
    """A licence: by its SPDX identifier, or by an address if it has none."""

    url: str
    spdx: str = ""
    hub: str = ""
    """Its name on the Hugging Face Hub; '' if it has none there."""


@dataclass(frozen=True)
class Terms:
    """What the researcher declares about a published data set; entries may be empty."""

    published_on: str
    """UTC, YYYY-MM-DD."""
    creators: tuple[Creator, ...] = ()
    licence: Licence | None = None
    url: str = ""
    """Where the data set is published."""
    release: str = "1.0.0"
    """MAJOR.MINOR.PATCH, as Croissant asks for."""

    def __post_init__(self):
        if not _SEMANTIC_VERSION.fullmatch(self.release):
            raise InvalidInput(f"a release must be MAJOR.MINOR.PATCH, such as 1.0.0, not {self.release!r}")
        if self.url:
            _check_address(self.url, "the address of the data set")

    @property
    def missing(self) -> list[str]:
        """What a published data set should have, and is not declared, as options of the command line."""
        stated = {"--creator": self.creators, "--license": self.licence, "--url": self.url}
        return [option for option, value in stated.items() if not value]


def terms_of(
    published_on: str,
    creators: Sequence[str] = (),
    licence: str | None = None,
    url: str | None = None,
    release: str | None = None,
) -> Terms:
    """Return terms from texts, as a researcher gives them; errors as for `creator_of` and `licence_of`."""
    return Terms(
        published_on,
        tuple(dict.fromkeys(map(creator_of, creators))),
        licence_of(licence) if licence else None,
        url or "",
        release or Terms.release,
    )


def creator_of(text: str) -> Creator:
    """Return a creator from `Family, Given`, or from the name of an organisation.

    Raises:
        InvalidInput: neither.
    """
    family, comma, given = (part.strip() for part in text.partition(","))
    is_line = text.isprintable() and len(text) <= _LONGEST
    if not is_line or not family or (comma and not given):
        raise InvalidInput(
            f"a creator must be a person as `Lovelace, Ada`, or the name of an organisation, not {text!r}"
        )
    return Creator(family, given)


def licence_of(text: str) -> Licence:
    """Return a licence from its SPDX identifier, in upper or lower case, or its address.

    Raises:
        InvalidInput: neither.
    """
    if "://" in text:
        _check_address(text, "the licence")
        return Licence(text)
    known = {name.lower(): name for name in _LICENCES}
    if text.lower() not in known:
        hint = did_you_mean(text, _LICENCES, f"; known are {', '.join(_LICENCES)}")
        raise InvalidInput(
            f"a licence must be a licence's SPDX identifier, or its address as https://…, not {text!r}{hint}"
        )
    spdx = known[text.lower()]
    return Licence(f"{_SPDX}{spdx}", spdx, _HUB_NAMES.get(spdx, spdx.lower()))


def _check_address(url: str, what: str) -> None:
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:  # such as an invalid IPv6 address
        is_one = False
    if not is_one or not url.isprintable() or any(map(str.isspace, url)) or len(url) > _LONGEST:
        raise InvalidInput(f"{what} must be like https://lab.example/faces, not {url!r}")
