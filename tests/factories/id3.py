"""MP3 files with ID3 tags, written byte by byte (id3.org: ID3v2.3 and ID3v1)."""

from pathlib import Path

_FRAME = bytes.fromhex("fffb9000") + bytes(413)  # MPEG 1 layer III, 128 kbit/s, 44.1 kHz: silence


def text_frame(name: str, text: str) -> bytes:
    """A text frame of ID3v2.3 in UTF-16."""
    data = b"\x01" + text.encode("utf-16")
    return name.encode() + len(data).to_bytes(4, "big") + b"\0\0" + data


def mp3(path: Path, frames: int = 20, **tags: str) -> str:
    """Writes a file with these frames of ID3v2.3 (`TIT2="Title"`); without any it has no tag."""
    data = b"".join(text_frame(name, text) for name, text in tags.items())
    size = bytes((len(data) >> shift) & 0x7F for shift in (21, 14, 7, 0))
    path.write_bytes((b"ID3\x03\0\0" + size + data if tags else b"") + _FRAME * frames)
    return str(path)


def mp3_v1(path: Path, title: str, artist: str) -> str:
    """Writes a file with an ID3v1 tag at its end."""
    tag = b"TAG" + title.encode("latin-1").ljust(30, b"\0") + artist.encode("latin-1").ljust(30, b"\0")
    path.write_bytes(_FRAME * 20 + tag.ljust(127, b"\0") + b"\xff")
    return str(path)
