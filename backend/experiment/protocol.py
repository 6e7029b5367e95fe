"""The protocol: every number of the experiment, in one record stored with the study that uses it.

Defaults are those of the papers (HYPE, Zhou et al. 2019: sections 2.1 to 2.3). Each setting is declared here,
or by the judgment that brings it (`Protocol.judgment`); `settings.py` has them by name.
"""

import dataclasses
from dataclasses import fields
from typing import Any, Self

from backend.experiment import fixed_exposures
from backend.experiment.groups.admission import AdmissionSettings
from backend.experiment.groups.clips import ClipSettings
from backend.experiment.groups.consent import ConsentSettings
from backend.experiment.groups.exclusion import ExclusionSettings
from backend.experiment.groups.follow_ups import NONE, FollowUpSettings
from backend.experiment.groups.language import LanguageSettings
from backend.experiment.groups.looks import LookSettings
from backend.experiment.groups.page import PageSettings
from backend.experiment.groups.pay import PaySettings
from backend.experiment.groups.stimuli import WITHIN, StimulusSettings
from backend.experiment.groups.timing import TimingSettings
from backend.experiment.groups.unscored import UnscoredSettings
from backend.experiment.panel import PanelRecord
from backend.experiment.setting_errors import invalid_setting
from backend.experiment.setting_groups import JudgmentSettings
from backend.experiment.staircase import StaircaseRule
from backend.foundation.frozen import dataclass

_A_SECOND_MS = 1000


@dataclass(frozen=True)
class Protocol:
    """The settings of a study, in groups. Times in ms, money in cents of its currency, shares 0 to 1."""

    method: str
    """A method of a judgment (`judgments`), which brings title and consent text."""
    stimuli: StimulusSettings = StimulusSettings()
    clips: ClipSettings = ClipSettings()
    unscored: UnscoredSettings = UnscoredSettings()
    exclusion: ExclusionSettings = ExclusionSettings()
    looks: LookSettings = LookSettings()
    timing: TimingSettings = TimingSettings()
    page: PageSettings = PageSettings()
    follow_ups: FollowUpSettings = FollowUpSettings()
    pay: PaySettings = PaySettings()
    admission: AdmissionSettings = AdmissionSettings()
    language: LanguageSettings = LanguageSettings()
    consent: ConsentSettings = ConsentSettings()
    judgment: JudgmentSettings = JudgmentSettings()
    """Those that the method's judgment brings."""

    def __post_init__(self) -> None:
        if self.page.debrief and self.admission.repeat_visits and self.pay.bonus_usd_cents:
            raise invalid_setting(
                "debrief reveals the truth of the pictures, so that a person who returns (repeat_visits) "
                "would be paid for knowing them; set bonus_usd_cents=0, or one of the two to false",
                "debrief",
                "repeat_visits",
                "bonus_usd_cents",
            )
        if self.has_flashes and self.follow_ups.mark != NONE:
            raise invalid_setting(
                f"mark={self.follow_ups.mark} does not go with a time limit: to be marked, the picture would "
                "have to be shown again, a second look after the flash; leave mark=none, or make the study "
                "with --method infinity",
                "mark",
                "exposures_ms",
            )
        if self.looks.looks and self.looks.looks[-1] != self.admission.evaluators:
            raise invalid_setting(
                f"the last of looks must be evaluators, {self.admission.evaluators}, not "
                f"{self.looks.looks[-1]}; set both, or looks alone",
                "looks",
                "evaluators",
            )
        fastest_hz = self.timing.max_refresh_hz
        if self.slowest_refresh_hz > fastest_hz:
            is_gap = self._shortest_fixed_ms == self.judgment.gap_ms
            name, what = ("gap_ms", "is") if is_gap else ("exposures_ms", "has an exposure")
            raise invalid_setting(
                f"{name} {what} shorter than a refresh: {fixed_exposures.label(self._shortest_fixed_ms)} ms, "
                f"and the fastest display admitted (max_refresh_hz, {fastest_hz:g} Hz) shows a picture for "
                f"{1000 / fastest_hz:.3g} ms at least",
                name,
                "max_refresh_hz",
            )

    @property
    def is_demonstration(self) -> bool:
        """Whether a study shows what the task is like, rather than measures: nobody is paid, and who comes
        again knows the truth of the pictures judged before.
        """
        return self.page.debrief and self.admission.repeat_visits and not self.pay.is_paid

    @property
    def has_staircase(self) -> bool:
        """Whether answers determine the exposures of later stimuli."""
        return self.timing.staircase is not None

    @property
    def has_exposures(self) -> bool:
        """Whether exposures follow from a staircase, or are fixed beforehand, if only as unlimited."""
        return self.has_staircase or bool(self.timing.exposures_ms)

    @property
    def shortest_exposure_ms(self) -> float | None:
        """Shortest exposure (ms) with a time limit; None if every stimulus is shown until it is answered."""
        rule = self.timing.staircase
        return fixed_exposures.shortest_ms(self.timing.exposures_ms) if rule is None else rule.min_ms

    @property
    def has_flashes(self) -> bool:
        """Whether any stimulus is shown for a limited time, and so exact to the refresh of a display."""
        return self.shortest_exposure_ms is not None

    @property
    def slowest_refresh_hz(self) -> float:
        """Refresh rate of the slowest display that can show the flashes.

        That is `min_refresh_hz`, unless a refresh of such a display is longer than a fixed exposure, or than
        the gap between two pictures.
        """
        if self._shortest_fixed_ms is None:
            return self.timing.min_refresh_hz
        needed_hz = 1000 / (fixed_exposures.REFRESH_MARGIN * self._shortest_fixed_ms)
        return max(self.timing.min_refresh_hz, int(10 * needed_hz) / 10)

    @property
    def _shortest_fixed_ms(self) -> float | None:
        """Shortest interval (ms) that is fixed in advance; None if there is none."""
        return fixed_exposures.shortest_ms((*self.timing.exposures_ms, self.judgment.gap_ms or None))

    @property
    def judged_phases(self) -> int:
        """Number of intervals of a flash, from its end, that decide whether it was seen as planned.

        They are the stimulus and its masks; of two pictures, the first, the gap and the second.
        """
        return (3 if self.judgment.gap_ms else 1) + self.timing.mask_count

    @property
    def has_quick_changes(self) -> bool:
        """Whether what is shown changes more than once a second, which photosensitive people should know.

        Without masks, exposures of a second or more give at most one flash in any second (WCAG 2.3.1 allows
        three), also where two pictures follow each other: of their four changes, no more than two lie
        within a second.
        """
        shortest = self.shortest_exposure_ms
        is_brief = shortest is not None and shortest < _A_SECOND_MS
        return self.has_staircase or is_brief or (self.has_flashes and self.timing.mask_count > 0)

    @property
    def arms(self) -> tuple[str, ...]:
        """The exposures of which each evaluator sees one, as text; () if each sees all, or none are fixed."""
        timing = self.timing
        if timing.exposure_design == WITHIN:
            return ()
        return tuple(map(fixed_exposures.label, timing.exposures_ms))

    def changed(self, **values: Any) -> Self:
        """Return this protocol with settings of any group replaced by name."""
        group_of = groups_of(self)
        groups: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            groups.setdefault(group_of[name], {})[name] = value
        return dataclasses.replace(
            self, **{name: dataclasses.replace(getattr(self, name), **own) for name, own in groups.items()}
        )


def groups_of(protocol: Protocol) -> dict[str, str]:
    """Return the group of each setting, in the order in which they are stored, exported and documented."""
    groups = [group.name for group in fields(protocol) if group.name != "method"]
    return {setting.name: group for group in groups for setting in fields(getattr(protocol, group))}


def values_of(protocol: Protocol) -> dict[str, Any]:
    """Return the method and all settings of a protocol, by name."""
    settings = {name: getattr(getattr(protocol, group), name) for name, group in groups_of(protocol).items()}
    return {"method": protocol.method, **settings}


def to_json(protocol: Protocol) -> dict[str, Any]:
    """Return the settings as plain data for the store, by name and without groups."""
    return {
        name: dataclasses.asdict(value) if isinstance(value, (StaircaseRule, PanelRecord)) else value
        for name, value in values_of(protocol).items()
    }
