"""The documentation site in a real browser, as the service serves it."""

import threading
from collections.abc import Iterator

import pytest
import uvicorn
from playwright.sync_api import Browser, expect

from backend.config import Settings
from backend.web.app import create_app
from backend.web.static_files import DOCS_SITE
from tests.e2e.chromium import usable, window
from tests.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service; the documentation needs no database."""
    if not (DOCS_SITE / "index.html").is_file():
        pytest.skip("needs the documentation site (`make docs`)")
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("data")))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws="websockets-sansio", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started, 30, what="the service answers")
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)


class TestSite:
    def test_the_address_without_a_slash_leads_to_it(self, browser: Browser, site: str) -> None:  # noqa: F811
        with window(browser, site) as page:
            page.goto("/docs")
            expect(page).to_have_url(f"{site}/docs/")
            expect(page.get_by_role("heading", level=1)).to_be_visible()

    def test_the_search_finds_a_page(self, browser: Browser, site: str) -> None:  # noqa: F811
        with window(browser, site) as page:
            page.goto("/docs/")
            page.keyboard.press("/")
            page.keyboard.type("fencing token")
            page.keyboard.press("Enter")
            page.locator("#search-results a", has_text="Concepts").first.click()
            expect(page.get_by_role("heading", level=1)).to_contain_text("Concepts")

    def test_the_api_reference_is_reached_from_it(self, browser: Browser, site: str) -> None:  # noqa: F811
        with window(browser, site) as page:
            page.goto("/docs/api.html")
            page.get_by_role("link", name="API reference").first.click()
            expect(page.get_by_text("POST /api/v1/runs", exact=True)).to_be_visible()

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("name", ["index", "cli", "benchmarks/starter", "search", "adding/agent"])
    def test_is_usable_by_everybody_and_on_a_phone(self, browser: Browser, site: str, name: str) -> None:  # noqa: F811
        with window(browser, site) as page:
            page.goto(f"/docs/{name}.html")
            usable(page)

    def test_takes_the_theme_that_was_chosen_in_the_service(self, browser: Browser, site: str) -> None:  # noqa: F811
        with window(browser, site) as page:
            page.context.add_cookies([{"name": "theme", "value": "dark", "url": site}])
            page.goto("/docs/concepts.html")
            expect(page.locator("html")).to_have_attribute("data-theme", "dark")
