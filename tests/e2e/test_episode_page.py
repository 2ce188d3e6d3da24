"""The page of an episode in a real browser: replay, live steps, evidence."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import docx
import openpyxl  # type: ignore[import-untyped]
import pytest
from playwright.sync_api import Browser, Page, Response, Route, expect

from backend.db.models.enums import EvidenceRole
from backend.domain.errors import FailureClass
from backend.domain.model.episode import EndedBy
from backend.domain.model.score import Evaluation, MetricEvidence
from backend.services import events
from backend.services.artifacts.artifacts import ArtifactRef
from backend.services.attempts import attempts
from backend.services.attempts.attempts import EvidenceRow
from backend.services.scheduling.claims import Claim
from tests import databases
from tests.e2e.chromium import opened, window
from tests.factories import pictures
from tests.factories.records import World, stored, world
from tests.factories.scene import OneTransaction, PageScene
from tests.factories.site import served
from tests.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]


@pytest.mark.sampled(1)
class TestReplay:
    def test_scrubber_keys_and_address(self, browser: Browser, site: str, scene: PageScene) -> None:
        with window(browser, site) as page:
            opened(page, f"/episodes/{scene.solved}?step=0")
            image = page.locator("[data-replay-target=image]")
            first = image.get_attribute("src")
            expect(page.locator(".overlay .ring")).to_have_count(1)
            page.keyboard.press("j")
            expect(image).not_to_have_attribute("src", first or "")
            expect(page).to_have_url(re.compile("step=1"))
            page.keyboard.press("k")
            expect(image).to_have_attribute("src", first or "")
            page.locator("[data-replay-target=scrub]").focus()
            page.keyboard.press("End")
            expect(page.locator(".step[aria-current]")).to_have_attribute("data-final", "yes")
            page.reload()
            expect(page.locator(".step[aria-current]")).to_have_attribute("data-final", "yes")

    def test_fits_the_window_and_keys_leave_fields_alone(self, browser: Browser, site: str, scene: PageScene) -> None:
        with window(browser, site) as page:
            page.set_viewport_size({"width": 1280, "height": 720})
            opened(page, f"/episodes/{scene.solved}?step=0")
            bar, current = page.locator(".stage .bar"), page.locator("ol .step[aria-current]")
            box = bar.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= 720
            page.keyboard.press("ArrowRight")
            expect(current).to_have_attribute("data-index", "1")
            expect(page.locator(".typed kbd")).to_have_text(["report-2026.txt", "enter"])
            page.keyboard.press("Home")
            expect(page.locator(".stage")).to_have_attribute("data-shown", "0")
            page.locator("[data-replay-target=speed]").focus()
            page.keyboard.press("j")
            page.locator("[data-tree-target=search]").fill("jk push")
            expect(current).to_have_attribute("data-index", "0")
            page.locator("[data-tree-target=search]").fill("mousepad")
            expect(page.locator(".tree .hit")).to_contain_text("mousepad")
            page.locator("h1").click()
            page.keyboard.press("+")
            expect(page.locator(".view")).to_have_attribute("data-zoomed", "")
            page.locator(".view").hover()
            page.mouse.wheel(0, 100)
            expect(page.locator(".view")).not_to_have_attribute("data-zoomed", "")
            page.mouse.wheel(0, 400)  # The whole screen is shown: the page scrolls.
            expect(page.locator("h1")).not_to_be_in_viewport()
            page.evaluate("scrollTo(0, 0)")
            page.locator(".view").dblclick()
            expect(page.locator(".view")).to_have_attribute("data-zoomed", "")
            page.keyboard.press("f")
            expect(page.locator(".stage:fullscreen")).to_be_visible()
            expect(page.locator(".view")).not_to_have_attribute("data-zoomed", "")
            expect(bar).to_be_in_viewport(ratio=1)
            page.keyboard.press("f")
            expect(page.locator(".stage:fullscreen")).to_have_count(0)
            page.keyboard.press("?")
            page.locator("[data-keys-target=letters]").uncheck()
            # Not by Escape: a browser that still leaves full screen keeps that key for itself.
            page.locator("#help").get_by_role("button", name="Close").click()
            expect(page.locator("#help")).to_be_hidden()
            page.keyboard.press("j")
            page.keyboard.press("ArrowRight")
            expect(current).to_have_attribute("data-index", "1")
            page.reload()
            page.keyboard.press("?")
            expect(page.locator("#help")).to_be_hidden()

    def test_a_step_chosen_while_the_page_is_fetched_again_stays(
        self, browser: Browser, site: str, scene: PageScene
    ) -> None:
        with window(browser, site) as page:
            held: list[Route] = []
            opened(page, f"/episodes/{scene.solved}?step=0")
            page.route("**/episodes/*step=0", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks it
            with page.expect_request("**/episodes/*step=0"):
                page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
            page.locator("[data-replay-target=scrub]").focus()
            page.keyboard.press("End")
            with page.expect_response(re.compile("/episodes/.*step=[1-9]")):
                for route in held:
                    route.continue_()
            expect(page.locator(".step[aria-current]")).to_have_attribute("data-final", "yes")


@pytest.fixture
def acting(postgres_server: str, scene: PageScene) -> Iterator[tuple[World, Claim]]:  # noqa: ARG001 - it has the broker.
    """The test's own installation, in which an agent has made two steps."""
    with databases.copied(postgres_server) as url, world(url) as made:
        made.benchmark()
        made.worker()
        made.submit()
        claim = made.must_claim(made.worker())
        made.begin(claim)
        made.step(claim, 0)
        made.step(claim, 1)
        yield made, claim


def lost_and_begun_again(made: World, claim: Claim) -> Claim:
    """The next attempt at an episode, of whose beginning a page hears together with the end of the one before."""
    with made.work() as session:
        here = OneTransaction(made.factory, made.store, session)
        here.lose(claim, FailureClass.CLUSTER)
        again = here.must_claim(here.worker())
        here.begin(again)
        here.step(again, 0)
    assert again.episode_id == claim.episode_id
    return again


def seen_and_taken_over(page: Page, attempt_id: UUID) -> None:
    """The episode's page shows this attempt's live picture and gives a person its desktop."""
    view, bar = page.locator(f"[data-attempt='{attempt_id}']"), page.locator("[data-remote-desktop-target=bar]")
    expect(view).to_have_count(1, timeout=60_000)
    expect(bar).to_have_attribute("data-status", "agent", timeout=60_000)
    until(lambda: events.watched_width(attempt_id) >= 1, what="the worker knows that somebody watches")
    events.put_frame(attempt_id, 1, pictures.desktop("live", 1), {"width": 1280, "height": 720})
    expect(view).to_have_attribute("data-frame-seq", "1", timeout=60_000)
    page.locator("[data-remote-desktop-target=take]").click()
    expect(bar).to_have_attribute("data-status", "you", timeout=60_000)


@pytest.mark.sampled(1)
class TestAnotherAttempt:
    def test_page_follows_the_next_attempt(self, browser: Browser, acting: tuple[World, Claim], tmp_path: Path) -> None:
        made, claim = acting
        with served(made, tmp_path) as site, window(browser, site) as page:
            opened(page, f"/episodes/{claim.episode_id}")
            tree = page.locator("[data-controller~=tree]")
            tree.evaluate("element => { element.first = true; }")
            seen_and_taken_over(page, claim.attempt_id)
            stream = page.locator("[data-stream]")
            stream.evaluate("element => element.remove()")
            seen_and_taken_over(page, lost_and_begun_again(made, claim).attempt_id)
            assert page.locator(".step").count() == 1
            expect(stream).to_have_text("live")  # Not "connecting": the page's own stream has long been open.
            assert not tree.evaluate("element => element.first")  # What is told of a step is the attempt's, too.

    def test_the_replay_of_an_ended_one_stays_where_it_is(
        self, browser: Browser, acting: tuple[World, Claim], tmp_path: Path
    ) -> None:
        made, claim = acting
        again = lost_and_begun_again(made, claim)
        with served(made, tmp_path) as site, window(browser, site) as page:
            opened(page, f"/episodes/{claim.episode_id}?attempt=1")
            current = page.locator(".step[aria-current]")
            expect(current).to_have_attribute("data-index", "1")
            page.keyboard.press("k")
            expect(current).to_have_attribute("data-index", "0")
            page.locator(".replay").evaluate("element => { element.same = true; }")
            made.lose(again, FailureClass.CLUSTER)
            expect(page.locator("nav.segmented a[href$='attempt=2']")).to_contain_text("lost", timeout=60_000)
            assert page.locator(".replay").evaluate("element => element.same")
            expect(current).to_have_attribute("data-index", "0")
            page.keyboard.press("j")
            expect(current).to_have_attribute("data-index", "1")


class TestLongEpisode:
    def test_new_steps_are_appended_and_old_ones_loaded_in_pages(
        self, browser: Browser, acting: tuple[World, Claim], tmp_path: Path
    ) -> None:
        made, claim = acting
        address = f"/episodes/{claim.episode_id}"
        with served(made, tmp_path) as site, window(browser, site) as page:
            answers: list[Response] = []
            page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108 - Playwright marks it
            opened(page, address)
            rows, current = page.locator("ol .step"), page.locator("ol .step[aria-current]")
            for index in range(2, 62):
                made.step(claim, index)
                if index % 6 == 1:
                    expect(current).to_have_attribute("data-index", str(index), timeout=60_000)
            expect(page.locator("#result .score")).to_contain_text("62")
            expect(rows).to_have_count(12)
            expect(rows.first).to_have_attribute("data-index", "50")
            texts = [answer for answer in answers if "/artifacts/" not in answer.url]
            wholes = [answer for answer in texts if answer.url.endswith(address)]
            assert len(wholes) <= 2, "the page itself, and once again when its stream has begun"
            sizes = [answer.request.sizes() for answer in texts if "woff2" not in answer.url]
            sent = sum(size["responseHeadersSize"] + size["responseBodySize"] for size in sizes)
            assert sent < 150_000
            page.keyboard.press("Home")
            expect(page.locator(".stage")).to_have_attribute("data-shown", "0")
            expect(rows).to_have_count(50)
            expect(rows.last).to_have_attribute("data-index", "49")
            page.locator("[data-replay-target=further]").click()
            expect(current).to_have_attribute("data-index", "50")
            page.locator("#step-panels").scroll_into_view_if_needed()
            page.keyboard.press("k")
            expect(current).to_have_attribute("data-index", "49")
            expect(page.locator("[data-step-detail]")).to_have_attribute("data-step-detail", "49")
            page.locator("[data-replay-target=follow]").click()
            made.step(claim, 62)
            expect(current).to_have_attribute("data-index", "62", timeout=60_000)

    def test_a_step_that_a_fetched_part_has_already_is_listed_once(
        self, browser: Browser, acting: tuple[World, Claim], tmp_path: Path
    ) -> None:
        made, claim = acting

        def recorded_meanwhile(route: Route) -> None:
            made.step(claim, 51)
            route.continue_()

        with served(made, tmp_path) as site, window(browser, site) as page:
            for index in range(2, 50):
                made.step(claim, index)
            opened(page, f"/episodes/{claim.episode_id}")
            rows, current = page.locator("ol .step"), page.locator("ol .step[aria-current]")
            expect(current).to_have_attribute("data-index", "49", timeout=60_000)
            page.route(re.compile("/steps.*first=50"), recorded_meanwhile, times=1)
            made.step(claim, 50)
            expect(current).to_have_attribute("data-index", "51", timeout=60_000)
            expect(rows).to_have_count(2)


def book(**cells: object) -> bytes:
    made = openpyxl.Workbook()
    for place, value in cells.items():
        made.active[place] = value
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def document(*paragraphs: str) -> bytes:
    made = docx.Document()
    made.add_heading("Plan")
    for words in paragraphs:
        made.add_paragraph(words)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


class TestEvidence:
    def test_evidence_is_compared_by_kind(self, browser: Browser, acting: tuple[World, Claim], tmp_path: Path) -> None:
        made, claim = acting
        files = (
            ("notes.txt", b"one\n<img src=x>\nthree\n", b"one\ntwo\nthree\n"),
            ("sums.xlsx", book(A1=1, B2="same"), book(A1=2, B2="same")),
            ("rows.csv", b'a,"b, c"\n1,2\n', b'a,"b, d"\n1,2\n'),
            ("plan.docx", document("First", "Second"), document("First", "2nd")),
            ("shot.jpg", pictures.desktop("found", 1), pictures.desktop("wanted", 2)),
            ("song.bin", b"\0\1", b"\0\2"),
        )
        evidence = []
        with made.work() as session:
            for place, (name, *sides) in enumerate(files):
                for role, data in zip((EvidenceRole.RESULT, EvidenceRole.EXPECTED), sides, strict=True):
                    ref = ArtifactRef(stored(session, made.store, data), len(data), "text/plain")
                    evidence.append(EvidenceRow(place, role, "vm_file", name, ref))
        metrics = tuple(MetricEvidence(func=f"compare_{name.replace('.', '_')}", value=0.0) for name, *_ in files)
        made.do(attempts.enter_evaluating, claim.fence, EndedBy.DONE, {})
        made.do(attempts.finish_scored, claim.fence, Evaluation(score=0.0, measures={}, metrics=metrics), evidence, {})
        with served(made, tmp_path) as site, window(browser, site) as page:
            opened(page, f"/episodes/{claim.episode_id}")
            boxes = page.locator("details[data-controller=evidence]")
            expect(boxes).to_have_count(len(files))
            for box in boxes.all():
                box.locator("summary").click()
            text, sheet, rows, words, picture, other = boxes.all()
            expect(text.locator("del")).to_have_text("- two\n")
            expect(text.locator("ins")).to_have_text("+ <img src=x>\n")
            expect(sheet.locator("tr")).to_have_text([re.compile("Cell"), re.compile(r"sheet1 A1\s*1\s*2")])
            expect(rows.locator("tr").last).to_have_text(re.compile(r"B1\s*b, c\s*b, d"))
            expect(words.locator("ins, del")).to_have_text(["- 2nd\n", "+ Second\n"])
            expect(words.locator("span").first).to_contain_text("[Heading1] Plan")
            expect(picture.locator("img")).to_have_count(2)
            picture.locator("input").fill("100")
            assert picture.locator("img").last.evaluate("image => image.style.clipPath") == "inset(0px 0% 0px 0px)"
            expect(other).to_contain_text("not compared here")
