"""A team lead's board in a real browser: what is ranked, what is not and why, common tasks, conditions, comparison."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.chromium import opened, usable, window
from tests.factories.site import served
from tests.factories.team_board import team_installation

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]
BOARD = "/leaderboards/starter"


@pytest.fixture(scope="module")
def site(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with team_installation(postgres_server) as team, served(team, tmp_path_factory.mktemp("data")) as address:
        yield address


@pytest.fixture
def page(browser: Browser, site: str) -> Iterator[Page]:  # noqa: F811 - the fixture
    with window(browser, site) as page:
        opened(page, BOARD)
        yield page


def names(page: Page, section: str) -> list[str]:
    """The configurations of a table, in its order."""
    return page.locator(f"#{section} tbody th a").all_inner_texts()


def tick(page: Page, *configurations: str) -> None:
    for name in configurations:
        page.get_by_role("checkbox", name=f"Tick {name}", exact=True).check()


class TestRanking:
    def test_complete_and_comparable_rows_are_ranked(self, page: Page) -> None:
        assert names(page, "ranked") == ["beta", "alpha"]
        assert page.locator("#ranked .rank").all_inner_texts() == ["1", "2"]

    def test_the_others_say_why_not(self, page: Page) -> None:
        rows = page.locator("#not-ranked tbody tr")
        reasons = {
            (row.locator("th a").inner_text(), code)
            for row in rows.all()
            for code in row.locator("[data-reason]").evaluate_all("all => all.map(each => each.dataset.reason)")
        }
        assert rows.count() == 6
        assert {("gamma", "lost"), ("delta", "partial"), ("alpha", "conditions"), ("beta", "conditions")} <= reasons
        row = page.locator("#not-ranked tr", has=page.locator("[data-reason=lost]"))
        expect(row.locator("[data-reason=lost]")).to_have_text("8 % lost")

    def test_everybody_can_use_it(self, page: Page) -> None:
        usable(page)


class TestChoices:
    def test_common_tasks_rank_everybody_under_the_conditions(self, page: Page) -> None:
        page.get_by_role("checkbox", name="Common tasks only").check()
        expect(page.locator("#ranked .rank")).to_have_count(4)
        assert sorted(names(page, "ranked")) == ["alpha", "beta", "delta", "gamma"]

    def test_other_conditions_rank_their_own_rows(self, page: Page) -> None:
        fifty = page.locator("select[name=conditions] option").filter(has_text="50 steps")
        page.locator("select[name=conditions]").select_option(fifty.get_attribute("value"))
        expect(page.locator("#ranked .rank")).to_have_count(1)
        assert names(page, "ranked") == ["alpha"]

    def test_ticked_rows_are_ranked_on_their_common_tasks(self, page: Page) -> None:
        button = page.get_by_role("button", name="Rank on their common tasks")
        expect(button).to_be_disabled()
        tick(page, "alpha", "gamma")
        button.click()
        expect(page.locator("#ranked .rank")).to_have_count(2)
        assert sorted(names(page, "ranked")) == ["alpha", "gamma"]


class TestCompare:
    def test_by_tick_boxes_and_keyboard_alone(self, page: Page) -> None:
        button = page.get_by_role("button", name="Compare", exact=True)
        expect(button).to_be_disabled()
        for name in ("alpha", "delta"):
            page.get_by_role("checkbox", name=f"Tick {name}", exact=True).focus()
            page.keyboard.press("Space")
        expect(page.locator("[data-choice-target=count]")).to_contain_text("2 of 2 to 8")
        button.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/compare?**")
        expect(page.locator("#answer .answer")).to_have_count(1)


class TestSharing:
    def test_a_view_is_saved_and_shown_to_others(self, page: Page) -> None:
        page.goto(f"{BOARD}?common=true&column=steps")
        page.get_by_text("Save view").click()
        page.get_by_label("Name", exact=True).fill("on common tasks")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator("#views [aria-current]")).to_have_text("on common tasks")
        page.get_by_role("button", name="Copy link").click()
        expect(page.locator(".toast")).to_be_visible()
        page.get_by_role("link", name="Share").click()
        usable(page)
        page.get_by_role("button", name="Create link").click()
        address = page.get_by_label("Address").input_value()
        page.goto(address)
        expect(page.locator("#ranked .rank")).to_have_count(4)
        assert page.locator("main a, main form, nav").count() == 0
        usable(page)
