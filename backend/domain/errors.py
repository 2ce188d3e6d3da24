"""Every error that crosses a module boundary, with its HTTP status, its code and what to do next.

Two families. `DeskarenaError`s answer a person or a program that asked for something. `MachineLost` errors are the
machine's failures during an attempt: each carries its failure class and never becomes a score.

The class says what kind of error it is (HTTP status or failure class), its code which case: `raise Conflict("Cancelled
runs cannot be retried.", code="run_cancelled")`. Codes are stable; docs/errors.md lists them all, which
tests/architecture/test_error_codes.py checks.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any


class FailureClass(StrEnum):
    """Why an attempt was lost. A closed set; an agent's failure is never in it."""

    MODEL_API = "model_api"
    TASK_SETUP = "task_setup"
    GUEST = "guest"
    CLUSTER = "cluster"
    EVALUATOR = "evaluator"


def sentences(*parts: str) -> str:
    """What says anything of `parts`, in a row: with a full stop after each but the last, where it ends without one."""
    texts = [part.strip() for part in parts if part.strip()]
    return " ".join([*(part if part.endswith((".", "!", "?")) else f"{part}." for part in texts[:-1]), *texts[-1:]])


class DeskarenaError(Exception):
    """Base of all our errors.

    Attributes:
        status: HTTP status code that the edge answers with.
        code: stable name of the case, for programs; a class gives the code of all its errors that name none.
        hint: what the reader can do about it, one sentence; may be empty.
        waited: what was waited for when it happened: `phase`, `seconds`, `screen`, `text`; empty if nothing was.
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
    def told(self) -> str:
        """Message and hint for people."""
        return sentences(self.message, self.hint)


class NotFound(DeskarenaError):
    """The named thing does not exist (404)."""

    status = 404
    code = "not_found"


class DamagedArtifact(NotFound):
    """Stored bytes are no longer what was stored (404): for readers they are lost."""

    code = "artifact_damaged"


class Invalid(DeskarenaError):
    """The request or file is wrong (422). `path` says where: a file, a key, a field."""

    status = 422
    code = "invalid"

    def __init__(self, message: str, *, code: str = "", path: str = "", hint: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message, code=code, hint=hint)
        self.path = path


class InvalidAction(Invalid):
    """A reply of an agent that is no action of its space. Told to the agent and counted; nothing of it is executed."""

    code = "invalid_action"


class Conflict(DeskarenaError):
    """The state forbids it (409): an illegal move, a used idempotency key with another body."""

    status = 409
    code = "conflict"


class NotAllowed(DeskarenaError):
    """Wrong or missing token, foreign Host or Origin (403)."""

    status = 403
    code = "not_allowed"


class Unavailable(DeskarenaError):
    """A server we depend on is away for now (503); asking again later may work."""

    status = 503
    code = "unavailable"


class NoRoom(DeskarenaError):
    """The service's disk is full (507): the same request comes to the same end until there is room."""

    status = 507
    code = "disk_full"


class UnknownPlugin(Invalid):
    """A name that no plug-in of that kind has (422). Says the nearest known names."""

    code = "unknown_plugin"


class IllegalMove(Conflict):
    """A state change that the domain does not allow (409)."""

    code = "illegal_transition"


class MachineLost(DeskarenaError):
    """The machine failed during an attempt. Ends the attempt, never scores it.

    Attributes:
        failure_class: which retry policy applies.
    """

    code = "lost"
    failure_class: FailureClass = FailureClass.CLUSTER


class ModelApiFailed(MachineLost):
    """The model's API refused, was over its limits or broken."""

    failure_class = FailureClass.MODEL_API


class TaskSetupFailed(MachineLost):
    """A set-up or post-configuration step failed. `step` counts from 1."""

    failure_class = FailureClass.TASK_SETUP

    def __init__(self, message: str, *, code: str = "", step: int | None = None, hint: str = "") -> None:
        super().__init__(f"set-up step {step}: {message}" if step is not None else message, code=code, hint=hint)
        self.step = step


class MissingInput(TaskSetupFailed):
    """An asset or a secret that the task needs is not there: the task's or the operator's doing, never an agent's."""


class GuestLost(MachineLost):
    """The desktop or its guest API died, froze or broke its protocol."""

    failure_class = FailureClass.GUEST


class ClusterLost(MachineLost):
    """A worker, node, lease or server of ours went away."""

    failure_class = FailureClass.CLUSTER


class LeaseLost(ClusterLost):
    """Our lease has expired or was taken over: whatever we know must not be written any more."""

    code = "lease_lost"


class EvaluatorFailed(MachineLost):
    """The evaluation could not come to a verdict. Only the evaluation is repeated."""

    failure_class = FailureClass.EVALUATOR


class MissingEvidence(EvaluatorFailed):
    """An evaluation function asked for what was not gathered. While the desktop lives, it is gathered and asked again.

    Attributes:
        facts: the checks, each as `{"type": name, parameter: value}`.
    """

    code = "evidence_missing"

    def __init__(self, facts: Sequence[Mapping[str, Any]]) -> None:
        named = ", ".join(str(fact.get("type")) for fact in facts[:3])
        super().__init__(f"the evaluation function needs evidence that was not collected: {named}")
        self.facts = tuple(facts)


class GuestRefused(DeskarenaError):
    """The guest answered and said no: file not found, command failed to start, bad path. The guest itself is well.

    Set-up turns it into `TaskSetupFailed`, a getter into "absent" evidence where its kind says that there is nothing.

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
        """Whether the desktop may just have been busy or short of something, so that it is worth asking once more."""
        return self.kind in {"timeout", "failed", "internal"}


class WebFailed(DeskarenaError):
    """A server of the web did not answer. Fetching an asset says so; a getter that needs the page has no verdict."""

    status = 502
    code = "web_failed"


class AgentFailed(DeskarenaError):
    """The agent's own code failed. The episode ends by `agent_error` and is evaluated on the state it left."""

    code = "agent_error"


class Cancelled(DeskarenaError):
    """Somebody cancelled the run; the attempt stops where it is."""

    code = "attempt_cancelled"
