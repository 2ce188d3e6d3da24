"""Starts a session whose programs the desktop's other programs cannot end or stop.

`python3 -m guest_server.linux.protected_session FILTER FIRST ARGUMENTS`, with CAP_SYS_ADMIN, which it gives up. The
session gets process ids from FIRST on. The filter refuses signals to them, and every program of the desktop inherits
it, also those of other users.
"""

import ctypes
import os
import signal
import struct
import sys
from pathlib import Path

_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_CAPABILITY_VERSION = 0x20080522
_INSTRUCTION_BYTES = 8
_LAST_PID = Path("/proc/sys/kernel/ns_last_pid")
_PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_LIBC = ctypes.CDLL(None, use_errno=True)


def load_filter(program: bytes) -> None:
    """Applies a system call filter to this process and all that it starts. Raises OSError."""
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // _INSTRUCTION_BYTES, ctypes.addressof(code))
    _check(_LIBC.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.c_char_p(header), None, None))


def drop_rights() -> None:
    """Gives up every capability. Raises OSError."""
    _check(_LIBC.capset(struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(2 * 12)))


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def protect(program: bytes, first: int) -> bool:
    """Loads the filter and gives the next process the id `first`, or the next free one; False if the kernel refuses."""
    try:
        load_filter(program)
        _LAST_PID.write_text(str(first - 1))
    except OSError as error:
        print(f"guest_server: the session is not protected from the desktop's programs: {error}", file=sys.stderr)
        return False
    return True


def run(command: list[str]) -> int:
    """Runs the session without rights; returns its exit code. Raises OSError."""
    session = os.fork()
    drop_rights()
    if not session:
        os.execv(command[0], command)  # noqa: S606 - no shell is wanted
    for number in _PASSED_ON:
        signal.signal(number, lambda received, _: os.kill(session, received))
    _, status = os.waitpid(session, 0)
    return os.waitstatus_to_exitcode(status)


def main() -> None:
    """Reads the arguments and runs the session."""
    program, first, *words = sys.argv[1:]
    if not protect(Path(program).read_bytes(), int(first)):
        del os.environ["DESKARENA_PROTECTED_PIDS"]
    code = run([sys.executable, "-m", "guest_server.linux.session", *words])
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
