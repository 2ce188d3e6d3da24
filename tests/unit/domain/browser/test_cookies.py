import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import pytest

from backend.domain import registry
from backend.domain.browser.cookies import asks_for_cookies, await_written, runs
from backend.domain.browser.profiles import CHROME
from backend.domain.errors import GuestRefused
from backend.domain.evaluators.evaluate import collect
from backend.domain.model.task import MetricCall
from backend.domain.ports.desktop import ExecResult
from backend.domain.setup import run_step
from tests.factories.starter_tasks import FakeContext, make_task
from tests.fakes.browser import FakeBrowser
from tests.fakes.desktop import FakeDesktop

registry.load()

KEPT = {"domain": ".amazon.com", "name": "visited", "path": "/", "session": False}
PASSING = {"domain": ".amazon.com", "name": "basket", "path": "/", "session": True}
OLD = [".old.com", "visited", "/"]
ROW = [".amazon.com", "visited", "/"]
CALL = MetricCall(func="is_cookie_deleted", result={"type": "cookie_data", "dest": "Cookies"})


class CookieDesktop:
    """A desktop whose browser has cookies, and a file that looks otherwise each time that it is read."""

    def __init__(self, told: object, *files: object, calls: Sequence[MetricCall] = (CALL,)) -> None:
        self.desktop = FakeDesktop()
        self.files = list(files)
        self.reads = 0
        self.asked: list[str] = []
        self.desktop.commands["python"] = self._read
        self.browser = FakeBrowser()
        self.browser.open("https://www.amazon.com")
        self.browser.results["Network.getAllCookies"] = {"cookies": told}
        self.context = FakeContext(self.desktop, task=make_task(*calls), browsers={9222: self.browser})

    def _read(self, words: Sequence[str]) -> ExecResult:
        self.reads += 1
        self.asked += words
        said = self.files.pop(0) if len(self.files) > 1 else self.files[0]
        return ExecResult(returncode=0, output=said if isinstance(said, str) else json.dumps(said))

    def waits(self) -> tuple[bool, int]:
        """Whether the awaited cookies appeared, and the number of polls."""
        return await_written(self.context, CHROME.linux), self.reads


class TestAwaitWritten:
    def test_written_cookies_are_not_awaited(self) -> None:
        assert CookieDesktop([KEPT], [ROW]).waits() == (True, 1)

    def test_a_cookie_that_is_not_in_the_file_yet(self) -> None:
        assert CookieDesktop([KEPT], [], [], [ROW]).waits() == (True, 3)

    def test_a_deleted_one_that_is_in_the_file_still(self) -> None:
        assert CookieDesktop([KEPT], [ROW, OLD], [ROW]).waits() == (True, 2)

    def test_session_cookie_may_be_missing_from_the_file(self) -> None:
        assert CookieDesktop([KEPT, PASSING], [ROW]).waits() == (True, 1)
        assert CookieDesktop([KEPT, PASSING], [ROW, [".amazon.com", "basket", "/"]]).waits() == (True, 1)

    @pytest.mark.parametrize("file", ["", "no JSON", "7", [7], {"a": 1}])
    def test_a_file_that_cannot_be_read_is_given_the_time(self, file: object) -> None:
        place = CookieDesktop([KEPT], file)
        begun = place.desktop.clock.now()
        assert not place.waits()[0]
        assert 35 <= place.desktop.clock.now() - begun < 40

    @pytest.mark.parametrize("told", [None, "cookies", [7], [{"domain": {}}]])
    def test_invalid_browser_response_times_out(self, told: object) -> None:
        assert not CookieDesktop(told, [ROW]).waits()[0]

    def test_a_browser_that_cannot_be_asked(self) -> None:
        place = CookieDesktop([KEPT], [ROW])
        assert runs(place.context)
        place.browser.running = False
        assert not runs(place.context)
        assert not place.waits()[0]


class TestAsksForCookies:
    @pytest.mark.parametrize(
        ("result", "expected"),
        [({"type": "cookie_data"}, None), ({"type": "cookie_data_for_edge"}, None), (None, {"type": "cookie_data"})],
    )
    def test_tasks_that_ask_for_cookies(
        self, result: Mapping[str, Any] | None, expected: Mapping[str, Any] | None
    ) -> None:
        assert asks_for_cookies(make_task(MetricCall(func="exact_match", result=result, expected=expected)))

    def test_tasks_that_do_not_ask_for_cookies(self) -> None:
        assert not asks_for_cookies(make_task(MetricCall(func="exact_match", result={"type": "history"})))


class TestEnding:
    @pytest.mark.parametrize(("call", "reads"), [(CALL, 2), (MetricCall(func="exact_match"), 0)])
    def test_the_browser_ends_when_it_has_written_what_is_asked_for(self, call: MetricCall, reads: int) -> None:
        place = CookieDesktop([KEPT], [], [ROW], calls=[call])
        alive, seen = ["12"], []

        def end(words: Sequence[str]) -> ExecResult:
            seen.append(place.reads)
            alive.clear()
            return ExecResult(returncode=0)

        place.desktop.commands |= {"pgrep": lambda _: ExecResult(returncode=0, output="".join(alive)), "pkill": end}
        run_step(place.context, "launch", {"command": ["pkill", "chrome"]})
        assert seen == [reads]

    def test_other_programs_end_at_once(self) -> None:
        place = CookieDesktop([KEPT], [])
        place.desktop.commands |= {
            "pgrep": lambda _: ExecResult(returncode=1),
            "pkill": lambda _: ExecResult(returncode=0),
        }
        run_step(place.context, "launch", {"command": ["pkill", "vlc"]})
        assert place.reads == 0


class TestGetter:
    def test_reads_the_file_of_a_running_browser_when_it_is_written(self) -> None:
        place = CookieDesktop([KEPT], [], [], [ROW])
        collect(place.context, place.context.task)
        assert place.reads == 3

    def test_reads_that_of_an_ended_one_at_once(self) -> None:
        place = CookieDesktop([KEPT], [])
        place.browser.running = False
        collect(place.context, place.context.task)
        assert place.reads == 0

    def test_a_browser_that_hangs_gets_the_time_to_write(self) -> None:
        place = CookieDesktop([KEPT], [ROW])
        place.browser.tabs = hung  # type: ignore[method-assign]
        begun = place.desktop.clock.now()
        collect(place.context, place.context.task)
        assert 35 <= place.desktop.clock.now() - begun < 40

    @pytest.mark.parametrize("folder", ["", "C:/Other"])
    def test_edge_on_windows_is_ended_when_it_has_written(self, folder: str) -> None:
        call = MetricCall(func="is_cookie_deleted", result={"type": "cookie_data_for_edge", "user_data_dir": folder})
        place = CookieDesktop([KEPT], [], [ROW], calls=[call])
        place.desktop.platform = "Windows"
        seen: list[int] = []

        def end(words: Sequence[str]) -> ExecResult:
            assert "msedge.exe" in words
            seen.append(place.reads)
            return ExecResult(returncode=0)

        place.desktop.commands["taskkill"] = end
        collect(place.context, place.context.task)
        assert seen == [2]
        assert all(folder in code for code in place.asked)


def hung() -> NoReturn:
    raise GuestRefused("no answer in time", kind="timeout")
