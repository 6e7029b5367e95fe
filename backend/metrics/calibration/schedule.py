"""Schedules of a fit: how many steps of Adam, at which rate, and when to stop.

The schedule of the paper and its code (Zhang et al., 2018, appendix B; `train.py` and `lpips/trainer.py`)
is meant for 150,000 triplets: ten epochs in batches of 50, which are 30,000 steps. With the triplets of one
laboratory ten epochs are a hundred steps, in which nothing moves. The default therefore counts steps, and
stops when the loss of the validation share no longer falls.
"""

from dataclasses import dataclass, replace

DEFAULT, PAPER = "default", "paper"
PAPER_EPOCHS, PAPER_DECAY_EPOCHS = 5, 5
BATCH = 50


@dataclass(frozen=True)
class Schedule:
    """Number and size of the steps of a fit."""

    name: str
    steps: int
    """Largest number of steps in which the weights move."""
    rate: float
    """Learning rate of Adam."""
    is_by_epochs: bool = False
    """Whether the rate falls as in the paper, by epochs; else linearly over the second half of the steps."""
    ranker_steps: int = 0
    """Steps before the first one, in which only the ranking network is fitted."""
    ranker_rate: float = 1e-3
    """Learning rate of these steps."""
    is_swapping: bool = False
    """Whether half of the triplets of a batch, at random, stand with p0 and p1 exchanged."""
    check_every: int = 100
    """Steps between looks at the validation share."""
    patience: int | None = None
    """Looks without a lower validation loss after which the fit stops; None: the last weights count."""
    dropout: float = 0.5
    """Chance that an entry of the differences is dropped in training."""
    batch: int = BATCH
    beta1: float = 0.5
    """First moment's decay of Adam, as in the reference code; the second is 0.999."""

    @property
    def is_stopping_early(self) -> bool:
        return self.patience is not None

    def changed(self, steps: int | None, rate: float | None) -> "Schedule":
        """Return the schedule with another number of steps, or rate; None leaves it."""
        return replace(self, steps=steps or self.steps, rate=rate or self.rate)

    def rate_at(self, step: int, steps_per_epoch: int) -> float:
        """Return the learning rate of a step, counted from 0.

        By epochs: the reference lowers the rate after each epoch from the sixth on, so that epochs 7 to 10
        have 80, 60, 40 and 20% of it.
        """
        if self.is_by_epochs:
            epoch = step // steps_per_epoch + 1
            return self.rate * min(1.0, 1 - (epoch - PAPER_EPOCHS - 1) / PAPER_DECAY_EPOCHS)
        return self.rate * min(1.0, 2 * (1 - step / self.steps))


def default(triplets: int) -> Schedule:
    """Return the schedule for a number of training triplets, from a hundred on."""
    steps_per_epoch = -(-triplets // BATCH)
    return Schedule(
        DEFAULT,
        steps=max(10_000, 10 * steps_per_epoch),
        rate=1e-3,
        ranker_steps=1000,
        is_swapping=True,
        check_every=max(50, steps_per_epoch // 10),
        patience=20,
    )


def paper(triplets: int) -> Schedule:
    """Return the schedule of the paper for a number of training triplets."""
    steps_per_epoch = -(-triplets // BATCH)
    return Schedule(
        PAPER,
        steps=(PAPER_EPOCHS + PAPER_DECAY_EPOCHS) * steps_per_epoch,
        rate=1e-4,
        is_by_epochs=True,
        check_every=steps_per_epoch,
    )


SCHEDULES = {DEFAULT: default, PAPER: paper}
"""By name: the schedule for a number of training triplets."""
