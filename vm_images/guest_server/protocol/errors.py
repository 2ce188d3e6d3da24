"""The guest server's typed errors and their JSON form."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

STATUS: Mapping[str, int] = MappingProxyType(
    {
        "bad_request": 400,
        "no": 400,
        "unauthorized": 401,
        "forbidden": 403,
        "not_found": 404,
        "method_not_allowed": 405,
        "conflict": 409,
        "too_large": 413,
        "unknown_key": 422,
        "off_screen": 422,
        "failed": 500,
        "verification_failed": 500,
        "internal": 500,
        "not_available": 501,
        "hung": 503,
        "refused": 502,
        "timeout": 504,
        "no_space": 507,
    }
)
"""HTTP status of each error type."""


class GuestError(Exception):
    """An error for the caller: what happened and what to do.

    Attributes:
        kind: a key of STATUS.
        message: for people; says what to do next if known.
        details: additional fields of the JSON reply, for example the output so far of a killed command.
    """

    def __init__(self, kind: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.details = details

    @property
    def status(self) -> int:
        """The HTTP status code."""
        return STATUS[self.kind]

    def body(self) -> dict[str, Any]:
        return {**self.details, "status": "error", "error": self.kind, "message": self.message}


class StartError(Exception):
    """A program of the desktop could not be started, or the API has no socket.

    Attributes:
        code: stable name of the case.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


_ERRNO_KINDS: tuple[tuple[type[OSError], str], ...] = (
    (FileNotFoundError, "not_found"),
    (NotADirectoryError, "not_found"),
    (PermissionError, "forbidden"),
    (FileExistsError, "conflict"),
    (IsADirectoryError, "bad_request"),
)


def from_os_error(error: OSError) -> GuestError:
    """The typed form of an operating system error."""
    import errno

    name = f" ({error.filename})" if error.filename else ""
    message = f"{error.strerror or error}{name}"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return GuestError("no_space", f"{message}: the desktop's disk is full, remove files first")
    # Problems of the path, not of the system: circular links, a socket, a program with an unknown format or being
    # written.
    if error.errno in {errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL, errno.ENXIO, errno.ENOEXEC, errno.ETXTBSY}:
        return GuestError("bad_request", message)
    for kind_of_error, kind in _ERRNO_KINDS:
        if isinstance(error, kind_of_error):
            return GuestError(kind, message)
    return GuestError("failed", message)
