"""Writes docs/reports/page-sheets.md and its pictures: each page in four widths and two themes, on one sheet.

Usage: make page-sheets [PAGES='/runs /workers']
"""

import io
import re
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from PIL import Image
from playwright.sync_api import Browser, Page, StorageState, sync_playwright

from backend.cli.embedded.postgres import start_postgres
from backend.config import Settings
from backend.db.models.enums import Role
from backend.services.accounts import users
from backend.web.app import create_app
from tests.databases import make_template
from tests.factories.everything import Everything, make_everything
from tests.factories.scene_copies import copied_scene
from tests.factories.site import served

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "images" / "pages"
REPORT = ROOT / "docs" / "reports" / "page-sheets.md"
SCREENS = ((390, 844), (1280, 720), (1440, 900), (3840, 2160))
"""Widths and heights in pixels."""
HEIGHT, GAP = 360, 12
MOST_BYTES = 130_000
QUALITIES = (70, 55, 40, 30)
ROW = re.compile(r"^\| `(/[^`]*)` \| ([^|]*) \|$", re.MULTILINE)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
LEFT_OUT = frozenset({
    "/docs/", "/audit-log.csv", "/login/oidc", "/login/oidc/callback", "/benchmarks/{name}/analyses",
})  # fmt: skip
"""No pages of the interface; or need WindowsWorld."""
OF_ACCOUNTS = frozenset({"/account", "/people", "/login", "/join/{token}", "/audit-log"})
"""Shown of the service with accounts."""
EXAMPLES = {
    "/leaderboards/{benchmark}/submissions": "/leaderboards/creative/submissions",
}
"""Addresses whose usual example would be empty."""
ORIGIN = "https://blog.example"
PASSWORD = "correct horse battery"  # noqa: S105 - of a service that ends with this program


def documented() -> dict[str, str]:
    """Addresses of pages with what docs/pages.md says of them."""
    pages = (ROOT / "docs" / "pages.md").read_text().split("## Forms, data and probes")[0]
    rows = {address: LINK.sub(r"\1", words).split(".")[0] for address, words in ROW.findall(pages)}
    return {address: words for address, words in rows.items() if address not in LEFT_OUT}


@dataclass(frozen=True)
class SheetInstallation:
    """An installation with something of everything.

    Attributes:
        address: of a service without accounts.
        with_accounts: of one with accounts.
        everything: an example of each address.
        links: paths where two people choose their passwords.
    """

    address: str
    with_accounts: str
    everything: Everything
    links: tuple[str, str]

    def url(self, address: str) -> str:
        """URL for the example of an address of docs/pages.md."""
        if address == "/join/{token}":
            return self.with_accounts + self.links[1]
        root = self.with_accounts if address in OF_ACCOUNTS else self.address
        return root + (EXAMPLES.get(address) or self.everything.address(address))


@contextmanager
def site() -> Iterator[SheetInstallation]:
    """The installation, with its services."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = start_postgres(folder / "postgres", durable=False)
        try:
            make_template(server.url)
            with copied_scene(server.url) as scene:
                installation = scene.world
                app = create_app(Settings(data_dir=folder / "first"), installation.factory, installation.store)
                client = TestClient(app, base_url="http://127.0.0.1:8000")
                (folder / "set").mkdir()
                everything = make_everything(scene, client, folder / "set")
                ada = installation.do(users.add_person, "ada", role=Role.ADMIN, admin=True)
                grace = installation.do(users.add_person, "grace", role=Role.RUNNER)
                variables: dict[str, Any] = {"development": True, "embed_origins": (ORIGIN,)}
                with (
                    served(installation, folder / "data", **variables) as address,
                    served(installation, folder / "accounts", accounts=True, token=PASSWORD) as with_accounts,
                ):
                    yield SheetInstallation(address, with_accounts, everything, (f"/join/{ada}", f"/join/{grace}"))
        finally:
            server.stop()


def signed_in_as(browser: Browser, link: str) -> StorageState:
    """The cookies of who has chosen a password at a link."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(link)
        for name in ("password", "repeated"):
            page.locator(f"input[name={name}]").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.locator(".topbar a[href='/account']").wait_for()
        return context.storage_state()


def sheet_of(page: Page) -> Image.Image:
    """The open page in all widths, light above dark."""
    rows: list[list[Image.Image]] = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        rows.append([])
        for width, height in SCREENS:
            page.set_viewport_size({"width": width, "height": height})
            shot = Image.open(io.BytesIO(page.screenshot(type="jpeg", quality=90)))
            rows[-1].append(shot.resize((round(width * HEIGHT / height), HEIGHT), Image.Resampling.LANCZOS))
    width = sum(sheet_row.width + GAP for sheet_row in rows[0]) + GAP
    sheet = Image.new("RGB", (width, 2 * (HEIGHT + GAP) + GAP), "#888")
    for number, row in enumerate(rows):
        left = GAP
        for picture in row:
            sheet.paste(picture, (left, GAP + number * (HEIGHT + GAP)))
            left += picture.width + GAP
    return sheet


def compressed(sheet: Image.Image) -> bytes:
    """WebP of at most `MOST_BYTES`, or the smallest."""
    data = b""
    for quality in QUALITIES:
        file = io.BytesIO()
        sheet.save(file, "WEBP", quality=quality, method=4)
        data = file.getvalue()
        if len(data) <= MOST_BYTES:
            break
    return data


def name_of(address: str) -> str:
    """A file's name for an address: `runs-run_id.webp`."""
    return f"{re.sub(r'[^a-z0-9_]+', '-', address).strip('-') or 'home'}.webp"


def write_report(pages: dict[str, str]) -> None:
    """The page with all sheets."""
    lines = [
        "# Pages in pictures",
        "",
        "Each page at 390, 1280, 1440 and 3840 pixels, light above dark, of an installation with something of",
        "everything (`make page-sheets`); without the analyses of WindowsWorld.",
    ]
    for address, words in pages.items():
        if (FOLDER / name_of(address)).exists():
            picture = f"![{address} in four widths and two themes](../images/pages/{name_of(address)})"
            lines += ["", f"## `{address}`", "", f"{words.strip()}.", "", picture]
    REPORT.write_text("\n".join(lines) + "\n")


def main(selected_pages: Collection[str] = ()) -> None:
    """Writes the sheets of the chosen pages, all by default."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pages = documented()
    with site() as pages_site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        signed_in = signed_in_as(browser, pages_site.with_accounts + pages_site.links[0])
        for address in selected_pages or pages:
            anybody = address in {"/login", "/join/{token}"} or address not in OF_ACCOUNTS
            context = browser.new_context(storage_state=None if anybody else signed_in)
            page = context.new_page()
            answer = page.goto(pages_site.url(address))
            page.locator("html[data-ready]").wait_for(state="attached")
            page.evaluate("document.fonts.ready")
            path = FOLDER / name_of(address)
            path.write_bytes(compressed(sheet_of(page)))
            print(answer and answer.status, path.name, f"{path.stat().st_size:,} bytes", flush=True)
            context.close()
        browser.close()
    write_report(pages)


def arguments(values: Sequence[str]) -> Sequence[str]:
    """Addresses from the command line."""
    return [address for value in values for address in value.split()]


if __name__ == "__main__":
    main(arguments(sys.argv[1:]))
