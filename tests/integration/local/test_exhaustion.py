"""A hostile task tries to exhaust the machine. It reaches its own limits and gets errors; the host stays healthy."""

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.desktop_supervisor.helpers import (
    SMALL,
    SandboxedGuest,
    desktop,
    eventually,
    exists,
    family,
    supervisor,
)
from worker.desktop_supervisor.client import DesktopSupervisorClient
from worker.local.limits import MIB
from worker.local.watchdog import host_memory

pytestmark = pytest.mark.desktop

HOG = "held = []\nwhile True: held.append(bytearray(b'x' * 8 * 2**20))"
SHARED_HOG = (
    "import mmap\nheld = []\nwhile True:\n m = mmap.mmap(-1, 8 * 2**20)\n m.write(b'x' * 8 * 2**20)\n held.append(m)"
)
DESCRIPTOR_HOG = (
    "import os\nheld = []\nwhile True:\n"
    " fd = os.memfd_create('x'); held.append(fd)\n"
    " for _ in range(8): os.write(fd, b'x' * 2**20)"
)
FORKING_HOG = (
    "import os, time\n"
    "for _ in range(12): os.fork() or (globals().update(held=bytearray(b'x' * 48 * 2**20)), time.sleep(1000))\n"
    "time.sleep(1000)"
)


@pytest.fixture(scope="module", params=["root", "user", "container", "root without control groups"])
def client(request: pytest.FixtureRequest) -> Iterator[DesktopSupervisorClient]:
    """Desktop supervisors with every kind of limit that there is."""
    flavour, _, without = request.param.partition(" ")
    with supervisor(flavour, groups=not without) as found:
        yield found


def by_group(guest: SandboxedGuest) -> bool:
    return "cgroup" in guest.kept.limits["memory"]


@pytest.mark.sampled(5)
class TestMemory:
    def test_greedy_process_is_killed(self, client: DesktopSupervisorClient, guest: SandboxedGuest) -> None:
        """With a control group the kernel kills it; without, its own limit makes it fail. The desktop keeps running."""
        done = guest.run("/usr/bin/python3", "-c", HOG)
        assert done["returncode"] != 0
        if by_group(guest):
            assert client.status()[guest.kept.name]["hits"]["memory"] >= 1
        else:
            assert "MemoryError" in done["error"]
        assert guest.run("echo", "well")["output"] == "well\n"

    @pytest.mark.parametrize("code", [SHARED_HOG, FORKING_HOG], ids=["shared", "forking"])
    def test_no_way_of_asking_leads_over_the_limit(
        self, client: DesktopSupervisorClient, guest: SandboxedGuest, code: str
    ) -> None:
        before = host_memory()[0]
        guest.start("/usr/bin/python3", "-c", code)
        if by_group(guest):
            eventually(lambda: client.status()[guest.kept.name]["hits"]["memory"] >= 1, 30)
            assert guest.run("echo", "well")["output"] == "well\n"
        else:
            eventually(lambda: guest.kept.dead, 30)
            assert guest.kept.dead.startswith("memory limit")
        assert host_memory()[0] > before - 1024 * MIB

    def test_reported_peak_is_within_the_limit(self, client: DesktopSupervisorClient) -> None:
        with desktop(client) as guest:
            guest.run("/usr/bin/python3", "-c", "bytearray(b'x' * 100 * 2**20)")
            used = client.destroy(guest.kept)
            if by_group(guest):
                assert 100 * MIB <= used["peak_memory"] <= SMALL.memory
            else:
                assert 0 < used["peak_memory"] <= SMALL.memory

    def test_memory_without_a_process_is_bounded_too(
        self, client: DesktopSupervisorClient, guest: SandboxedGuest
    ) -> None:
        """Files in memory that only a descriptor holds. The kernel kills the largest process, perhaps the session."""
        if not by_group(guest):
            assert "Function not implemented" in guest.run("/usr/bin/python3", "-c", DESCRIPTOR_HOG)["error"]
            return
        guest.start("/usr/bin/python3", "-c", DESCRIPTOR_HOG)
        name = guest.kept.name
        eventually(lambda: guest.kept.dead or client.status().get(name, {}).get("hits", {}).get("memory"), 30)
        assert guest.kept.dead == "" or guest.kept.dead.startswith("memory limit: the kernel killed")

    def test_system_v_shared_memory_is_bounded(self, guest: SandboxedGuest) -> None:
        code = (
            "import ctypes, json, os\nlibc = ctypes.CDLL(None, use_errno=True)\nmade = 0\n"
            "while libc.shmget(0, 2**20, 0o1600) >= 0: made += 1\n"
            "print(json.dumps([made, os.strerror(ctypes.get_errno())]))"
        )
        made, said = guest.python(code)
        assert made <= SMALL.shm // MIB
        assert said == "No space left on device"


class TestKernelObjects:
    def test_watches_on_files_are_bounded_where_the_worker_shares_their_number(self, guest: SandboxedGuest) -> None:
        code = (
            "import ctypes, json, os\nlibc = ctypes.CDLL(None, use_errno=True)\nmade = 0\n"
            "while libc.inotify_init() >= 0: made += 1\n"
            "print(json.dumps([made, os.strerror(ctypes.get_errno())]))"
        )
        made, said = guest.python(code)
        assert said == "Too many open files"
        assert made <= (64 if guest.kept.user is None else 1024)

    def test_every_limitable_resource_is_limited(self, guest: SandboxedGuest) -> None:
        assert [note for note in guest.kept.notes if "is not limited here" in note] == []


@pytest.mark.sampled(3)
class TestProcesses:
    def test_a_fork_bomb_meets_its_limit_and_can_be_removed(
        self, client: DesktopSupervisorClient, guest: SandboxedGuest
    ) -> None:
        # Not before the answer has been sent: that may need a thread.
        guest.start("bash", "-c", "sleep 2; bomb() { bomb | bomb & }; bomb; sleep 1000")
        eventually(lambda: len(family(guest.kept.pid)) > SMALL.processes // 2, 30)
        for _ in range(20):
            assert len(family(guest.kept.pid)) <= SMALL.processes + 8
            started = time.monotonic()
            client.status()
            assert time.monotonic() - started < 20
        pids = family(guest.kept.pid)
        client.destroy(guest.kept)
        assert [pid for pid in pids if exists(pid)] == []

    def test_threads_count_as_processes(self, guest: SandboxedGuest) -> None:
        code = (
            "import json, threading\nstop = threading.Event()\nmade = 0\n"
            "try:\n while True: threading.Thread(target=stop.wait, daemon=True).start(); made += 1\n"
            "except RuntimeError: print(json.dumps(made)); stop.set()"
        )
        assert guest.python(code) <= SMALL.processes

    def test_a_neighbour_can_still_start_processes(self, client: DesktopSupervisorClient) -> None:
        with desktop(client) as neighbour, desktop(client) as guest:
            guest.start("bash", "-c", "sleep 2; while :; do sleep 1000 & done")
            eventually(lambda: len(family(guest.kept.pid)) > SMALL.processes // 2, 30)
            assert neighbour.run("sh", "-c", "for i in 1 2 3 4 5; do sleep 0 & done; wait")["returncode"] == 0


@pytest.mark.sampled(5)
class TestDisk:
    @pytest.mark.parametrize("place", ["/home/user", "/tmp", "/dev/shm", "/run"])
    def test_each_place_is_full_at_its_size_and_the_hosts_disk_unchanged(
        self, guest: SandboxedGuest, place: str
    ) -> None:
        before = shutil.disk_usage("/").used
        others = 4096 * MIB  # Other tests write to the same disk; without a limit it would be filled for 30 s.
        limit = {"/home/user": SMALL.home, "/tmp": SMALL.tmp, "/dev/shm": SMALL.shm, "/run": SMALL.run}[place]
        fill = f"i=0; while head -c 2000000 /dev/zero > {place}/fill$i; do i=$((i+1)); done; du -sb {place} | cut -f1"
        done = guest.run("sh", "-c", fill)
        assert "No space left on device" in done["error"]
        assert int(done["output"]) <= limit + MIB
        assert shutil.disk_usage("/").used - before < others
        assert guest.run("echo", "well")["output"] == "well\n"

    def test_file_size_is_limited(self, guest: SandboxedGuest) -> None:
        code = "f = open('/home/user/big', 'wb')\nwhile True: f.write(b'x' * 2**20)"
        assert "File too large" in guest.run("/usr/bin/python3", "-c", code)["error"]

    def test_many_empty_files_are_bounded(self, guest: SandboxedGuest) -> None:
        code = "i = 0\nwhile True: open(f'/home/user/{i}', 'w').close(); i += 1"
        assert "No space left on device" in guest.run("/usr/bin/python3", "-c", code, timeout=60)["error"]

    def test_open_files_are_bounded(self, guest: SandboxedGuest) -> None:
        code = "held = []\nwhile True: held.append(open('/dev/null'))"
        assert "Too many open files" in guest.run("/usr/bin/python3", "-c", code)["error"]

    def test_no_core_file_is_written(self, guest: SandboxedGuest) -> None:
        guest.run("sh", "-c", "ulimit -c unlimited; cd /tmp; kill -ABRT $$")
        assert guest.run("ls", "-A", "/tmp")["output"] == ""


@pytest.mark.sampled(1)
class TestProcessor:
    def test_busy_desktop_leaves_processor_time_for_host_and_supervisor(self, client: DesktopSupervisorClient) -> None:
        with desktop(client, replace(SMALL, cpu_weight=20)) as guest:
            for _ in range((os.cpu_count() or 1) * 2):
                guest.start("sh", "-c", "while :; do :; done")
            started = time.monotonic()
            client.status()
            assert time.monotonic() - started < 20
            if "cgroup v1" in guest.kept.limits["cpu"]:
                shares = next(Path("/sys/fs/cgroup").glob(f"**/deskarena-{client.about['supervisor']}/*/cpu.shares"))
                assert int(shares.read_text()) == 204
