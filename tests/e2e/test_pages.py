"""The pages in a real browser: usable by everybody (axe-core), readable at every width, nothing from elsewhere."""

import re
import zipfile
from collections.abc import Iterator, Mapping

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from backend.services import events
from tests.e2e.chromium import OF_COLOURS, RULES, laid_out, opened, window
from tests.factories import pictures
from tests.factories.scene import PageScene
from tests.sampling import sample
from tests.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]
PAGES = 3
"""That `make test` looks at, drawn by the seed; `make test-daily` looks at all."""


def addresses(scene: PageScene) -> dict[str, str]:
    return {
        "home": "/",
        "wall": "/wall",
        "runs": "/runs",
        "new run": "/runs/new",
        "run": f"/runs/{scene.finished}",
        "episode": f"/episodes/{scene.solved}?step=0",
        "hostile episode": f"/episodes/{scene.hostile}",
        "lost episode": f"/episodes/{scene.lost}",
        "compare": f"/compare?run={scene.finished}&run={scene.pilot}&run={scene.live}&label=domain",
        "runs to compare": f"/compare?run={scene.finished}",
        "failures side by side": f"/compare/failures?run={scene.finished}&run={scene.pilot}",
        "two episodes": f"/compare/episodes?episode={scene.solved}&episode={scene.hostile}",
        "benchmarks": "/benchmarks",
        "benchmark": "/benchmarks/starter",
        "leaderboard": "/leaderboards/starter",
        "process": f"/runs/{scene.finished}/process",
        "failures": f"/runs/{scene.finished}/failures",
        "workers": "/workers",
        "studies": "/studies",
        "new study": "/studies/new",
        "study": f"/studies/{scene.study}",
        "exports": "/exports",
        "wrong exports": "/exports?measure=CR&form=chat",
        "person": f"/runs/{scene.human}/human",
        "person's run": f"/runs/{scene.human}",
        "api": "/docs/api-reference",
        "login": "/login",
    }


def violations(page: Page, where: str, rules: Mapping[str, object]) -> list[str]:
    """Violations that axe-core finds: rules with the first elements that break them."""
    items = Axe().run(page, options=dict(rules)).response["violations"]
    return [f"{where}: {item['id']}: {node['html'][:160]}" for item in items for node in item["nodes"][:4]]


def too_wide(page: Page, where: str) -> Iterator[str]:
    """The widths, in pixels, at which something sticks out of the page."""
    for width in (360, 768, 3840, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if over > 0:
            yield f"{where} is {over} px too wide at {width}"


class TestEveryPage:
    def test_axe_finds_nothing_and_nothing_sticks_out(self, browser: Browser, site: str, scene: PageScene) -> None:
        wrong: list[str] = []
        with window(browser, site) as page:
            for name, address in sample(list(addresses(scene).items()), PAGES, daily=True):
                page.emulate_media(color_scheme="light")
                opened(page, address)
                laid_out(page)
                wrong += violations(page, f"{name}, light", RULES)
                page.emulate_media(color_scheme="dark")
                wrong += violations(page, f"{name}, dark", OF_COLOURS)
                wrong += too_wide(page, name)
        assert wrong == []


class TestPaper:
    def test_content_alone_is_printed(self, browser: Browser, site: str, scene: PageScene) -> None:
        with window(browser, site, width=718) as page:
            page.emulate_media(media="print")
            for name in ("run", "leaderboard", "episode"):
                opened(page, addresses(scene)[name])
                assert page.locator("main :is(button, .btn, input[type=checkbox]):visible").count() == 0, name
                over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert over <= 0, name
                assert page.locator(".panel table:visible").count() > 1, name
                assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


class TestHostileWords:
    def test_hostile_text_is_shown_and_not_executed(self, browser: Browser, site: str, scene: PageScene) -> None:
        with window(browser, site) as page:
            page.on("dialog", lambda _: pytest.fail("a script of a task ran"))
            opened(page, f"/episodes/{scene.hostile}")
            expect(page.locator(".step .explanation").first).to_contain_text("<script>document.title")
            expect(page.locator(".tree .role").first).to_be_visible()
            assert "owned" not in page.title()


class TestCompare:
    def test_ticked_runs_are_compared_with_the_oldest(self, browser: Browser, site: str, scene: PageScene) -> None:
        with window(browser, site) as page:
            opened(page, "/runs")
            button = page.locator("[data-choice-target=button]")
            expect(button).to_be_disabled()
            for run in (scene.pilot, scene.finished):
                page.locator(f"input[name=run][value='{run}']").check()
            button.click()
            page.wait_for_url(f"**/compare?run={scene.finished}&run={scene.pilot}")
            expect(page.locator("#answer .answer")).to_have_count(1)

    def test_one_scrubber_moves_both_episodes(self, browser: Browser, site: str, scene: PageScene) -> None:
        with window(browser, site) as page:
            opened(page, f"/compare/episodes?episode={scene.solved}&episode={scene.hostile}&at=0")
            images = [page.locator(f"[data-versus-target={side}] [data-part=image]") for side in ("first", "second")]
            first = [image.get_attribute("src") or "" for image in images]
            page.keyboard.press("j")
            for image, source in zip(images, first, strict=True):
                expect(image).not_to_have_attribute("src", source)
            expect(page).to_have_url(re.compile("at=1"))
            expect(page.locator("[data-versus-target=words]:visible")).to_have_attribute("data-row-number", "1")
            page.locator("[data-versus-target=scrub]").focus()
            page.keyboard.press("Home")
            for image, source in zip(images, first, strict=True):
                expect(image).to_have_attribute("src", source)
            different = page.locator(".step[data-same=no]").first
            page.keyboard.press("d")
            expect(different).to_have_attribute("aria-current", "step")


class TestLive:
    def test_frames_change_only_while_somebody_watches(self, browser: Browser, site: str, scene: PageScene) -> None:
        attempt = scene.attempts[0]
        until(lambda: events.watched_width(attempt) == 0, 30, what="the pages of other tests are closed")
        with window(browser, site) as page:
            opened(page, "/")
            until(lambda: events.watched_width(attempt) >= 1, 30, what="the worker knows that somebody watches")
            seen = set()
            tile = page.locator(f"[data-attempt='{attempt}']")
            for number in range(1, 4):
                events.put_frame(attempt, number, pictures.desktop("live", number), {"width": 1280, "height": 720})
                expect(tile).to_have_attribute("data-frame-seq", str(number), timeout=60_000)
                seen.add(tile.locator("img").get_attribute("src"))
            assert len(seen) == 3
            # A newer version of the page leaves alone what the browser has set.
            page.evaluate(
                "document.getElementById('main').setAttribute('data-older', ''),"
                "document.dispatchEvent(new Event('visibilitychange'))"
            )
            expect(page.locator("#main")).not_to_have_attribute("data-older", "", timeout=60_000)
            expect(tile).to_have_attribute("data-frame-seq", "3")
            # The mark of the page's own stream stays one: its words once replaced what was on the tiles.
            assert page.locator("[data-stream]").count() == 1
            expect(tile.locator(".name")).to_be_visible()
        until(lambda: events.watched_width(attempt) == 0, 30, what="nobody watches any more")


class TestExports:
    def test_counts_command_and_address_follow_the_form(self, browser: Browser, site: str) -> None:
        with window(browser, site) as page:
            opened(page, "/exports")
            number, command = page.locator("#export .value").first, page.get_by_label("Command")
            solved = number.inner_text()
            page.locator("input[name=kind][value=oracle]").check()
            expect(command).to_contain_text("--kind oracle")
            expect(number).not_to_have_text(solved)
            assert 0 < int(number.inner_text()) < int(solved)
            page.locator("input[name=measure]").fill("CR")
            expect(page.locator("#export")).to_contain_text("expected NAME>=VALUE")
            page.locator("input[name=measure]").fill("similarity>=0.5")
            expect(command).to_contain_text("--measure 'similarity>=0.5'")
            page.locator("input[value=chat]").check()
            expect(page.locator("#export a[download]")).to_have_attribute("href", re.compile("form=chat.*archive=zip"))
            page.reload()
            expect(page.locator("input[name=kind][value=oracle]")).to_be_checked()
            with page.expect_download() as waiting:
                page.locator("#export a[download]").click()
            with zipfile.ZipFile(waiting.value.path()) as archive:
                assert "manifest.json" in archive.namelist()


class TestLeaderboard:
    def test_the_chart_library_loads_only_for_a_chart(self, browser: Browser, site: str) -> None:
        with window(browser, site) as page:
            scripts: dict[str, int] = {}
            page.on("response", lambda got: scripts.update({got.url: len(got.body())}) if ".js" in got.url else None)
            opened(page, "/leaderboards/starter")
            page.locator("#by-domain").scroll_into_view_if_needed()
            expect(page.locator("#by-domain .chart[data-drawn=light] .bars path").first).to_be_attached(timeout=60_000)
            plotly = [address for address in scripts if "plotly" in address]
            assert len(plotly) == 1
            assert sum(size for address, size in scripts.items() if address not in plotly) < 150_000


class TestTheme:
    def test_theme_choice_is_remembered(self, browser: Browser, site: str) -> None:
        with window(browser, site) as page:
            opened(page, "/runs")
            page.locator("[data-controller~=theme]").click()
            expect(page.locator("html")).to_have_attribute("data-theme", "dark")
            opened(page, "/workers")
            expect(page.locator("html")).to_have_attribute("data-theme", "dark")


class TestKeyboard:
    def test_rows_search_and_help(self, browser: Browser, site: str) -> None:
        with window(browser, site) as page:
            opened(page, "/runs")
            page.keyboard.press("j")
            page.keyboard.press("j")
            expect(page.locator("tr[data-row]").nth(1)).to_have_class("at")
            page.keyboard.press("?")
            expect(page.locator("#help")).to_be_visible()
            page.keyboard.press("Escape")
            page.keyboard.press("/")
            expect(page.locator("input[name=q]")).to_be_focused()
