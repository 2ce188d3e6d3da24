"""Distinguishes damaged files, which the agent left, from failures of the evaluating machine.

Parsers raise all kinds of exceptions on damaged files, so their callers catch nearly everything and report "damaged",
which mostly scores 0. Lack of memory, disk or file descriptors is not damage: then there is no verdict.
"""

import errno
import traceback
import zipfile
from collections.abc import Iterator
from pathlib import Path

from backend.domain.errors import MachineLost

EXPLODES = 32 * 2**20
"""Unpacked size from which a file alone may fill an evaluation's memory.

Elements of XML take 32 times their text in lxml (measured), and twice that with an object of Python for each.
"""
_WANTS = frozenset({errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EIO})
_NO_MEMORY = {"XMLSyntaxError": 2, "ExpatError": 1, "ParseError": 1}
"""How libxml2 and expat report lack of memory: as a syntax error with this code, by the error's class."""


def let_through(error: BaseException, path: str | None = None) -> None:
    """Returns if the file is damaged, so that its reader may report it.

    Args:
        error: the parser's exception, from within the `except` clause.
        path: the file. A file that is large enough to fill the memory counts as damaged: an agent must not avoid its
            score with a decompression bomb.

    Raises:
        Exception: the same error, if the machine is to blame or the error itself means that there is no verdict.
    """
    chain = list(_chain(error))
    if any(isinstance(error, MachineLost) or (isinstance(error, OSError) and error.errno in _WANTS) for error in chain):
        raise error
    if any(isinstance(error, MemoryError) or _is_memory_error(error) for error in chain):
        traceback.clear_frames(error.__traceback__)  # Frees the memory.
        if path is None or _unpacked_size(path) < EXPLODES:
            raise error


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__


def _is_memory_error(error: BaseException) -> bool:
    error_numbers = _NO_MEMORY.get(type(error).__name__)
    return error_numbers is not None and getattr(error, "code", None) == error_numbers


def _unpacked_size(path: str) -> int:
    """Bytes of the file, of all its members if it is a zip file."""
    try:
        with zipfile.ZipFile(path) as package:
            return sum(member.file_size for member in package.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return Path(path).stat().st_size
