"""The whole path, as a researcher walks it: fill the form, watch the desktop, scrub the replay, find the score.

And as a person walks it who does a task: judge it, act with mouse and keyboard on the live picture, rate.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.chromium import laid_out
from tests.integration.embedded.test_up import Up, with_worker
from tests.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.browser, pytest.mark.desktop, pytest.mark.timeout(900)]
TASK = "files/move_invoices"
EDIT = "editor/add_milk"
SHOTS = os.environ.get("DESKARENA_TEST_SHOTS", "")
"""A folder for pictures of the pages, for whoever wants to look at them."""


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A fresh installation with two desktops."""
    with with_worker(tmp_path_factory.mktemp("data") / "d", 2) as up:
        yield up


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A window that fails the test on any error of our own pages' scripts."""
    window = browser.new_page(
        viewport={"width": 1440, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
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
            laid_out(page)
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


def _paste(page: Page, text: str) -> None:
    """Types the reader's clipboard into the desktop."""
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+Shift+V")


def _copy(page: Page, word: str) -> None:
    """Brings the desktop's clipboard, which has this word, to the reader's, by keyboard alone."""
    page.keyboard.press("Control+Alt+Home")
    summary = page.locator("[data-remote-desktop-target=leave]")
    expect(summary).to_be_focused()
    page.keyboard.press("Enter")
    page.locator("[data-remote-desktop-target=copy]").press("Enter")
    expect(page.locator("#desktop-text")).to_have_value(re.compile(rf"\b{word}\b"), timeout=60_000)
    copied = page.locator("#desktop-text").input_value()
    until(lambda: page.evaluate("navigator.clipboard.readText()") == copied, what="the reader's clipboard has it")
    summary.press("Enter")


@pytest.mark.sampled(1, of="stories")
class TestWholePath:
    def test_form_live_replay_leaderboard(self, up: Up, page: Page) -> None:
        _fill_the_form(page, up.url)
        page.locator("a[href^='/episodes/']").first.click()
        page.wait_for_url("**/episodes/*")
        expect(page.locator("h1")).to_have_text(TASK)

        frames = _frames_while_it_runs(page) - {""}
        assert len(frames) >= 2, "the live picture changed while the agent worked"

        expect(page.locator(".verdict .score")).to_have_text("1", timeout=60_000)
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
        until(lambda: not httpx.get(board, timeout=60).json()["stale"], 60.0, what="the roll-ups are up to date")
        page.goto(f"{up.url}/leaderboards/starter")
        row = page.locator("tr[data-row]", has_text="oracle")
        expect(row.first).to_contain_text("100")
        expect(page.locator("body")).to_contain_text("scored")


def _act(page: Page) -> None:
    """Writes the word into the open file, half of it from the reader's clipboard, and copies the file's text."""
    page.mouse.click(*at(page, 640, 400))  # The editor lies in the middle of the screen.
    step = page.locator("[data-remote-desktop-target=step]")
    expect(step).to_have_text("1", timeout=120_000)
    page.keyboard.press("Control+End")
    expect(step).to_have_text("2", timeout=120_000)
    page.keyboard.type("mi")
    expect(step).to_have_text("3", timeout=120_000)
    _paste(page, "lk")
    expect(step).to_have_text("4", timeout=120_000)
    page.keyboard.press("Enter")
    expect(step).to_have_text("5", timeout=120_000)
    page.keyboard.press("Control+s")
    expect(step).to_have_text("6", timeout=120_000)
    page.keyboard.press("Control+a")
    expect(step).to_have_text("7", timeout=120_000)
    page.keyboard.press("Control+c")
    expect(step).to_have_text("8", timeout=120_000)
    _copy(page, "milk")
    expect(step).to_have_text("8")
    # A laptop has the desktop, both ends of the task and the way out of it in sight.
    page.set_viewport_size({"width": 1280, "height": 720})
    for name in ("done", "fail", "leave"):
        expect(page.locator(f"[data-remote-desktop-target={name}]")).to_be_in_viewport(ratio=1)
    expect(page.locator(".canvas")).to_be_in_viewport(ratio=0.99)
    shot(page, "acting")


@pytest.mark.sampled(1, of="stories")
class TestHuman:
    def test_person_solves_a_task_and_appears_on_the_board(self, up: Up, page: Page) -> None:
        run = submitted(up, "human", [EDIT])
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

        _act(page)
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
        until(lambda: not httpx.get(board, timeout=60).json()["stale"], 60.0, what="the roll-ups are up to date")
        page.goto(f"{up.url}/leaderboards/starter")
        row = page.locator("tr[data-row]", has_text="human").first
        expect(row).to_contain_text("human")
        expect(row).to_contain_text("9.0 steps")
        expect(row).to_contain_text("difficulty 1.0 of 3")
        page.locator("#people form:has(input[name=by][value=time]) button").click()
        expect(page.locator("#people")).to_be_visible()
        shot(page, "board")
