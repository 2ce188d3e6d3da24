"""What an attempt is given to work with, and what it writes itself into."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from backend.domain.errors import MachineLost
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.machines.egress_rules import EgressRules
from backend.domain.machines.health import DEFAULT_LIMITS, HealthLimits
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import ScreenSize
from backend.domain.model.score import Evaluation
from backend.domain.model.task import Task
from backend.domain.ports.agent import AgentChannel, PerceptionTools, TakeoverControl
from backend.domain.ports.desktop import OpenDesktop, Provider
from backend.domain.ports.model import Models
from backend.domain.ports.storage import Recorder
from backend.domain.ports.web import Browser, Web
from backend.services.scheduling.claims import Claim
from worker.attempt.task_context import no_judge, no_secret, nowhere
from worker.base.lease import HeldLease
from worker.devtools.servers import Servers, devtools
from worker.evaluation.evaluator import Evaluator


class AttemptLog(Recorder, Protocol):
    """What an attempt writes of itself; AttemptRecorder is one. Every call may raise LeaseLost or why it must stop."""

    def opening(self, facts: Mapping[str, object]) -> None:
        """The desktop is being made, which takes its time; `facts` are those of `worker.attempt.desktop_progress`."""
        ...

    def opened(self, desktop: Mapping[str, Any]) -> None:
        """A desktop was made; `desktop` is what its provider says of it."""
        ...

    def running(self, seconds: Mapping[str, float], seen_at: float | None) -> None:
        """The desktop is set up, its screen was first seen at `seen_at` (monotonic); the agent's part begins."""
        ...

    def evaluating(self, ended_by: EndedBy, seconds: Mapping[str, float]) -> None:
        """The agent has stopped."""
        ...

    def scored(
        self, task: Task, evaluation: Evaluation, evidence: Sequence[CallEvidence], seconds: Mapping[str, float]
    ) -> None:
        """The verdict, with its evidence."""
        ...

    def unjudged(
        self, task: Task, message: str, evidence: Sequence[CallEvidence], seconds: Mapping[str, float]
    ) -> None:
        """All was gathered, but there is no verdict: the evidence is kept for another try."""
        ...

    def lost(self, error: MachineLost, message: str, seconds: Mapping[str, float], *, after_action: bool) -> None:
        """The machine failed. Also written by an attempt that had to stop, as long as the lease is ours."""
        ...

    def was_cancelled(self, seconds: Mapping[str, float]) -> None:
        """The run was cancelled and the attempt has stopped."""
        ...


class LiveStream(Protocol):
    """The live view of an attempt."""

    def close(self) -> None:
        """Ends it."""
        ...


def untold(_claim: Claim, _book: AttemptLog) -> AbstractContextManager[object]:
    """For tests of providers that do not tell what they wait for."""
    return nullcontext()


def no_models(_claim: Claim, _hold: HeldLease) -> Models | None:
    """For tests of agents that ask no model."""
    return None


def no_line(_claim: Claim, _hold: HeldLease) -> AgentChannel | None:
    """For tests of agents that are here."""
    return None


def no_judgement(_claim: Claim, _hold: HeldLease) -> Callable[[], bytes]:
    """For tests of tasks that no model judges."""
    return no_judge


def no_eyes(_servers: Servers) -> PerceptionTools | None:
    """For tests of observation spaces that only look at the desktop."""
    return None


def no_control(_claim: Claim, _screen: ScreenSize) -> TakeoverControl | None:
    """For tests in which nobody takes over."""
    return None


@dataclass(frozen=True)
class AttemptDeps:
    """What attempts of one worker share.

    Attributes:
        provider: makes the desktop.
        judge: finds verdicts.
        asset: bytes of an artifact by hash.
        pump: starts the live view: (attempt's claim, desktop, current step).
        web: the guarded way to the web.
        browser: the browser of a desktop that listens on a port.
        secret: a secret that the operator gave for tasks, by name.
        way_out: what a task's desktop may reach, given the hashes of its assets.
        models: language models for an attempt; they stop waiting when the hold says that the attempt must stop.
        line: to a program or a person outside, for an attempt.
        eyes: what observation spaces may use, for an opened desktop.
        judgement: what the run's judge says of an attempt, asked when it is called.
        control: by which a person can take over from an agent, on a screen of that size.
        health: what a desktop must be before an attempt begins on it.
        opening: tells what is waited for while an attempt's desktop is being made, as long as its context lasts.
    """

    provider: Provider
    judge: Evaluator
    asset: Callable[[str], bytes]
    pump: Callable[[Claim, OpenDesktop, Callable[[], int]], LiveStream]
    web: Web
    browser: Callable[[OpenDesktop, int], Browser] = devtools
    secret: Callable[[str], str] = no_secret
    way_out: Callable[[Task, Mapping[str, str]], EgressRules] = nowhere
    models: Callable[[Claim, HeldLease], Models | None] = no_models
    line: Callable[[Claim, HeldLease], AgentChannel | None] = no_line
    judgement: Callable[[Claim, HeldLease], Callable[[], bytes]] = no_judgement
    eyes: Callable[[Servers], PerceptionTools | None] = no_eyes
    control: Callable[[Claim, ScreenSize], TakeoverControl | None] = no_control
    health: HealthLimits = DEFAULT_LIMITS
    opening: Callable[[Claim, AttemptLog], AbstractContextManager[object]] = untold
