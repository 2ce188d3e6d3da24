import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from worker.local.watchdog import descendants, exact_memory, host_memory, quick_memory

CHILD = (
    "import subprocess, sys\nheld = bytearray(b'x' * 64 * 2**20)\n"
    "child = subprocess.Popen(['sleep', '600'])\nprint(child.pid, flush=True)\nsys.stdin.read()\nchild.kill()"
)


@pytest.fixture
def family() -> Iterator[tuple[int, int]]:
    """A process that holds 64 MiB, and its child."""
    process = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.pid, int(process.stdout.readline())
    process.communicate("")


class TestDescendants:
    def test_descendants_are_found(self, family: tuple[int, int]) -> None:
        assert sorted(descendants(family[0])) == sorted(family)


class TestMemory:
    def test_memory_of_a_family_is_measured(self, family: tuple[int, int]) -> None:
        assert 64 * 2**20 <= exact_memory(family) <= quick_memory(family) < 200 * 2**20

    def test_ended_process_uses_no_memory(self) -> None:
        process = subprocess.Popen(["true"])
        process.wait()
        assert (quick_memory([process.pid]), exact_memory([process.pid])) == (0, 0)


class TestHostMemory:
    def test_host_memory_is_plausible(self) -> None:
        available, total = host_memory()
        assert 0 < available <= total == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
