"""Pictures of observations in the forms of environments. Pillow and numpy are imported when needed."""

import io
from typing import Any

PNG = b"\x89PNG\r\n\x1a\n"


def as_png(data: bytes, media_type: str) -> bytes:
    """PNG bytes of a picture; it stays as it is if it is one."""
    if not data or media_type == "image/png" or data.startswith(PNG):
        return data
    from PIL import Image

    out = io.BytesIO()
    with Image.open(io.BytesIO(data)) as picture:
        # Fastest compression: agents read the picture once, nobody stores it.
        picture.save(out, "PNG", compress_level=1)
    return out.getvalue()


def as_array(data: bytes, width: int, height: int) -> Any:
    """The picture as an array of (height, width, 3) bytes; black without a picture."""
    import numpy as np
    from PIL import Image

    if not data:
        return np.zeros((height, width, 3), dtype=np.uint8)
    with Image.open(io.BytesIO(data)) as picture:
        image = picture.convert("RGB")
    if image.size != (width, height):
        image = image.resize((width, height))
    return np.array(image, dtype=np.uint8)
