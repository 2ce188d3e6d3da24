"""The whole path, as a researcher walks it: fill the form, watch the desktop, scrub the replay, find the score."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.integration.embedded.test_up import Up, with_worker
from tests.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.browser, pytest.mark.desktop, pytest.mark.timeout(900)]
CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TASK = "files/move_invoices"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A fresh installation with two desktops."""
    with with_worker(tmp_path_factory.mktemp("data") / "d", 2) as up:
        yield up


@pytest.fixture
def page() -> Iterator[Page]:
    """A browser window that fails the test on any error of our own pages' scripts."""
    if not CHROMIUM.exists():
        pytest.skip("needs Debian's chromium (make setup installs it)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        window = browser.new_page(viewport={"width": 1440, "height": 900})
        wrong: list[str] = []
        window.on("pageerror", lambda error: wrong.append(str(error)))
        yield window
        browser.close()
    assert wrong == []


def _fill_the_form(page: Page, url: str) -> None:
    """Submits one task with the oracle, through the form alone."""
    page.goto(f"{url}/runs/new")
    page.locator("input[name=agent][value=oracle]").check()
    page.locator("#find-task").fill("move_invoices")
    page.locator(f"input[name=tasks][value='{TASK}']").check()
    page.locator("input[name=name]").fill("whole path")
    page.locator("button.start-wide").click()
    page.wait_for_url("**/runs/*-*")


def _frames_while_it_runs(page: Page) -> set[str]:
    """The different pictures that the live view showed while the episode was running."""
    seen: set[str] = set()
    page.locator("[data-controller~=live]").wait_for(state="attached", timeout=300_000)
    image = page.locator("[data-live-target=image]")

    def ended() -> bool:
        if image.count():
            source = image.get_attribute("src") or ""
            if source.startswith("blob:"):
                seen.add(_pixels(page))
        return page.locator("[data-controller~=live]").count() == 0

    until(ended, 400, what="the live view gives way to the replay")
    return seen


def _pixels(page: Page) -> str:
    """A hash of the live picture's pixels, independent of its address."""
    drawn = page.evaluate(
        """() => { const image = document.querySelector('[data-live-target=image]');
        if (!image || !image.naturalWidth) return '';
        const canvas = document.createElement('canvas'); canvas.width = 320; canvas.height = 180;
        canvas.getContext('2d').drawImage(image, 0, 0, 320, 180); return canvas.toDataURL(); }"""
    )
    return hashlib.sha256(drawn.encode()).hexdigest() if drawn else ""


class TestWholePath:
    def test_form_live_replay_leaderboard(self, up: Up, page: Page) -> None:
        _fill_the_form(page, up.url)
        page.locator("a[href^='/episodes/']").first.click()
        page.wait_for_url("**/episodes/*")
        expect(page.locator("h1")).to_have_text(TASK)

        frames = _frames_while_it_runs(page) - {""}
        assert len(frames) >= 2, "the live picture changed while the agent worked"

        expect(page.locator(".verdict .score")).to_have_text("1", timeout=30_000)
        steps = page.locator("[data-replay-target=step]")
        assert steps.count() >= 2
        image = page.locator("[data-replay-target=image]")
        expect(image).to_have_attribute("src", re.compile("^/api/v1/artifacts/"))  # The live view leaves it at the end.
        last = image.get_attribute("src") or ""
        page.locator("[data-replay-target=scrub]").focus()
        page.keyboard.press("Home")
        expect(image).not_to_have_attribute("src", last)
        expect(page.locator("#step-0")).to_have_attribute("aria-current", "step")
        page.keyboard.press("End")
        expect(image).to_have_attribute("src", last)

        board = f"{up.url}/api/v1/leaderboards/starter"
        until(lambda: not httpx.get(board).json()["stale"], 60.0, what="the roll-ups are up to date")
        page.goto(f"{up.url}/leaderboards/starter")
        row = page.locator("tr[data-row]", has_text="oracle")
        expect(row.first).to_contain_text("100")
        expect(page.locator("body")).to_contain_text("scored")
