"""Every error that crosses a module boundary, with its HTTP status, its code and a hint.

Two families. A `DeskarenaError` answers a person or a program. A `MachineLost` is an infrastructure failure during an
attempt: it has a failure class and never becomes a score.

The class says what kind of error it is (HTTP status or failure class), its code which case: `raise Conflict("Cancelled
runs cannot be retried.", code="run_cancelled")`. Codes are stable; docs/errors.md lists them all, which
tests/architecture/test_error_codes.py checks.

Adapters have errors of their own for the servers they talk to (`ClusterError`, `SupervisorError`, `ModelFault`), with
codes of their own (`worker.base.errors`): the layer above turns them into one of these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any


class FailureClass(StrEnum):
    """Why an attempt was lost. A closed set; failures of the agent are not in it."""

    MODEL_API = "model_api"
    TASK_SETUP = "task_setup"
    GUEST = "guest"
    CLUSTER = "cluster"
    EVALUATOR = "evaluator"


class LeaseFailure(StrEnum):
    """Why an attempt was lost with its lease, where its worker reported no error: codes of the class `cluster`."""

    SILENT = "worker_silent"
    GONE = "worker_gone"
    STOPPED = "worker_stopped"
    NODE_LOST = "node_lost"
    RELEASED = "lease_released"


@dataclass(frozen=True)
class AttemptFailure:
    """Why an attempt was lost. `code` is that of the error, or of its lease's end; docs/errors.md has them all."""

    failure_class: FailureClass
    code: str
    message: str


def sentences(*parts: str) -> str:
    """Joins the non-empty parts, with a full stop after each but the last that lacks one."""
    texts = [part.strip() for part in parts if part.strip()]
    return " ".join([*(part if part.endswith((".", "!", "?")) else f"{part}." for part in texts[:-1]), *texts[-1:]])


class DeskarenaError(Exception):
    """Base of all our errors.

    Attributes:
        status: HTTP status code of the response.
        code: stable name of the case, for programs; the class has the default.
        hint: what the reader can do, one sentence; may be empty.
        waited: what was awaited when it happened: `phase`, `seconds`, `screen`, `text`; empty if nothing.
    """

    status = 500
    code = "internal_error"
    waited: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, message: str, *, code: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.hint = hint

    @property
    def text(self) -> str:
        """Message and hint for people."""
        return sentences(self.message, self.hint)


class NotFound(DeskarenaError):
    """The named object does not exist (404)."""

    status = 404
    code = "not_found"


class DamagedArtifact(NotFound):
    """Stored bytes have changed (404): for readers they are lost."""

    code = "artifact_damaged"


class Invalid(DeskarenaError):
    """The request or file is wrong (422). `path` says where: a file, a key, a field.

    `others` are further errors of the same kind, so that all can be mended at once.
    """

    status = 422
    code = "invalid"

    def __init__(
        self, message: str, *, code: str = "", path: str = "", hint: str = "", others: "Sequence[Invalid]" = ()
    ) -> None:
        super().__init__(f"{path}: {message}" if path else message, code=code, hint=hint)
        self.path = path
        self.others = tuple(others)

    @property
    def text_at_field(self) -> str:
        """Message and hint where the field itself is in sight."""
        return sentences(self.message.removeprefix(f"{self.path}: "), self.hint)


class InvalidAction(Invalid):
    """An agent's reply that is not an action of its space. Reported to the agent and counted; nothing is executed."""

    code = "invalid_action"


class Conflict(DeskarenaError):
    """The current state forbids it (409): an illegal move, a reused idempotency key with another body."""

    status = 409
    code = "conflict"


class Gone(DeskarenaError):
    """The object was there and is closed for good (410)."""

    status = 410
    code = "gone"


class NotAllowed(DeskarenaError):
    """A wrong or missing token, or a foreign Host or Origin (403)."""

    status = 403
    code = "not_allowed"


class Unavailable(DeskarenaError):
    """A server that we depend on is temporarily unavailable (503); retrying later may work."""

    status = 503
    code = "unavailable"


class NoRoom(DeskarenaError):
    """The service's disk is full (507); retrying fails until space is freed."""

    status = 507
    code = "disk_full"


class UnknownPlugin(Invalid):
    """The name is not a registered plug-in of that kind (422). Suggests similar names."""

    code = "unknown_plugin"


class IllegalMove(Conflict):
    """A state transition that the domain does not allow (409)."""

    code = "illegal_transition"


class MachineLost(DeskarenaError):
    """The machine failed during an attempt. Ends the attempt without a score.

    Attributes:
        failure_class: selects the retry policy.
    """

    code = "lost"
    failure_class: FailureClass = FailureClass.CLUSTER


class ModelApiFailed(MachineLost):
    """The model's API refused, was rate-limited or broken."""

    failure_class = FailureClass.MODEL_API


class TaskSetupFailed(MachineLost):
    """A set-up or post-configuration step failed. `step` counts from 1."""

    failure_class = FailureClass.TASK_SETUP

    def __init__(self, message: str, *, code: str = "", step: int | None = None, hint: str = "") -> None:
        super().__init__(f"set-up step {step}: {message}" if step is not None else message, code=code, hint=hint)
        self.step = step


class MissingInput(TaskSetupFailed):
    """An asset or secret that the task needs is missing: the task's or the operator's fault, never the agent's."""


class ProgramBroken(TaskSetupFailed):
    """An installed program opens no window: before the agent the desktop's fault, afterwards what the agent left."""

    failure_class = FailureClass.GUEST
    code = "program_broken"


class GuestLost(MachineLost):
    """The desktop or its guest API died, froze or violated its protocol."""

    failure_class = FailureClass.GUEST


class ClusterLost(MachineLost):
    """One of our workers, nodes, leases or servers went away."""

    failure_class = FailureClass.CLUSTER


class LeaseLost(ClusterLost):
    """Our lease has expired or was taken over: nothing may be written any more."""

    code = "lease_lost"


class EvaluatorFailed(MachineLost):
    """The evaluation has no verdict. Only the evaluation is retried, unless that cannot change anything."""

    failure_class = FailureClass.EVALUATOR
    final_codes = frozenset({"invalid_rule", "invalid_reference", "metric_broke", "evaluation_endless"})
    """The task's fault, or a metric's: the same evidence gives the same error."""

    @property
    def is_final(self) -> bool:
        """Whether another evaluation of the same evidence would fail in the same way."""
        return self.code in self.final_codes


class MissingEvidence(EvaluatorFailed):
    """An evaluation function needs evidence that was not collected. While the desktop lives, it is collected later.

    Attributes:
        facts: the missing facts, each as `{"type": name, parameter: value}`.
    """

    code = "evidence_missing"

    def __init__(self, facts: Sequence[Mapping[str, Any]]) -> None:
        named = ", ".join(str(fact.get("type")) for fact in facts[:3])
        super().__init__(f"the evaluation function needs evidence that was not collected: {named}")
        self.facts = tuple(facts)


class GuestRefused(DeskarenaError):
    """The guest refused a request: file not found, command failed to start, bad path. The guest itself is healthy.

    Set-up raises `TaskSetupFailed` for it. A getter records "absent" evidence if the kind means that there is nothing.

    Attributes:
        kind: the guest's typed error name, for example `not_found`, `too_large`, `timeout`.
    """

    status = 502
    code = "guest_refused"

    def __init__(self, message: str, *, kind: str = "error", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.kind = kind

    @property
    def may_pass(self) -> bool:
        """Whether the cause may be temporary (a busy desktop, low resources), so that one retry is worthwhile."""
        return self.kind in {"timeout", "failed", "internal"}


class WebFailed(DeskarenaError):
    """A server of the web did not answer. Downloads of assets raise it; a getter that needs the page has no verdict."""

    status = 502
    code = "web_failed"


class AgentFailed(DeskarenaError):
    """The agent's own code failed. The episode ends with `agent_error` and its end state is evaluated."""

    code = "agent_error"


class Cancelled(DeskarenaError):
    """The run was cancelled; the attempt stops."""

    code = "attempt_cancelled"
