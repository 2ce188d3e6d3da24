"""One module per table; importing this package registers all of them with `Base.metadata`."""

from backend.db.models.accounts.access_token import AccessToken
from backend.db.models.accounts.actor import Actor
from backend.db.models.accounts.audit_entry import AuditEntry
from backend.db.models.accounts.idempotent_request import IdempotentRequest
from backend.db.models.accounts.membership import Membership
from backend.db.models.accounts.project import Project
from backend.db.models.accounts.stream_ticket import StreamTicket
from backend.db.models.accounts.trust_rule import TrustRule
from backend.db.models.accounts.user_account import UserAccount
from backend.db.models.accounts.user_identity import UserIdentity
from backend.db.models.accounts.user_session import UserSession
from backend.db.models.artifacts.artifact import Artifact
from backend.db.models.artifacts.retention import Retention
from backend.db.models.attempts.attempt import Attempt
from backend.db.models.attempts.attempt_video import AttemptVideo
from backend.db.models.attempts.evaluation import Evaluation
from backend.db.models.attempts.evidence import Evidence
from backend.db.models.attempts.measure import Measure
from backend.db.models.attempts.reevaluation import Reevaluation
from backend.db.models.attempts.step import Step
from backend.db.models.authoring.task_draft import TaskDraft
from backend.db.models.authoring.task_draft_asset import TaskDraftAsset
from backend.db.models.authoring.task_draft_recording import TaskDraftRecording
from backend.db.models.authoring.task_draft_request import TaskDraftRequest
from backend.db.models.authoring.task_draft_review import TaskDraftReview
from backend.db.models.authoring.task_draft_trial import TaskDraftTrial
from backend.db.models.authoring.task_draft_version import TaskDraftVersion
from backend.db.models.base import Base
from backend.db.models.benchmarks.benchmark import Benchmark
from backend.db.models.benchmarks.published_result import PublishedResult
from backend.db.models.benchmarks.quarantine import Quarantine
from backend.db.models.benchmarks.task import Task
from backend.db.models.benchmarks.task_asset import TaskAsset
from backend.db.models.benchmarks.task_label import TaskLabel
from backend.db.models.benchmarks.task_selection import TaskSelection
from backend.db.models.benchmarks.task_set import TaskSet
from backend.db.models.benchmarks.task_variant import TaskVariant
from backend.db.models.benchmarks.web_asset import WebAsset
from backend.db.models.capacity.lease import Lease
from backend.db.models.capacity.licence import Licence
from backend.db.models.capacity.maintenance import Maintenance
from backend.db.models.capacity.model_usage import ModelUsage
from backend.db.models.capacity.node import Node
from backend.db.models.capacity.slot import Slot
from backend.db.models.capacity.worker import Worker
from backend.db.models.configurations.agent_configuration import AgentConfiguration
from backend.db.models.deletions.deletion import Deletion
from backend.db.models.events.event import Event
from backend.db.models.judging.human_judgement import HumanJudgement
from backend.db.models.judging.judge import Judge
from backend.db.models.judging.judge_response import JudgeResponse
from backend.db.models.judging.judge_verdict import JudgeVerdict
from backend.db.models.judging.review_item import ReviewItem
from backend.db.models.notifications.delivery import Delivery
from backend.db.models.notifications.notification import Notification
from backend.db.models.notifications.subscription import Subscription
from backend.db.models.people.human_rating import HumanRating
from backend.db.models.results.failure_review import FailureReview
from backend.db.models.results.label_pair import StoredLabelPair
from backend.db.models.results.measure_rollup import MeasureRollup
from backend.db.models.results.pass_rollup import PassRollup
from backend.db.models.results.rollup import Rollup
from backend.db.models.runs.episode import Episode
from backend.db.models.runs.episode_comment import EpisodeComment
from backend.db.models.runs.project_budget import ProjectBudget
from backend.db.models.runs.run import Run
from backend.db.models.runs.task_validation import TaskValidation
from backend.db.models.sharing.public_link import PublicLink
from backend.db.models.sharing.saved_view import SavedView
from backend.db.models.studies.demonstration_record import DemonstrationRecord
from backend.db.models.studies.demonstration_set import DemonstrationSet
from backend.db.models.studies.demonstration_step_record import DemonstrationStepRecord
from backend.db.models.studies.offline_answer import OfflineAnswer
from backend.db.models.studies.offline_cell import OfflineCell
from backend.db.models.studies.offline_study import OfflineStudy
from backend.db.models.studies.study import Study
from backend.db.models.submissions.pairwise_preference import PairwisePreference
from backend.db.models.submissions.submission import Submission

__all__ = [
    "AccessToken",
    "Actor",
    "AgentConfiguration",
    "Artifact",
    "Attempt",
    "AttemptVideo",
    "AuditEntry",
    "Base",
    "Benchmark",
    "Deletion",
    "Delivery",
    "DemonstrationRecord",
    "DemonstrationSet",
    "DemonstrationStepRecord",
    "Episode",
    "EpisodeComment",
    "Evaluation",
    "Event",
    "Evidence",
    "FailureReview",
    "HumanJudgement",
    "HumanRating",
    "IdempotentRequest",
    "Judge",
    "JudgeResponse",
    "JudgeVerdict",
    "Lease",
    "Licence",
    "Maintenance",
    "Measure",
    "MeasureRollup",
    "Membership",
    "ModelUsage",
    "Node",
    "Notification",
    "OfflineAnswer",
    "OfflineCell",
    "OfflineStudy",
    "PairwisePreference",
    "PassRollup",
    "Project",
    "ProjectBudget",
    "PublicLink",
    "PublishedResult",
    "Quarantine",
    "Reevaluation",
    "Retention",
    "ReviewItem",
    "Rollup",
    "Run",
    "SavedView",
    "Slot",
    "Step",
    "StoredLabelPair",
    "StreamTicket",
    "Study",
    "Submission",
    "Subscription",
    "Task",
    "TaskAsset",
    "TaskDraft",
    "TaskDraftAsset",
    "TaskDraftRecording",
    "TaskDraftRequest",
    "TaskDraftReview",
    "TaskDraftTrial",
    "TaskDraftVersion",
    "TaskLabel",
    "TaskSelection",
    "TaskSet",
    "TaskValidation",
    "TaskVariant",
    "TrustRule",
    "UserAccount",
    "UserIdentity",
    "UserSession",
    "WebAsset",
    "Worker",
]
