"""Why an episode waits, why a task cannot run, what limits a run: a stable code beside the text."""

from dataclasses import dataclass
from enum import StrEnum


class ReasonCode(StrEnum):
    """Stable codes that are stored, shown and compared; docs/errors.md explains each."""

    RUN_PAUSED = "run_paused"
    ON_HOLD = "on_hold"
    RETRY_DELAY = "retry_delay"
    REEVALUATION = "reevaluation"
    PERSON = "waiting_for_person"
    PERSON_AGAIN = "waiting_for_person_again"
    PROGRAM = "waiting_for_program"

    WORKERS_BLOCKED = "workers_blocked"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    PROVIDER_NOT_OFFERED = "provider_not_offered"
    AGENT_NOT_OFFERED = "agent_not_offered"
    IMAGE_NOT_OFFERED = "image_not_offered"
    SYSTEM_NOT_OFFERED = "system_not_offered"
    PROGRAMS_NOT_INSTALLED = "programs_not_installed"
    FUNCTIONS_NOT_SANDBOXED = "functions_not_sandboxed"
    WORKER_CANNOT_READ = "worker_cannot_read"
    LICENCE_IN_USE = "licence_in_use"
    SLOTS_NOT_OFFERED = "slots_not_offered"
    SLOTS_UNUSABLE = "slots_unusable"

    STARTING = "starting"
    DESKTOPS_IN_USE = "desktops_in_use"
    CONCURRENCY_LIMIT = "concurrency_limit"
    MODEL_RATE_LIMIT = "model_rate_limit"
    QUOTA_REACHED = "quota_reached"
    BUDGET_REACHED = "budget_reached"
    DISK_QUOTA_REACHED = "disk_quota_reached"
    DESKTOPS_RESERVED = "desktops_reserved"

    HIGHER_PRIORITY_RUNS = "higher_priority_runs"
    OTHER_RUNS_AT_LIMIT = "other_runs_at_limit"
    FAIR_SHARE = "fair_share"
    ALL_SLOTS = "all_slots"
    NO_MORE_EPISODES = "no_more_episodes"

    VARIANT_NOT_IN_TASK = "variant_not_in_task"
    QUARANTINED = "quarantined"
    IMAGE_UNUSABLE = "image_unusable"
    IMAGE_UNCLEAR = "image_unclear"
    LICENCE_MISSING = "licence_missing"
    JUDGE_NOT_CHOSEN = "judge_not_chosen"

    OTHER = "other"

    @classmethod
    def _missing_(cls, value: object) -> "ReasonCode":  # noqa: ARG003 - the hook of Enum
        """Rows of other releases may have codes that this one does not know."""
        return cls.OTHER


@dataclass(frozen=True)
class Reason:
    """One sentence, without a full stop, and its code."""

    code: ReasonCode
    text: str


def stored_reason(code: str | None, text: str) -> Reason | None:
    """A reason from its two columns; None if there is none."""
    return Reason(ReasonCode(code or ReasonCode.OTHER), text) if code or text else None
