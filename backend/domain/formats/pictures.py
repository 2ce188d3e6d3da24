"""Opens untrusted picture files."""

import io
import warnings
from pathlib import Path
from typing import IO, TYPE_CHECKING

from backend.domain.formats.deep_tiff import is_planar, read_deep_tiff
from backend.domain.formats.failures import let_through
from backend.domain.formats.png_transparency import resolve_transparency
from backend.domain.formats.sample_range import STRIP, to_eight_bits, white_of

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

MAX_BYTES = 64 * 2**20
MAX_PIXELS = 64 * 10**6
_GIMP = b"gimp xcf"
_BITS_PER_SAMPLE, _PHOTOMETRIC, _SAMPLE_FORMAT = 258, 262, 339  # TIFF's numbers of tags


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
    """Like `read_picture`, from an open file. The size is read from the header before anything is decoded."""
    from PIL import Image as Pictures
    from PIL import UnidentifiedImageError

    if file.read(len(_GIMP)) == _GIMP:
        return None, "the file is a GIMP project (XCF), no exported picture"
    file.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Unusual metadata does not matter here.
            picture: Image = _open(file, as_stored=as_stored)
            if picture.width * picture.height > MAX_PIXELS:
                return None, f"the picture is too large: {picture.width}x{picture.height} pixels"
            picture.load()
            if picture.mode == "LAB":  # The only mode that Pillow converts to nothing but RGB.
                picture = picture.convert("RGB")
            if not as_stored:
                file.seek(0)
                picture = _as_shown(resolve_transparency(picture, file.read(MAX_BYTES)))
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


def _open(file: IO[bytes], *, as_stored: bool) -> "Image":
    """The picture, not yet decoded if Pillow knows its form."""
    from PIL import Image as Pictures
    from PIL import UnidentifiedImageError

    try:
        picture: Image = Pictures.open(file)
    except UnidentifiedImageError:
        deep = None if as_stored else _deep(file)
        if deep is None:
            raise
        return deep
    if as_stored or not (picture.mode == "F" or is_planar(getattr(picture, "tag_v2", {}))):
        return picture
    return _deep(file) or picture


def _deep(file: IO[bytes]) -> "Image | None":
    file.seek(0)
    picture = read_deep_tiff(file.read(MAX_BYTES), MAX_PIXELS)
    file.seek(0)
    return picture


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
    tags = getattr(picture, "tag_v2", {})
    if tags and picture.mode == "I" and tags.get(_SAMPLE_FORMAT, (1,))[0] == 1:
        values = values.view(np.uint32)  # Pillow reads them with a sign.
    gray = np.empty((*values.shape, 2), dtype=np.uint8)
    most = _most(picture, values)
    for row in range(0, len(values), STRIP):  # So that large pictures do not fill the memory.
        strip = values[row : row + STRIP]
        scaled = to_eight_bits(strip, most)
        gray[row : row + STRIP, :, 0] = np.rint(255 - scaled if tags.get(_PHOTOMETRIC) == 0 else scaled)
        gray[row : row + STRIP, :, 1] = np.where(strip == transparent, 0, 255)
    converted = Pictures.fromarray(gray) if isinstance(transparent, int) else Pictures.fromarray(gray[..., 0])
    converted.info |= {name: note for name, note in picture.info.items() if name == "exif"}
    return converted


def _most(picture: "Image", values: "np.ndarray") -> float:
    """The value of white."""
    if picture.mode not in {"I", "F"}:
        bits = getattr(picture, "tag_v2", {}).get(_BITS_PER_SAMPLE, (16,))[0]
        return float(2**bits - 1)
    if picture.mode == "I" and picture.format in {"PNG", "PPM"}:
        return 65535.0
    return white_of(values, least=1.0 if picture.mode == "F" else 255.0)


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
    return bool({"A", "a"} & set(picture.getbands())) or "transparency" in picture.info


def on_white(picture: "Image") -> "Image":
    """The picture in RGB on a white background."""
    from PIL import Image as Pictures

    if not has_alpha(picture):
        return picture.convert("RGB")
    paper = Pictures.new("RGBA", picture.size, (255, 255, 255, 255))
    paper.alpha_composite(picture.convert("RGBA"))
    return paper.convert("RGB")
