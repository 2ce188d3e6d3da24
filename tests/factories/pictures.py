"""Pictures of a desktop that never was, and its accessibility tree: for pages and live views."""

import io
from functools import lru_cache

from PIL import Image, ImageDraw

SIZE = (1280, 720)
LINES = (
    "Quarterly report",
    "Region     Q1     Q2     Q3",
    "North     412    388    401",
    "South     310    352    377",
    "East      298    271    305",
    "",
    "Totals are checked against the ledger.",
)


@lru_cache(maxsize=256)
def desktop(title: str, step: int, pointer: tuple[int, int] = (640, 360)) -> bytes:
    """A JPEG of a desktop with an editor window, whose text grows with `step`."""
    image = Image.new("RGB", SIZE, (44, 62, 80))
    draw = ImageDraw.Draw(image)
    for row in range(SIZE[1]):
        shade = row * 60 // SIZE[1]
        draw.line([(0, row), (SIZE[0], row)], fill=(38 + shade // 2, 70 + shade, 104 + shade))
    for place, name in enumerate(("Home", "Files", "Notes", "Trash")):
        top = 40 + place * 110
        draw.rounded_rectangle([40, top, 100, top + 60], 8, fill=(236, 240, 241))
        draw.text((46, top + 66), name, fill=(255, 255, 255))
    _window(draw, (190, 60, 1190, 640), title, (*LINES[: 2 + step], f"step {step}"))
    draw.rectangle([0, SIZE[1] - 36, *SIZE], fill=(24, 28, 34))
    draw.text((16, SIZE[1] - 25), "Applications    Files    Terminal", fill=(230, 230, 230))
    draw.text((SIZE[0] - 80, SIZE[1] - 25), f"10:{step:02d}", fill=(230, 230, 230))
    x, y = pointer
    draw.polygon([(x, y), (x, y + 18), (x + 5, y + 13), (x + 13, y + 13)], fill=(0, 0, 0), outline=(255, 255, 255))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=82)
    return out.getvalue()


def _window(draw: ImageDraw.ImageDraw, box: tuple[int, int, int, int], title: str, lines: tuple[str, ...]) -> None:
    left, top, right, bottom = box
    draw.rectangle([left, top, right, bottom], fill=(250, 250, 248), outline=(20, 20, 20))
    draw.rectangle([left, top, right, top + 34], fill=(59, 66, 82))
    draw.text((left + 14, top + 11), title, fill=(255, 255, 255))
    draw.text((left + 14, top + 46), "File   Edit   Search   View   Document   Help", fill=(60, 60, 60))
    draw.line([(left, top + 70), (right, top + 70)], fill=(210, 210, 205))
    for place, line in enumerate(lines):
        draw.text((left + 24, top + 92 + place * 26), line, fill=(20, 20, 20), font_size=18)


def tree(title: str, step: int) -> bytes:
    """An accessibility tree as OSWorld's XML."""
    rows = "".join(f'<text name="{line}" showing="true"/>' for line in LINES[: 2 + step])
    menus = "".join(f'<menu name="{name}"/>' for name in ("File", "Edit", "Search", "View", "Help"))
    return (
        f'<desktop-frame name="main"><application name="mousepad"><frame name="{title}"><menu-bar>{menus}</menu-bar>'
        f'<scroll-pane><text name="document">{rows}</text></scroll-pane></frame></application>'
        '<application name="xfce4-panel"><panel><push-button name="Applications"/></panel></application>'
        "</desktop-frame>"
    ).encode()
