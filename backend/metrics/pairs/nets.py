"""The networks of LPIPS by name: what can be known of them without PyTorch."""

from collections.abc import Mapping
from dataclasses import dataclass

from backend.foundation.errors import InvalidInput


@dataclass(frozen=True)
class Net:
    """The architecture of a trunk."""

    name: str
    title: str
    widths: tuple[int, ...]
    """The number of channels of each compared layer."""
    min_side_px: int
    """The shortest side of a picture of which each layer has at least one output."""
    example: str
    """torchvision's file of the weights that LPIPS was published with; ends in digits of its SHA-256."""
    published: str = ""
    """`Trunk.hash` of these weights, if known."""

    def check_size(self, height: int, width: int) -> None:
        """Raise InvalidInput if pictures are too small."""
        if min(height, width) < self.min_side_px:
            raise InvalidInput(
                f"LPIPS with {self.title} needs pictures of {self.min_side_px} px or more on each side, not "
                f"{width} x {height}"
            )


ALEX = Net(
    "alex",
    "AlexNet",
    (64, 192, 384, 256, 256),
    31,
    "alexnet-owt-7be5be79.pth",
    "7594d08886176fd37b00671787e7f6a718fed5fb93039e171cc2bc58f5e8e935",
)
VGG = Net(
    "vgg",
    "VGG16",
    (64, 128, 256, 512, 512),
    16,
    "vgg16-397923af.pth",
    "900f1b297688ae9574f804c3bd51b018bc6aeecc83c02ae263d49c229ae490fe",
)
SQUEEZE = Net(
    "squeeze", "SqueezeNet 1.1", (64, 128, 256, 384, 384, 512, 512), 17, "squeezenet1_1-b8a52dc0.pth"
)
NETS: Mapping[str, Net] = {net.name: net for net in (ALEX, VGG, SQUEEZE)}
