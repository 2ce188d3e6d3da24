"""Stories of an author and an operator in a real browser, on a slow machine behind a slow line."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import databases
from tests.e2e.chromium import be, opened, slow
from tests.factories.records import World, world
from tests.factories.scene import abilities
from tests.factories.site import served

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400), pytest.mark.sampled(1, of="story")]
INSTRUCTION = 'Write "milk" into shopping.txt in the home folder.'
SCORES = {"oracle": 1.0, "noop": 0.0, "always_fail": 0.0}


@pytest.fixture
def made(postgres_server: str) -> Iterator[World]:
    """An installation with a benchmark."""
    with databases.copied(postgres_server) as url, world(url) as made:
        made.benchmark()
        yield made


def refused(page: Page, button: str, field: str) -> None:
    """A form is sent and comes back with an error at one field, which says so to everybody."""
    page.locator(button).click()
    expect(page.locator("main .error")).to_have_count(1)
    expect(page.locator("[aria-invalid=true]")).to_have_attribute("id", field)
    expect(page.locator("[aria-invalid=true]")).to_have_attribute("aria-describedby", f"wrong-{field}")


def write(page: Page) -> None:
    """All parts of the draft, each with a mistake first."""
    page.locator("#instruction").fill(INSTRUCTION)
    page.locator("#requires").fill("mousepad")
    page.locator("#max_steps").fill("a few")
    refused(page, "#basics .primary", "max_steps")
    expect(page.locator("#instruction")).to_have_value(INSTRUCTION)
    page.locator("#max_steps").fill("12")
    page.locator("#basics .primary").click()
    expect(page.locator(".head .lead")).to_have_text(INSTRUCTION)

    page.locator("#new-step").select_option("create_file")
    page.locator("#setup button[value=add]").click()
    page.locator("[name='setup.0.p.path']").fill("/home/user/shopping.txt")
    page.locator("#setup .primary").click()
    refused(page, "#checks button[value=add]", "new-metric")
    page.locator("#new-metric").fill("exact_match")
    page.locator("#new-result").fill("vm_command_line")
    page.locator("#new-expected").fill("rule")
    page.locator("#checks button[value=add]").click()
    page.locator("[name='check.0.result.p.command']").fill('["cat", "/home/user/shopping.txt"]')
    page.locator("[name='check.0.expected.p.rules']").fill('{"expected": milk}')
    refused(page, "#checks .primary", "check.0.expected.p.rules")
    page.locator("[name='check.0.expected.p.rules']").fill('{"expected": "milk"}')
    page.locator("#checks .primary").click()
    page.locator("#new-verb").select_option("click")
    page.locator("#new-value").fill("the editor")
    refused(page, "#oracle button[value=add]", "new-value")
    page.locator("#new-verb").select_option("type")
    page.locator("#new-value").fill("milk")
    page.locator("#oracle button[value=add]").click()


def test_author_writes_a_task_and_publishes_it(browser: Browser, made: World, tmp_path: Path) -> None:
    worker = made.worker(capabilities=abilities())
    with served(made, tmp_path) as site, slow(browser, site, refusals=True) as page:
        opened(page, "/tasks/drafts")
        be(page, "ada")
        page.get_by_label("Domain").fill("editor")
        page.get_by_label("Name", exact=True).fill("add_milk")
        page.locator("#benchmark").fill("not a name!")
        refused(page, "form[action='/tasks/drafts'][method=post] .primary", "benchmark")
        expect(page.get_by_label("Name", exact=True)).to_have_value("add_milk")
        page.locator("#benchmark").fill("own")
        page.locator("form[action='/tasks/drafts'][method=post] .primary").click()
        page.wait_for_url("**/tasks/drafts/*-*")
        todo = page.get_by_label("Next step")
        expect(todo.locator("li").first).to_be_visible()
        expect(todo.locator("form")).to_have_count(0)

        write(page)
        page.locator("form[action$='/try'] button").click()
        expect(page.locator("[data-trial=none]")).to_be_visible()
        while (claim := made.claim(worker)) is not None:
            made.score(claim, SCORES[claim.config.agent])
        expect(page.locator("[data-trial=valid]")).to_be_visible()  # The page follows the trial's runs.
        page.locator("form[action$='/submit'] button").click()
        expect(page.locator("[data-review=refused]")).to_be_visible()
        for name in ("bob", "cleo"):
            be(page, name)
            page.locator("form[action$='/approve'] button").click()
        page.locator("form[action='/tasks/drafts/publish'] button").click()
        page.wait_for_url("**/benchmarks/own")
        expect(page.locator("tr[data-row]")).to_contain_text(INSTRUCTION)


def test_operator_drains_quarantines_and_maintains(browser: Browser, made: World, tmp_path: Path) -> None:
    worker = made.worker("w1", capabilities=abilities())
    made.submit()
    reason = "The disk is replaced until 18:00 UTC"
    with served(made, tmp_path) as site, slow(browser, site) as page:
        opened(page, "/workers")
        process = page.locator("#processes tr[data-row]")
        process.get_by_role("button", name="Drain w1").click()
        expect(process.locator(".state")).to_have_text("draining")
        assert made.claim(worker) is None
        process.get_by_role("button", name="Resume w1").click()
        expect(process.locator(".state")).to_have_text("online")
        made.score(made.must_claim(worker))

        page.get_by_label("Reason, shown to everyone").fill(reason)
        page.locator("#maintenance button").click()
        expect(page.locator("main > .note")).to_contain_text(reason)
        assert made.claim(worker) is None
        opened(page, "/status")
        expect(page.locator("main > .note")).to_contain_text(reason)
        expect(page.locator("tr[data-row]").filter(has_text="database")).to_contain_text("up")
        opened(page, "/workers")
        page.get_by_role("button", name="Turn maintenance off").click()
        expect(page.locator("main > .note")).to_have_count(0)
        made.score(made.must_claim(worker))

        opened(page, "/benchmarks/starter")
        page.locator("tr[data-row] a[href^='/tasks/']").first.click()
        page.get_by_label("What is wrong with the task?").fill("its file is gone")
        page.get_by_role("button", name="Quarantine task").click()
        expect(page.locator("#quarantine header p")).to_have_text("in force")
        opened(page, "/")
        expect(page.locator("#alarms")).to_contain_text("its file is gone")
        opened(page, "/audit-log")
        for action in ("drain worker", "resume worker", "maintenance on", "maintenance off"):
            expect(page.locator("td").get_by_text(action, exact=True)).to_be_visible()
