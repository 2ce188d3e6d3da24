"""Views of single answers of offline studies, beside what is right."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from pydantic import Field

from backend.domain.model.demonstration import Box, Reference
from backend.domain.model.trajectory import Action
from backend.domain.studies.offline_results import OfflineProtocol
from backend.domain.studies.offline_scores import summary
from backend.services.configurations.configuration_ref import ConfigurationRef, configuration_ref
from backend.services.read_model import ReadModel
from backend.services.studies.offline_studies import AnswerDetail, OfflineStudyDetail
from backend.services.studies.views.offline_study import (
    OfflineStudyView,
    offline_study_view,
    operation_of,
    score_of,
    success_of,
)

SCORES = {
    "type_match": "Action type (AndroidControl)",
    "grounding": "Grounding (AndroidControl)",
    "step_success": "Step success (AndroidControl)",
    "element": "Element (Mind2Web)",
    "operation_f1": "Operation F1 (Mind2Web)",
    "web_success": "Step success (Mind2Web)",
    "sequence": "Sequence score (OmniACT)",
    "penalty": "Penalty (OmniACT)",
    "sequence_most": "Best sequence score (OmniACT)",
}


class AnswerView(ReadModel):
    """An answer beside what is right."""

    id: UUID
    cell: int
    demonstration: str
    index: int
    state: str
    message: str
    operation: str
    right_action: str
    action: str
    invalid: str
    success: bool | None = Field(description="By the protocol; null without an answer, or where it is not defined.")
    recorded_url: str = Field(description="The step in the replay of the recorded episode; empty for imported sets.")
    url: str


class AnswerPage(ReadModel):
    """All of one answer, with what its page draws on the recorded picture."""

    answer: AnswerView
    study: OfflineStudyView
    levels: dict[str, Any]
    configuration: ConfigurationRef
    instruction: str
    note: str
    words: str
    reply: str
    picture: str
    width: int
    height: int
    boxes: list[Box]
    right_point: tuple[int, int] | None
    answer_point: tuple[int, int] | None
    score: dict[str, Any]
    actions: list[dict[str, Any]]
    reference: dict[str, Any]


def answer_view(study: OfflineStudyDetail, detail: AnswerDetail, protocol: OfflineProtocol) -> AnswerView:
    """One answer in one line."""
    reference = Reference.model_validate(detail.step.reference)
    actions = [Action.model_validate(action) for action in detail.answer.actions]
    number = next(cell.row.number for cell in study.cells if cell.row.id == detail.answer.cell_id)
    return AnswerView(
        id=detail.answer.id,
        cell=number,
        demonstration=detail.demonstration.key,
        index=detail.step.index,
        state=detail.answer.state,
        message=detail.answer.message,
        operation=operation_of(detail),
        right_action=one_line([item.action for item in reference.actions]),
        action=one_line(actions),
        invalid=detail.answer.invalid,
        success=success_of(protocol, score_of(detail)),
        recorded_url=_recorded_url(detail),
        url=f"/studies/offline/{study.study.id}/answers/{detail.answer.id}",
    )


def one_line(actions: Sequence[Action]) -> str:
    """Actions in one line: `CLICK 10,20; TYPING abc`."""
    return "; ".join(_words_of(action) for action in actions)[:500]


def _words_of(action: Action) -> str:
    point = f"{action.x},{action.y}" if action.x is not None else ""
    wheel = f"{action.dx},{action.dy}" if action.dx or action.dy else ""
    return " ".join(filter(None, (action.type.value, point, wheel, action.text, "+".join(action.keys))))


def _recorded_url(detail: AnswerDetail) -> str:
    attempt = detail.attempt
    return f"/episodes/{attempt.episode_id}?attempt={attempt.number}&step={detail.step.index}" if attempt else ""


def answer_page(study: OfflineStudyDetail, detail: AnswerDetail, protocol: OfflineProtocol) -> AnswerPage:
    """All of one answer."""
    reference = Reference.model_validate(detail.step.reference)
    right_actions = [item.action for item in reference.actions]
    actions = [Action.model_validate(action) for action in detail.answer.actions]
    cell = next(cell for cell in study.cells if cell.row.id == detail.answer.cell_id)
    score = score_of(detail)
    return AnswerPage(
        answer=answer_view(study, detail, protocol),
        study=offline_study_view(study),
        levels=dict(cell.levels),
        configuration=configuration_ref(cell.configuration),
        instruction=detail.demonstration.instruction,
        note=detail.demonstration.note,
        words=detail.step.words,
        reply=detail.answer.reply,
        picture=detail.step.frame_sha256,
        width=detail.step.width,
        height=detail.step.height,
        boxes=[box for item in reference.actions for box in item.boxes],
        right_point=summary(right_actions).point,
        answer_point=summary(actions).point,
        score={title: getattr(score, name) for name, title in SCORES.items()} if score else {},
        actions=list(detail.answer.actions),
        reference=reference.model_dump(mode="json", exclude_defaults=True),
    )
