"""One file per table; importing this package makes all of them known to `Base.metadata`."""

from backend.db.models.actor import Actor
from backend.db.models.agent import Agent
from backend.db.models.artifact import Artifact
from backend.db.models.attempt import Attempt
from backend.db.models.base import Base
from backend.db.models.benchmark import Benchmark
from backend.db.models.choice import Choice
from backend.db.models.episode import Episode
from backend.db.models.evaluation import Evaluation
from backend.db.models.event import Event
from backend.db.models.evidence import Evidence
from backend.db.models.external_asset import ExternalAsset
from backend.db.models.failure_review import FailureReview
from backend.db.models.judge import Judge
from backend.db.models.judge_answer import JudgeAnswer
from backend.db.models.judge_verdict import JudgeVerdict
from backend.db.models.lease import Lease
from backend.db.models.licence import Licence
from backend.db.models.measure import Measure
from backend.db.models.measure_rollup import MeasureRollup
from backend.db.models.node import Node
from backend.db.models.person_rating import PersonRating
from backend.db.models.person_verdict import PersonVerdict
from backend.db.models.project import Project
from backend.db.models.quarantine import Quarantine
from backend.db.models.reported_result import ReportedResult
from backend.db.models.rescore import Rescore
from backend.db.models.review_item import ReviewItem
from backend.db.models.rollup import Rollup
from backend.db.models.run import Run
from backend.db.models.slot import Slot
from backend.db.models.step import Step
from backend.db.models.study import Study
from backend.db.models.task import Task
from backend.db.models.task_asset import TaskAsset
from backend.db.models.task_draft import TaskDraft
from backend.db.models.task_draft_asset import TaskDraftAsset
from backend.db.models.task_draft_recording import TaskDraftRecording
from backend.db.models.task_draft_request import TaskDraftRequest
from backend.db.models.task_draft_review import TaskDraftReview
from backend.db.models.task_draft_try import TaskDraftTry
from backend.db.models.task_draft_version import TaskDraftVersion
from backend.db.models.task_label import TaskLabel
from backend.db.models.task_selection import TaskSelection
from backend.db.models.task_set import TaskSet
from backend.db.models.task_validation import TaskValidation
from backend.db.models.task_variant import TaskVariant
from backend.db.models.work import Work
from backend.db.models.worker import Worker

__all__ = [
    "Actor",
    "Agent",
    "Artifact",
    "Attempt",
    "Base",
    "Benchmark",
    "Choice",
    "Episode",
    "Evaluation",
    "Event",
    "Evidence",
    "ExternalAsset",
    "FailureReview",
    "Judge",
    "JudgeAnswer",
    "JudgeVerdict",
    "Lease",
    "Licence",
    "Measure",
    "MeasureRollup",
    "Node",
    "PersonRating",
    "PersonVerdict",
    "Project",
    "Quarantine",
    "ReportedResult",
    "Rescore",
    "ReviewItem",
    "Rollup",
    "Run",
    "Slot",
    "Step",
    "Study",
    "Task",
    "TaskAsset",
    "TaskDraft",
    "TaskDraftAsset",
    "TaskDraftRecording",
    "TaskDraftRequest",
    "TaskDraftReview",
    "TaskDraftTry",
    "TaskDraftVersion",
    "TaskLabel",
    "TaskSelection",
    "TaskSet",
    "TaskValidation",
    "TaskVariant",
    "Work",
    "Worker",
]
