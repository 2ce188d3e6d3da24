"""Enumerations of columns besides the domain's states."""

from enum import StrEnum


class Role(StrEnum):
    """A person's role in a project. Each role may also do everything that the roles before it may."""

    VIEWER = "viewer"
    RUNNER = "runner"
    REVIEWER = "reviewer"
    MAINTAINER = "maintainer"
    ADMIN = "admin"

    def covers(self, other: "Role") -> bool:
        """Whether this role may do what `other` may."""
        order = list(Role)
        return order.index(self) >= order.index(other)


class Purpose(StrEnum):
    """Purpose of a run. Only `measure` and `demo` runs enter leaderboards.

    `practice` is a person's second try, `record` a recording for an own task.
    """

    MEASURE = "measure"
    VALIDATE = "validate"
    DEMO = "demo"
    PRACTICE = "practice"
    RECORD = "record"


RANKED_PURPOSES = (Purpose.MEASURE.value, Purpose.DEMO.value)


class Origin(StrEnum):
    """Source of a run's results: measured here, or imported from another tool's results."""

    MEASURED = "measured"
    OUTSIDE = "outside"


class AttemptController(StrEnum):
    """The actor of an attempt: the agent, a person as the agent, or an agent with a person's help.

    An attempt with help does not count for the agent.
    """

    AGENT = "agent"
    PERSON = "person"
    HUMAN_ASSISTED = "human_assisted"


class WorkerState(StrEnum):
    """Whether a worker accepts work."""

    ONLINE = "online"
    OFFLINE = "offline"
    DRAINING = "draining"


class SlotState(StrEnum):
    """Whether a slot may be leased; `free` does not say whether it is leased."""

    FREE = "free"
    BROKEN = "broken"
    DRAINING = "draining"


class EvidenceRole(StrEnum):
    """Which side of a metric a blob was collected for."""

    RESULT = "result"
    EXPECTED = "expected"


class DeletionKind(StrEnum):
    """Kinds of deletable objects, in order of removal: later kinds may depend on earlier ones."""

    RUN = "run"
    STUDY = "study"
    CONFIGURATION = "configuration"
    DRAFT = "draft"
    TASK_SET = "task_set"
    BENCHMARK = "benchmark"


class NotificationType(StrEnum):
    """Events that webhooks and e-mail report, under the names that webhooks use."""

    RUN_ENDED = "run.ended"
    RUN_REGRESSION = "run.regression"
    RUN_LOSSES = "run.losses"
    WORKER_GONE = "worker.gone"
    BUDGET_REACHED = "budget.reached"
    TEST = "test"


class SubscriptionKind(StrEnum):
    """How a subscription is notified."""

    WEBHOOK = "webhook"
    EMAIL = "email"


class DeliveryState(StrEnum):
    """State of a delivery. `waiting`: for its next attempt; one in progress, too."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


class ReevaluationState(StrEnum):
    """State of a re-evaluation. One in progress is `waiting` with a locked row."""

    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"


class JudgeKind(StrEnum):
    """Source of verdicts that people check: a vision-language model, or the evaluator of graphs with CR and LC."""

    VLM = "vlm"
    GRAPH = "graph"


class DraftRequestState(StrEnum):
    """State of a request for drafts. One in progress is `waiting` with a locked row."""

    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"


class OfflineAnswerState(StrEnum):
    """State of an agent's answer at a recorded step. One in progress is `waiting` with a locked row.

    `failed`: there is no answer, for no fault of the agent; it counts nowhere, nor does a cancelled one.
    """

    WAITING = "waiting"
    ANSWERED = "answered"
    FAILED = "failed"
    CANCELLED = "cancelled"


class DraftAuthor(StrEnum):
    """First author of a draft: a person, or a model."""

    PERSON = "person"
    MODEL = "model"


class ReviewVerdict(StrEnum):
    """Verdict of a review."""

    APPROVE = "approve"
    REJECT = "reject"


class RecordingKind(StrEnum):
    """Part of a draft that a recording becomes."""

    SETUP = "setup"
    ORACLE = "oracle"


class ActorKind(StrEnum):
    """Kinds of actors."""

    PERSON = "person"
    PROGRAM = "program"
    SYSTEM = "system"


class Preference(StrEnum):
    """Which of two submissions, side by side, a person prefers."""

    LEFT = "left"
    RIGHT = "right"
    EQUAL = "equal"


class Dimension(StrEnum):
    """Dimensions of roll-ups with a meaning of their own; every label of tasks is one."""

    ALL = "all"
    DOMAIN = "domain"
    DIFFICULTY = "difficulty"
    DOMAIN_DIFFICULTY = "domain_difficulty"
    LEVEL = "level"
    APP = "app"
    CAPABILITY = "capability"
    """OmniBench's sets of tasks with the same hard dimensions."""
    COMPLEXITY = "complexity"
    """A dimension of complexity with its level, as in `branch/hard`."""


FLOORS = frozenset({"noop", "always_fail", "random"})
"""Baseline agents whose result is the floor; they have no rank."""
