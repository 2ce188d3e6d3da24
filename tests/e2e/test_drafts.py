"""Text typed into any form survives a reload, a failed submit and a way back, until it is sent."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.chromium import opened, usable, window
from tests.factories.scene import PageScene

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400), pytest.mark.sampled(2, of="form")]
NOTE = ".draft-note"


def kept(page: Page) -> dict[str, str]:
    """Drafts that the browser keeps, by form."""
    drafts: dict[str, str] = page.evaluate(
        "Object.fromEntries(Object.entries(localStorage).filter(([name]) => name.startsWith('draft:')))"
    )
    return drafts


def test_a_study_survives_a_reload_a_failed_submit_and_a_way_back(browser: Browser, site: str) -> None:
    with window(browser, site, refusals=True) as page:
        opened(page, "/studies/new")
        expect(page.locator(NOTE)).to_have_count(0)
        page.locator("#name").fill("scale")
        page.locator("#params").fill('{"model": ')
        page.locator("#preset").select_option(index=1)
        page.get_by_label("Every combination").check()
        page.locator("h1").click()
        page.reload()
        expect(page.locator(NOTE)).to_be_visible()
        expect(page.locator("#name")).to_have_value("scale")
        expect(page.get_by_label("Every combination")).to_be_checked()
        usable(page)
        page.get_by_role("button", name="Start study").click()
        expect(page.locator("#error-params")).to_be_visible()
        expect(page.locator("#params")).to_have_value('{"model": ')
        expect(page.locator(NOTE)).to_have_count(0)
        page.go_back()
        expect(page.locator("#params")).to_have_value('{"model": ')
        opened(page, "/studies/new")
        expect(page.locator("#params")).to_have_value('{"model": ')
        expect(page.locator("#preset")).not_to_have_value("")
        page.locator(NOTE).get_by_role("button").click()
        expect(page.locator("#name")).to_have_value("")
        expect(page.locator("#preset")).to_have_value("")
        assert kept(page) == {}
        page.reload()
        expect(page.locator("#params")).to_have_value("")
        expect(page.locator(NOTE)).to_have_count(0)


def test_every_form_keeps_its_text(browser: Browser, site: str, scene: PageScene) -> None:
    fields = {
        "/tasks/drafts": "#instruction",
        "/notifications": "#address",
        f"/episodes/{scene.solved}": "#comment-text",
        "/leaderboards/starter/sharing": "input[name=title]",
    }
    with window(browser, site) as page:
        for address, field in fields.items():
            opened(page, address)
            page.locator(field).fill("not sent yet")
        assert len(kept(page)) == len(fields)
        for address, field in fields.items():
            opened(page, address)
            expect(page.locator(field)).to_have_value("not sent yet")
            expect(page.locator(NOTE)).to_have_count(1)


def test_accepted_input_is_forgotten(browser: Browser, site: str, scene: PageScene) -> None:
    with window(browser, site, refusals=True) as page:
        # Refused, and sent back without what was typed.
        opened(page, "/notifications")
        page.locator("#address").fill("no address")
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.locator("#new .note.bad")).to_be_visible()
        expect(page.locator("#address")).to_have_value("no address")
        page.locator("#address").fill("https://ci.example.org/deskarena")
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.locator("h1")).to_contain_text("ci.example.org")
        page.locator("html[data-ready]").wait_for(state="attached")
        assert kept(page) == {}
        # A comment leads back to its page.
        opened(page, f"/episodes/{scene.solved}")
        page.locator("#comment-person").fill("ada")
        page.locator("#comment-text").fill("The menu was closed.")
        page.locator("#comments").get_by_role("button", name="Comment").click()
        expect(page.locator("#comments li")).to_contain_text("The menu was closed.")
        page.locator("html[data-ready]").wait_for(state="attached")
        expect(page.locator("#comment-text")).to_have_value("")
        assert kept(page) == {}


def test_input_survives_an_outage(browser: Browser, site: str) -> None:
    context = browser.new_context(base_url=site)
    page = context.new_page()
    opened(page, "/studies/new")
    page.locator("#name").fill("scale")
    context.route("**/studies/new", lambda route: route.fulfill(status=502, body="Bad gateway"))
    page.get_by_role("button", name="Start study").click()
    expect(page.locator("body")).to_have_text("Bad gateway")
    context.unroute("**/studies/new")
    opened(page, "/studies/new")
    expect(page.locator("#name")).to_have_value("scale")
    context.close()


def test_a_new_run_survives_a_failed_submit(browser: Browser, site: str) -> None:
    with window(browser, site, refusals=True) as page:
        opened(page, "/runs/new")
        page.locator("#name").fill("nightly")
        expect(page).to_have_url(re.compile("name=nightly"))
        page.locator("input[name=repeats]").fill("1000")
        page.locator("form[data-controller=new-run]").evaluate(
            "(form) => { form.noValidate = true; form.requestSubmit(); }"
        )
        expect(page.locator("main .note.bad")).to_be_visible()
        expect(page.locator("[data-new-run-target=draft]")).to_be_hidden()
        opened(page, "/runs/new")
        page.locator("[data-new-run-target=restore]").click()
        expect(page.locator("#name")).to_have_value("nightly")
