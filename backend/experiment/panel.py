"""Panels as the task page uses them: the parameters of an evaluator's link, and the link back at the end.

A record is data, so that a new panel needs a file and no code. It is stored with each study that uses it.
Parameters are those of the link's query. In a template, `{NAME}` is replaced by the parameter NAME and
`{code}` by the completion code.
"""

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, fields
from typing import Any
from urllib.parse import quote

from backend.foundation.errors import InvalidInput, Keys, under
from backend.foundation.frozen import dataclass

OUTCOMES = ("done", "no_consent", "unfit_device", "screened_out", "fault")
"""Outcomes that a completion code can report; `fault`: the person could not continue, by an error of ours."""
CODE_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Letters of completion codes, without those that are easily confused."""
PRIVATE_LINK = "link"
"""The query parameter of a private link."""
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_HOLE = re.compile(r"\{([^{}]*)\}")
_KEYS = re.compile(r"https://[^\s/]+(/\S*)?|http://(127\.0\.0\.1|localhost)(:[0-9]{1,5})?(/\S*)?")


@dataclass(frozen=True)
class Signature:
    """A token (JWT) in the link that proves the person's identity for the panel; it is never stored."""

    parameter: str
    """The parameter that contains the token."""
    keys: str
    """HTTPS address at which the panel publishes its keys (JWKS); or the key set itself, as JSON."""
    claims: Mapping[str, str] = field(hash=False)
    """The claim that each parameter must equal. Dots lead into objects, as in `panel.person`; several claims
    are separated by commas, and the parameter must equal them all."""
    issuer: str = ""
    audience: str = ""
    """If it is an address, only scheme, host and path are compared."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.parameter):
            raise InvalidInput(
                f"signature.parameter must be a plain word, not {self.parameter!r}",
                keys=("signature", "parameter"),
            )
        if not _KEYS.fullmatch(self.keys) and not _is_key_set(self.keys):
            raise InvalidInput(
                f"signature.keys must be an address as https://panel.example/jwks.json, or a set of keys "
                f"as JSON, not {self.keys!r}",
                keys=("signature", "keys"),
            )
        if not self.claims or not all(self.claims.values()):
            raise InvalidInput(
                "signature.claims must name what each parameter must equal",
                keys=("signature", "claims"),
            )

    def for_link(self, keys: str, audience: str) -> "Signature":
        """Return the signature of links to the address `audience`, verified with `keys`."""
        return dataclasses.replace(self, keys=keys, audience=audience)


@dataclass(frozen=True)
class PanelRecord:
    """One panel. All fields except the name are optional."""

    name: str
    evaluator: str = ""
    """The parameter that identifies the person, the same in each study of the panel."""
    submission: str = ""
    """The parameter that identifies the person's place in the panel's study."""
    keeps: tuple[str, ...] = ()
    """Other parameters that are stored with the session."""
    redirect: str = ""
    """Template of the address to return to with a code."""
    back: str = ""
    """Address to return to if the server itself has notified the panel that the person is done."""
    codes: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Codes that the panel knows, by outcome; without one for `done`, each session has its own."""
    told_codes: bool = False
    """The panel accepts only codes that it was given: without one, nobody is sent back."""
    preview: str = ""
    """`NAME=VALUE`, the parameter of a preview: the task is described, and nothing is recorded."""
    form_origin: str = ""
    """The parameter with the origin to post a form to on completion; it must be one of `form_origins`."""
    form_path: str = ""
    form_fields: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Templates of the form's fields."""
    form_origins: tuple[str, ...] = ()
    frame_origins: tuple[str, ...] = ()
    """Origins that may show the page in a frame."""
    private_links: bool = False
    """Only links printed by `openhype links` open the study, once each."""
    pays: bool = False
    """People are paid in money through the panel: pay that is not set is that of the papers."""
    signature: Signature | None = None
    """How the panel proves the person's identity; None if it is accepted without proof."""
    early_redirect: str = ""
    """Template of the address to return to for people who do not take part or are screened out, if the panel
    has a separate one."""
    is_redirect_for_done_only: bool = False
    """`redirect` credits the complete task, whatever the code: nobody else is sent there."""
    caution: str = ""
    """What a researcher should know before relying on the panel."""

    def __post_init__(self) -> None:
        for keys, name in self._given("evaluator", "submission", "form_origin", "keeps"):
            if not _NAME.fullmatch(name):
                raise InvalidInput(
                    f"panel {self.name}: a parameter must be a plain word, not {name!r}", keys=keys
                )
        for keys, origin in self._given("form_origins", "frame_origins"):
            if not _ORIGIN.fullmatch(origin):
                raise InvalidInput(
                    f"panel {self.name}: an origin must be of the form https://panel.example, not {origin!r}",
                    keys=keys,
                )
        for keys, template in self._given("redirect", "back", "early_redirect"):
            if not re.match(_ORIGIN.pattern + "([/?#]|$)", template, re.IGNORECASE):
                raise InvalidInput(
                    f"panel {self.name}: an address to go back to must start as https://panel.example/, "
                    f"not {template!r}",
                    keys=keys,
                )
        unknown = sorted(set(self.codes) - set(OUTCOMES))
        if unknown:
            raise InvalidInput(
                f"panel {self.name}: a code must be for one of {', '.join(OUTCOMES)}, not {unknown[0]!r}",
                keys=("codes", unknown[0]),
            )
        if self.preview and not all(self.preview.partition("=")):
            raise InvalidInput(
                f"panel {self.name}: preview must be of the form NAME=VALUE, not {self.preview!r}",
                keys=("preview",),
            )
        if self.signature:
            self._check_signature(self.signature)

    def _check_signature(self, signature: Signature) -> None:
        if signature.parameter in self.parameters_read:
            raise InvalidInput(
                f"panel {self.name}: signature.parameter must be a parameter of its own, "
                f"not {signature.parameter!r}, which is stored",
                keys=("signature", "parameter"),
            )
        unknown = sorted(set(signature.claims) - set(self.parameters))
        if unknown or self.evaluator not in signature.claims:
            raise InvalidInput(
                f"panel {self.name}: signature.claims must cover the parameter that names the person "
                f"({self.evaluator or 'evaluator is not set'}), and stored ones only, "
                f"not {', '.join(sorted(signature.claims))}",
                keys=("signature", "claims"),
            )

    def _given(self, *entries: str) -> Iterator[tuple[Keys, str]]:
        """Yield the texts of entries that have some, alone or in a list, each with its keys."""
        for entry in entries:
            value = getattr(self, entry)
            if isinstance(value, str):
                yield from [((entry,), value)] if value else []
            else:
                yield from (((entry, i), each) for i, each in enumerate(value) if each)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the query parameters that are stored with a session."""
        return _distinct((self.evaluator, self.submission, *self.keeps, self.form_origin))

    @property
    def parameters_of_person(self) -> tuple[str, ...]:
        """Names of the parameters that tell people's links apart; without ids, all that the panel keeps."""
        ids = (self.evaluator, self.submission)
        return _distinct((*(ids if any(ids) else self.keeps), PRIVATE_LINK))

    @property
    def parameters_read(self) -> tuple[str, ...]:
        return _distinct((*self.parameters, self.preview.partition("=")[0], PRIVATE_LINK))

    @property
    def home(self) -> str | None:
        """An address of the panel for people who cannot take part; None if the record has none."""
        addresses = (
            re.match(_ORIGIN.pattern, one, re.IGNORECASE) for one in (self.redirect, self.early_redirect)
        )
        return self.back or next((f"{found[0]}/" for found in addresses if found), None)

    def is_preview(self, parameters: Mapping[str, str]) -> bool:
        name, _, value = self.preview.partition("=")
        return bool(name) and parameters.get(name) == value


@dataclass(frozen=True)
class PanelConfig:
    """The part of the configuration of a panel's study that evaluators' pages depend on."""

    codes: Mapping[str, str] = field(default_factory=dict, hash=False)
    by_server: bool = False
    """The server itself notifies the panel who is done, so that nobody needs a code for that."""


NO_PANEL_CONFIG = PanelConfig()
LINK = PanelRecord("link")
PRIVATE = PanelRecord("private", private_links=True)
PROLIFIC_STUDY = "STUDY_ID"
"""The parameter that identifies Prolific's study."""
PROLIFIC = PanelRecord(
    "prolific",
    evaluator="PROLIFIC_PID",
    submission="SESSION_ID",
    keeps=(PROLIFIC_STUDY,),
    redirect="https://app.prolific.com/submissions/complete?cc={code}",
    back="https://app.prolific.com/submissions",
    told_codes=True,
    pays=True,
)
PROLIFIC_SIGNATURE = Signature(
    parameter="prolific_token",
    keys="https://api.prolific.com/.well-known/study/jwks.json",
    claims={
        "PROLIFIC_PID": "prolific.PROLIFIC_PID",
        PROLIFIC_STUDY: "prolific.STUDY_ID",
        "SESSION_ID": "sub,prolific.SESSION_ID",
    },
    issuer="https://www.prolific.com",
)
"""How Prolific signs the links of a study with a secure URL; the audience is the study's own address."""
CONNECT = PanelRecord(
    "connect",
    evaluator="participantId",
    submission="assignmentId",
    keeps=("projectId",),
    told_codes=True,
    pays=True,
    is_redirect_for_done_only=True,
)
SONA = PanelRecord(
    "sona",
    evaluator="sona_id",
    caution="SONA's codes are numbers of 2 to 7 digits: anybody can guess one, and whether a person has the "
    "same one in the next study is not known; compare who took part with SONA's own list before you grant "
    "credit",
)
MTURK = PanelRecord(
    "mturk",
    caution="Amazon Mechanical Turk closed on 30 September 2026; this record is for tools that imitate its "
    "pages",
    evaluator="workerId",
    submission="assignmentId",
    keeps=("hitId",),
    preview="assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE",
    form_origin="turkSubmitTo",
    form_path="/mturk/externalSubmit",
    form_fields={"assignmentId": "{assignmentId}", "completion_code": "{code}"},
    pays=True,
)
LINK_QUERIES = {
    PROLIFIC.name: "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
    SONA.name: "sona_id=%SURVEY_CODE%",
}
"""The query of a study's link as panels take it, with their placeholders."""
BUILT_IN = {record.name: record for record in (LINK, PRIVATE, PROLIFIC, CONNECT, SONA, MTURK)}


def named(name: str) -> PanelRecord:
    """Return the built-in record called `name`.

    Raises:
        InvalidInput: there is no such record.
    """
    if name not in BUILT_IN:
        raise InvalidInput(
            f"panel must be one of {', '.join(BUILT_IN)}, or a file with a record (--panel FILE.toml), "
            f"not {name!r}"
        )
    return BUILT_IN[name]


def from_json(data: Mapping[str, Any], source: str = "a panel's record") -> PanelRecord:
    """Return the record described by plain data; `like` names a built-in record to start from.

    Raises:
        InvalidInput: names the entry that is unknown, missing or of the wrong type.
    """
    values = dict(data)
    with under("like"):
        base = named(str(values.pop("like"))) if "like" in values else None
    known = {f.name: f for f in fields(PanelRecord)}
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise InvalidInput(
            f"{source} has an unknown entry {unknown[0]!r}; it may have {', '.join(known)}",
            keys=(unknown[0],),
        )
    if base is None and "name" not in values:
        raise InvalidInput(f"{source} lacks the entry 'name'")
    typed = {name: _typed(known[name], value, source) for name, value in values.items()}
    return dataclasses.replace(base, **typed) if base else PanelRecord(**typed)


def code_for(
    record: PanelRecord, parameters: Mapping[str, str], outcome: str, config: PanelConfig
) -> str | None:
    """Return the panel's code for an outcome; None if it has none or the person did not arrive from it."""
    if record.evaluator and not parameters.get(record.evaluator):
        return None
    return {**record.codes, **config.codes}.get(outcome)


def return_link(
    record: PanelRecord, parameters: Mapping[str, str], outcome: str, config: PanelConfig, own_code: str = ""
) -> dict[str, Any]:
    """Return how a person returns to the panel: `redirect_url`, or a `form` to post, or neither.

    It is neither if the person did not arrive from the panel, the panel knows no code for this outcome,
    or the link lacked a parameter that the address needs.

    Args:
        own_code: the session's code, for a panel without codes of its own.
    """
    nowhere = {"redirect_url": None, "form": None}
    if record.evaluator and record.told_codes and not parameters.get(record.evaluator):
        return nowhere
    code = code_for(record, parameters, outcome, config)
    if outcome != "done":
        values = {**parameters, "code": code or ""}
        if record.early_redirect:
            if record.evaluator and not parameters.get(record.evaluator):
                return nowhere
            return {**nowhere, "redirect_url": _filled(record.early_redirect, values, escaped=True)}
        # An address without a code would credit the person with the complete task.
        known = code is not None and "{code}" in record.redirect and not record.is_redirect_for_done_only
        return {**nowhere, "redirect_url": _filled(record.redirect, values, escaped=True) if known else None}
    if config.by_server:
        return {**nowhere, "redirect_url": record.back or None}
    values = {**parameters, "code": code or ("" if record.told_codes else own_code)}
    if record.form_path:
        return {**nowhere, "form": _form(record, values)}
    return {**nowhere, "redirect_url": _filled(record.redirect, values, escaped=True)}


def _form(record: PanelRecord, values: Mapping[str, str]) -> dict[str, Any] | None:
    origin = values.get(record.form_origin, "").rstrip("/")
    filled = {name: _filled(template, values) for name, template in record.form_fields.items()}
    if origin not in record.form_origins or None in filled.values():
        return None
    return {"action": origin + record.form_path, "fields": filled}


def _filled(template: str, values: Mapping[str, str], escaped: bool = False) -> str | None:
    """Return a template with its placeholders filled; None if it is empty or a value is missing."""
    if not template or any(not values.get(name) for name in _HOLE.findall(template)):
        return None
    return _HOLE.sub(lambda hole: quote(values[hole[1]], safe="") if escaped else values[hole[1]], template)


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, names)))


def _is_key_set(text: str) -> bool:
    try:
        return isinstance(json.loads(text)["keys"], list)
    except (ValueError, KeyError, TypeError):
        return False


def _signature(value: Any, source: str) -> Signature | None:
    if value is None:
        return None
    known = {f.name: f for f in fields(Signature)}
    if not isinstance(value, Mapping) or set(value) - set(known):
        raise InvalidInput(
            f"{source}: signature must be a table of {', '.join(known)}, not {value!r}", keys=("signature",)
        )
    missing = [name for name in ("parameter", "keys", "claims") if name not in value]
    if missing:
        raise InvalidInput(f"{source}: signature lacks the entry {missing[0]!r}", keys=("signature",))
    with under("signature"):
        parts = {name: _typed(known[name], part, f"{source}: signature") for name, part in value.items()}
    return Signature(**parts)


def _typed(entry: dataclasses.Field[Any], value: Any, source: str) -> Any:
    if entry.name == "signature":
        return _signature(value, source)
    if entry.type is bool and isinstance(value, bool):
        return value
    if entry.type is str and isinstance(value, str):
        return value
    is_texts = isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value)
    if entry.type == tuple[str, ...] and is_texts:
        return tuple(value)
    is_table = isinstance(value, Mapping) and all(isinstance(part, str) for part in value.values())
    if entry.type == Mapping[str, str] and is_table:
        return dict(value)
    expected: dict[Any, str] = {bool: "true or false", str: "a text", tuple[str, ...]: "a list of texts"}
    raise InvalidInput(
        f"{source}: {entry.name} must be {expected.get(entry.type, 'a table of texts')}, not {value!r}",
        keys=(entry.name,),
    )
