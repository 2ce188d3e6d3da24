import signal
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from backend.cli import waiting
from backend.cli.client import Api
from backend.cli.errors import CliError, ExitCode, ServiceAway, UsageError
from backend.cli.waiting import WaitLimits
from tests.error_codes import raises_code
from tests.unit.cli.samples import run

ID = "018f0000-0000-7000-8000-000000000000"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "LOOK_AGAIN_SECONDS", 0.01)


def api(*answers: Any) -> Api:
    """An API that gives one answer after the other, and the last one for ever."""
    left: Iterator[Any] = iter(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        found = next(left, answers[-1])
        if isinstance(found, int):
            return httpx.Response(found, json={"detail": "no"})
        return httpx.Response(200, json=found)

    return Api("http://127.0.0.1:1", "", httpx.MockTransport(answer))


class TestWaitForRun:
    def test_prints_each_change_once_and_returns_the_ended_run(self) -> None:
        said: list[str] = []
        first = run(status="running", running=1, waiting=1)
        with api(first, first, run(scored=2, solved=1)) as client:
            assert waiting.wait_for_run(client, ID, WaitLimits(), said.append)["status"] == "completed"
        assert said == ["running: 0/2 ended, 0 solved, 1 running", "completed: 2/2 ended, 1 solved, 0 running"]

    def test_gives_up_after_the_timeout_and_says_how_to_come_back(self) -> None:
        with api(run(status="running", running=1)) as client, pytest.raises(CliError) as caught:
            waiting.wait_for_run(client, ID, WaitLimits(timeout=0.05), lambda _: None)
        assert caught.value.exit_code is ExitCode.WAIT_TIMED_OUT

    def test_waits_for_a_service_that_is_away_for_a_moment(self) -> None:
        with api(503, 503, run(scored=1)) as client:
            assert waiting.wait_for_run(client, ID, WaitLimits(), lambda _: None)["status"] == "completed"

    def test_says_once_that_it_is_away(self) -> None:
        said: list[str] = []
        with api(503, 503, 429, run(scored=1)) as client:
            waiting.wait_for_run(client, ID, WaitLimits(patience=60), said.append)
        assert said == ["no. Trying for 60 s.", "completed: 1/1 ended, 0 solved, 0 running"]

    def test_a_service_that_stays_away_is_infrastructure(self) -> None:
        with api(503) as client, pytest.raises(CliError) as caught:
            waiting.wait_for_run(client, ID, WaitLimits(patience=0.05), lambda _: None)
        assert caught.value.exit_code is ExitCode.INFRASTRUCTURE

    def test_the_timeout_ends_an_outage_too(self) -> None:
        with api(503) as client, pytest.raises(CliError) as caught:
            waiting.wait_for_run(client, ID, WaitLimits(timeout=0.05), lambda _: None)
        assert caught.value.exit_code is ExitCode.WAIT_TIMED_OUT

    def test_a_run_that_does_not_exist_is_not_a_reason_to_wait(self) -> None:
        with api(404) as client, pytest.raises(UsageError):
            waiting.wait_for_run(client, ID, WaitLimits(), lambda _: None)


class TestResumable:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_a_signal_ends_it_with_130_and_advice(self, number: int) -> None:
        with pytest.raises(CliError) as caught, waiting.resumable("It goes on."):
            signal.raise_signal(number)
        assert (caught.value.exit_code, str(caught.value)) == (ExitCode.INTERRUPTED, "Interrupted. It goes on.")

    def test_an_outage_keeps_its_code_and_gets_advice(self) -> None:
        with raises_code(ServiceAway, "no_response", mentions="It goes on."), waiting.resumable("It goes on."):
            raise ServiceAway("Nobody answers.", code="no_response")

    def test_usage_errors_get_no_hint(self) -> None:
        with pytest.raises(UsageError) as caught, waiting.resumable("It goes on."):
            raise UsageError("No such run.", code="run_not_found")
        assert str(caught.value) == "No such run."


class TestProgressLine:
    def test_names_what_is_out_of_the_ordinary(self) -> None:
        line = waiting.progress_line(run(scored=2, lost=1, not_runnable=3, solved=1))
        assert line == "completed: 3/3 ended, 1 solved, 0 running, 1 lost, 3 not runnable"
