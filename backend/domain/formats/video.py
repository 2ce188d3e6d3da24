"""Reads the frames of video files."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from backend.domain.formats.pictures import MAX_PIXELS

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 2**30
_HEADS = (
    b"\x1aE\xdf\xa3",
    b"OggS",
    b"FLV\x01",
    b"\x00\x00\x01\xba",
    b"\x00\x00\x01\xb3",
    b"0&\xb2u\x8ef\xcf\x11",
    b"GIF8",
)
"""Signatures of videos other than MP4 and AVI: Matroska, Ogg, Flash, MPEG, ASF, GIF. Playlists, which refer to other
files, are not videos.
"""


def refusal(path: str | None) -> str:
    """Why the file cannot be opened as a video; empty if it may be tried."""
    if path is None or not Path(path).is_file():
        return "the file does not exist"
    if Path(path).stat().st_size > MAX_BYTES:
        return f"the file is larger than {MAX_BYTES // 2**20} MiB"
    return "" if _is_video(path) else "the file is not a video"


def _is_video(path: str) -> bool:
    with Path(path).open("rb") as file:
        head = file.read(16)
    return head.startswith(_HEADS) or head[4:8] in {b"ftyp", b"moov", b"mdat", b"free"} or head[8:12] == b"AVI "


def iterate_frames(path: str) -> Iterator["Image"]:
    """Decodes frame by frame; stops at the end or at the first unreadable frame."""
    import cv2
    from PIL import Image as Pictures

    capture = cv2.VideoCapture(path, cv2.CAP_FFMPEG)  # Other back ends treat `%d` in a name as a series of pictures.
    try:
        pixels = capture.get(cv2.CAP_PROP_FRAME_WIDTH) * capture.get(cv2.CAP_PROP_FRAME_HEIGHT)
        while 0 < pixels <= MAX_PIXELS:
            read, frame = capture.read()
            if not read:
                return
            yield Pictures.fromarray(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB))
    finally:
        capture.release()
