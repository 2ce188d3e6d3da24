"""Opens untrusted picture files."""

import io
import warnings
from pathlib import Path
from typing import IO, TYPE_CHECKING

from backend.domain.formats.failures import let_through

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

MAX_BYTES = 64 * 2**20
MAX_PIXELS = 64 * 10**6
_GIMP = b"gimp xcf"
_BITS_PER_SAMPLE = 258  # TIFF's number of the tag
_STRIP = 256


def read_picture(path: str | None, *, as_stored: bool = False) -> tuple["Image | None", str]:
    """The decoded picture as viewers show it, or the reason: missing, not a picture, damaged, too large.

    EXIF orientation is applied. Samples of 16 or 32 bits and floating point are scaled from their range to 8 bits. Of
    several frames the first one counts; a JPEG with several pictures (MPO) is a JPEG.

    Args:
        path: the file.
        as_stored: skip all that, as the published evaluators do.
    """
    if path is None or not Path(path).is_file():
        return None, "the file does not exist"
    if Path(path).stat().st_size > MAX_BYTES:
        return None, f"the file is larger than {MAX_BYTES // 2**20} MiB"
    with Path(path).open("rb") as file:
        return decode_picture(io.BytesIO(file.read(MAX_BYTES)), as_stored=as_stored)


def decode_picture(file: IO[bytes], *, as_stored: bool = False) -> tuple["Image | None", str]:
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
            if not as_stored:
                picture = _as_shown(picture)
    except Pictures.DecompressionBombError:  # Pillow's own limit, by the header, too.
        return None, f"the picture is too large: it has more than {MAX_PIXELS // 10**6} million pixels"
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        let_through(error)
        return None, f"the file is not a readable picture: {type(error).__name__}"
    # Decoders raise various exceptions on damaged pictures (struct.error, EOFError, KeyError, ...).
    except Exception as error:  # noqa: BLE001
        let_through(error)
        return None, f"the picture is damaged: {type(error).__name__}"
    return picture, ""


def _as_shown(picture: "Image") -> "Image":
    file_format = picture.format
    if picture.mode[0] in "IF":  # `I`, `I;16` and its kin, `F`: Pillow cuts all that is above 255.
        picture = _eight_bits(picture)
    picture = _upright(picture)
    picture.format = "JPEG" if file_format == "MPO" else file_format
    return picture


def _eight_bits(picture: "Image") -> "Image":
    """Grey, with the one transparent value that a PNG may declare."""
    import numpy as np
    from PIL import Image as Pictures

    values, transparent = np.asarray(picture), picture.info.get("transparency")
    gray = np.empty((*values.shape, 2), dtype=np.uint8)
    most = _most(picture, values)
    for row in range(0, len(values), _STRIP):  # So that large pictures do not fill the memory.
        strip = np.nan_to_num(values[row : row + _STRIP].astype(np.float64), posinf=most)
        gray[row : row + _STRIP, :, 0] = np.rint(strip.clip(0, most) * (255 / most))
        gray[row : row + _STRIP, :, 1] = np.where(strip == transparent, 0, 255)
    shown = Pictures.fromarray(gray) if isinstance(transparent, int) else Pictures.fromarray(gray[..., 0])
    shown.info |= {name: note for name, note in picture.info.items() if name == "exif"}
    return shown


def _most(picture: "Image", values: "np.ndarray") -> float:
    """The value of white. Programs use several ranges for 32 bits and floating point."""
    import numpy as np

    if picture.mode not in {"I", "F"}:
        bits = getattr(picture, "tag_v2", {}).get(_BITS_PER_SAMPLE, (16,))[0]
        return float(2**bits - 1)
    if picture.mode == "I" and picture.format in {"PNG", "PPM"}:
        return 65535.0
    finite = [
        strip[np.isfinite(strip)] for strip in (values[row : row + _STRIP] for row in range(0, len(values), _STRIP))
    ]
    largest = max((float(strip.max()) for strip in finite if strip.size), default=0.0)
    ranges = [255.0, 65535.0, 2.0**31 - 1]
    return next((most for most in ([1.0, *ranges] if picture.mode == "F" else ranges) if largest <= most), largest)


def _upright(picture: "Image") -> "Image":
    """The picture with its EXIF orientation applied."""
    from PIL import ImageOps

    try:
        return ImageOps.exif_transpose(picture) or picture
    except Exception as error:  # noqa: BLE001 - a damaged note turns nothing.
        let_through(error)
        return picture


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
