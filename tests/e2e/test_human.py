"""A person does a task through the page: judge, act with mouse and keyboard on the live picture, rate."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.integration.embedded.test_up import Up, with_worker
from tests.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.browser, pytest.mark.desktop, pytest.mark.timeout(900)]
TASK = "editor/add_milk"
SHOTS = os.environ.get("DESKARENA_TEST_SHOTS", "")
"""A folder for pictures of the pages, for whoever wants to look at them."""


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A fresh installation with one desktop."""
    with with_worker(tmp_path_factory.mktemp("data") / "d", 1) as up:
        yield up


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A window that fails the test on any error of our own pages' scripts."""
    window = browser.new_page(viewport={"width": 1440, "height": 900})
    wrong: list[str] = []
    window.on("pageerror", lambda error: wrong.append(str(error)))
    yield window
    window.close()
    assert wrong == []


def shot(page: Page, name: str) -> None:
    """The page in both themes and two widths, if pictures are requested."""
    if not SHOTS:
        return
    for theme in ("light", "dark"):
        for width in (1440, 360):
            page.emulate_media(color_scheme=theme)
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=f"{SHOTS}/{name}-{theme}-{width}.png", full_page=True)
    page.set_viewport_size({"width": 1440, "height": 900})


def api(up: Up, path: str, **more: Any) -> Any:
    """One call of the REST API."""
    call: Callable[..., httpx.Response] = httpx.post if more else httpx.get
    answer = call(f"{up.url}/api/v1{path}", timeout=60, **more)
    assert answer.is_success, answer.text
    return answer.json()


def submitted(up: Up, agent: str, tasks: list[str]) -> str:
    """A run's id."""
    body = {"benchmark": "starter", "agent": agent, "tasks": tasks, "screen": {"width": 1280, "height": 800}}
    return str(api(up, "/runs", json=body)["id"])


def at(page: Page, x: int, y: int) -> tuple[float, float]:
    """Position of a desktop's pixel on the page."""
    box = page.locator("[data-live-target=image]").bounding_box()
    assert box is not None
    return box["x"] + (x + 0.5) / 1280 * box["width"], box["y"] + (y + 0.5) / 800 * box["height"]


class TestHuman:
    def test_a_person_solves_a_task_and_the_board_says_so(self, up: Up, page: Page) -> None:
        run = submitted(up, "human", [TASK])
        page.goto(f"{up.url}/runs/{run}")
        page.locator(f"a[href='/runs/{run}/human']").first.click()
        expect(page.locator("button[name=feasible]")).to_have_count(2)
        shot(page, "judge")
        page.locator("button[name=feasible][value=yes]").click()
        page.wait_for_url("**/episodes/*")
        bar = page.locator("[data-remote-desktop-target=bar]")
        expect(bar).to_have_attribute("data-in-control", "", timeout=300_000)
        image = page.locator("[data-live-target=image]")
        until(lambda: (image.get_attribute("src") or "").startswith("blob:"), 120, what="the live picture is there")
        shot(page, "desktop")

        page.mouse.click(*at(page, 640, 400))  # The editor lies in the middle of the screen.
        step = page.locator("[data-remote-desktop-target=step]")
        expect(step).to_have_text("1", timeout=120_000)
        page.keyboard.press("Control+End")
        expect(step).to_have_text("2", timeout=120_000)
        page.keyboard.type("milk")
        expect(step).to_have_text("3", timeout=120_000)
        page.keyboard.press("Enter")
        expect(step).to_have_text("4", timeout=120_000)
        page.keyboard.press("Control+s")
        expect(step).to_have_text("5", timeout=120_000)
        page.locator("[data-remote-desktop-target=done]").click()
        page.locator("[data-remote-desktop-target=done]").click()

        rating = page.locator(f".person-note a[href='/runs/{run}/human']")
        rating.wait_for(timeout=300_000)
        expect(page.locator(".verdict .o-waiting")).to_be_visible()
        rating.click()
        shot(page, "rate")
        page.locator("button[name=rating][value='1']").click()
        expect(page.locator("tr[data-row] .o-pass")).to_be_visible()
        expect(page.locator("tr[data-row]")).to_contain_text("1: easy")
        shot(page, "done")

        board = f"{up.url}/api/v1/leaderboards/starter"
        until(lambda: not httpx.get(board).json()["stale"], 60.0, what="the roll-ups are up to date")
        page.goto(f"{up.url}/leaderboards/starter")
        row = page.locator("tr[data-row]", has_text="human").first
        expect(row).to_contain_text("human")
        expect(row).to_contain_text("6.0 steps")
        expect(row).to_contain_text("difficulty 1.0 of 3")
        page.locator("#people form:has(input[name=by][value=time]) button").click()
        expect(page.locator("#people")).to_be_visible()
        shot(page, "board")
