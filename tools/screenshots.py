"""Writes the pictures of docs/read-results.md: a team lead's board, in light and dark, on three screens.

Usage: make screenshots
"""

import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from backend.cli.embedded.postgres import start_postgres
from tests.databases import make_template
from tests.factories.site import served
from tests.factories.team_board import team_installation

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
BOARD = "/leaderboards/starter"
SCREENS = {390: 1600, 1440: 1500, 3840: 2160}
"""Heights in pixels by width."""
MOST_BYTES = 150_000
CHOICES: tuple[dict[str, Any], ...] = ({"lossless": True}, *({"quality": quality} for quality in (90, 80, 70, 60, 45)))


@contextmanager
def board_site() -> Iterator[str]:
    """The address of a service with the board."""
    with tempfile.TemporaryDirectory() as folder:
        server = start_postgres(Path(folder) / "postgres", durable=False)
        try:
            make_template(server.url)
            with team_installation(server.url) as team, served(team, Path(folder) / "data") as address:
                yield address
        finally:
            server.stop()


def picture_of(browser: Browser, address: str, theme: str, width: int) -> Image.Image:
    """The first screen of the board."""
    page = browser.new_page(viewport={"width": width, "height": SCREENS[width]}, color_scheme=theme)  # type: ignore[arg-type]
    page.goto(address + BOARD)
    page.locator("html[data-ready]").wait_for(state="attached")
    page.evaluate("document.fonts.ready")
    data = page.screenshot()
    page.close()
    return Image.open(io.BytesIO(data)).convert("RGB")


def compressed(picture: Image.Image) -> bytes:
    """WebP of at most `MOST_BYTES`, without loss if that suffices. Raises ValueError."""
    for options in CHOICES:
        data = io.BytesIO()
        picture.save(data, "WEBP", method=6, **options)
        if data.tell() <= MOST_BYTES:
            return data.getvalue()
    raise ValueError(f"a picture of {picture.width}x{picture.height} takes {data.tell():,} bytes")


def main() -> None:
    """Writes all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with board_site() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for theme in ("light", "dark"):
            for width in SCREENS:
                path = FOLDER / f"board-{theme}-{width}.webp"
                path.write_bytes(compressed(picture_of(browser, address, theme, width)))
                print(path.name, f"{path.stat().st_size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
