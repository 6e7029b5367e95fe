"""Rules, fixed in advance, for who is left out of the scores."""

from backend.experiment.setting_groups import Group, setting
from backend.foundation.frozen import dataclass


@dataclass(frozen=True)
class ExclusionSettings(Group):
    """The rule by which evaluators are left out of the primary scores; scores without it stand beside."""

    exclude_checks_below: float = setting(
        0,
        "leave out of the primary scores who gets a smaller share of the attention checks right",
        0,
        1,
        label="Least share of attention checks answered right",
    )
    exclude_faster_ms: float = setting(
        0,
        "leave out of the primary scores whose median response time is shorter",
        0,
        10000,
        label="Least median response time (ms)",
    )

    @property
    def is_declared(self) -> bool:
        return self.exclude_checks_below > 0 or self.exclude_faster_ms > 0
