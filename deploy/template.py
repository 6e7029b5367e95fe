"""The CloudFormation templates `data.yaml` and `service.yaml`, which are sent as they stand.

Two stacks, so that the service can be removed and made again while studies, answers and pictures stay.
"""

from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = ("data", "service")
PUBLIC = "public"
"""The folder of the bucket that CloudFront serves; packages lie outside of it."""
PACKAGES = "packages"


def text_of(name: str) -> str:
    """Return a template as it is kept and sent: YAML."""
    return (HERE / f"{name}.yaml").read_text("utf-8")
