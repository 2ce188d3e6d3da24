"""The wall with forty desktops: the screens fill the window, and each says what it shows."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import databases
from tests.e2e.chromium import opened, window
from tests.factories import pictures
from tests.factories.records import world
from tests.factories.scene import abilities
from tests.factories.site import served
from tests.factories.tasks import make_benchmark, make_task
from tests.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400), pytest.mark.sampled(1, of="wall")]
SIZES = """() => [...document.querySelectorAll(".wall .tile:not([data-off])")].map((tile) => {
    const box = tile.getBoundingClientRect();
    const words = [...tile.querySelectorAll(".name, .note-line")].map((each) => each.getBoundingClientRect());
    const picture = tile.querySelector("img").getBoundingClientRect();
    const hidden = words.filter((each) => each.top < picture.bottom - 1 || each.bottom > box.bottom);
    return { bottom: box.bottom, width: picture.width, height: picture.height, words: words.length,
      hidden: hidden.length, text: parseFloat(getComputedStyle(tile.querySelector(".name")).fontSize) };
})"""


@pytest.fixture(scope="module")
def site(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with forty running desktops, whose worker has gone silent."""
    folder: Path = tmp_path_factory.mktemp("data")
    with databases.copied(postgres_server) as url, world(url) as made:
        tasks = (make_task("editor" if number % 2 else "files", f"task-{number}") for number in range(20))
        made.benchmark(make_benchmark(*tasks))
        worker = made.worker("w", slots=60, capabilities=abilities())
        for agent in ("random", "noop"):
            made.submit(agent)
        for number in range(40):
            claim = made.must_claim(worker)
            made.begin(claim)
            made.step(claim, 0, picture=pictures.desktop(f"desktop {number}", 1))
        with served(made, folder) as address:
            yield address


def sizes(page: Page, address: str, width: int, height: int) -> list[dict[str, float]]:
    """Of each screen that is shown, once the worker's silence is noticed on all."""
    page.set_viewport_size({"width": width, "height": height})

    def noted() -> list[dict[str, float]]:
        opened(page, address)
        tiles: list[dict[str, float]] = page.evaluate(SIZES)
        return tiles if all(tile["words"] == 2 for tile in tiles) else []  # noqa: PLR2004 - name and note

    return until(noted, 60, what="each screen says that its worker is silent")


def test_forty_screens_fill_a_laptop_and_a_large_screen(browser: Browser, site: str) -> None:
    with window(browser, site) as page:
        texts = []
        for width, height, picture in ((1440, 900, 110), (3840, 2160, 400)):
            tiles = sizes(page, "/wall?tiles=40", width, height)
            assert len(tiles) == 40
            assert sum(tile["hidden"] for tile in tiles) == 0
            assert max(tile["bottom"] for tile in tiles) <= height
            assert min(min(tile["width"], tile["height"] * 16 / 9) for tile in tiles) >= picture
            texts.append(tiles[0]["text"])
        assert texts[1] > texts[0]


def test_screens_follow_each_other_and_are_filtered(browser: Browser, site: str) -> None:
    with window(browser, site) as page:
        opened(page, "/wall?tiles=9&every=5")
        shown = page.locator("[data-wall-target=range]")
        expect(shown).not_to_have_text("1 to 9 of 40")
        page.keyboard.press(" ")
        expect(page.locator("[data-wall-target=pause]")).to_have_attribute("aria-label", "Go on")
        now = shown.text_content()
        page.keyboard.press("ArrowRight")
        expect(shown).not_to_have_text(now or "")
        opened(page, "/wall?tiles=40&q=editor")
        expect(page.locator(".wall .tile")).to_have_count(20)
