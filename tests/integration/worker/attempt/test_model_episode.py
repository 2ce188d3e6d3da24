"""The loop, an agent that asks a model, the real client and a real server: what its failures cost an episode."""

import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from backend.domain import registry
from backend.domain.loop.agent_loop import LoopDependencies, LoopProgress, Rules, run_episode
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import Budget, RunConfig
from backend.domain.ports.agent import AgentContext
from backend.domain.registry import PluginKind
from backend.services.capacity.model_endpoints import Endpoints
from backend.services.capacity.task_secrets import TaskSecrets
from tests.factories.starter_tasks import make_task
from tests.fakes.desktop import FakeDesktop
from tests.fakes.model_apis import ScriptedReply
from tests.fakes.model_server import ModelServer, model_server
from tests.fakes.recorder import MemoryRecorder
from worker.base.lease import HeldLease, LeaseGrant
from worker.models.model_pool import AttemptModels, ModelPool

MODEL = "recorded-2026-01-01"
ENDPOINTS = """
[endpoints.here]
api = "openai_chat"
base_url = "{address}/v1"

[[prices]]
model = "recorded-*"
since = 2026-01-01
input = 10.0
output = 100.0
"""
REPLIES = (
    "I write.\n```python\nimport pyautogui\npyautogui.write('milk')\n```",
    "```\nWAIT\n```",
    "Done.\n```\nDONE\n```",
)


class RealClock:
    """The loop's clock."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        raise AssertionError(f"the loop slept {seconds} s")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """The model API."""
    with model_server() as made:
        yield made


@pytest.fixture
def models(server: ModelServer, tmp_path: Path) -> Iterator[AttemptModels]:
    """The clients of one attempt."""
    registry.load("worker.models")
    (tmp_path / "models.toml").write_text(ENDPOINTS.format(address=server.address))
    room = ModelPool(Endpoints(tmp_path / "models.toml", TaskSecrets(tmp_path / "secrets"), {}))
    made = AttemptModels(room, HeldLease(LeaseGrant(uuid4(), "local"), 600.0))
    yield made
    made.close()


def played(
    models: AttemptModels, agent: str = "prompt", **budget: float
) -> tuple[EndedBy, LoopProgress, MemoryRecorder]:
    """One episode, with the agent's own spaces."""
    plugin, desktop = registry.lookup(PluginKind.AGENT, agent), FakeDesktop()
    params = {"model": MODEL, "endpoint": "here"}
    config = RunConfig(agent=agent, params=params, budget=Budget.model_validate(budget))
    context = AgentContext(instruction="Add milk.", screen=desktop.screen, max_steps=15, seed=1, models=models)
    space = registry.lookup(PluginKind.OBSERVATION, plugin.observation)()
    recorder, progress = MemoryRecorder(), LoopProgress()
    made = plugin(plugin.Params.model_validate(params))
    parts = LoopDependencies(made, desktop, space, recorder, RealClock(), delay_seconds=models.wait_seconds)
    ended_by = run_episode(parts, context, Rules.for_task(config, make_task()), progress)
    return ended_by, progress, recorder


class TestEpisode:
    def test_tokens_and_cost_are_counted(self, models: AttemptModels, server: ModelServer) -> None:
        for reply in REPLIES:
            server.say(reply, tokens=(1000, 0, 10))
        ended_by, progress, recorder = played(models)
        assert ended_by is EndedBy.DONE
        assert (progress.steps, progress.usage.input_tokens, progress.usage.output_tokens) == (3, 3000, 30)
        assert progress.usage.usd == pytest.approx(3 * (0.01 + 0.001))
        decisions = [step.decision for step in recorder.steps[:3]]
        assert [decision.reply for decision in decisions] == list(REPLIES)
        assert all(decision.model and "Add milk." in decision.prompt for decision in decisions)

    def test_429_then_500_then_a_cut_connection_cost_nothing_but_time(
        self, models: AttemptModels, server: ModelServer
    ) -> None:
        server.fail(429, retry_after="1", times=2)
        server.say(REPLIES[0])
        server.fail(500)
        server.say(REPLIES[1])
        server.cut(reply=ScriptedReply("never finished " * 40))
        server.say(REPLIES[2])
        # The time budget would not allow for the waiting, if that were the agent's.
        ended_by, progress, _ = played(models, max_seconds=30.0)
        assert ended_by is EndedBy.DONE
        assert (progress.steps, progress.usage.calls) == (3, 3)
        assert progress.usage.wait_seconds > 2
        assert progress.spent["wait"] > 2
        assert server.left() == 0

    def test_the_money_ends_it(self, models: AttemptModels, server: ModelServer) -> None:
        for _ in range(3):
            server.say(REPLIES[1], tokens=(1000, 0, 10))
        ended_by, progress, _ = played(models, max_usd=0.02)
        assert (ended_by, progress.steps) == (EndedBy.MONEY, 2)
