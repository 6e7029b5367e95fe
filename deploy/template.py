"""The CloudFormation templates `data.yaml`, `service.yaml` and `budget.yaml`, which are sent unchanged.

Data and service are two stacks so that the service can be removed and recreated without the loss of studies,
responses and stimuli; the budget and CloudFront's alarm are a third, in us-east-1.
"""

from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = ("data", "service", "budget")
PUBLIC = "public"
"""The folder of the bucket that CloudFront serves; packages are outside it."""
PACKAGES = "packages"


def text_of(name: str) -> str:
    return (HERE / f"{name}.yaml").read_text("utf-8")
