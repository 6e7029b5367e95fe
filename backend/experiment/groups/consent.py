"""What evaluators are told and asked to agree to."""

import re

from backend.experiment.setting_errors import invalid_setting
from backend.experiment.setting_groups import Group, setting
from backend.foundation.frozen import dataclass

_CONSENT = """\
You are invited to take part in a study of {about}.

You will see {task}. You do not need to know anything beforehand.

We keep your answers, how long they took, whether you left this page meanwhile, and technical details about \
your screen. We do not ask for your name. The answers are used for research and may be published \
without anything that points to you.

Taking part is voluntary. You can stop at any time by closing this page. You are given a link with which \
you can withdraw, then or later: your answers are deleted, and what you earned is paid all the same."""


def consent(task: str, about: str = "how realistic computer-made pictures look") -> str:
    """Return the consent text of a method whose evaluators see, and do, what `task` says."""
    return _CONSENT.format(about=about, task=task)


_LONGEST_CONTACT = 200


def _check_contact(contact: str) -> None:
    is_line = contact.isprintable() and contact == contact.strip() and len(contact) <= _LONGEST_CONTACT
    if not is_line or ("://" in contact and not re.fullmatch(r"https?://[^\s/]+(/\S*)?", contact)):
        raise invalid_setting(
            f"contact must be an e-mail address, a URL as https://lab.example/faces, or a line of at most "
            f"{_LONGEST_CONTACT} characters, not {contact!r}",
            "contact",
        )


@dataclass(frozen=True)
class ConsentSettings(Group):
    """What evaluators consent to."""

    title: str = setting(
        "",
        "title that evaluators see",
        label="Title that evaluators see",
        asked=10,
        meaning="It stands above the first page.",
    )
    consent_text: str = setting(
        "",
        "text evaluators agree to, paragraphs separated by empty lines; `@FILE` takes it from a file",
        is_long=True,
        asked=13,
        meaning=(
            "Evaluators agree to it as it stands here, unless you change it; empty lines separate its "
            "paragraphs. Where each chooses a language it is in that; one of your own is the same for all."
        ),
        label="Consent text",
    )
    consent_version: str = setting(
        "1",
        "version of the consent text, stored with each session",
        label="Version of the consent text",
    )
    contact: str = setting(
        "",
        "whom evaluators can write to, shown at consent, errors and end: an e-mail address, a URL or a text",
        label="Whom evaluators can write to",
        asked=9,
        meaning=(
            "An e-mail address, a web address or a text; it stands at the consent, with errors and at "
            "the end."
        ),
    )
    minutes: float = setting(
        10,
        "how long a session takes, as shown to evaluators",
        0.1,
        1000,
        label="Minutes that a session takes",
        asked=8,
        meaning="Evaluators read it before they begin, and the wage an hour follows from it.",
    )
    keep_days: float = setting(
        0,
        "days after a session's end for which the panel's parameters and the facts of devices are "
        "stored; `openhype retention` then deletes them; 0 stores them as long as the study",
        0,
        36500,
        meaning=(
            "Days after a session’s end for which the panel’s parameters and the facts of devices are "
            "stored; after that the study’s page can delete them. 0: as long as the study."
        ),
        label="Days that personal data are stored",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_contact(self.contact)
