"""Dependencies of an attempt: what it uses and what it records to."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from backend.domain.errors import AttemptFailure
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.machines.desktop_end import DesktopEnd
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
    """Record of an attempt; AttemptRecorder implements it. Every call may raise LeaseLost, or why it must stop."""

    def opening(self, facts: Mapping[str, object]) -> None:
        """The desktop is being created; `facts` are those of `worker.attempt.desktop_progress`."""
        ...

    def note_desktop(self, desktop: Mapping[str, Any]) -> None:
        """The desktop exists; `desktop` is the provider's description of it."""
        ...

    def running(self, seconds: Mapping[str, float], seen_at: float | None) -> None:
        """The desktop is set up, its screen was first seen at `seen_at` (monotonic); the agent starts."""
        ...

    def evaluating(self, ended_by: EndedBy, seconds: Mapping[str, float]) -> None:
        """The agent has stopped."""
        ...

    def ended_from_inside(self, end: DesktopEnd) -> None:
        """The agent's programs ended the desktop or keep it from answering; what is left is evaluated."""
        ...

    def scored(
        self, task: Task, evaluation: Evaluation, evidence: Sequence[CallEvidence], seconds: Mapping[str, float]
    ) -> None:
        """Stores the verdict with its evidence."""
        ...

    def unjudged(
        self, task: Task, failure: AttemptFailure, evidence: Sequence[CallEvidence], seconds: Mapping[str, float]
    ) -> None:
        """The evidence is complete, but there is no verdict: it is stored for another evaluation."""
        ...

    def lost(self, failure: AttemptFailure, seconds: Mapping[str, float], *, after_action: bool) -> None:
        """An infrastructure failure. Also written by an attempt that had to stop, while the lease is ours.

        Args:
            failure: why.
            seconds: by phase.
            after_action: the agent had acted, and nothing explains the loss.
        """
        ...

    def was_cancelled(self, seconds: Mapping[str, float]) -> None:
        """The run was cancelled and the attempt has stopped."""
        ...


class LiveStream(Protocol):
    """Live view of an attempt."""

    def close(self) -> None: ...


def untold(_claim: Claim, _book: AttemptLog) -> AbstractContextManager[object]:
    """For tests: a provider without progress."""
    return nullcontext()


def no_models(_claim: Claim, _hold: HeldLease) -> Models | None:
    """For tests: an agent without a model."""
    return None


def no_line(_claim: Claim, _hold: HeldLease) -> AgentChannel | None:
    """For tests: an agent in this process."""
    return None


def no_judgement(_claim: Claim, _hold: HeldLease) -> Callable[[], bytes]:
    """For tests: a task without a judge."""
    return no_judge


def no_eyes(_servers: Servers) -> PerceptionTools | None:
    """For tests: observation spaces that need only the desktop."""
    return None


def no_control(_claim: Claim, _screen: ScreenSize) -> TakeoverControl | None:
    """For tests: no takeover."""
    return None


@dataclass(frozen=True)
class AttemptDeps:
    """Dependencies that all attempts of a worker share.

    Attributes:
        provider: creates desktops.
        judge: computes verdicts.
        asset: bytes of an artifact by hash.
        pump: starts the live view: (attempt's claim, desktop, current step).
        web: HTTP client with SSRF protection.
        browser: the browser of a desktop that listens on a port.
        secret: a secret configured for tasks, by name.
        way_out: egress rules of a task's desktop, given the hashes of its assets.
        models: model clients for an attempt; they stop waiting when the lease says that the attempt must stop.
        line: channel to an external agent or a person, for an attempt.
        eyes: perception tools for an opened desktop.
        judgement: the verdict of the run's judge for an attempt, computed on call.
        control: channel for takeover by a person, for a screen of that size.
        health: limits that a desktop must meet before an attempt starts on it.
        opening: context manager that reports progress while an attempt's desktop is being created.
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
