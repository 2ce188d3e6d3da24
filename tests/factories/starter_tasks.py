"""Tasks for tests of set-up, evaluation and agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.domain.errors import TaskSetupFailed
from backend.domain.ports_web import Browser, Web
from backend.domain.task import EvaluatorSpec, MetricCall, SetupStep, Task, TaskKey
from tests.fakes.browser import FakeBrowser
from tests.fakes.web import FakeWeb


def make_task(
    *calls: MetricCall, oracle: Sequence[Mapping[str, Any]] | None = None, conj: str = "and", **more: Any
) -> Task:
    """A task of the starter dialect; without calls its evaluator wants /home/user/a.txt to say `done`."""
    wanted = calls or (
        MetricCall(
            func="exact_match",
            result={"type": "vm_command_line", "command": ["cat", "/home/user/a.txt"]},
            expected={"type": "rule", "rules": {"expected": "done"}},
        ),
    )
    postconfig = tuple(SetupStep(**step) for step in more.pop("postconfig", ()))
    return Task(
        key=TaskKey(domain="tests", name="task"),
        dialect="starter",
        instruction="Write done.",
        evaluator=EvaluatorSpec(calls=wanted, conj=conj, postconfig=postconfig),
        oracle=None if oracle is None else tuple(oracle),
        **more,
    )


@dataclass
class FakeContext:
    """A SetupContext whose assets, browsers, web pages and secrets lie in dictionaries."""

    desktop: Any
    task: Task = field(default_factory=make_task)
    assets: dict[str, bytes] = field(default_factory=dict)
    browsers: dict[int, Browser] = field(default_factory=dict)
    web: Web = field(default_factory=FakeWeb)
    secrets: dict[str, str] = field(default_factory=dict)

    def browser(self, port: int = 9222) -> Browser:
        return self.browsers.get(port) or FakeBrowser(running=False)

    def secret(self, name: str) -> str:
        if name not in self.secrets:
            raise TaskSetupFailed(f"there is no secret {name!r}")
        return self.secrets[name]

    def asset(self, name: str) -> bytes:
        if name not in self.assets:
            raise TaskSetupFailed(f"the task set has no asset {name!r}")
        return self.assets[name]
