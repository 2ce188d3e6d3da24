"""Tasks for tests of set-up, evaluation and agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.domain.errors import EvaluatorFailed, GuestRefused, MissingInput
from backend.domain.model.task import EvaluatorSpec, MetricCall, SetupStep, Task, TaskKey
from backend.domain.ports.web import Browser, Web, WebReply
from tests.fakes.browser import FakeBrowser
from tests.fakes.web import FakeWeb


def make_task(
    *calls: MetricCall, oracle: Sequence[Mapping[str, Any]] | None = None, conj: str = "and", **more: Any
) -> Task:
    """A task of the starter dialect; without calls, its evaluator requires the text `done` in /home/user/a.txt."""
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
    """A SetupContext whose assets, browsers, web pages, secrets and servers in the desktop lie in dictionaries.

    Attributes:
        answers: (port, path) to what a server in the desktop answers there; bytes have status 200.
        outputs: what steps have kept.
        judged: what the run's judge says; None = it has none.
    """

    desktop: Any
    task: Task = field(default_factory=make_task)
    assets: dict[str, bytes] = field(default_factory=dict)
    browsers: dict[int, Browser] = field(default_factory=dict)
    web: Web = field(default_factory=FakeWeb)
    secrets: dict[str, str] = field(default_factory=dict)
    answers: dict[tuple[int, str], bytes | WebReply] = field(default_factory=dict)
    outputs: dict[str, bytes] = field(default_factory=dict)
    since: int = 0
    judged: bytes | None = None

    def judgement(self) -> bytes:
        if self.judged is None:
            raise EvaluatorFailed("the run has no judge")
        return self.judged

    def browser(self, port: int = 9222) -> Browser:
        return self.browsers.get(port) or FakeBrowser(running=False)

    def http(self, port: int, path: str, *, headers: Mapping[str, str] | None = None) -> WebReply:
        self.desktop.probe()
        answer = self.answers.get((port, path))
        if answer is None:
            raise GuestRefused(f"nothing listens on port {port} of the desktop", kind="refused")
        if isinstance(answer, WebReply):
            return answer
        url = f"http://127.0.0.1:{port}{path}"
        return WebReply(url=url, status=200, headers={}, body=answer, fetched_at=1_800_000_000.0)

    def keep(self, name: str, data: bytes) -> None:
        self.outputs[name] = data

    def output(self, name: str) -> bytes | None:
        return self.outputs.get(name)

    def secret(self, name: str) -> str:
        if name not in self.secrets:
            raise MissingInput(f"there is no secret {name!r}")
        return self.secrets[name]

    def asset(self, name: str) -> bytes:
        if name not in self.assets:
            raise MissingInput(f"the task set has no asset {name!r}")
        return self.assets[name]
