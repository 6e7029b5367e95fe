"""The arrays of textures reuse the memory of those before them."""

import platform
import subprocess
import sys

import pytest

_PAGE_FAULTS = """
import resource
import numpy as np
from backend.stimuli.masks import texture
if {without}:
    texture.reuse_memory = lambda: None
picture = np.random.default_rng(1).integers(0, 256, (160, 160, 3)).astype("uint8")
texture.synthesise(picture, np.random.default_rng(1), rounds=2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
texture.synthesise(picture, np.random.default_rng(1), rounds=2)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(without):
    code = _PAGE_FAULTS.format(without=without)
    return int(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    )


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
@pytest.mark.slow("makes four textures in other processes")
def test_a_texture_asks_the_system_for_little_memory_after_the_first():
    assert page_faults(without=False) < page_faults(without=True) / 4
