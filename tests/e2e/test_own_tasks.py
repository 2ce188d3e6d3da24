"""A person writes a task by doing it on a live desktop, tries it, two others approve it, and it can be run."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chromium import be, usable
from tests.e2e.test_whole_path import api, at, page, shot  # noqa: F401 - fixtures
from tests.factories.drafts import LIST
from tests.integration.embedded.test_up import Up, with_worker
from tests.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.browser, pytest.mark.desktop, pytest.mark.timeout(900)]
INSTRUCTION = 'Add the item "milk" as a new last line to shopping.txt, which is open in the editor, and save the file.'
LONG = 300_000


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A fresh installation with one desktop."""
    with with_worker(tmp_path_factory.mktemp("data") / "d", 1) as up:
        yield up


def begun(window: Page, up: Up) -> str:
    """A draft with set-up and check, written on the page; its address."""
    window.goto(f"{up.url}/tasks/drafts")
    be(window, "ada")
    window.get_by_label("Domain").fill("editor")
    window.get_by_label("Name", exact=True).fill("add_milk")
    window.get_by_label("Instruction").fill(INSTRUCTION)
    window.locator("form[action='/tasks/drafts'][method=post] button").click()
    window.wait_for_url("**/tasks/drafts/*")
    window.locator("#requires").fill("mousepad")
    window.locator("#basics button").click()
    for number, (step, fields) in enumerate(
        {
            "create_file": {"path": LIST, "content": "bread\n"},
            "launch": {"command": f'["mousepad", "{LIST}"]'},
            "activate_window": {"window_name": "shopping.txt"},
        }.items()
    ):
        part = window.locator("#setup")
        part.locator("#new-step").select_option(step)
        part.locator("button[value=add]").click()
        for name, value in fields.items():
            window.locator(f"[name='setup.{number}.p.{name}']").fill(value)
        part.locator("button.primary").click()
    part = window.locator("#checks")
    part.locator("#new-metric").fill("exact_match")
    part.locator("#new-result").fill("vm_command_line")
    part.locator("#new-expected").fill("rule")
    part.locator("button[value=add]").click()
    window.locator("[name='check.0.result.p.command']").fill(f'["cat", "{LIST}"]')
    window.locator("[name='check.0.expected.p.rules']").fill('{"expected": "bread\\nmilk"}')
    part.locator("button.primary").click()
    return window.url.partition("#")[0]


def recorded(window: Page) -> None:
    """The solution, done on the live desktop: two steps, and the words to end it."""
    window.locator("form[action$='/record-oracle'] button").click()
    window.wait_for_url("**/episodes/*")
    expect(window.locator("[data-remote-desktop-target=bar]")).to_have_attribute("data-in-control", "", timeout=LONG)
    image = window.locator("[data-live-target=image]")
    until(lambda: (image.get_attribute("src") or "").startswith("blob:"), 120, what="the live picture is there")
    shot(window, "recording")
    done = 0

    def after(count: int) -> None:
        step = window.locator("[data-remote-desktop-target=step]")
        until(lambda: int(step.text_content() or 0) > done, 120, what=f"step {count} was carried out")

    window.mouse.click(*at(window, 640, 400))  # The editor lies in the middle of the screen.
    after(1)
    for keys in ("Control+End", "milk", "Control+s"):
        done = int(window.locator("[data-remote-desktop-target=step]").text_content() or 0)
        window.keyboard.type(keys) if keys == "milk" else window.keyboard.press(keys)
        after(2)
    window.locator("[data-remote-desktop-target=done]").click()
    window.locator("[data-remote-desktop-target=done]").click()
    window.locator(".person-note a.primary").click(timeout=LONG)
    shot(window, "recorded")
    window.locator("form[action$='/apply'] button").click()


@pytest.mark.campaign
class TestOwnTask:
    def test_from_a_recording_to_a_run(self, up: Up, page: Page) -> None:  # noqa: F811 - the fixture
        address = begun(page, up)
        recorded(page)
        solution = api(up, f"/drafts/{address.rsplit('/', 1)[-1]}")["content"]["oracle"]
        assert [next(iter(step)) for step in solution[:2]] == ["click", "hotkey"]
        assert {"type": "milk"} in solution

        page.locator("form[action$='/try'] button").click()
        expect(page.locator("[data-trial=valid]")).to_be_visible(timeout=LONG)
        shot(page, "tried")
        page.locator("form[action$='/submit'] button").click()
        expect(page.locator("[data-review=refused]")).to_be_visible()
        for name in ("bob", "cleo"):
            be(page, name)
            shot(page, f"review-{name}")
            page.locator("form[action$='/approve'] button").click()
        page.locator("form[action='/tasks/drafts/publish'] button").click()
        expect(page).to_have_url(f"{up.url}/benchmarks/own")
        shot(page, "published")

        run = api(up, "/runs", json={"benchmark": "own", "agent": "oracle"})["id"]
        until(lambda: api(up, f"/runs/{run}")["status"] == "completed", 300, what="the run has ended")
        assert api(up, f"/runs/{run}/summary")["success_rate"] == 1.0
        for name, there in (("drafts", f"{up.url}/tasks/drafts"), ("draft", address)):
            page.goto(there)
            shot(page, name)
            usable(page)
