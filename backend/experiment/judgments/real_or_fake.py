"""Is this picture real, or made by a model? HYPE's judgment (Zhou et al. 2019, 2.1 to 2.3).

Without a time limit (HYPE-infinity), a value is the percent of answers that were wrong; under a staircase of
exposures (HYPE-time), the mean over blocks of the exposure that was shown most often.
"""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any, ClassVar

from backend.experiment import protocol as protocols
from backend.experiment import sampling
from backend.experiment.judgment import Judgment, Method, Plan
from backend.experiment.protocol import Protocol
from backend.experiment.records import FAKE, REAL, TRUTHS, Condition, Session, Stimulus, Study
from backend.experiment.sampling import Pool
from backend.experiment.session import Cursor
from backend.experiment.staircase import modal_exposure

if TYPE_CHECKING:
    from random import Random


class RealOrFake(Judgment):
    """One picture a trial, real or fake."""

    name = "real_or_fake"
    methods: ClassVar = {
        "infinity": Method(
            "HYPE-infinity",
            "HYPE-infinity, share of pictures judged wrong",
            "percent",
            protocols.INFINITY,
        ),
        "time": Method("HYPE-time", "HYPE-time, threshold", "ms", protocols.TIME),
    }
    source = "Zhou et al., 2019"
    answers = TRUTHS
    question = "whether images are real or generated"
    has_report = True

    def check(self, protocol: Protocol, kind: str) -> None:
        """Refuse nothing: the settings are this judgment's own."""

    def lack(self, study: Study, pool: Pool) -> str:
        return sampling.lack(study, pool)

    def notes(self, study: Study, pool: Pool) -> list[str]:
        """Return what small pools mean for scores, and for the replacement of mistimed flashes."""
        notes = [sampling.pool_note(study, pool) if study.kind == "study" else None]
        wanted, left = study.protocol.stimuli.spare_images // 2, sampling.spares_left(study, pool)
        if study.protocol.is_timed and left != wanted:
            notes.append(
                f"the pictures leave {left} of {wanted} spare reals and fakes to replace mistimed flashes; a "
                "session that uses them up ends early, and is paid"
            )
        return [*filter(None, notes)]

    def draw(
        self,
        study: Study,
        pool: Pool,
        condition: Condition | None,
        rng: "Random",
        coin: "Random",
        is_second: bool,
    ) -> Plan:
        reals = sampling.real_counts(study, coin, is_second)
        return sampling.draw_session(study, pool, condition, rng, reals)

    def truth(self, shown: Sequence[Stimulus]) -> str:
        return shown[0].truth

    def value(self, method: str, rows: Sequence[Mapping[str, Any]]) -> float:
        """Return the value of one evaluator, as `analysis/values.py` has it for all at once."""
        if method == "infinity":
            return 100 * sum(row["response"] != row["truth"] for row in rows) / len(rows)
        blocks: dict[int, list[float]] = {}
        for row in rows:
            blocks.setdefault(row["block"], []).append(row["exposure_ms"] or 0)
        modes = [modal_exposure(exposures) for exposures in blocks.values()]
        return fsum(modes) / len(modes)

    def qualification_result(self, session: Session, protocol: Protocol, cursor: Cursor) -> dict[str, Any]:
        """Return whether a finished qualification was passed, and the shares (0 to 1) it rests on.

        Passed means finished, with at least `pass_share` of the reals and of the fakes right (HYPE 2.3).
        """
        truths = [truth for block in session.blocks for truth in block.truths]
        reals, fakes = (cursor.right.get(truth, 0) / truths.count(truth) for truth in (REAL, FAKE))
        needed = protocol.admission.pass_share
        return {
            "passed": cursor.state == "finished" and reals >= needed and fakes >= needed,
            "reals_right": reals,
            "fakes_right": fakes,
            "needed": needed,
            "may_retake": protocol.admission.retakes,
        }


JUDGMENT = RealOrFake()
