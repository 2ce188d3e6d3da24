"""Closed sets of words that columns hold besides the domain's own states."""

from enum import StrEnum


class Purpose(StrEnum):
    """Why a run was made. Only `measure` and `demo` runs enter leaderboards.

    `practice` is a person's second try, `record` what they do to write a task of their own.
    """

    MEASURE = "measure"
    VALIDATE = "validate"
    DEMO = "demo"
    PRACTICE = "practice"
    RECORD = "record"


class AttemptController(StrEnum):
    """Who acts in an attempt: the agent, a person as the agent, or an agent whom a person helped (not the agent's)."""

    AGENT = "agent"
    PERSON = "person"
    MIXED = "mixed"


class WorkerState(StrEnum):
    """Whether a worker can be given work."""

    ONLINE = "online"
    OFFLINE = "offline"
    DRAINING = "draining"


class SlotState(StrEnum):
    """Whether a slot may be leased; `free` says nothing about a lease on it."""

    FREE = "free"
    BROKEN = "broken"
    DRAINING = "draining"


class EvidenceRole(StrEnum):
    """Which side of a metric a blob was collected for."""

    RESULT = "result"
    EXPECTED = "expected"


class RescoreState(StrEnum):
    """How far scoring again is. One that is being worked on waits: its row is locked."""

    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"


class JudgeKind(StrEnum):
    """Who gives verdicts that people check: a vision-language model, or the evaluator of graphs with CR and LC."""

    VLM = "vlm"
    GRAPH = "graph"


class DraftRequestState(StrEnum):
    """How far a model is that was asked for drafts. One that is being worked on waits: its row is locked."""

    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"


class DraftAuthor(StrEnum):
    """Who wrote a draft first: its author, or a model that the author asked."""

    PERSON = "person"
    MODEL = "model"


class ReviewVerdict(StrEnum):
    """What a reviewer says of a version of a draft."""

    APPROVE = "approve"
    REJECT = "reject"


class RecordingKind(StrEnum):
    """What a recording becomes."""

    SETUP = "setup"
    ORACLE = "oracle"


class ActorKind(StrEnum):
    """Who acts on the service."""

    PERSON = "person"
    PROGRAM = "program"
    SYSTEM = "system"


class Preference(StrEnum):
    """Which of two works a person prefers, as they lay side by side."""

    LEFT = "left"
    RIGHT = "right"
    EQUAL = "equal"


class Dimension(StrEnum):
    """What a roll-up groups a run's episodes by."""

    ALL = "all"
    DOMAIN = "domain"
    DIFFICULTY = "difficulty"
    DOMAIN_DIFFICULTY = "domain_difficulty"
    LEVEL = "level"
    APP = "app"
    CAPABILITY = "capability"
    """OmniBench's sets of tasks that are hard on the same dimensions."""
    COMPLEXITY = "complexity"
    """A dimension of complexity with its level, as in `branch/hard`."""


VALIDATION_AGENTS = ("oracle", "noop", "always_fail")
"""The built-in agents whose scores say whether a task is sound."""
