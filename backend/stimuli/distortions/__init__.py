"""The traditional distortions of Zhang et al. (CVPR 2018), as functions of 8-bit pictures.

The paper names 20 distortions (table 2) and composes pairs of them; it gives neither their parameters nor
their ranges, which are those of this package (docs/distortions.md).
"""

from backend.stimuli.distortions.distortion import Distortion, Step
from backend.stimuli.distortions.sentinels import heavy_noise, subtle, weak_noise
from backend.stimuli.distortions.sequences import TRADITIONAL, apply, draw_sequence, named

__all__ = [
    "TRADITIONAL", "Distortion", "Step", "apply", "draw_sequence", "heavy_noise", "named", "subtle",
    "weak_noise",
]  # fmt: skip
