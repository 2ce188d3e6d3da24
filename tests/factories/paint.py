"""Pictures as Paint saves them."""

import io

from PIL import Image, ImageDraw


def canvas(width: int, height: int, *, circle: str = "", filled: bool = False) -> bytes:
    """A white PNG, with a circle in its middle if that has a colour."""
    image = Image.new("RGB", (width, height), "white")
    radius = min(width, height) // 3
    box = (width // 2 - radius, height // 2 - radius, width // 2 + radius, height // 2 + radius)
    if circle:
        ImageDraw.Draw(image).ellipse(box, outline=circle, fill=circle if filled else None, width=4)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
