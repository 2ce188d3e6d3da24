"""Windows shortcuts: a header and a comment, as [MS-SHLLINK] has them."""

import struct
from uuid import UUID

_CLASS = UUID("00021401-0000-0000-C000-000000000046")
_HAS_NAME, _IS_UNICODE = 0x4, 0x80


def lnk(description: str) -> bytes:
    """A shortcut that has nothing but a comment."""
    head = struct.pack("<I16sII", 76, _CLASS.bytes_le, _HAS_NAME | _IS_UNICODE, 0x20)
    head += struct.pack("<QQQIIIHHII", 0, 0, 0, 0, 0, 1, 0, 0, 0, 0)
    return head + struct.pack("<H", len(description)) + description.encode("utf-16-le") + bytes(4)
