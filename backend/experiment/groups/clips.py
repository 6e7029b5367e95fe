"""How clips are prepared and played, in studies whose stimuli are clips."""

from backend.experiment.setting_groups import Group, setting
from backend.foundation.frozen import dataclass

LOOP, ONCE = "loop", "once"


@dataclass(frozen=True)
class ClipSettings(Group):
    """Rate and length of clips, and how often they play."""

    clip_fps: float = setting(
        0,
        "with clips, frames a second to which all are brought; `0`: the rate that most of them have",
        0,
        120,
        fixed="the clips were made at this rate",
        label="Frames a second of clips",
        meaning="All clips are brought to this rate. 0: the rate that most of them have.",
    )
    clip_seconds: float = setting(
        0,
        "with clips, length to which all are cut, from their first frame; `0`: that of the shortest",
        0,
        60,
        fixed="the clips were cut to this length",
        label="Length of clips (s)",
        meaning="All clips are cut to this length, from their first frame. 0: the length of the shortest.",
    )
    clip_skip_seconds: float = setting(
        0,
        "with clips, seconds left out at the start of all, such as a fade or a black frame",
        0,
        60,
        fixed="the clips were cut so",
        label="Left out at the start of clips (s)",
        meaning="So much is left out at the start of all clips, such as a fade or a black first frame.",
    )
    clip_play: str = setting(
        LOOP,
        "with clips, whether a clip without a time limit plays again and again until it is answered, or "
        "`once`, with `clip_replays`; with a time limit its first frames are shown once",
        choices=(LOOP, ONCE),
        label="How clips play",
        choice_labels=("again and again", "once"),
        meaning="Clips without a time limit play again and again until they are answered, or once.",
    )
    clip_replays: int = setting(
        2,
        "with `clip_play=once`, how often an evaluator can play a clip again",
        0,
        100,
        label="Replays of a clip",
        meaning="Where clips play once: how often an evaluator can play one again.",
    )
