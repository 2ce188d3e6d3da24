import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from backend.domain.machines.desktop_end import EndCause, cause_of
from worker.qemu.process import CAUSES, Qemu, bind_to_parent, unusable_after
from worker.qemu.qmp import QmpEvent

QUITS = """
import json, socket, sys
line = socket.socket(fileno=int(sys.argv[1])).makefile("rw", buffering=1)
line.write('{"QMP": {}}\\n')
asked = json.loads(line.readline())
line.write(json.dumps({"return": {}, "id": asked["id"]}) + "\\n")
line.readline()
line.write('{"event": "SHUTDOWN", "data": {"guest": true, "reason": "guest-shutdown"}}\\n')
"""
"""A QEMU that takes one command, says that its guest shut it down, and ends at once."""


@pytest.fixture
def monitor() -> tuple[socket.socket, socket.socket]:
    """Our end of the monitor, and QEMU's."""
    return socket.socketpair()


@pytest.fixture
def qemu(tmp_path: Path, monitor: tuple[socket.socket, socket.socket]) -> Iterator[Qemu]:
    made = Qemu([sys.executable, "-S", "-c", QUITS, str(monitor[1].fileno())], tmp_path, (), monitor, None)
    yield made
    made.end()


def wait_until_ended(pid: int) -> None:
    """Leaves the process's exit status to whoever started it."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


class TestLook:
    def test_last_event_of_a_process_that_exits_is_read(
        self, qemu: Qemu, monitor: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hear = qemu.qmp.hear

        def ends_right_after() -> list[QmpEvent]:
            heard = hear()
            monkeypatch.undo()
            monitor[0].sendall(b"quit\n")
            wait_until_ended(qemu.pid)
            return heard

        monkeypatch.setattr(qemu.qmp, "hear", ends_right_after)
        assert qemu.look() == ""
        assert qemu.look() == "the guest shut its machine down"

    def test_silent_exit_is_reported_by_its_code(self, qemu: Qemu) -> None:
        assert qemu.look() == ""
        os.kill(qemu.pid, signal.SIGKILL)
        wait_until_ended(qemu.pid)
        assert qemu.look() == "QEMU exited with -9."


class TestBindTo:
    @pytest.mark.parametrize(("lives", "code"), [(False, 1), (True, 0)])
    def test_a_process_whose_parent_has_died_already_ends(self, lives: bool, code: int) -> None:  # noqa: FBT001
        parent = os.getpid() if lives else -1
        with subprocess.Popen(["true"], preexec_fn=partial(bind_to_parent, parent)) as process:  # noqa: PLW1509
            assert process.wait(60) == code


class TestVerdict:
    @pytest.mark.parametrize(
        ("event", "why"),
        [
            (QmpEvent("SHUTDOWN", {"guest": True, "reason": "guest-shutdown"}), "the guest shut its machine down"),
            (QmpEvent("SHUTDOWN", {"guest": False, "reason": "host-signal"}), "QEMU was terminated (host-signal)"),
            (QmpEvent("GUEST_PANICKED", {"action": "pause"}), "the guest's system crashed"),
            (QmpEvent("INTERNAL_ERROR"), "the machine cannot continue: internal error of QEMU"),
            (
                QmpEvent("BLOCK_IO_ERROR", {"action": "stop", "nospace": True}),
                "the machine was stopped: the host has no disk space for its writes",
            ),
            (QmpEvent("RESET", {"guest": True, "reason": "guest-reset"}), "the guest restarted its machine"),
        ],
    )
    def test_says_why_a_machine_is_given_up(self, event: QmpEvent, why: str) -> None:
        assert unusable_after(event, restarts=False) == why

    @pytest.mark.parametrize(
        "event",
        [
            QmpEvent("BLOCK_IO_ERROR", {"action": "report"}),
            QmpEvent("RTC_CHANGE", {"offset": 1}),
            QmpEvent("RESET", {"guest": False, "reason": "host-qmp-system-reset"}),
            QmpEvent("STOP"),
        ],
    )
    def test_harmless_output_does_not_fail(self, event: QmpEvent) -> None:
        assert not unusable_after(event, restarts=False)

    @pytest.mark.parametrize("cause", CAUSES.values())
    def test_every_cause_is_one_of_the_rule_s(self, cause: str) -> None:
        assert cause_of(cause) is not EndCause.UNKNOWN

    def test_a_machine_that_boots_may_restart(self) -> None:
        assert not unusable_after(QmpEvent("RESET", {"guest": True}), restarts=True)
