"""A hostile task tries to become more than an ordinary user, and to see or end processes that are not its own."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.desktop_supervisor.helpers import FLAVOURS, SandboxedGuest, desktop, family, supervisor
from tests.processes import read_living
from worker.desktop_supervisor.client import DesktopSupervisorClient

pytestmark = pytest.mark.desktop

CALLS = """
import ctypes, json, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, *args):
    result = getattr(libc, name)(*args)
    return "done" if result >= 0 else os.strerror(ctypes.get_errno())
stack = ctypes.create_string_buffer(65536)
found = {
    "mount": attempt("mount", b"none", b"/tmp", b"tmpfs", 0, None),
    "umount": attempt("umount2", b"/usr", 2),
    "remount": attempt("mount", b"none", b"/", None, 32, None),
    "pivot_root": attempt("syscall", 155, b"/", b"/"),
    "chroot": attempt("chroot", b"/tmp"),
    "unshare user": attempt("unshare", 0x10000000),
    "unshare mount": attempt("unshare", 0x20000),
    "clone user": attempt("syscall", 56, 0x10000000 | 17, 0, 0, 0, 0),
    "setns": attempt("setns", os.open("/proc/1/ns/net", os.O_RDONLY), 0),
    "setuid": attempt("setuid", 0),
    "setgid": attempt("setgid", 0),
    "setgroups": attempt("setgroups", 1, (ctypes.c_uint * 1)(0)),
    "sethostname": attempt("sethostname", b"x", 1),
    "bpf": attempt("syscall", 321, 0, 0, 0),
    "keyctl": attempt("syscall", 250, 0, 0, 0, 0),
    "add_key": attempt("syscall", 248, b"user", b"a", b"b", 1, -4),
    "perf_event_open": attempt("syscall", 298, 0, 0, 0, 0, 0),
    "io_uring_setup": attempt("syscall", 425, 1, 0),
    "userfaultfd": attempt("syscall", 323, 0),
    "ptrace of the host": attempt("ptrace", 16, HOST, 0, 0),
    "reboot": attempt("syscall", 169, 0xfee1dead, 672274793, 0x4321fedc, 0),
    "nice": attempt("setpriority", 0, 0, -10),
    "old memory score": "",
}
try:
    os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"-500")
    found["old memory score"] = "done"
except OSError as error:
    found["old memory score"] = error.strerror
print(json.dumps(found))
"""


@pytest.fixture(scope="module", params=FLAVOURS)
def client(request: pytest.FixtureRequest) -> Iterator[DesktopSupervisorClient]:
    """A desktop supervisor with every kind of rights."""
    with supervisor(request.param) as found:
        yield found


@pytest.fixture
def sentinel() -> Iterator["subprocess.Popen[bytes]"]:
    """A process of the host that a task must neither see nor end."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def status(text: str, key: str) -> str:
    return next(line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith(f"{key}:"))


class TestRights:
    def test_every_process_is_without_capabilities_and_cannot_gain_any(self, guest: SandboxedGuest) -> None:
        for pid in ("self", "1", "2"):
            text = guest.run("cat", f"/proc/{pid}/status")["output"]
            assert {int(status(text, key), 16) for key in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
            assert status(text, "NoNewPrivs") == "1"
        text = guest.run("cat", "/proc/self/status")["output"]
        assert int(status(text, "CapBnd"), 16) == 0
        assert status(text, "Seccomp") == "2"

    def test_outside_it_is_never_root_and_has_no_capabilities(self, guest: SandboxedGuest) -> None:
        for text in read_living(Path(f"/proc/{pid}/status") for pid in family(guest.kept.pid)):
            assert "0" not in status(text, "Uid").split()
            assert "0" not in status(text, "Gid").split()
            assert status(text, "Groups") in {"", *status(text, "Gid").split()[:1], "65534"}
            assert int(status(text, "CapEff"), 16) == 0

    def test_no_call_that_needs_rights_works(self, guest: SandboxedGuest) -> None:
        found = guest.python(CALLS.replace("HOST", str(os.getpid())))
        assert [name for name, said in found.items() if said == "done"] == []

    def test_the_host_comes_before_it_when_memory_runs_out(self, guest: SandboxedGuest) -> None:
        assert int(Path(f"/proc/{guest.kept.pid}/oom_score_adj").read_text()) >= 800

    def test_kernel_settings_cannot_be_written(self, guest: SandboxedGuest) -> None:
        """Not even those that belong to its own namespaces: the bounds on shared memory are among them."""
        shown = guest.run("sh", "-c", "find /proc/sys /proc/sysrq-trigger -type f -writable 2>/dev/null")
        assert shown["output"] == ""
        assert "Read-only" in guest.run("sh", "-c", "echo 999999 > /proc/sys/kernel/shmall")["error"]

    def test_namespaces_are_all_its_own(self, guest: SandboxedGuest) -> None:
        for name in ("user", "net", "pid", "ipc", "uts", "mnt", "cgroup"):
            inside = guest.run("readlink", f"/proc/self/ns/{name}")["output"].strip()
            assert inside != str(Path(f"/proc/self/ns/{name}").readlink()), name


class TestProcesses:
    def test_neither_host_nor_neighbour_is_seen(
        self, client: DesktopSupervisorClient, sentinel: "subprocess.Popen[bytes]"
    ) -> None:
        with desktop(client) as neighbour, desktop(client) as guest:
            neighbour.start("sleep", "54321")
            shown = guest.run("sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")["output"]
            assert "54321" not in shown
            assert "sleep 600" not in shown
            assert max(int(pid) for pid in guest.run("ls", "/proc")["output"].split() if pid.isdigit()) < 300
            assert sentinel.poll() is None

    def test_neither_host_nor_neighbour_can_be_ended(
        self, client: DesktopSupervisorClient, sentinel: "subprocess.Popen[bytes]"
    ) -> None:
        with desktop(client) as neighbour, desktop(client) as guest:
            victims = [sentinel.pid, client.pid, os.getpid(), neighbour.kept.pid, *family(neighbour.kept.pid)]
            code = f"import os\nfor pid in {victims}:\n try: os.kill(pid, 9)\n except OSError: pass\nprint(1)"
            assert guest.python(code) == 1
            assert sentinel.poll() is None
            assert neighbour.run("echo", "well")["output"] == "well\n"
            assert client.alive()

    def test_no_shared_memory_or_message_queue_of_the_host_is_seen(self, guest: SandboxedGuest) -> None:
        for kind in ("shm", "sem", "msg"):
            assert guest.run("cat", f"/proc/sysvipc/{kind}")["output"].splitlines()[1:] == []
