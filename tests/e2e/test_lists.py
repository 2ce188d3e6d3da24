"""Common parts of every list in a browser, the search over everything, and times as the reader chose."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.chromium import opened, usable, window
from tests.factories.scene import PageScene

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300), pytest.mark.sampled(3, of="list")]


def column(page: Page, name: str) -> list[str]:
    """Texts of a column of the run's episodes."""
    heads = [text.strip() for text in page.locator("#episodes thead th").all_text_contents()]
    return page.locator(f"#episodes tbody tr > :nth-child({heads.index(name) + 1})").all_inner_texts()


def steps(page: Page) -> list[int]:
    return [int(text.split()[0]) for text in column(page, "Steps") if text != "–"]


def test_sort_find_and_columns(browser: Browser, site: str, scene: PageScene) -> None:
    address = f"/runs/{scene.finished}"
    with window(browser, site) as page:
        opened(page, address)
        own = column(page, "Task")
        page.locator("#episodes").get_by_role("link", name="Steps", exact=True).click()
        expect(page.locator("#episodes th[aria-sort=ascending]")).to_contain_text("Steps")
        numbers = steps(page)
        assert numbers == sorted(numbers)
        page.locator("#episodes").get_by_role("link", name="Steps", exact=True).click()
        expect(page.locator("#episodes th[aria-sort=descending]")).to_contain_text("Steps")
        assert steps(page) == numbers[::-1] == sorted(numbers, reverse=True)
        assert "sort=-steps" in page.url
        # The way back leads through each order.
        page.go_back()
        expect(page.locator("#episodes th[aria-sort=ascending]")).to_contain_text("Steps")
        page.go_back()
        expect(page.locator("#episodes th[aria-sort]")).to_have_count(0)
        assert column(page, "Task") == own
        page.locator("#episodes .columns summary").click()
        page.locator("#episodes .columns").get_by_role("link", name="Hide Steps").click()
        expect(page.locator("#episodes thead th", has_text="Steps")).to_be_hidden()
        shared = page.url
        # Who has hidden a column does not see it on the next visit; the link shows the same to others.
        opened(page, f"/runs/{scene.pilot}")
        expect(page.locator("#episodes thead th", has_text="Steps")).to_be_hidden()
        assert "hide=steps" in page.url
        page.locator("#episodes input[name=q]").fill("make-link")
        page.keyboard.press("Enter")
        page.wait_for_url("**q=make-link*")
        found = column(page, "Task")
        assert found
        assert all("make-link" in text for text in found)
        page.evaluate("scrollTo(0, 0)")
        usable(page)
    with window(browser, site) as other:
        opened(other, shared)
        expect(other.locator("#episodes thead th", has_text="Steps")).to_be_hidden()


def test_lists_work_without_scripts(browser: Browser, site: str, scene: PageScene) -> None:
    context = browser.new_context(base_url=site, java_script_enabled=False)
    page = context.new_page()
    page.goto("/runs")
    page.get_by_role("link", name="Run", exact=True).click()
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Run")
    assert "sort=run" in page.url
    titles = [text.split("\n")[0].lower() for text in page.locator("tbody th a").all_inner_texts()]
    assert len(titles) > 2
    page.locator(".columns summary").click()
    page.locator(".columns").get_by_role("link", name="Hide Time").click()
    expect(page.locator("thead th", has_text="Time")).to_be_hidden()
    page.locator("input[name=q]").fill("nothing has this name")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("[data-empty=no-matches]")).to_be_visible()
    assert "sort=run" in page.url
    context.close()


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


def test_narrow_screen_starts_with_a_few_cards(browser: Browser, site: str, scene: PageScene) -> None:
    with window(browser, site, width=360) as page:
        opened(page, f"/runs/{scene.finished}")
        rows, show = page.locator("#episodes tbody tr:visible"), page.get_by_role("button", name="Show Episodes")
        expect(show).to_have_attribute("aria-expanded", "false")
        expect(rows).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollHeight") < 6000
        show.click()
        expect(rows).to_have_count(8)
        # What a link leads to is open, and what somebody prints is whole.
        opened(page, f"/runs/{scene.finished}?#episodes")
        expect(rows).to_have_count(8)
        page.get_by_role("button", name="Hide Episodes").click()
        expect(rows).to_have_count(0)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(rows).to_have_count(8)
        page.locator("#episodes .only-cards").click()
        assert page.locator("#episodes tbody tr:visible").count() > 20
