"""What every list has in a browser, the search over everything, and times as the reader chose."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.chromium import opened, usable, window
from tests.factories.scene import PageScene

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def column(page: Page, number: int) -> list[str]:
    """Texts of a column of the run's episodes, without rows that are filtered out."""
    return page.locator(f"#episodes tbody tr:not([data-off]) > :nth-child({number})").all_inner_texts()


def test_sort_find_and_columns(browser: Browser, site: str, scene: PageScene) -> None:
    with window(browser, site) as page:
        opened(page, f"/runs/{scene.finished}")
        heads = page.locator("#episodes thead th").all_text_contents()
        steps = next(place for place, head in enumerate(heads, 1) if head.strip() == "Steps")
        page.locator("#episodes").get_by_role("button", name="Sort by Steps").click()
        numbers = [int(text.split()[0]) for text in column(page, steps) if text != "–"]
        assert numbers == sorted(numbers)
        page.locator("#episodes").get_by_role("button", name="Sort by Steps").click()
        expect(page.locator("#episodes th[aria-sort=descending]")).to_contain_text("Steps")
        descending = [int(text.split()[0]) for text in column(page, steps) if text != "–"]
        assert descending == numbers[::-1]
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        every = len(column(page, 1))
        page.locator("#episodes input[type=search]").fill("make-link")
        assert 0 < len(column(page, 1)) < every
        page.locator("#episodes .list-tools summary").click()
        page.locator("#episodes .list-tools label", has_text="Steps").locator("input").uncheck()
        expect(page.locator(f"#episodes tbody tr:not([data-off]) > :nth-child({steps})").first).to_be_hidden()
        page.reload()
        expect(page.locator("#episodes .list-tools")).to_be_visible()
        expect(page.locator(f"#episodes tbody tr > :nth-child({steps})").first).to_be_hidden()


def test_search_everything(browser: Browser, site: str, scene: PageScene) -> None:
    with window(browser, site) as page:
        opened(page, "/workers")
        page.keyboard.press("Control+k")
        expect(page.get_by_role("option", name="New run")).to_be_visible()
        page.get_by_role("combobox").fill("rename")
        task = page.get_by_role("group", name="Tasks").get_by_role("option").first
        expect(task).to_be_visible()
        usable(page)
        expect(page.get_by_role("group", name="Episodes").get_by_role("option").first).to_be_visible()
        page.get_by_role("combobox").fill(str(scene.finished))
        chosen = page.locator("[role=option][aria-selected=true]")
        expect(chosen).to_have_attribute("href", f"/runs/{scene.finished}")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/runs/{scene.finished}")


def test_times_in_the_readers_zone(browser: Browser, site: str, scene: PageScene) -> None:
    context = browser.new_context(base_url=site, timezone_id="Asia/Tokyo")
    page = context.new_page()
    opened(page, f"/runs/{scene.finished}")
    expect(page.locator("[data-times-target=zone]")).to_contain_text("Asia/Tokyo")
    page.get_by_role("button", name="Show time of day").click()
    moment = page.locator("main time:not([data-relative-time-form])").first
    shown = moment.evaluate(
        "each => new Date(each.dateTime).toLocaleTimeString('en-GB',"
        " { timeZone: 'Asia/Tokyo', hour: '2-digit', minute: '2-digit' })"
    )
    expect(moment).to_contain_text(shown)
    assert (moment.get_attribute("title") or "").endswith(" UTC")
    opened(page, "/runs")
    expect(page.get_by_role("button", name="Show how long ago")).to_be_visible()
    context.close()


def test_a_narrow_screen_begins_with_a_few_cards(browser: Browser, site: str, scene: PageScene) -> None:
    with window(browser, site, width=360) as page:
        opened(page, f"/runs/{scene.finished}")
        assert page.locator("#episodes tbody tr:visible").count() == 8
        page.locator("#episodes .only-cards").click()
        assert page.locator("#episodes tbody tr:visible").count() > 20
