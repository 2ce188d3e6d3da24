"""Pages over bad connections and on slow machines, in a real browser."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import httpx
import pytest
from playwright.sync_api import Browser, Route, WebSocket, expect

from backend.domain.model.episode import EndedBy
from backend.services import events
from backend.services.attempts import attempts
from backend.services.scheduling.claims import Claim
from backend.web.authoring.pages import LIST
from backend.web.dependencies import AppContext
from backend.web.events import event_socket
from tests import databases
from tests.e2e.chromium import opened, slow, window
from tests.factories import pictures
from tests.factories.drafts import make_content
from tests.factories.records import World, world
from tests.factories.scene import PageScene, abilities
from tests.factories.site import served
from tests.waiting import until
from tools.chaos.proxy import LinkMode, LinkProcess

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]
BEATS = 0.5
SILENT_MS = 3000
SIZE = {"width": 1280, "height": 720}


@contextmanager
def linked(site: str) -> Iterator[tuple[LinkProcess, str]]:
    """A connection to the service that can go silent, and the address at its end."""
    link = LinkProcess({"web": urlsplit(site).port or 0})
    try:
        yield link, f"http://127.0.0.1:{link.ports['web']}"
    finally:
        link.close()


def impatient(route: Route) -> None:
    """The real module, with 3 s in place of 45 s, so that the test need not wait as long."""
    text = route.fetch().text()
    assert "45_000" in text
    quick = text.replace("45_000", str(SILENT_MS)).replace("LOOK_MS = 5_000", "LOOK_MS = 200")
    route.fulfill(body=quick, content_type="text/javascript")


@pytest.fixture
def acting(postgres_server: str, scene: PageScene) -> Iterator[tuple[World, Claim]]:  # noqa: ARG001 - it has the broker.
    """An installation with one agent's episode under way."""
    with databases.copied(postgres_server) as url, world(url) as made:
        made.benchmark()
        worker = made.worker(capabilities=abilities())
        made.submit()
        claim = made.must_claim(worker)
        made.begin(claim)
        made.step(claim, 0, picture=pictures.desktop("first", 0))
        yield made, claim


class TestHalfOpenSocket:
    def test_page_replaces_a_silent_connection(
        self, browser: Browser, site: str, scene: PageScene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("backend.web.socket_lifetime.BEAT_SECONDS", BEATS)
        attempt = scene.attempts[0]
        with linked(site) as (link, address), window(browser, address) as page:
            sockets: list[WebSocket] = []
            page.on("websocket", lambda socket: sockets.append(socket))  # noqa: PLW0108 - Playwright marks it
            page.route("**/lib/socket*.js", impatient)
            opened(page, "/")
            tile, stream = page.locator(f"[data-attempt='{attempt}']"), page.locator("[data-stream]")
            until(lambda: events.watched_width(attempt) >= 1, what="the page watches")
            events.put_frame(attempt, 1, pictures.desktop("live", 1), SIZE, ttl=60.0)
            expect(tile).to_have_attribute("data-frame-seq", "1", timeout=60_000)
            expect(stream).to_have_text("live")
            # Beats alone keep a quiet connection: no socket is opened again.
            opened_before, quiet = len(sockets), next(one for one in sockets if one.url.endswith("/ws/events"))
            for _ in range(round(2 * SILENT_MS / 1000 / BEATS)):
                beat = quiet.wait_for_event("framereceived")
                assert json.loads(beat) == {"kind": "beat"}
            assert len(sockets) == opened_before
            # Nothing ends, nothing arrives: only the silence tells.
            link.set("web", LinkMode.MUTE)
            events.put_frame(attempt, 2, pictures.desktop("live", 2), SIZE, ttl=60.0)
            expect(tile).to_have_attribute("data-frame-seq", "2", timeout=60_000)
            expect(stream).to_have_text("live")
            assert len(sockets) > opened_before


class TestWithoutSockets:
    def test_page_falls_back_to_the_newest_step_and_says_so(
        self, browser: Browser, acting: tuple[World, Claim], tmp_path: Path
    ) -> None:
        made, claim = acting
        # No `window`: a socket that is refused is an error in the console.
        with served(made, tmp_path, sockets=False) as site, browser.new_page(base_url=site) as page:
            opened(page, f"/episodes/{claim.episode_id}")
            expect(page.locator(".live-age")).to_have_text("no live stream: newest step", timeout=60_000)
            expect(page.locator("[data-stream]")).to_have_text("no stream, read every 5 s")
            image = page.locator("[data-replay-target=image]")
            first = image.get_attribute("src")
            made.step(claim, 1, picture=pictures.desktop("second", 1))
            expect(page.locator("ol .step[aria-current]")).to_have_attribute("data-index", "1", timeout=60_000)
            expect(image).not_to_have_attribute("src", first or "")


class TestRefusedRead:
    def test_the_page_reads_again(self, browser: Browser, acting: tuple[World, Claim], tmp_path: Path) -> None:
        made, claim = acting
        # No `window`: a refused request is an error in the console.
        with served(made, tmp_path) as site, browser.new_page(base_url=site) as page:
            made.do(attempts.enter_evaluating, claim.fence, EndedBy.DONE, {})
            opened(page, f"/runs/{claim.run_id}")
            stream = page.locator("[data-stream]")
            expect(stream).to_have_text("live")
            page.wait_for_load_state("networkidle")  # It reads once when its stream opens.
            page.route(f"**/runs/{claim.run_id}", lambda route: route.fulfill(status=503), times=1)
            before = page.locator("#main").inner_text()
            made.score_only(claim)  # Nothing happens afterwards that would have it read.
            expect(stream).to_have_text("reconnecting", timeout=60_000)
            until(lambda: page.locator("#main").inner_text() != before, 60, what="the score is shown")
            expect(stream).to_have_text("live")


class TestSeveralStreams:
    def test_the_page_reads_again_when_a_late_stream_opens(
        self, browser: Browser, acting: tuple[World, Claim], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What happened in that run meanwhile is on no other stream."""
        made, _ = acting
        worker = made.worker("trials", node="n2", slots=6, capabilities=abilities())
        with served(made, tmp_path) as site, window(browser, site) as page, httpx.Client(base_url=site) as client:
            draft = {"content": make_content().model_dump(mode="json"), "by": "ada"}
            path = client.post("/api/v1/drafts", json=draft).headers["location"]
            client.post(f"{path}/trials", json={})
            path = path.replace("/api/v1/drafts", LIST)
            streams = re.findall(r"/ws/runs/([^/]+)/events", client.get(path, headers={"Accept": "text/html"}).text)
            claims = {str(claim.run_id): claim for claim in iter(lambda: made.claim(worker), None)}
            late = claims[streams[-1]]
            asked, gate, newest = threading.Event(), threading.Event(), event_socket.newest_seq

            def newest_seq(edge: AppContext, run_id: UUID) -> int:
                if run_id == late.run_id:
                    asked.set()
                    gate.wait(60)
                return newest(edge, run_id)

            monkeypatch.setattr(event_socket, "newest_seq", newest_seq)
            opened(page, path)
            assert asked.wait(60)
            for stream in streams[:-1]:
                made.score(claims[stream], 0.0)
            page.wait_for_load_state("networkidle")  # It reads when its other streams open, and when their runs end.
            expect(page.locator("[data-trial]")).to_have_attribute("data-trial", "none")
            made.score(late, 0.0)
            gate.set()
            expect(page.locator("[data-trial]")).to_have_attribute("data-trial", "invalid", timeout=60_000)


@pytest.mark.sampled(1)
class TestStoriesOnASlowMachine:
    def test_researcher_starts_a_run(self, browser: Browser, acting: tuple[World, Claim], tmp_path: Path) -> None:
        with served(acting[0], tmp_path) as site, slow(browser, site) as page:
            opened(page, "/runs/new")
            page.locator("#repeats").fill("2")
            expect(page.locator("#forecast .value").first).to_have_text("6", timeout=60_000)
            expect(page.locator("#estimate .board")).to_be_visible(timeout=60_000)
            page.locator("input[name=agent][value=noop]").check()
            page.locator("#forecast button").click()
            page.wait_for_url("**/runs/*-*")
            expect(page.locator("h1")).to_contain_text("noop")

    def test_lead_reads(self, browser: Browser, site: str, scene: PageScene) -> None:
        with slow(browser, site) as page:
            opened(page, "/leaderboards/starter")
            expect(page.locator("tr[data-row]").first).to_be_visible()
            opened(page, f"/runs/{scene.finished}")
            page.locator("tr[data-row] a[href*='/episodes/']").first.click()
            page.locator("html[data-ready]").wait_for(state="attached")
            page.keyboard.press("End")
            expect(page.locator(".step[aria-current]")).to_have_attribute("data-final", "yes")
            opened(page, "/wall")
            tile = page.locator(".wall .tile").first
            expect(tile).to_be_in_viewport(ratio=0.99)

    def test_person_has_the_desktop_and_both_buttons_in_sight(
        self, browser: Browser, acting: tuple[World, Claim], tmp_path: Path
    ) -> None:
        made = acting[0]
        worker = made.worker("person", node="n2", slots=6, capabilities=abilities())
        run = made.submit("human")
        with served(made, tmp_path) as site, slow(browser, site) as page:
            opened(page, f"/runs/{run.id}/human")
            page.locator("button[name=feasible][value=yes]").click()
            page.wait_for_url("**/episodes/*")
            claims = iter(lambda: made.must_claim(worker), None)
            claim = next(claim for claim in claims if claim.run_id == run.id)
            made.begin(claim)
            bar = page.locator("[data-remote-desktop-target=bar]")
            expect(bar).to_have_attribute("data-in-control", "", timeout=60_000)
            until(lambda: events.watched_width(claim.attempt_id) >= 1, 60, what="the page watches")
            events.put_frame(claim.attempt_id, 1, pictures.desktop("live", 1), SIZE, ttl=60.0)
            expect(page.locator("[data-live-target=image]")).to_have_attribute("src", re.compile("^blob:"))
            for name in ("done", "fail"):
                expect(page.locator(f"[data-remote-desktop-target={name}]")).to_be_in_viewport(ratio=1)
                expect(page.locator(f"[data-remote-desktop-target={name}]")).to_be_enabled()
            canvas = page.locator(".canvas")
            expect(canvas).to_be_in_viewport(ratio=0.99)
            canvas.focus()
            expect(page.locator(".leave-hint")).to_be_visible()
            page.keyboard.press("Control+Alt+Home")
            expect(canvas).not_to_be_focused()
            expect(page.locator(".leave-hint")).to_be_hidden()
            page.locator("[data-remote-desktop-target=leave]").click()
            page.locator("[data-remote-desktop-target=copy]").click()
            until(lambda: events.clipboard_request(claim.attempt_id), what="the worker is asked")
            events.put_clipboard(claim.attempt_id, events.clipboard_request(claim.attempt_id), "copied there")
            expect(page.locator("#desktop-text")).to_have_value("copied there")
