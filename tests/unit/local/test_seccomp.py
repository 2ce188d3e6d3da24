"""The filter is judged by running it: a small interpreter of the instructions it uses."""

import errno
import signal
import struct

import pytest

from worker.local.seccomp import (
    MACHINE_PIDS,
    MACHINES,
    PROTECTED_PIDS,
    SOCKET_FAMILIES,
    Architecture,
    program,
    session_program,
    windows_program,
)

ALLOW = 0x7FFF0000
X86 = MACHINES["x86_64"]


def verdict(code: bytes, *, audit: int, number: int, argument: int = 0, more: tuple[int, int] = (0, 0)) -> int:
    """The kernel's answer to a system call: 0 = allow, else its error."""
    arguments = [each & 2**64 - 1 for each in (argument, *more)]
    data = struct.pack("=IIQ6Q", number, audit, 0, *arguments, 0, 0, 0)
    steps = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
    accumulator, at = 0, 0
    while True:
        kind, if_true, if_false, value = steps[at]
        at += 1
        if kind == 0x20:
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif kind == 0x15:
            at += if_true if accumulator == value else if_false
        elif kind == 0x25:
            at += if_true if accumulator > value else if_false
        elif kind == 0x35:
            at += if_true if accumulator >= value else if_false
        elif kind == 0x06:
            return 0 if value == ALLOW else value & 0xFFFF
        else:
            raise AssertionError(f"instruction {kind:#x} is not known here")


class TestProgram:
    @pytest.mark.parametrize("name", sorted(X86.refused))
    def test_filter_refuses_every_listed_call(self, name: str) -> None:
        code = program(X86, memfd=True)
        wanted = errno.ENOSYS if name.startswith(("io_uring", "pidfd_send_signal")) else errno.EPERM
        assert verdict(code, audit=X86.audit, number=X86.refused[name]) == wanted

    @pytest.mark.parametrize("number", [0, 1, 9, 56, 57, 59, 101, 231, 257, 435])
    def test_filter_allows_the_calls_that_programs_need(self, number: int) -> None:
        assert verdict(program(X86, memfd=True), audit=X86.audit, number=number) == 0

    @pytest.mark.parametrize("family", range(48))
    def test_allows_exactly_the_known_families_of_sockets(self, family: int) -> None:
        wanted = 0 if family in SOCKET_FAMILIES.values() else errno.EAFNOSUPPORT
        assert verdict(program(X86, memfd=True), audit=X86.audit, number=X86.socket, argument=family) == wanted

    def test_refuses_the_calls_of_another_architecture(self) -> None:
        assert verdict(program(X86, memfd=True), audit=0x40000003, number=1) == errno.ENOSYS

    def test_refuses_the_second_set_of_numbers_that_x86_has(self) -> None:
        assert verdict(program(X86, memfd=True), audit=X86.audit, number=0x40000000 | 41, argument=40) == errno.ENOSYS

    @pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
    def test_memory_files_are_allowed_only_with_a_memory_group(self, machine: object) -> None:
        assert isinstance(machine, type(X86))
        number = machine.memfd_create
        assert verdict(program(machine, memfd=True), audit=machine.audit, number=number) == 0
        assert verdict(program(machine, memfd=False), audit=machine.audit, number=number) == errno.ENOSYS

    @pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
    def test_no_two_names_share_a_number(self, machine: object) -> None:
        assert isinstance(machine, type(X86))
        numbers = [*machine.refused.values(), *machine.to_process.values(), *machine.to_thread.values()]
        numbers += [machine.socket, machine.memfd_create, machine.fcntl, machine.ptrace, machine.kill]
        assert len(numbers) == len(set(numbers))

    def test_stays_below_the_kernels_longest(self) -> None:
        assert len(program(X86, memfd=False)) // 8 < 4096


FIRST_FREE = PROTECTED_PIDS + 1


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
class TestProtection:
    """Programs of a desktop and the processes of its session."""

    def ask(self, machine: Architecture, number: int, *arguments: int) -> int:
        first, second, third = (*arguments, 0, 0, 0)[:3]
        code = program(machine, memfd=True)
        return verdict(code, audit=machine.audit, number=number, argument=first, more=(second, third))

    @pytest.mark.parametrize("process", [1, 2, PROTECTED_PIDS, -1, -2, -PROTECTED_PIDS])
    @pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGUSR1])
    def test_kill_does_not_reach_the_session(self, machine: Architecture, process: int, sent: int) -> None:
        assert self.ask(machine, machine.kill, process, sent) == errno.EPERM

    @pytest.mark.parametrize("process", [0, FIRST_FREE, 2**22, -FIRST_FREE, -(2**22)])
    def test_kill_reaches_other_programs(self, machine: Architecture, process: int) -> None:
        assert self.ask(machine, machine.kill, process, signal.SIGKILL) == 0

    @pytest.mark.parametrize("process", [2, -2, -1])
    def test_asking_whether_a_process_exists_is_allowed(self, machine: Architecture, process: int) -> None:
        assert self.ask(machine, machine.kill, process, 0) == 0

    @pytest.mark.parametrize(("process", "wanted"), [(0, 0), (2, errno.EPERM), (FIRST_FREE, errno.EPERM)])
    def test_only_its_own_limits(self, machine: Architecture, process: int, wanted: int) -> None:
        assert self.ask(machine, machine.limits, process, 0, 2**32) == wanted

    @pytest.mark.parametrize(("process", "wanted"), [(0, 0), (2, errno.EPERM), (FIRST_FREE, 0)])
    def test_queued_signals_of_another_process(self, machine: Architecture, process: int, wanted: int) -> None:
        for number in machine.to_process.values():
            assert self.ask(machine, number, process, signal.SIGKILL) == wanted
        assert self.ask(machine, machine.ptrace, 16, process) == wanted

    @pytest.mark.parametrize(
        ("sent", "wanted"),
        [
            (signal.SIGKILL, errno.EPERM),
            (signal.SIGSTOP, errno.EPERM),
            (signal.SIGTSTP, errno.EPERM),
            (signal.SIGTTOU, errno.EPERM),
            (signal.SIGABRT, 0),
            (signal.SIGUSR1, 0),
        ],
    )
    def test_threads_of_the_session(self, machine: Architecture, sent: int, wanted: int) -> None:
        assert self.ask(machine, machine.to_thread["tkill"], 5, sent) == wanted
        for name in ("tgkill", "rt_tgsigqueueinfo"):
            assert self.ask(machine, machine.to_thread[name], 5, 5, sent) == wanted
            assert self.ask(machine, machine.to_thread[name], FIRST_FREE, FIRST_FREE, sent) == 0

    def test_no_other_signal_for_the_news_of_a_file(self, machine: Architecture) -> None:
        assert self.ask(machine, machine.fcntl, 3, 10, signal.SIGKILL) == errno.EINVAL
        assert self.ask(machine, machine.fcntl, 3, 8, 2) == 0


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
class TestWindowsProgram:
    """The filter of Windows programs, whatever the process."""

    def ask(self, machine: Architecture, number: int, *arguments: int) -> int:
        first, second, third = (*arguments, 0, 0, 0)[:3]
        code = windows_program(machine)
        return verdict(code, audit=machine.audit, number=number, argument=first, more=(second, third))

    @pytest.mark.parametrize(
        ("sent", "wanted"),
        [(signal.SIGKILL, errno.EPERM), (signal.SIGTTIN, errno.EPERM), (signal.SIGUSR1, 0), (0, 0)],
    )
    @pytest.mark.parametrize("process", [2, FIRST_FREE, 2**22, -1])
    def test_no_signal_that_ends_or_stops(self, machine: Architecture, process: int, sent: int, wanted: int) -> None:
        for number in (machine.kill, *machine.to_process.values(), machine.to_thread["tkill"]):
            assert self.ask(machine, number, process, sent) == wanted
        for name in ("tgkill", "rt_tgsigqueueinfo"):
            assert self.ask(machine, machine.to_thread[name], process, process, sent) == wanted

    def test_nothing_is_traced(self, machine: Architecture) -> None:
        assert self.ask(machine, machine.ptrace, 16, FIRST_FREE) == errno.EPERM

    @pytest.mark.parametrize("number", [0, 1, 9, 56, 57, 59, 231])
    def test_windows_filter_allows_the_calls_that_programs_need(self, machine: Architecture, number: int) -> None:
        assert self.ask(machine, number) == 0


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
class TestSessionProgram:
    """The filter in a virtual machine."""

    def ask(self, machine: Architecture, number: int, process: int) -> int:
        code = session_program(machine)
        return verdict(code, audit=machine.audit, number=number, argument=process, more=(signal.SIGKILL, 9))

    @pytest.mark.parametrize("process", [MACHINE_PIDS.first, MACHINE_PIDS.last])
    def test_its_session_is_protected(self, machine: Architecture, process: int) -> None:
        for number in (machine.kill, *machine.to_process.values(), machine.to_thread["tkill"]):
            assert self.ask(machine, number, process) == errno.EPERM
        assert self.ask(machine, machine.kill, -process) == errno.EPERM
        assert self.ask(machine, machine.kill, -1) == errno.EPERM

    @pytest.mark.parametrize("process", [0, 1, 2, MACHINE_PIDS.first - 1, MACHINE_PIDS.last + 1, 2**22])
    def test_other_programs_are_not(self, machine: Architecture, process: int) -> None:
        """Above all those with the small ids of a process namespace of their own, such as a browser's."""
        for number in (machine.kill, *machine.to_process.values(), machine.to_thread["tkill"]):
            assert self.ask(machine, number, process) == 0
        assert process < 2 or self.ask(machine, machine.kill, -process) == 0

    def test_other_calls_are_allowed(self, machine: Architecture) -> None:
        for number in (*machine.refused.values(), machine.memfd_create, machine.socket):
            assert self.ask(machine, number, 40) == 0
