"""The form for a new run in a real browser."""

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.chromium import opened, usable, window

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]


class TestNewRun:
    def test_the_forecast_follows_the_form(self, browser: Browser, site: str) -> None:  # noqa: F811
        with window(browser, site) as page:
            opened(page, "/runs/new")
            episodes = page.locator("#forecast .value").first
            expect(episodes).to_have_text("23")
            page.locator("input[name=repeats]").fill("3")
            expect(episodes).to_have_text("69")
            page.locator("input[type=checkbox][value='files/*']").check()
            expect(episodes).to_have_text("15")
            assert "repeats=3" in page.url
            assert "tasks=files" in page.url
            page.reload()
            expect(episodes).to_have_text("15")

    def test_tasks_of_a_large_benchmark_are_listed_when_opened_or_searched(
        self,
        browser: Browser,
        site: str,  # noqa: F811
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("backend.services.runs.views.new_run.MOST_TASKS", 5)
        with window(browser, site) as page:
            opened(page, "/runs/new")
            episodes, boxes = page.locator("#forecast .value").first, page.locator("[data-new-run-target=task]")
            expect(boxes).to_have_count(0)
            page.locator(".domain", has_text="files").locator("summary").click()
            expect(boxes).to_have_count(5)
            boxes.first.check()
            expect(episodes).to_have_text("1")
            ticked = boxes.first.get_attribute("value")
            page.locator("#find-task").fill("wORKBOOK")
            expect(page.locator(".domain:visible").first).to_be_visible()
            expect(page.locator(f"[data-new-run-target=task][value='{ticked}']")).to_be_checked()
            usable(page)
            page.reload()
            expect(episodes).to_have_text("1")
            expect(page.locator(f"[data-new-run-target=task][value='{ticked}']")).to_be_checked()
