"""Opens picture files that some application wrote."""

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 64 * 2**20
MAX_PIXELS = 64 * 10**6


def read_picture(path: str | None) -> tuple["Image | None", str]:
    """The decoded picture, or why there is none: absent, no picture, damaged, too large."""
    from PIL import Image as Pictures
    from PIL import UnidentifiedImageError

    if path is None or not Path(path).is_file():
        return None, "the file is not there"
    if Path(path).stat().st_size > MAX_BYTES:
        return None, f"the file is larger than {MAX_BYTES // 2**20} MiB"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Odd metadata is no business of a verdict.
            picture = Pictures.open(io.BytesIO(Path(path).read_bytes()))
            if picture.width * picture.height > MAX_PIXELS:
                return None, f"the picture of {picture.width}x{picture.height} is too large"
            picture.load()
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Pictures.DecompressionBombError) as error:
        return None, f"the file is no readable picture: {type(error).__name__}"
    return picture, ""
