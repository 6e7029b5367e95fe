"""The addresses of this machine, in a network of the test's own."""

import os
import shutil
import subprocess
import sys

import pytest

from backend.foundation import own_addresses

ADDRESSES = """
ip link set lo up
ip link add wifi type bridge && ip link set wifi up
ip addr add 10.9.0.7/24 dev wifi
ip -6 addr add fd00:9::7/64 dev wifi nodad
ip link add cable type bridge && ip link set cable up
ip addr add 192.168.9.7/24 dev cable
ip link add world type bridge && ip link set world up
ip addr add 8.8.4.4/24 dev world
ip link add docker0 type bridge && ip link set docker0 up
ip addr add 172.17.0.1/16 dev docker0
ip route add default via 192.168.9.1
"""
SHOWN = "from backend.foundation.own_addresses import own_addresses; print(*own_addresses())"
is_possible = os.geteuid() == 0 and shutil.which("unshare") and shutil.which("ip")


@pytest.mark.skipif(not is_possible, reason="networks of one's own need root")
@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ("", ""),
        ("ip link set lo up", ""),
        (ADDRESSES, "192.168.9.7 10.9.0.7 8.8.4.4 fd00:9::7"),  # the default route's first; no container's
    ],
)
def test_the_addresses_for_others_are_private_ipv4_ones_first_and_none_of_loopback(commands, expected):
    script = f"{commands}\nexec {sys.executable} -c '{SHOWN}'"

    done = subprocess.run(["unshare", "-n", "sh", "-ec", script], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == expected


def test_no_address_of_this_machine_is_loopback():
    assert not [one for one in own_addresses.own_addresses() if one.is_loopback or one.is_link_local]
