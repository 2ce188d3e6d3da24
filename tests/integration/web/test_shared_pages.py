"""Pages that many readers share: computed once while nothing changes, and never older than the last commit."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import event, func, select, update

from backend.config import Settings
from backend.db.models import AgentConfiguration, UserAccount
from backend.services.configurations import configurations
from backend.web.app import create_app
from backend.web.dependencies import MOST_SESSIONS
from backend.web.shared_pages import SHARED_SECONDS, PageStore
from tests.factories.accounts import team
from tests.factories.records import World
from tests.integration.web.conftest import OWN, counted
from tests.waiting import until

PAGE = {"Accept": "text/html", "Accept-Encoding": "gzip"}
OTHERS = 60
Answers = Sequence[httpx.Response]


@pytest.fixture
def app(installation: World, tmp_path: Path) -> FastAPI:
    installation.submit("noop")
    return create_app(Settings(data_dir=tmp_path), installation.factory, installation.store)


def fetched(app: FastAPI, *groups: Sequence[str], headers: Mapping[str, str] = PAGE) -> list[Answers]:
    """The answers to addresses; those of a group are asked for at once, the groups one after the other."""

    async def work() -> list[Answers]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=OWN, headers=headers) as client:
            return [await asyncio.gather(*map(client.get, group)) for group in groups]

    return asyncio.run(work())


class TestLifespan:
    def test_lifespan_starts_and_stops_background_work(self, app: FastAPI) -> None:
        with TestClient(app, base_url=OWN) as client:  # Servers go on without it where an application refuses it.
            assert client.get("/livez").status_code == 200


class TestSharedPages:
    def test_a_second_reader_costs_one_statement(self, app: FastAPI, installation: World) -> None:
        fetched(app, ["/"])
        with counted(installation) as alone:
            fetched(app, ["/"])
        with counted(installation) as both:
            (first,), (second,) = fetched(app, ["/"], ["/"])
        assert both.statements == alone.statements + 1
        assert second.content == first.content
        for each in (first, second):
            del each.headers["X-Request-ID"]
        assert second.headers == first.headers

    def test_readers_at_once_have_the_page_computed_once(self, app: FastAPI, installation: World) -> None:
        fetched(app, ["/runs"])
        with counted(installation) as alone:
            fetched(app, ["/runs"])
        with counted(installation) as many:
            (answers,) = fetched(app, ["/runs"] * 30)
        assert len({answer.content for answer in answers}) == 1
        # All readers ask for what is committed with one or two statements.
        assert many.statements <= alone.statements + 1

    def test_shows_every_change_that_was_committed_before(self, app: FastAPI, installation: World) -> None:
        with installation.work() as session:
            configuration = session.scalars(select(AgentConfiguration.id)).one()

        async def read_after_each_write() -> None:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=OWN, headers=PAGE) as client:
                for number in range(20):
                    installation.do(configurations.rename, configuration, f"name-{number}-")
                    page = await client.get("/configurations")
                    assert f"name-{number}-" in page.text
                    assert (await client.get("/configurations")).content == page.content

        asyncio.run(read_after_each_write())

    def test_a_reader_who_has_the_page_gets_no_body(self, app: FastAPI) -> None:
        ((page,),) = fetched(app, ["/runs"])
        known = {**PAGE, "If-None-Match": page.headers["etag"]}
        (computed,), (shared,) = fetched(app, ["/runs"], ["/runs"], headers=known)
        for answer in (computed, shared):
            assert (answer.status_code, answer.content) == (304, b"")
            assert answer.headers["etag"] == page.headers["etag"]
        ((whole,),) = fetched(app, ["/runs"])
        assert whole.status_code == 200
        assert whole.text == page.text

    @pytest.mark.parametrize("form", ["/runs/new", "/studies/new"])
    def test_a_form_with_a_key_belongs_to_one_reader(self, app: FastAPI, form: str) -> None:
        (answers,) = fetched(app, [form] * 3)
        keys = {re.search(r'name="key" value="(\w+)"', answer.text).group(1) for answer in answers}  # type: ignore[union-attr]
        assert len(keys) == len(answers)

    def test_cookies_and_encodings_have_pages_of_their_own(self, app: FastAPI) -> None:
        light, dark = (
            fetched(app, ["/runs"], headers={**PAGE, "Cookie": f"theme={theme}"})[0][0] for theme in ("light", "dark")
        )
        assert light.text != dark.text
        plain = fetched(app, ["/runs"], headers={**PAGE, "Accept-Encoding": "identity"})[0][0]
        assert "content-encoding" not in plain.headers

    def test_errors_and_files_are_not_shared(self, app: FastAPI) -> None:
        (missing, table), (again, same) = fetched(app, *[["/benchmarks/none", "/runs.csv"]] * 2)
        assert missing.status_code == again.status_code == 404
        assert "text/html" in missing.headers["content-type"]
        assert table.text == same.text

    def test_is_computed_again_after_a_second(self, app: FastAPI, installation: World) -> None:
        clock = [0.0]
        app.state.edge.pages = PageStore(installation.factory, now=lambda: clock[0])

        async def statements() -> list[int]:
            numbers = []
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=OWN, headers=PAGE) as client:
                for seconds in (0.0, 0.9 * SHARED_SECONDS, 1.1 * SHARED_SECONDS):
                    clock[0] = seconds
                    with counted(installation) as reads:
                        await client.get("/runs")
                    numbers.append(reads.statements)
            return numbers

        first, shared, later = asyncio.run(statements())
        assert shared == 1
        assert min(first, later) > 1

    def test_a_board_is_computed_again_for_acts_and_roll_ups_not_for_steps(
        self, app: FastAPI, installation: World
    ) -> None:
        clock, board = [0.0], "/leaderboards/starter"
        app.state.edge.pages = PageStore(installation.factory, now=lambda: clock[0])
        worker = installation.worker()

        async def work() -> list[bool]:
            computed = []
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=OWN, headers=PAGE) as client:

                async def read() -> None:
                    with counted(installation) as reads:
                        assert (await client.get(board)).status_code == 200
                    computed.append(reads.statements > 1)

                await read()
                claim = installation.must_claim(worker)
                await read()
                installation.score(claim)
                installation.roll_up()
                await read()
                query = {"benchmark": "starter", "name": "mine", "query": {"sort": "success"}}
                answer = await client.post("/api/v1/saved-views", json=query, headers={"Accept": "application/json"})
                assert answer.status_code == 201
                await read()
                await read()
                clock[0] = 1.1 * SHARED_SECONDS
                await read()
            return computed

        assert asyncio.run(work()) == [True, False, True, True, False, True]

    def test_a_board_is_sent_again_while_somebody_has_it_computed(self, app: FastAPI, installation: World) -> None:
        clock, board = [0.0], "/leaderboards/starter"
        app.state.edge.pages = PageStore(installation.factory, now=lambda: clock[0])

        async def work() -> tuple[int, int]:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=OWN, headers=PAGE) as client:
                with counted(installation) as first:
                    await client.get(board)
                clock[0] = 1.1 * SHARED_SECONDS
                with counted(installation) as again:
                    answers = await asyncio.gather(*[client.get(board) for _ in range(20)])
                assert {answer.status_code for answer in answers} == {200}
                return first.statements, again.statements

        first, again = asyncio.run(work())
        assert again <= first + 1  # All ask for what is committed with one or two statements; one computes.

    def test_cached_pages_are_per_person(self, installation: World, tmp_path: Path) -> None:
        with team(installation, tmp_path) as people:
            browsers = {name: people.add(name, admin=name == "benedict") for name in ("ada", "benedict")}
            texts = {name: browser.get("/runs", headers=PAGE).text for name, browser in browsers.items()}
            assert [name in texts[name] for name in texts] == [True, True]
            assert "benedict" not in texts["ada"]
            assert browsers["ada"].get("/people", headers=PAGE).status_code == 403
            assert browsers["benedict"].get("/people", headers=PAGE).status_code == 200
            assert browsers["ada"].get("/people", headers=PAGE).status_code == 403
            installation.do(lambda session: session.execute(update(UserAccount).values(disabled_at=func.now())))
            # Another process is told within a second, see `docs/security.md`.
            until(lambda: {browser.get("/runs", headers=PAGE).status_code for browser in browsers.values()} == {303})


class TestOpenSession:
    def test_waits_for_its_turn_without_a_connection(self, app: FastAPI, installation: World) -> None:
        pool, most = installation.factory.kw["bind"].pool, [0]

        def note(*_: object) -> None:
            most[0] = max(most[0], pool.checkedout())

        event.listen(pool, "checkout", note)
        try:
            (answers,) = fetched(app, [f"/runs?q={number}" for number in range(OTHERS)])
        finally:
            event.remove(pool, "checkout", note)
        assert {answer.status_code for answer in answers} == {200}
        # One more asks for what is committed.
        assert most[0] <= MOST_SESSIONS + 1
