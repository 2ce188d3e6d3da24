"""Opens untrusted picture files."""

import io
import warnings
from pathlib import Path
from typing import IO, TYPE_CHECKING

from backend.domain.formats.failures import let_through

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 64 * 2**20
MAX_PIXELS = 64 * 10**6
_GIMP = b"gimp xcf"
_ORIENTATION = 0x0112  # EXIF's tag


def read_picture(path: str | None) -> tuple["Image | None", str]:
    """The decoded picture, or the reason: missing, not a picture, damaged, too large.

    EXIF orientation is not applied; see `upright`.
    """
    if path is None or not Path(path).is_file():
        return None, "the file is not there"
    if Path(path).stat().st_size > MAX_BYTES:
        return None, f"the file is larger than {MAX_BYTES // 2**20} MiB"
    with Path(path).open("rb") as file:
        return decode_picture(io.BytesIO(file.read(MAX_BYTES)))


def decode_picture(file: IO[bytes]) -> tuple["Image | None", str]:
    """The same for bytes. The size is read from the header before anything is decoded."""
    from PIL import Image as Pictures
    from PIL import UnidentifiedImageError

    if file.read(len(_GIMP)) == _GIMP:
        return None, "the file is a GIMP project (XCF), no exported picture"
    file.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Unusual metadata does not matter here.
            picture: Image = Pictures.open(file)
            if picture.width * picture.height > MAX_PIXELS:
                return None, f"the picture is too large: {picture.width}x{picture.height} pixels"
            picture.load()
            if picture.mode == "LAB":  # The only mode that Pillow converts to nothing but RGB.
                picture = picture.convert("RGB")
    except Pictures.DecompressionBombError:  # Pillow's own limit, also by the header.
        return None, f"the picture is too large: it has more than {MAX_PIXELS // 10**6} million pixels"
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        let_through(error)
        return None, f"the file is no readable picture: {type(error).__name__}"
    # Decoders raise various exceptions on damaged pictures (struct.error, EOFError, KeyError, ...).
    except Exception as error:  # noqa: BLE001
        let_through(error)
        return None, f"the picture is damaged: {type(error).__name__}"
    return picture, ""


def upright(picture: "Image") -> "Image":
    """The picture with its EXIF orientation applied."""
    from PIL import ImageOps

    try:
        return ImageOps.exif_transpose(picture) or picture
    except Exception as error:  # noqa: BLE001 - a damaged note turns nothing.
        let_through(error)
        return picture


def is_turned(picture: "Image") -> bool:
    """Whether the picture has an EXIF orientation to apply."""
    try:
        return bool(picture.getexif().get(_ORIENTATION, 1) != 1)
    except Exception as error:  # noqa: BLE001 - a damaged note turns nothing.
        let_through(error)
        return False


def has_alpha(picture: "Image") -> bool:
    """Whether the picture can be transparent: by an alpha channel or a transparent colour."""
    return "A" in picture.getbands() or "transparency" in picture.info


def on_white(picture: "Image") -> "Image":
    """The picture in RGB on a white background."""
    from PIL import Image as Pictures

    if not has_alpha(picture):
        return picture.convert("RGB")
    paper = Pictures.new("RGBA", picture.size, (255, 255, 255, 255))
    paper.alpha_composite(picture.convert("RGBA"))
    return paper.convert("RGB")
