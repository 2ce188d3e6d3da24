"""Reads the folders of a library of Windows' Explorer from its file. Pure.

A library is an XML file, `Name.library-ms`, in the user's folder of libraries.
Source: https://learn.microsoft.com/windows/win32/shell/library-schema-entry
"""

import re
from collections.abc import Mapping
from xml.etree.ElementTree import ParseError, fromstring

from guest_server.protocol.errors import GuestError

_SPACE = "{http://schemas.microsoft.com/windows/2009/library}"
_KNOWN = re.compile(r"^knownfolder:\{(?P<identity>[0-9a-fA-F-]{36})\}$")
_LARGEST = 2**20


def folders_of(data: bytes, known: Mapping[str, str]) -> list[str]:
    """Paths in the order of the library.

    Args:
        data: the file.
        known: folders that Windows identifies by a GUID (lower case) instead of a path.

    Raises:
        GuestError: the file is damaged.
    """
    if len(data) > _LARGEST or b"<!" in data.replace(b"<!--", b""):
        raise GuestError("failed", "the library's file is damaged")
    try:
        root = fromstring(data)  # noqa: S314 - without definitions of its own, and small.
    except ParseError as error:
        raise GuestError("failed", f"the library's file is damaged: {error}") from None
    urls = [node.text.strip() for node in root.iter(f"{_SPACE}url") if node.text]
    return [path for url in urls if (path := _path(url, known))]


def _path(url: str, known: Mapping[str, str]) -> str:
    match = _KNOWN.match(url)
    return known.get(match["identity"].lower(), "") if match else url
