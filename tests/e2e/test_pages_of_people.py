"""Pages on which people write, judge and compare, in a real browser: usable by everybody, by keyboard alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from backend.services import events
from backend.services.accounts.projects import person
from backend.services.authoring import drafts
from tests import databases
from tests.e2e.chromium import opened, usable, window
from tests.factories.creative import creative_benchmark, creative_task, picture
from tests.factories.drafts import make_content
from tests.factories.records import World, world
from tests.factories.reviews import Judged, JudgedTask
from tests.factories.site import served
from tests.factories.submissions import hand_in
from tests.sampling import sample

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]
CREATIVE = "creative"
PAGES = 2
"""That `make test` looks at, drawn by the seed; `make test-daily` looks at all."""


def works(made: World) -> None:
    """Two agents' works and an expert's on one task."""
    made.benchmark(
        creative_benchmark(creative_task(expert="expert/one.png"), assets={"expert/one.png": picture((10, 250, 10))}),
        CREATIVE,
    )
    worker = made.worker(slots=2)
    for agent, data in (("noop", picture((250, 10, 10))), ("oracle", b"Dear all,")):
        made.submit(agent, benchmark=CREATIVE)
        hand_in(made, made.must_claim(worker), data)


@pytest.fixture(scope="module")
def pages(postgres_server: str, redis_url: str) -> Iterator[tuple[World, dict[str, str]]]:
    """An installation where everything waits for people; the pages' addresses by name."""
    events.configure(redis_url)
    with databases.copied(postgres_server) as url, world(url) as made:
        works(made)
        judged = Judged(made, [JudgedTask(opened=True, final=at < 1, level=f"L{at + 1}") for at in range(2)])
        judged.draw()
        judged.answered("ann")
        with made.work() as session:
            project, _ = made.who(session)
            ada = person(session, project, "ada")
            draft = drafts.create(session, make_content(), project=project, author=ada)
        yield (
            made,
            {
                "drafts": "/tasks/drafts",
                "draft": f"/tasks/drafts/{draft.id}",
                "judges": "/judges",
                "judge": f"/judges/{judged.judge}",
                "review, before a name": f"/judges/{judged.judge}/review",
                "review": f"/judges/{judged.judge}/review?as=ben",
                "pair": f"/compare/pairs?benchmark={CREATIVE}&person=ben",
                "submissions": f"/leaderboards/{CREATIVE}/submissions",
            },
        )
    events.configure("")


@pytest.fixture(scope="module")
def site(pages: tuple[World, dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The service of that installation."""
    folder: Path = tmp_path_factory.mktemp("data")
    with served(pages[0], folder) as address:
        yield address


class TestEveryPage:
    def test_is_usable(self, browser: Browser, site: str, pages: tuple[World, dict[str, str]]) -> None:  # noqa: F811
        wrong = {}
        with window(browser, site) as page:
            for name, address in sample(list(pages[1].items()), PAGES, daily=True):
                opened(page, address)
                try:
                    usable(page)
                except AssertionError as error:
                    wrong[name] = str(error)
        assert wrong == {}


class TestKeyboard:
    def test_a_name_is_enough(self, browser: Browser, site: str, pages: tuple[World, dict[str, str]]) -> None:  # noqa: F811
        with window(browser, site) as page:
            opened(page, pages[1]["review, before a name"])
            page.locator("#as").focus()
            page.keyboard.type("cleo")
            page.keyboard.press("Enter")
            page.wait_for_url("**as=cleo*")
            expect(page.locator("input[name=item]")).to_be_attached()
