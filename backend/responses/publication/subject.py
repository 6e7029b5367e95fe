"""What a published data set is about: the study, its tables, and sentences that descriptions share."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.experiment.judgment import Judgment, Method
from backend.experiment.judgments import judgment_of
from backend.experiment.records import Study
from backend.responses.publication.data_files import Table
from backend.stimuli.media import MEDIA

RESPONSES = "responses"
"""Name of the table of scored responses."""


@dataclass(frozen=True)
class Subject:
    """A study and its exported tables."""

    study: Study
    name: str
    """Name of the data set: the study's, with `(simulated)` if its sessions are simulated."""
    is_simulated: bool
    tables: tuple[Table, ...]
    answers_an_item: tuple[int, ...]
    """Scored answers to each picture or item that got any, ascending."""
    sessions: int
    """Finished sessions."""
    version: str
    """Of openhype."""

    @property
    def judgment(self) -> Judgment:
        """What evaluators were asked."""
        return judgment_of(self.study.protocol.method)

    @property
    def method(self) -> Method:
        return self.judgment.methods[self.study.protocol.method]

    @property
    def responses(self) -> Table:
        return next(table for table in self.tables if table.name == RESPONSES)

    @property
    def period(self) -> tuple[str, str]:
        """The times (UTC, ISO 8601) of the first and the last answer; '' if there is none."""
        firsts = [table.first_at for table in self.tables if table.first_at]
        lasts = [table.last_at for table in self.tables if table.last_at]
        return (min(firsts), max(lasts)) if firsts else ("", "")

    @property
    def title(self) -> str:
        whose = "simulated answers" if self.is_simulated else "human judgments"
        return f"{self.name}: {whose} of {', '.join(self.study.models)} ({self.method.title})"

    @property
    def summary(self) -> str:
        """What the data are, in a sentence or two."""
        who = "simulated evaluators" if self.is_simulated else "evaluators"
        text = (
            f"Answers of {self.sessions} {who} to the question {self.judgment.question}, in the "
            f"{self.method.title} {self.study.kind} {self.study.name} of {listed(self.study.models)}: "
            f"{self.responses.rows} responses of finished sessions, collected with openhype."
        )
        text = f"{text} Nobody looked at the pictures." if self.is_simulated else text
        return MEDIA[self.study.medium].said(text, [self.study.name, *self.study.models])


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence has them, in full: `a, b and c`."""
    *first, last = names or ("no model",)
    return f"{', '.join(first)} and {last}" if first else last
