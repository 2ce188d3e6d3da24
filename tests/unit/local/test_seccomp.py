"""The filter is judged by running it: a small interpreter of the instructions it uses."""

import errno
import struct

import pytest

from worker.local.seccomp import MACHINES, SOCKET_FAMILIES, program

ALLOW = 0x7FFF0000
X86 = MACHINES["x86_64"]


def verdict(code: bytes, *, audit: int, number: int, argument: int = 0) -> int:
    """What the kernel would do with a system call: 0 = allow, else the error it answers with."""
    data = struct.pack("=IIQ6Q", number, audit, 0, argument, 0, 0, 0, 0, 0)
    steps = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
    accumulator, at = 0, 0
    while True:
        kind, if_true, if_false, value = steps[at]
        at += 1
        if kind == 0x20:
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif kind == 0x15:
            at += if_true if accumulator == value else if_false
        elif kind == 0x35:
            at += if_true if accumulator >= value else if_false
        elif kind == 0x06:
            return 0 if value == ALLOW else value & 0xFFFF
        else:
            raise AssertionError(f"instruction {kind:#x} is not known here")


class TestProgram:
    @pytest.mark.parametrize("name", sorted(X86.refused))
    def test_refuses(self, name: str) -> None:
        code = program(X86, memfd=True)
        wanted = errno.ENOSYS if name.startswith("io_uring") else errno.EPERM
        assert verdict(code, audit=X86.audit, number=X86.refused[name]) == wanted

    @pytest.mark.parametrize("number", [0, 1, 9, 56, 57, 59, 101, 231, 257, 435])
    def test_allows_what_programs_live_by(self, number: int) -> None:
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
    def test_memory_files_only_where_a_group_counts_them(self, machine: object) -> None:
        assert isinstance(machine, type(X86))
        number = machine.memfd_create
        assert verdict(program(machine, memfd=True), audit=machine.audit, number=number) == 0
        assert verdict(program(machine, memfd=False), audit=machine.audit, number=number) == errno.ENOSYS

    @pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
    def test_no_two_names_share_a_number(self, machine: object) -> None:
        assert isinstance(machine, type(X86))
        numbers = [*machine.refused.values(), machine.socket, machine.memfd_create]
        assert len(numbers) == len(set(numbers))

    def test_stays_below_the_kernels_longest(self) -> None:
        assert len(program(X86, memfd=False)) // 8 < 4096
