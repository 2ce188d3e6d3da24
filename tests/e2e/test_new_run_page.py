"""The form for a new run in a real browser."""

import re

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import func, select

from backend.db.models import Run
from tests.e2e.chromium import opened, usable, window
from tests.factories.scene import PageScene

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]


@pytest.mark.sampled(2)
class TestNewRun:
    def test_the_forecast_follows_the_form(self, browser: Browser, site: str) -> None:
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
        site: str,
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

    def test_draft_survives_and_problems_show_at_their_field(
        self,
        browser: Browser,
        site: str,
    ) -> None:
        with window(browser, site) as page:
            opened(page, "/runs/new")
            expect(page.locator("[data-new-run-target=draft]")).to_be_hidden()
            page.locator("#repeats").fill("3")
            page.locator("#max_steps").fill("0")
            slot = page.locator("#error-budget-max_steps")
            expect(slot).to_contain_text("ust be at least 1")
            expect(page.locator("#max_steps")).to_have_attribute("aria-invalid", "true")
            page.locator("h1").click()
            usable(page)
            page.locator("#max_steps").fill("4")
            expect(slot).to_be_hidden()
            page.locator("h1").click()
            page.keyboard.press("n")
            page.keyboard.press("?")
            expect(page.locator("#help")).to_be_hidden()
            assert "repeats=3" in page.url
            opened(page, "/runs")
            opened(page, "/runs/new")
            usable(page)
            page.locator("[data-new-run-target=restore]").click()
            expect(page.locator("#repeats")).to_have_value("3")
            expect(page.locator("#max_steps")).to_have_value("4")
            opened(page, "/runs/new")
            page.locator("[data-new-run-target=discard]").click()
            page.reload()
            expect(page.locator("[data-new-run-target=draft]")).to_be_hidden()

    def test_two_quick_clicks_start_one_run(self, browser: Browser, site: str, scene: PageScene) -> None:
        def runs() -> int:
            with scene.world.work() as session:
                return session.scalars(select(func.count()).select_from(Run)).one()

        before = runs()
        with window(browser, site) as page:
            opened(page, "/runs/new?agent=noop")
            page.locator("form[data-controller=new-run]").evaluate(
                "(form) => { form.requestSubmit(); form.requestSubmit(); }"
            )
            page.wait_for_url(re.compile("/runs/[0-9a-f-]{36}$"))
        assert runs() == before + 1
