"""One episode over REST: the token and its rights; each action is executed once."""

import base64
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import update

from backend.cli.embedded.broker import start_broker
from backend.db.models import Attempt
from backend.services import events
from deskarena.client import Client
from deskarena.errors import ServiceError
from tests.error_codes import raises_code
from tests.integration.outside.conftest import OutsideService
from tests.integration.worker.in_process import attempts, episodes, finished, steps, submit
from tests.waiting import until

TASK = ("notes/say-hello",)


class Line:
    """An episode of a `remote` run and its line."""

    def __init__(self, service: OutsideService, *tasks: str, **more: Any) -> None:
        self.service = service
        self.run = submit(service.world, "remote", tasks=tasks or TASK, benchmark="notes", **more)
        self.episode = episodes(service.world, self.run.id)[0]
        self.token = service.client().post(f"/episodes/{self.episode.id}/agent-token")["token"]
        self.client: Client = service.client(self.token)

    def look(self, after: int = -1, wait: float = 30) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get("/agent/observation", after=after, wait=wait)
        return found

    def answer(self, index: int, **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.client.post("/agent/actions", {"index": index, **more})
        return found

    def verdict(self) -> dict[str, Any]:
        until(lambda: self.client.get("/agent", wait=30)["state"] == "scored", 60.0)
        found: dict[str, Any] = self.client.get("/agent")
        return found

    def kept(self) -> list[Any]:
        (attempt,) = attempts(self.service.world, self.episode.id)
        return steps(self.service.world, attempt.id)


@pytest.fixture
def line(service: OutsideService) -> Any:
    made = Line(service)
    yield made
    made.client.close()
    with suppress(ServiceError):  # It may have ended by itself.
        service.client().post(f"/runs/{made.run.id}/cancel")
    finished(service.world, made.run.id)


@pytest.mark.sampled(5)
class TestActing:
    def test_solves_a_task(self, line: Line) -> None:
        seen = line.look()["observation"]
        assert (seen["index"], seen["instruction"]) == (0, "Write hello into the note and save it.")
        assert (seen["action_space"], seen["screen"]) == ("computer_13", {"width": 640, "height": 480})
        data, media_type = line.client.data(seen["picture"]["url"])
        assert (data[:2], media_type) == (b"\xff\xd8", "image/jpeg")
        assert seen["picture"]["data"] is None
        inline = line.client.get("/agent/observation", inline=True)["observation"]["picture"]["data"]
        assert base64.b64decode(inline) == data
        line.answer(0, actions=[{"type": "TYPING", "text": "hello"}], explanation="I type.")
        assert line.look(0)["observation"]["index"] == 1
        line.answer(1, reply='{"action_type": "HOTKEY", "keys": ["ctrl", "s"]}')
        assert line.look(1)["observation"]["index"] == 2
        line.answer(2, reply="DONE")
        found = line.verdict()
        assert (found["score"], found["ended_by"], found["steps"]) == (1.0, "done", 3)
        assert [step.explanation for step in line.kept()][:2] == ["I type.", ""]

    def test_the_same_answer_twice_is_carried_out_once(self, line: Line) -> None:
        line.look()
        assert not line.answer(0, actions=[{"type": "TYPING", "text": "a"}])["repeated"]
        assert line.answer(0, actions=[{"type": "TYPING", "text": "a"}])["repeated"]
        line.look(0)
        assert line.answer(0, actions=[{"type": "TYPING", "text": "a"}])["repeated"]
        with pytest.raises(ServiceError) as other:
            line.answer(0, actions=[{"type": "TYPING", "text": "b"}])
        assert other.value.status == 409
        line.answer(1, stop="steps")
        assert line.verdict()["ended_by"] == "steps"
        assert [len(step.actions) for step in line.kept()] == [1, 0, 0]

    def test_an_answer_to_no_observation_is_refused(self, line: Line) -> None:
        line.look()
        with raises_code(ServiceError, "step_not_waiting"):
            line.answer(5, reply="WAIT")

    def test_an_invalid_action_is_reported_to_the_agent(self, line: Line) -> None:
        line.look()
        line.answer(0, reply="perhaps a click somewhere")
        assert "could not be carried out" in line.look(0)["observation"]["note"]
        line.answer(1, actions=[{"type": "PYTHON", "text": "import os"}])
        assert "computer_13 has no code" in line.look(1)["observation"]["note"]

    @pytest.mark.parametrize(
        "body",
        [
            {"index": 0},
            {"index": 0, "actions": [{"type": "EXPLODE"}]},
            {"index": 0, "actions": [], "reply": "DONE"},
            {"index": 0, "stop": "agent_error"},
            {"index": -1, "reply": "DONE"},
            {"index": 0, "reply": "DONE", "extra": 1},
        ],
    )
    def test_invalid_answer_is_refused(self, line: Line, body: dict[str, Any]) -> None:
        with pytest.raises(ServiceError) as refused:
            line.client.post("/agent/actions", body)
        assert refused.value.status == 422

    def test_absent_program_means_waiting(self, line: Line) -> None:
        until(lambda: line.look(wait=0)["observation"] is not None, 60.0)
        assert line.look(0, wait=0.2)["observation"] is None
        assert line.client.get("/agent")["acting"]

    def test_a_waiting_look_is_answered_when_there_is_something_new(self, line: Line) -> None:
        line.look()
        found: list[Any] = []
        waiting = Thread(target=lambda: found.append(line.service.client(line.token).get(
            "/agent/observation", after=0, wait=50)))  # fmt: skip
        waiting.start()
        line.answer(0, reply="WAIT")
        waiting.join(60.0)
        assert found[0]["observation"]["index"] == 1

    def test_the_end_answers_a_waiting_look(self, line: Line) -> None:
        line.look()
        line.answer(0, reply="DONE")
        found = line.look(0, wait=50)
        assert found["observation"] is None
        assert not found["episode"]["acting"]

    def test_time_that_is_used_up_ends_it(self, service: OutsideService) -> None:
        from backend.domain.model.run import Budget

        made = Line(service, budget=Budget(max_seconds=1.5))
        assert made.verdict()["ended_by"] == "time"
        made.client.close()


@pytest.mark.sampled(2)
class TestLost:
    """The desktop is lost: a new one is made only when the program asks for it."""

    @staticmethod
    def lost(line: Line) -> dict[str, Any]:
        line.look()
        line.service.worker.provider.opened[-1].fake.die("killed by the test")
        line.answer(0, actions=[{"type": "TYPING", "text": "hello"}])
        until(lambda: line.client.get("/agent")["awaits_restart"], 60.0, what="the loss is known")
        found: dict[str, Any] = line.client.get("/agent")
        return found

    def test_lost_episode_waits_for_its_program(self, line: Line) -> None:
        found = self.lost(line)
        assert (found["state"], found["attempt_state"], found["score"]) == ("waiting", "lost", None)
        assert found["reason_code"] == "waiting_for_program"
        assert "(guest)" in found["reason"]
        assert line.client.get("/agent/observation", after=0, attempt=1, wait=30, wait_restart=False)["episode"][
            "awaits_restart"
        ]
        line.service.client().post(f"/runs/{line.run.id}/pause")
        assert line.client.post("/agent/attempts")["awaits_restart"]
        line.service.client().post(f"/runs/{line.run.id}/resume")
        assert len(attempts(line.service.world, line.episode.id)) == 1

    def test_next_attempt_starts_on_request(self, line: Line) -> None:
        self.lost(line)
        assert line.look(wait=0)["episode"]["awaits_restart"]
        assert not line.client.post("/agent/attempts")["awaits_restart"]
        seen = line.client.get("/agent/observation", after=0, attempt=1, wait=60)
        assert (seen["episode"]["attempt"], seen["observation"]["index"]) == (2, 0)
        line.answer(0, actions=[{"type": "TYPING", "text": "hello"}])
        line.look(0)
        line.answer(1, reply='{"action_type": "HOTKEY", "keys": ["ctrl", "s"]}')
        line.look(1)
        line.answer(2, reply="DONE")
        assert line.verdict()["score"] == 1.0

    def test_a_waiting_agent_is_notified_at_once(self, line: Line) -> None:
        line.look()
        line.service.worker.provider.opened[-1].fake.die("killed by the test")
        line.answer(0, actions=[{"type": "TYPING", "text": "hello"}])
        found = line.look(0, wait=60)
        assert found["observation"] is None or found["episode"]["attempt"] == 2
        assert found["episode"]["acting"]

    def test_only_what_has_lost_a_desktop_can_be_given_up(self, line: Line) -> None:
        self.lost(line)
        with line.service.world.work() as session:
            session.execute(update(Attempt).values(state="cancelled", failure_class=None))
        with pytest.raises(ServiceError) as refused:
            line.answer(1, stop="steps")
        assert (refused.value.status, line.client.get("/agent")["awaits_restart"]) == (409, True)

    def test_giving_it_up_ends_it_without_a_score(self, line: Line) -> None:
        self.lost(line)
        with pytest.raises(ServiceError) as refused:
            line.answer(1, stop="done")
        assert refused.value.status == 409
        line.answer(1, stop="steps")
        found = line.client.get("/agent")
        assert (found["state"], found["outcome"], found["score"]) == ("lost", "lost", None)
        assert line.service.client().get(f"/runs/{line.run.id}")["status"] == "completed"


class TestBroker:
    def test_broker_restart_loses_no_answer(self, service: OutsideService, redis_url: str, tmp_path: Path) -> None:
        broker = start_broker(tmp_path / "broker")
        events.configure(broker.url)
        try:
            made = Line(service)
            assert made.look()["observation"]["index"] == 0
            broker.stop()
            until(lambda: events.broker_state() == "away", what="the broker is away")
            broker = start_broker(tmp_path / "broker", port=urlsplit(broker.url).port)
            made.client.post("/agent/actions", {"index": 0, "reply": "WAIT"}, repeat=True)
            assert made.look(0)["observation"]["index"] == 1
            made.answer(1, reply="DONE")
            assert made.verdict()["ended_by"] == "done"
        finally:
            events.configure(redis_url)
            broker.stop()


@pytest.mark.sampled(2)
class TestToken:
    def test_opens_nothing_but_its_episode(self, line: Line) -> None:
        foreign = line.service.client("dka_nonsense")
        for path in ("/agent", "/agent/observation", "/agent/observation/frame"):
            with pytest.raises(ServiceError) as refused:
                foreign.get(path)
            assert (refused.value.status, refused.value.code) == (401, "invalid_agent_token")
        foreign.close()

    def test_new_token_replaces_the_old_one(self, line: Line) -> None:
        token = line.service.client().post(f"/episodes/{line.episode.id}/agent-token")["token"]
        with pytest.raises(ServiceError):
            line.client.get("/agent")
        line.client = line.service.client(token)
        assert line.client.get("/agent")["episode_id"] == str(line.episode.id)

    def test_only_the_tokens_hash_is_stored(self, line: Line) -> None:
        (kept,) = episodes(line.service.world, line.run.id)
        assert kept.token_sha256
        assert line.token not in str(vars(kept))

    def test_other_agents_have_none(self, service: OutsideService) -> None:
        run = submit(service.world, "noop", tasks=TASK, benchmark="notes")
        (episode,) = finished(service.world, run.id)
        with pytest.raises(ServiceError) as refused:
            service.client().post(f"/episodes/{episode.id}/agent-token")
        assert refused.value.status == 409

    def test_errors_are_problems(self, service: OutsideService) -> None:
        answer = httpx.get(f"{service.url}/api/v1/agent", trust_env=False, timeout=60)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["hint"]
