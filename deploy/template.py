"""The CloudFormation templates `data.yaml` and `service.yaml`, which are sent unchanged.

There are two stacks so that the service can be removed and recreated without the loss of studies,
responses and stimuli.
"""

from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = ("data", "service")
PUBLIC = "public"
"""The folder of the bucket that CloudFront serves; packages are outside it."""
PACKAGES = "packages"


def text_of(name: str) -> str:
    """Return the text of a template, in YAML."""
    return (HERE / f"{name}.yaml").read_text("utf-8")
