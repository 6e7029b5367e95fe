"""Studies as version 0.1 stored them: open sessions and counts in one tally, spread by session ids.

Such a study is read as it is. It is upgraded once, when something is first counted: an evaluator is
admitted, or a session is closed. From then on version 0.1 cannot read the study's counts, so that its
functions, which may run on for seconds beside new ones, admit nobody beyond the wanted number: an opening
that they get is a server error, which the page sends again.
"""

from collections.abc import Sequence
from contextlib import suppress

from backend.experiment.records import Study
from backend.stores.dynamodb import keys
from backend.stores.dynamodb.client import Calls, Item, Refused
from backend.stores.dynamodb.counters import Count, Counters, Entry, quotas

CURRENT = "l"
"""An attribute of a study's record: its sessions are listed and counted as `keys` and `counters` say."""
_SHARDS, _DIGITS = 64, 10
_MOVED = "f|"
"""A text among the counts of finished sessions by condition, where version 0.1 reads numbers only; no
condition begins with a bar."""


def tally_partitions(study: str, simulated: bool) -> list[str]:
    """Return the partitions of a study's tally."""
    name = f"simulated tally {study}" if simulated else f"tally {study}"
    return [f"{name} {shard}" for shard in range(_SHARDS)]


def read_tally(calls: Calls, study: str, simulated: bool) -> tuple[dict[Entry, str], dict[str, int], str]:
    """Return the open sessions with their conditions, the finished ones by condition, and the newest's time.

    Sessions of a qualification have the condition ''.
    """
    opened: dict[Entry, str] = {}
    finished: dict[str, int] = {}
    newest = ""
    for item in calls.many((partition, "-") for partition in tally_partitions(study, simulated)):
        for name, value in item.items():
            if name.startswith("a"):
                text, _, condition = value["S"].partition("|")
                alive_at = text[_DIGITS:]
                known = "+" if alive_at.endswith("+") else ""
                opened[Entry(name.removeprefix("a"), alive_at.removesuffix("+"), known)] = condition
            elif name.startswith("f") and name != _MOVED:
                condition = name.removeprefix("f")
                finished[condition] = finished.get(condition, 0) + int(value["N"])
            elif name == "n":
                newest = max(newest, value["S"])
    return opened, finished, newest


def upgrade(calls: Calls, study: Study) -> None:
    """List and count a study's sessions as this version does; repeating it changes nothing."""
    for simulated in (False, True):
        _keep_version_0_1_out(calls, study.name, simulated)
        opened, finished, newest = read_tally(calls, study.name, simulated)
        wanted = None if simulated else study.sessions_a_condition
        counters = Counters(calls, study.name, wanted, simulated)
        sizes = quotas(wanted)
        for condition in sorted({*opened.values(), *finished} - {""}):
            entries = [entry for entry, of in opened.items() if of == condition]
            counters.store(_counts(condition, entries, finished.get(condition, 0), newest, sizes))
        if finished.get(""):
            counters.store([Count("", 0, finished[""], finished[""], newest, ())])
        for entry, condition in opened.items():
            index = keys.shard_of(entry.session, len(sizes))
            _list(calls, study.name, entry.session, simulated, {"k": {"N": str(index)}} if condition else {})
    calls.update("studies", study.name, f"SET {CURRENT} = :l", "attribute_exists(p)", {":l": {"N": "2"}})


def _keep_version_0_1_out(calls: Calls, study: str, simulated: bool) -> None:
    """Make counting fail in version 0.1; whoever it had let in before is in the tally that is read next."""
    first = tally_partitions(study, simulated)[0]
    values, names = {":moved": {"S": "counted by a later version"}}, {"#f": _MOVED}
    with suppress(Refused):
        calls.update(first, "-", "SET #f = :moved", "attribute_not_exists(#f)", values, names)


def _counts(
    condition: str, entries: Sequence[Entry], finished: int, newest: str, sizes: Sequence[int | None]
) -> list[Count]:
    """Spread entries over items by their ids, and then finished sessions over what is left of the quotas."""
    spread: list[list[Entry]] = [[] for _ in sizes]
    for entry in entries:
        spread[keys.shard_of(entry.session, len(sizes))].append(entry)
    counts, left = [], finished
    for index, (mine, size) in enumerate(zip(spread, sizes, strict=True)):
        is_last = index == len(sizes) - 1
        here = left if size is None or is_last else min(left, max(size - len(mine), 0))
        left -= here
        counts.append(Count(condition, index, len(mine) + here, here, newest, tuple(mine)))
    return counts


def _list(calls: Calls, study: str, session_id: str, simulated: bool, attributes: Item) -> None:
    place = (keys.of_listed(study, session_id, simulated), session_id)
    item = {"p": {"S": place[0]}, "s": {"S": session_id}, **attributes}
    try:
        calls.put(item, "attribute_not_exists(p)")
    except Refused:  # closed, packed by version 0.1
        if attributes:
            calls.update(
                *place, "SET k = if_not_exists(k, :k)", "attribute_exists(p)", {":k": attributes["k"]}
            )
