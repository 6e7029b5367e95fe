"""How many people at once the published limits of AWS let in: `python -m deploy.capacity`.

A simulation by seconds. People arrive evenly within a minute, open a session, and answer three seconds
after each reply. Requests are at their costliest: each is processed by an instance that has cached nothing.
Each second, the requests are compared with each limit; those that exceed one wait for the next second, as
the page sends them again. Nothing of it was measured on AWS: requests are those of `costs`, which tests
compare with an emulator, and limits are those that AWS publishes (sources beside them).
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil

from backend.administration import aws_costs as costs
from backend.experiment.judgments.real_or_fake import INFINITY
from backend.stores.dynamodb.counters import quotas
from backend.stores.dynamodb.keys import LISTS

ARRIVE_S, ANSWER_S, ANSWERS = 60, 3, 100
PEOPLE = (1_000, 10_000, 100_000)
_STUDY_READS = 4
"""Of the study's record, by each arrival: for the page, the admission, and twice for the opening."""
_ENTRY_BYTES = 55


@dataclass(frozen=True)
class Limits:
    """Published limits, each by second.

    Sources: Lambda quotas and "Lambda function scaling"; DynamoDB, "Initial throughput and scaling
    properties" of on-demand tables, and "Service, account, and table quotas" (partitions); Systems Manager,
    "Parameter Store throughput".
    """

    concurrency: float = 1000
    """Functions at once in an account, by default; new accounts have fewer."""
    concurrency_a_second: float = 100
    """How fast a function grows: by 1,000 every ten seconds."""
    requests_a_unit: float = costs.REQUESTS_A_SECOND
    """Requests for each unit of concurrency, however short they are."""
    keys_a_second: float = 40
    """Secure parameters read in an account and region; each new instance reads the keys."""
    table_writes: float = 4000
    table_reads: float = 12_000
    partition_writes: float = 1000
    partition_reads: float = 3000


@dataclass(frozen=True)
class Result:
    """What a simulation found."""

    first: str
    """The limit that was exceeded first; '' for none."""
    opened_s: int
    """Seconds from the first arrival until everybody had a session."""
    longest_wait_s: float
    """The longest time for which requests had to wait in addition."""


WAYS = {
    "concurrency": "ask AWS for more concurrent executions (Service Quotas); free",
    "growth of concurrency": "let people arrive more slowly, or provision concurrency; billed by the hour",
    "keys of new instances": "higher throughput of Parameter Store; billed by the request",
    "table's writes": "warm throughput (`warm_write_units`); billed once for what exceeds 4,000",
    "table's reads": "warm throughput (`warm_read_units`); billed once for what exceeds 12,000",
    "study's record": "let people arrive more slowly: every arrival reads it, from one partition",
    "counts of a model": "more models, or fewer wanted of each",
    "list of sessions": "several studies",
}
"""What moves each limit, and what that costs."""


def simulate(people: int, limits: Limits, models: int = 2) -> Result:
    """Return what happens if so many people arrive at a HYPE-infinity study within a minute."""
    prices = costs.prices()["assumed"]
    sizes = quotas(ceil(people / models))
    items, size = models * len(sizes), max(size or 0 for size in sizes)
    count_units = ceil(size * _ENTRY_BYTES / 1024)
    session = costs.of_session(INFINITY, prices, people)
    answer_reads = (session.most_read_units - session.least_read_units) / ANSWERS
    open_writes = session.write_units - ANSWERS - 1 + count_units
    opening = {
        "table's writes": open_writes,
        "table's reads": session.least_read_units,
        "study's record": _STUDY_READS,
        "counts of a model": count_units / items,
        "list of sessions": 1 / LISTS,
    }
    answer = {"table's writes": 1.0, "table's reads": answer_reads}
    per_second = {
        "table's writes": limits.table_writes,
        "table's reads": limits.table_reads,
        "study's record": limits.partition_reads,
        "counts of a model": limits.partition_writes,
        "list of sessions": limits.partition_writes,
    }
    opened = waiting = owed = longest = 0.0
    first, second, instances = "", 0, 0.0
    while opened < people - 0.5 or second < ARRIVE_S:
        arriving = people / ARRIVE_S if second < ARRIVE_S else 0.0
        waiting, owed = waiting + arriving, owed + max(opened - owed, 0) / ANSWER_S
        # concurrency that the requests need: by their time, and by their number
        needed = (3 * waiting + owed) * max(prices["request_seconds"], 1 / limits.requests_a_unit)
        possible = {
            "concurrency": limits.concurrency,
            "growth of concurrency": limits.concurrency_a_second * (second + 1),
            "keys of new instances": instances + limits.keys_a_second,
        }
        shares = {
            name: per_second[name] / (waiting * opening[name] + owed * answer.get(name, 0))
            for name in per_second
        }
        shares |= {name: count / needed for name, count in possible.items()}
        name, share = min(shares.items(), key=lambda one: one[1])
        if share < 1:
            first = first or name
            longest = max(longest, 1 / share - 1)
        share = min(share, 1.0)
        instances = max(instances, share * needed)
        opened, waiting, owed = opened + share * waiting, (1 - share) * waiting, (1 - share) * owed
        second += 1
        if second > 24 * 3600:
            break
    return Result(first, second, longest)


def moved(limits: Limits, name: str) -> Limits:
    """Return limits of which one no longer matters."""
    fields: Mapping[str, str] = {
        "concurrency": "concurrency",
        "growth of concurrency": "concurrency_a_second",
        "keys of new instances": "keys_a_second",
        "table's writes": "table_writes",
        "table's reads": "table_reads",
        "study's record": "partition_reads",
    }
    return replace(limits, **{fields.get(name, "partition_writes"): float("inf")})


def table() -> str:
    """Return the bottlenecks for each number of people, one after the other, as a table in Markdown."""
    lines = [
        "| people within a minute | limit | all have a session after | longest wait | what moves the limit |",
        "| ---: | --- | ---: | ---: | --- |",
    ]
    for people in PEOPLE:
        limits, simulated = Limits(), simulate(people, Limits())
        while simulated.first:
            lines.append(
                f"| {people:,} | {simulated.first} | {_after(simulated)} | {WAYS[simulated.first]} |"
            )
            limits = moved(limits, simulated.first)
            simulated = simulate(people, limits)
        lines.append(f"| {people:,} | none | {_after(simulated)} | |")
    return "\n".join(lines)


def _after(result: Result) -> str:
    return f"{result.opened_s} s | {result.longest_wait_s:.1f} s"


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
