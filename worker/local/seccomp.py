"""System call filter of a desktop, as a classic BPF program.

Namespaces do not cover everything: the kernel's keyrings, virtual machine sockets (AF_VSOCK reaches the hypervisor from
any network namespace) and rare system calls with a history of kernel bugs are not isolated. The filter allows by
default and refuses these with an error, without killing.

It also protects the session: guest server, X server, buses and window manager have the smallest process ids of the
desktop's process namespace, which no later program ever gets. Signals to them are refused.
"""

import errno
import platform
import signal
import struct
from dataclasses import dataclass

_LOAD_WORD = 0x20
_JUMP_EQUAL = 0x15
_JUMP_GREATER = 0x25
_JUMP_GREATER_EQUAL = 0x35
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_OFFSET_NUMBER, _OFFSET_ARCHITECTURE = 0, 4
_OFFSET_FIRST_ARGUMENT, _OFFSET_SECOND_ARGUMENT, _OFFSET_THIRD_ARGUMENT = 16, 24, 32
_REPLACED = ("io_uring", "pidfd_send_signal")
"""Calls that programs replace by others if the kernel does not know them."""
_X32_BIT = 0x40000000

PROTECTED_PIDS = 100
"""Largest process id of a desktop's session, which uses up those that it does not need before it is ready. The kernel
never reuses ids below 300.
"""


@dataclass(frozen=True)
class PidRange:
    """Process ids of a session's programs, both ends included."""

    first: int
    last: int


SANDBOX_PIDS = PidRange(1, PROTECTED_PIDS)
MACHINE_PIDS = PidRange(30_000, 30_299)
"""In virtual machines: programs with a process namespace of their own have small ids, and may signal each other."""
_SIGNALS_FROM_OUTSIDE = (
    *(signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP),
    *(signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU),
)
"""Refused to single threads, too. Others are how a program signals its own: `abort`, Wine's suspending of threads."""
_F_SETSIG = 10

SOCKET_FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
"""Socket families that desktop programs use. The network namespace isolates all four."""


@dataclass(frozen=True)
class Architecture:
    """An architecture: its audit number, and the numbers of calls.

    Attributes:
        refused: refused altogether.
        limits: refused unless it is about the caller itself. A thread of a protected process may have any id.
        to_process: refused with the id of a protected process as first argument.
        to_thread: the same, but only for some signals.
    """

    audit: int
    socket: int
    memfd_create: int
    fcntl: int
    ptrace: int
    kill: int
    limits: int
    x32: bool
    refused: dict[str, int]
    to_process: dict[str, int]
    to_thread: dict[str, int]


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
    "pidfd_send_signal": 424,
    "mount_setattr": 442,
    "memfd_secret": 447,
}

MACHINES = {
    "x86_64": Architecture(
        audit=0xC000003E,
        socket=41,
        memfd_create=319,
        fcntl=72,
        ptrace=101,
        kill=62,
        x32=True,
        limits=302,
        to_process={"rt_sigqueueinfo": 129},
        to_thread={"tkill": 200, "tgkill": 234, "rt_tgsigqueueinfo": 297},
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
        fcntl=25,
        ptrace=117,
        kill=129,
        x32=False,
        limits=261,
        to_process={"rt_sigqueueinfo": 138},
        to_thread={"tkill": 130, "tgkill": 131, "rt_tgsigqueueinfo": 240},
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


def _call(number: int, body: list[bytes]) -> bytes:
    """Instructions for one system call; `body` ends with an answer."""
    code = b"".join(body)
    return _instruction(_JUMP_EQUAL, number, 0, len(code) // 8) + code


_ALLOWED = _instruction(_RETURN, _ALLOW)
_REFUSED = _instruction(_RETURN, _ERRNO | errno.EPERM)


def _unless_protected(offset: int, pids: PidRange) -> list[bytes]:
    """Refuses if the argument there is the id of a protected process."""
    return [
        _instruction(_LOAD_WORD, offset),
        _instruction(_JUMP_GREATER_EQUAL, pids.first, 0, 1),
        _instruction(_JUMP_GREATER_EQUAL, pids.last + 1, 0, 1),
        _ALLOWED,
        _REFUSED,
    ]


def _protection(machine: Architecture, pids: PidRange) -> bytes:
    """Keeps these processes, and groups of them, from being ended or stopped by others of the desktop.

    `kill(-1)` reaches them, too, so it is refused; signal 0 only asks whether a process exists.
    """
    by_kill = [
        _instruction(_LOAD_WORD, _OFFSET_SECOND_ARGUMENT),
        _instruction(_JUMP_EQUAL, 0, 0, 1),
        _ALLOWED,
        _instruction(_LOAD_WORD, _OFFSET_FIRST_ARGUMENT),
        _instruction(_JUMP_EQUAL, 2**32 - 1, 0, 1),
        _REFUSED,
        _instruction(_JUMP_GREATER_EQUAL, 2**32 - pids.last, 0, 2),
        _instruction(_JUMP_GREATER, 2**32 - pids.first, 1, 0),
        _REFUSED,
        *_unless_protected(_OFFSET_FIRST_ARGUMENT, pids),
    ]
    by_owner = [
        _instruction(_LOAD_WORD, _OFFSET_SECOND_ARGUMENT),
        _instruction(_JUMP_EQUAL, _F_SETSIG, 0, 1),
        _instruction(_RETURN, _ERRNO | errno.EINVAL),
        _ALLOWED,
    ]
    parts = [_call(machine.kill, by_kill), _call(machine.fcntl, by_owner), _own_limits(machine)]
    parts.append(_call(machine.ptrace, _unless_protected(_OFFSET_SECOND_ARGUMENT, pids)))
    parts += [_call(number, _unless_protected(_OFFSET_FIRST_ARGUMENT, pids)) for number in machine.to_process.values()]
    refused = _unless_protected(_OFFSET_FIRST_ARGUMENT, pids)
    parts += [_call(number, _of_signals(_signal_offset(name), refused)) for name, number in machine.to_thread.items()]
    return b"".join(parts)


def _own_limits(machine: Architecture) -> bytes:
    by_limits = [_instruction(_LOAD_WORD, _OFFSET_FIRST_ARGUMENT), _instruction(_JUMP_EQUAL, 0, 0, 1)]
    return _call(machine.limits, [*by_limits, _ALLOWED, _REFUSED])


def _signal_offset(name: str) -> int:
    """Offset of the signal's number in the arguments of a call that signals."""
    return _OFFSET_THIRD_ARGUMENT if "tg" in name else _OFFSET_SECOND_ARGUMENT


def _of_signals(offset: int, refused: list[bytes]) -> list[bytes]:
    """Instructions for signals from outside; others are allowed."""
    remainder = len(_SIGNALS_FROM_OUTSIDE)
    jumps = [
        _instruction(_JUMP_EQUAL, signal, remainder - index, 0) for index, signal in enumerate(_SIGNALS_FROM_OUTSIDE)
    ]
    return [_instruction(_LOAD_WORD, offset), *jumps, _ALLOWED, *refused]


def _beginning(machine: Architecture) -> list[bytes]:
    """Refuses the calls of other architectures, and loads the call's number."""
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
    return parts


def session_program(machine: Architecture) -> bytes:
    """The filter of a virtual machine's session: it only protects the session's own programs, `MACHINE_PIDS`."""
    return b"".join([*_beginning(machine), _protection(machine, MACHINE_PIDS), _ALLOWED])


def windows_program(machine: Architecture) -> bytes:
    """The filter of Windows programs, beside the desktop's: Wine's server sends their signals, never they themselves.

    They are children of the guest server, whose later threads have ids beyond the protected ones.
    """
    calls = {"kill": machine.kill, **machine.to_process, **machine.to_thread}
    refused = [_call(number, _of_signals(_signal_offset(name), [_REFUSED])) for name, number in calls.items()]
    return b"".join([*_beginning(machine), _refuse(machine.ptrace, errno.EPERM), *refused, _ALLOWED])


def program(machine: Architecture, *, memfd: bool) -> bytes:
    """The filter for one architecture.

    Args:
        machine: the architecture.
        memfd: allow memfd_create. Without a memory cgroup it must be refused: memory that only a file descriptor holds
            is in no process's size, so the watchdog could not see it.
    """
    parts = _beginning(machine)
    for name, number in machine.refused.items():
        parts.append(_refuse(number, errno.ENOSYS if name.startswith(_REPLACED) else errno.EPERM))
    if not memfd:
        parts.append(_refuse(machine.memfd_create, errno.ENOSYS))
    parts.append(_protection(machine, SANDBOX_PIDS))
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


def is_available() -> bool:
    """Whether there is a filter for this machine."""
    return platform.machine() in MACHINES


def host_windows_program() -> bytes:
    """The filter of Windows programs for this machine; empty on an architecture that is not listed here."""
    machine = MACHINES.get(platform.machine())
    return b"" if machine is None else windows_program(machine)


def host_program(*, memfd: bool) -> bytes | None:
    """The filter for this machine; None on an architecture that is not listed here."""
    machine = MACHINES.get(platform.machine())
    return None if machine is None else program(machine, memfd=memfd)
