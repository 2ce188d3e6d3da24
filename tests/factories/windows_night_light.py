"""The registry's value with the settings of Windows' night light, byte by byte as Windows 11 writes it."""

HEAD = bytes.fromhex("434201000A0201002A06B8E2F0EB052A2B0E")


def settings(
    start: tuple[int, int] = (19, 0), end: tuple[int, int] = (7, 0), *, scheduled: bool = True, by_the_sun: bool = False
) -> bytes:
    """The value; start and end as hours and minutes."""
    inner = bytes.fromhex("43420100")
    inner += b"\x02\x01" if scheduled else b""
    inner += b"\xc2\x0a\x00" if by_the_sun else b""
    inner += b"\xca\x14" + _time(*start) + b"\xca\x1e" + _time(*end)
    inner += bytes.fromhex("CF28E039CA320E122E2E00CA3C0E072E160000")
    return HEAD + bytes([len(inner)]) + inner + b"\0\0\0\0"


def _time(hour: int, minute: int) -> bytes:
    """A number that is 0 is left out."""
    return (bytes([0x0E, hour]) if hour else b"") + (bytes([0x2E, minute]) if minute else b"") + b"\0"
