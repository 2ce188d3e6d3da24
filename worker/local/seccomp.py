"""System call filter of a desktop, as a classic BPF program.

Namespaces do not cover everything: the kernel's keyrings, virtual machine sockets (AF_VSOCK reaches the hypervisor from
any network namespace) and rare system calls with a history of kernel bugs are not isolated. The filter allows by
default and refuses these with an error, without killing.
"""

import errno
import platform
import struct
from dataclasses import dataclass

_LOAD_WORD = 0x20
_JUMP_EQUAL = 0x15
_JUMP_GREATER_EQUAL = 0x35
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_OFFSET_NUMBER, _OFFSET_ARCHITECTURE, _OFFSET_FIRST_ARGUMENT = 0, 4, 16
_X32_BIT = 0x40000000

SOCKET_FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
"""Socket families that desktop programs use. The network namespace isolates all four."""


@dataclass(frozen=True)
class Architecture:
    """An architecture: its audit number, the number of socket(2) and those of refused calls."""

    audit: int
    socket: int
    memfd_create: int
    x32: bool
    refused: dict[str, int]


_SHARED_NUMBERS = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "mount_setattr": 442,
    "memfd_secret": 447,
}

MACHINES = {
    "x86_64": Architecture(
        audit=0xC000003E,
        socket=41,
        memfd_create=319,
        x32=True,
        refused={
            "syslog": 103,
            "pivot_root": 155,
            "chroot": 161,
            "acct": 163,
            "mount": 165,
            "umount2": 166,
            "swapon": 167,
            "swapoff": 168,
            "reboot": 169,
            "iopl": 172,
            "ioperm": 173,
            "init_module": 175,
            "delete_module": 176,
            "quotactl": 179,
            "kexec_load": 246,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "unshare": 272,
            "perf_event_open": 298,
            "fanotify_init": 300,
            "open_by_handle_at": 304,
            "setns": 308,
            "finit_module": 313,
            "kexec_file_load": 320,
            "bpf": 321,
            "userfaultfd": 323,
            **_SHARED_NUMBERS,
        },
    ),
    "aarch64": Architecture(
        audit=0xC00000B7,
        socket=198,
        memfd_create=279,
        x32=False,
        refused={
            "umount2": 39,
            "mount": 40,
            "pivot_root": 41,
            "chroot": 51,
            "quotactl": 60,
            "acct": 89,
            "unshare": 97,
            "kexec_load": 104,
            "init_module": 105,
            "delete_module": 106,
            "syslog": 116,
            "reboot": 142,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "swapon": 224,
            "swapoff": 225,
            "perf_event_open": 241,
            "fanotify_init": 262,
            "open_by_handle_at": 265,
            "setns": 268,
            "finit_module": 273,
            "bpf": 280,
            "userfaultfd": 282,
            "kexec_file_load": 294,
            **_SHARED_NUMBERS,
        },
    ),
}


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _refuse(number: int, error: int) -> bytes:
    """Two instructions: if the accumulator is `number`, return `error`."""
    return _instruction(_JUMP_EQUAL, number, 0, 1) + _instruction(_RETURN, _ERRNO | error)


def program(machine: Architecture, *, memfd: bool) -> bytes:
    """The filter for one architecture.

    Args:
        machine: the architecture.
        memfd: allow memfd_create. Without a memory cgroup it must be refused: memory that only a file descriptor holds
            is in no process's size, so the watchdog could not see it.
    """
    parts = [
        _instruction(_LOAD_WORD, _OFFSET_ARCHITECTURE),
        _instruction(_JUMP_EQUAL, machine.audit, 1, 0),
        _instruction(_RETURN, _ERRNO | errno.ENOSYS),
        _instruction(_LOAD_WORD, _OFFSET_NUMBER),
    ]
    if machine.x32:
        parts += [
            _instruction(_JUMP_GREATER_EQUAL, _X32_BIT, 0, 1),
            _instruction(_RETURN, _ERRNO | errno.ENOSYS),
        ]
    for name, number in machine.refused.items():
        parts.append(_refuse(number, errno.ENOSYS if name.startswith("io_uring") else errno.EPERM))
    if not memfd:
        parts.append(_refuse(machine.memfd_create, errno.ENOSYS))
    # From here on everything but socket(2) is allowed; socket(2) only with a listed family.
    parts += [
        _instruction(_JUMP_EQUAL, machine.socket, 1, 0),
        _instruction(_RETURN, _ALLOW),
        _instruction(_LOAD_WORD, _OFFSET_FIRST_ARGUMENT),
    ]
    for family in SOCKET_FAMILIES.values():
        parts += [_instruction(_JUMP_EQUAL, family, 0, 1), _instruction(_RETURN, _ALLOW)]
    parts.append(_instruction(_RETURN, _ERRNO | errno.EAFNOSUPPORT))
    return b"".join(parts)


def program_here(*, memfd: bool) -> bytes | None:
    """The filter for this machine; None on an architecture that is not listed here."""
    machine = MACHINES.get(platform.machine())
    return None if machine is None else program(machine, memfd=memfd)
