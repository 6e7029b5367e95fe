"""Groups of settings: what is declared of each, and values checked against it."""

from dataclasses import field, fields
from typing import Any, cast

from backend.experiment.setting_errors import invalid_setting
from backend.foundation.errors import brief
from backend.foundation.frozen import dataclass


@dataclass(frozen=True)
class Declared:
    """What is declared of a setting, besides its name, type and default."""

    doc: str
    low: float | None = None
    high: float | None = None
    """Range of a number."""
    choices: tuple[str, ...] = ()
    """Values to choose from."""
    choice_labels: tuple[str, ...] = ()
    """What the console calls each of `choices`; () for the values themselves."""
    accepts: tuple[str, ...] | None = None
    """What is accepted, if that is not `choices`; () if the group checks it."""
    is_open: bool = False
    """Whether forms take values beside the choices: a rule spelled out, another quality, a record."""
    is_long: bool = False
    """Whether it is a text of several paragraphs."""
    by_method: bool = False
    """Whether a method has it only if it names it (`Method.takes`)."""
    methods: tuple[str, ...] = ()
    """The methods that have it, if not all do; `settings.declared` gathers them."""
    used_by: str = ""
    """`FLASHES` or `QUALIFICATIONS` if only those use it."""
    label: str = ""
    """What the console calls it."""
    asked: int = 0
    """Its place among the settings that the console asks for first; 0 if it is not among them."""
    meaning: str = ""
    """What the console says of it, if `doc` speaks of the command line or asks for more knowledge."""
    fixed: str = ""
    """Why it stays as it is once a study is made; '' if it can be changed until people take part."""
    shapes_flashes: bool = False
    """Whether the check for photosensitive people depends on it."""
    fixes_evaluators: bool = False
    """Whether the number of evaluators may follow from it (`Judgment.with_pool`)."""


FLASHES, QUALIFICATIONS = "flashes", "qualifications"


def setting(default: Any, doc: str, low: float | None = None, high: float | None = None, **facts: Any) -> Any:
    """Return the field of a setting with what is declared of it; `facts` are fields of `Declared`."""
    return field(default=default, metadata={"declared": Declared(doc, low, high, **facts)})


class Group:
    """A group of settings, whose values are checked against what is declared of them."""

    def __post_init__(self) -> None:
        for each in fields(cast("Any", self)):
            declared, value = each.metadata["declared"], getattr(self, each.name)
            low, high = declared.low, declared.high
            accepted = declared.choices if declared.accepts is None else declared.accepts
            if low is not None and not low <= value <= high:
                raise invalid_setting(
                    f"{each.name} must be from {low:g} to {high:g}, not {brief(value)}", each.name
                )
            if accepted and not declared.is_open and value not in accepted:
                raise invalid_setting(
                    f"{each.name} must be one of {', '.join(declared.choices)}, not {brief(value)}",
                    each.name,
                )


@dataclass(frozen=True)
class JudgmentSettings(Group):
    """The settings that a judgment brings; a subclass beside the judgment has them, for its methods alone."""

    @property
    def gap_ms(self) -> float:
        """How long (ms) nothing is shown between the pictures of a trial; 0: they stand side by side."""
        return 0
