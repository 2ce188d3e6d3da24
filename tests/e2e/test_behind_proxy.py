"""The pages below a path of another site: nothing that a browser asks for may lie outside of that path."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from backend.services import events
from tests.e2e.chromium import opened, window
from tests.factories import pictures
from tests.factories.scene import PageScene
from tests.factories.site import served
from tests.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
ROOT = "/tools/deskarena"
OWN_ADDRESSES = """() => ["href", "src", "action", "formaction"].flatMap((name) =>
    [...document.querySelectorAll(`[${name}^="/"]`)].map((each) => each.getAttribute(name)))"""


@pytest.fixture(scope="module")
def site(scene: PageScene, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The service of the scene, below a path."""
    with served(scene.world, tmp_path_factory.mktemp("data"), ROOT) as address:
        yield address


def asked_outside(page: Page) -> list[str]:
    """Requests and sockets outside of the path, noted while the page is used."""
    outside: list[str] = []

    def note(url: str) -> None:
        if not urlsplit(url).path.startswith(f"{ROOT}/") and url.startswith(("http", "ws")):
            outside.append(url)

    page.on("request", lambda request: note(request.url))
    page.on("websocket", lambda socket: note(socket.url))
    return outside


def test_pages_ask_only_below_their_path(browser: Browser, site: str, scene: PageScene) -> None:
    with window(browser, site) as page:
        outside = asked_outside(page)
        addresses = (
            "/", "/runs", f"/runs/{scene.finished}", "/runs/new", "/exports", "/leaderboards/starter", "/login",
            f"/compare/episodes?episode={scene.solved}&episode={scene.hostile}&at=0", f"/runs/{scene.human}/human",
        )  # fmt: skip
        for address in addresses:
            opened(page, f"{ROOT}{address}")
            stray = [each for each in page.evaluate(OWN_ADDRESSES) if not each.startswith(f"{ROOT}/")]
            assert stray == [], address
        opened(page, f"{ROOT}/episodes/{scene.solved}?step=0")
        first = page.locator("[data-replay-target=image]").get_attribute("src")
        page.keyboard.press("j")
        expect(page.locator("[data-replay-target=image]")).not_to_have_attribute("src", first or "")
        assert urlsplit(page.url).path == f"{ROOT}/episodes/{scene.solved}"
        page.keyboard.press("n")
        page.wait_for_url(f"**{ROOT}/runs/new")
        page.locator("[data-controller~=theme]").click()
        opened(page, f"{ROOT}/")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        assert {cookie["path"] for cookie in page.context.cookies()} == {f"{ROOT}/"}
        attempt = scene.attempts[0]
        until(lambda: events.watched_width(attempt) >= 1, 30, what="the worker knows that somebody watches")
        events.put_frame(attempt, 1, pictures.desktop("live", 1), {"width": 1280, "height": 720})
        expect(page.locator(f"[data-attempt='{attempt}']")).to_have_attribute("data-frame-seq", "1", timeout=60_000)
        assert outside == []
