"""What `openhype serve` prints: the addresses of its pages, and who gets there."""

import sys
from collections.abc import Iterator, Sequence

from backend.experiment.records import Study
from backend.foundation.addresses import reach_of, study_page
from backend.foundation.frozen import dataclass

_DOCS = "docs/let-others-in.md"


@dataclass(frozen=True)
class Addresses:
    """Where a server is reached, each without a slash at its end."""

    local: str
    """By this machine."""
    others: Sequence[str] = ()
    """By other machines in its networks; none if it listens to this machine only."""
    public: str | None = None
    """By everybody, as the researcher says."""

    @property
    def shown(self) -> str:
        """The one that links begin with."""
        return self.public or next(iter(self.others), self.local)


def study_lines(studies: Sequence[Study], addresses: Addresses) -> Iterator[str]:
    """Yield the links of studies and, on a terminal, the QR code of the newest one's."""
    for study in studies:
        yield f"{study.kind} {study.name}: {study_page(addresses.shown, study.name)}"
    if studies and sys.stdout.isatty() and reach_of(addresses.shown) != "this_computer":
        from backend.web.qr_codes import as_text

        yield as_text(study_page(addresses.shown, max(studies, key=lambda one: one.created_at).name))


def reach_lines(addresses: Addresses, is_everywhere: bool) -> Iterator[str]:
    """Yield who reaches the links, and what to do if that is not enough."""
    if addresses.public:
        yield f"whoever reaches {addresses.public} can take part; the server itself is at {addresses.local}"
    elif addresses.others:
        yield f"whoever is in the network of this computer can take part; for everybody else: {_DOCS}"
        if more := ", ".join(addresses.others[1:]):
            yield f"  other addresses of this computer: {more}"
    elif is_everywhere:
        yield f"this computer is in no network at the moment, so that these links reach it only: {_DOCS}"
    else:
        yield (
            "these links reach this computer only; to let others in, start it with --host 0.0.0.0 "
            f"(your own network), or see {_DOCS}"
        )
