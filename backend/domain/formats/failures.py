"""Tells damage of a file, which the agent left, from what the evaluating machine could not do.

Parsers of foreign files raise whatever such a file makes them stumble over, so their callers catch nearly everything
and say "damaged", which is judged and mostly gives 0. Want of memory, of disk or of open files is no damage: there is
no verdict then.
"""

import errno
import traceback
import zipfile
from collections.abc import Iterator
from pathlib import Path

from backend.domain.errors import MachineLost

EXPLODES = 32 * 2**20
"""Unpacked bytes from which on a file may fill the memory of an evaluation by itself.

Elements of XML take 32 times their text in lxml (measured), and twice that with an object of Python for each.
"""
_WANTS = frozenset({errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EIO})
_NO_MEMORY = {"XMLSyntaxError": 2, "ExpatError": 1, "ParseError": 1}
"""How libxml2 and expat tell want of memory: as an error of syntax with this code, by the error's class."""


def let_through(error: BaseException, path: str | None = None) -> None:
    """Returns if the file is damaged, so that its reader may say so.

    Args:
        error: what a parser raised, from within its `except` clause.
        path: the file. One that is large enough to fill all memory is to blame for that itself: no agent may take its
            attempt out of the score with a file that explodes.

    Raises:
        Exception: the error, if the machine is to blame or it says itself that there is no verdict.
    """
    chain = list(_chain(error))
    if any(isinstance(one, MachineLost) or (isinstance(one, OSError) and one.errno in _WANTS) for one in chain):
        raise error
    if any(isinstance(one, MemoryError) or _without_memory(one) for one in chain):
        traceback.clear_frames(error.__traceback__)  # Lets go of what filled the memory.
        if path is None or _unpacked(path) < EXPLODES:
            raise error


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, and those it was made of."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__


def _without_memory(error: BaseException) -> bool:
    known = _NO_MEMORY.get(type(error).__name__)
    return known is not None and getattr(error, "code", None) == known


def _unpacked(path: str) -> int:
    """Bytes of the file, of all its members if it is a zip file."""
    try:
        with zipfile.ZipFile(path) as package:
            return sum(member.file_size for member in package.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return Path(path).stat().st_size
