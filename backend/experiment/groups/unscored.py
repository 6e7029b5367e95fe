"""What is asked but not scored: practice and attention checks."""

from backend.experiment.setting_groups import Group, setting
from backend.foundation.frozen import dataclass


@dataclass(frozen=True)
class UnscoredSettings(Group):
    """Trials that are shown to evaluators but not scored: practice and attention checks."""

    practice_images: int = setting(
        0,
        "practice pictures before the first block, half of them real, always with feedback; neither scored "
        "nor paid by answer; from `--practice DIR`, or set aside from the study's pictures",
        0,
        200,
        meaning=(
            "Pictures of the practice before the first block, half of them real, always with feedback; "
            "neither scored nor paid by answer. They are the study’s practice pictures, or are set aside "
            "from its others."
        ),
        label="Practice pictures",
    )
    picture_checks: int = setting(
        0,
        "attention checks a session by pictures of `--checks DIR`, whose truth is beyond doubt, half of them "
        "real; among the scored pictures and not scored; not with `time`",
        0,
        200,
        meaning=(
            "Attention checks in a session by pictures whose truth is beyond doubt, half of them real. "
            "They stand among the scored pictures and are not scored; HYPE-time has none."
        ),
        label="Attention checks by pictures",
    )
    instructed_checks: int = setting(
        0,
        "attention checks a session by an instruction, which says which answer to give, half of them real",
        0,
        200,
        label="Attention checks by instructions",
    )

    @property
    def checks(self) -> int:
        """Number of attention checks of a session."""
        return self.picture_checks + self.instructed_checks
