"""The variables by which a run of the tests is made longer, or different.

Their prefix is not the product's, whose variables are removed before the tests begin (`tests/isolation.py`).
"""

import os

PREFIX = "SUITE_"
SWITCHES = {
    "SUITE_BAD_INPUT": "1 runs every command with every bad value, which takes minutes",
    "SUITE_DYNAMODB_LOCAL": "the folder of DynamoDB Local's jar (tests/dynamodb.py)",
    "SUITE_EVALUATORS": "evaluators of the large study on the packaged functions",
    "SUITE_FIRST_SEED": "the seed of the first fault schedule",
    "SUITE_FUZZ": "requests that are sent to each route of the API",
    "SUITE_FUZZ_SEED": "the seed of those requests",
    "SUITE_PICTURES": "folders of test pictures that are compared with Chromium, between colons",
    "SUITE_RACES": "rounds of the race tests",
    "SUITE_SCHEDULES": "how many fault schedules are played",
    "SUITE_STEPS": "1 has a fault at every step of a payer, which takes minutes; 3 at every third",
}


def switch(name: str, default: str = "") -> str:
    """Return the value of a switch, or `default` where it is not set."""
    if name not in SWITCHES:
        raise KeyError(f"{name} is not among the switches of the tests")
    return os.environ.get(name) or default


def number(name: str, default: int) -> int:
    """Return the whole number that a switch gives, or `default` where it is not set."""
    return int(switch(name, str(default)))
