"""Administrative functions of Windows: an image's session has full rights, so it needs no helper."""

import base64
import binascii
import ctypes
import hashlib
import subprocess
from ctypes import wintypes
from datetime import UTC, datetime
from pathlib import Path

from guest_server.environment import NO_WINDOW
from guest_server.protocol.errors import GuestError
from guest_server.windows.api import advapi32, bcrypt, failure, kernel32, last_error

_SET_CLOCK = "SeSystemtimePrivilege"
_ADJUST_AND_QUERY, _ENABLED = 0x0028, 0x0002
_WITH_OURS, _SYSTEM_PREFERRED = 0x1, 0x2
_TOOL_SECONDS = 8.0


class _Time(ctypes.Structure):
    """SYSTEMTIME."""

    _fields_ = tuple(
        (name, wintypes.WORD) for name in ("year", "month", "weekday", "day", "hour", "minute", "second", "millisecond")
    )


class _Privileges(ctypes.Structure):
    """TOKEN_PRIVILEGES with one of them."""

    _fields_ = (("count", wintypes.DWORD), ("identity", wintypes.DWORD * 2), ("attributes", wintypes.DWORD))


class WindowsSystem:
    """See `system.System`."""

    def __init__(self, memory: Path) -> None:
        """Args: memory: file with the authority that was added last."""
        self._memory = memory

    def set_clock(self, now: float) -> None:
        """Sets it in UTC; the time zone stays."""
        _take_privilege(_SET_CLOCK)
        moment = datetime.fromtimestamp(now, UTC)
        system_time = _Time(
            year=moment.year,
            month=moment.month,
            day=moment.day,
            hour=moment.hour,
            minute=moment.minute,
            second=moment.second,
            millisecond=moment.microsecond // 1000,
        )
        if not kernel32.SetSystemTime(ctypes.byref(system_time)):
            raise GuestError("failed", str(failure("Windows does not let its clock be set")))

    def add_entropy(self, entropy: bytes) -> None:
        """Since Windows 8 the system reseeds itself when its generation id changes; these bytes are only a hint."""
        data = ctypes.create_string_buffer(entropy, len(entropy))
        if entropy and bcrypt.BCryptGenRandom(None, data, len(entropy), _WITH_OURS | _SYSTEM_PREFERRED) < 0:
            raise GuestError("failed", "Windows' random numbers do not answer")

    def trust(self, certificate: str) -> None:
        """Adds the certificate to the machine's list by certutil, and removes the previous one."""
        if self._memory.is_file():
            _certutil("-delstore", "Root", self._memory.read_text("ascii").strip())
            self._memory.unlink()
        if certificate:
            print_of_it = thumbprint(certificate)
            file = self._memory.with_suffix(".pem")
            file.write_text(certificate, "ascii")
            _certutil("-addstore", "-f", "Root", str(file))
            self._memory.write_text(print_of_it, "ascii")


def thumbprint(certificate: str) -> str:
    """Windows' identifier of a certificate: the SHA-1 of its DER form.

    Raises:
        GuestError: it is not PEM.
    """
    lines = [line.strip() for line in certificate.strip().splitlines()]
    if len(lines) < 3 or "BEGIN CERTIFICATE" not in lines[0] or "END CERTIFICATE" not in lines[-1]:  # noqa: PLR2004
        raise GuestError("bad_request", "'certificate' must be one certificate as PEM")
    try:
        return hashlib.sha1(base64.b64decode("".join(lines[1:-1]), validate=True), usedforsecurity=False).hexdigest()
    except binascii.Error:
        raise GuestError("bad_request", "'certificate' is damaged") from None


def _certutil(*arguments: str) -> None:
    try:
        result = subprocess.run(
            ["certutil.exe", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TOOL_SECONDS,
            check=False,
            creationflags=NO_WINDOW,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise GuestError("failed", f"certutil: {error}") from None
    if result.returncode:
        raise GuestError("failed", f"certutil: {result.stdout.decode('utf-8', 'replace').strip()[-300:]}")


def _take_privilege(name: str) -> None:
    """Enables a privilege that administrators have but that is off by default."""
    token, privileges = wintypes.HANDLE(), _Privileges(count=1, attributes=_ENABLED)
    if not advapi32.OpenProcessToken(kernel32.GetCurrentProcess(), _ADJUST_AND_QUERY, ctypes.byref(token)):
        raise GuestError("failed", str(failure("this process's rights")))
    try:
        advapi32.LookupPrivilegeValueW(None, name, ctypes.byref(privileges.identity))
        advapi32.AdjustTokenPrivileges(token, False, ctypes.byref(privileges), 0, None, None)  # noqa: FBT003
        if last_error():
            raise GuestError("forbidden", f"this session has not the right {name}: it must run with full rights")
    finally:
        kernel32.CloseHandle(token)
