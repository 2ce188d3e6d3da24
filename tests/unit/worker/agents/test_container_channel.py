import errno
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from backend.domain.errors import AgentFailed, Cancelled, ClusterLost, Unavailable
from backend.domain.model.trajectory import Frame, Observation
from tests.error_codes import raises_code
from tests.fakes.agent_channel import FakeLine
from tests.fakes.engine import ScriptedEngine
from tests.integration.cli.service import ScriptedService
from tests.waiting import until
from worker.agents.container_channel import ContainerChannel

SEEN = Observation(index=0, frame=Frame(data=b"jpeg", media_type="image/jpeg", width=4, height=3))
ANSWER = {"index": 0, "reply": "DONE"}
POST = "POST /api/v1/agent/actions"


@pytest.fixture
def service() -> Iterator[ScriptedService]:
    made = ScriptedService({"GET /api/v1/agent": {"state": "running"}, POST: (202, {"repeated": False})})
    yield made
    made.stop()


class Beside:
    """A line with a container of which a test is the program."""

    def __init__(self, service: ScriptedService, folder: Path) -> None:
        self.engine = ScriptedEngine(folder)
        self.far = FakeLine()
        attempt = UUID("018f0000-0000-7000-8000-000000000001")
        self.line = ContainerChannel(
            self.far, self.engine.engine, attempt_id=attempt, params={}, api=service.url, token="dka_1"
        )

    def post(self) -> int:
        """The program answers; the status that it gets."""
        transport = httpx.HTTPTransport(uds=str(self.socket()))
        with httpx.Client(transport=transport, base_url="http://deskarena", timeout=60) as client:
            return client.post("/api/v1/agent/actions", json=ANSWER).status_code

    def socket(self) -> Path:
        """The API's socket, as the container is told of it."""
        (call,) = until(lambda: self.engine.calls("run"))
        return Path(call.partition("--volume ")[2].partition(":")[0])

    def end(self, code: int) -> None:
        """The program ends, and that is noticed."""
        self.engine.ends(code)
        until(lambda: "container-end" not in {each.name for each in threading.enumerate()}, what="the end is noticed")


@pytest.fixture
def beside(service: ScriptedService, tmp_path: Path) -> Iterator[Beside]:
    made = Beside(service, tmp_path / "engine")
    yield made
    made.line.close()


class TestTake:
    def test_replies_received_from_the_container(self, beside: Beside) -> None:
        beside.line.show(SEEN, {})
        beside.far.say(ANSWER)
        assert beside.line.take(5.0) == ANSWER

    def test_replies_received_just_before_a_clean_exit(self, beside: Beside) -> None:
        beside.line.show(SEEN, {})
        beside.end(0)
        beside.far.say(ANSWER)
        assert beside.line.take(5.0) == ANSWER

    @pytest.mark.parametrize("code", [0, 1])
    def test_exit_without_an_answer_fails_the_agent(self, beside: Beside, code: int) -> None:
        beside.line.show(SEEN, {})
        beside.end(code)
        with raises_code(AgentFailed, "container_exited", mentions=str(code)):
            beside.line.take(5.0)

    def test_killed_container_is_an_infrastructure_loss(self, beside: Beside) -> None:
        beside.line.show(SEEN, {})
        beside.end(137)
        with raises_code(ClusterLost, "container_killed"):
            beside.line.take(5.0)

    def test_exit_after_an_api_outage_is_an_infrastructure_loss(self, beside: Beside, service: ScriptedService) -> None:
        beside.line.show(SEEN, {})
        service.answers[POST] = (503, {"detail": "the database is away"})
        assert beside.post() == 503
        beside.end(1)
        with raises_code(ClusterLost, "agent_channel_down", mentions=("API", "1")):
            beside.line.take(5.0)

    def test_old_api_outage_does_not_excuse_the_agent(
        self, beside: Beside, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("worker.agents.container_channel.AWAY_SECONDS", 0.0)
        beside.line.show(SEEN, {})
        service.answers[POST] = (503, {"detail": "the database is away"})
        assert beside.post() == 503
        beside.end(1)
        with raises_code(AgentFailed, "container_exited", mentions="1"):
            beside.line.take(5.0)

    def test_accepted_answer_that_never_arrives_is_an_infrastructure_loss(self, beside: Beside) -> None:
        beside.line.show(SEEN, {})
        assert beside.post() == 202
        beside.end(0)
        with raises_code(ClusterLost, "agent_channel_down", mentions="API"):
            beside.line.take(5.0)

    def test_exit_during_a_broker_outage_is_an_infrastructure_loss(self, beside: Beside) -> None:
        beside.line.show(SEEN, {})
        beside.far.why = "the broker is unavailable or was"
        beside.end(1)
        with raises_code(ClusterLost, "agent_channel_down", mentions="1"):
            beside.line.take(5.0)

    def test_exit_after_a_delivered_answer_fails_the_agent(self, beside: Beside) -> None:
        beside.line.show(SEEN, {})
        assert beside.post() == 202
        beside.far.say(ANSWER)
        assert beside.line.take(5.0) == ANSWER
        beside.end(1)
        with raises_code(AgentFailed, "container_exited", mentions="1"):
            beside.line.take(5.0)


class TestShow:
    def test_missing_engine_is_an_infrastructure_loss(self, beside: Beside) -> None:
        beside.engine.goes_away()
        with raises_code(ClusterLost, "container_not_started"):
            beside.line.show(SEEN, {})

    @pytest.mark.parametrize(
        "what", ["worker.agents.container_channel.tempfile.mkdtemp", "worker.agents.container_channel.AgentApiProxy"]
    )
    @pytest.mark.parametrize(
        "error",
        [OSError(errno.ENOSPC, "No space left"), Unavailable("the database is away"), RuntimeError("no new thread")],
    )
    def test_start_failure_is_an_infrastructure_loss(
        self, beside: Beside, monkeypatch: pytest.MonkeyPatch, what: str, error: Exception
    ) -> None:
        monkeypatch.setattr(what, _raising(error))
        with raises_code(ClusterLost, "container_not_started"):
            beside.line.show(SEEN, {})

    def test_cancelled_run_stays_cancelled(self, beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "worker.agents.container_channel.AgentApiProxy", _raising(Cancelled("the run was cancelled"))
        )
        with pytest.raises(Cancelled):
            beside.line.show(SEEN, {})


def _raising(error: Exception) -> Any:
    def call(*_args: Any, **_more: Any) -> None:
        raise error

    return call


class TestClose:
    def test_removes_folder_and_container_once(self, beside: Beside) -> None:
        beside.line.show(SEEN, {})
        folder = beside.socket().parent
        assert folder.exists()
        beside.line.close()
        beside.line.close()
        assert not folder.exists()
        assert beside.engine.calls("rm") == ["rm --force deskarena-018f0000-0000-7000-8000-000000000001"]
