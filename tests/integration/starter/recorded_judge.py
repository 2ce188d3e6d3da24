"""A judge that replays recorded answers, for episodes without a database."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from backend.domain.judging.ask import Question, judge
from backend.domain.judging.criteria import criteria_of
from backend.domain.judging.judge_input import JudgeInputStep, StoredPicture
from backend.domain.model.judge_config import JudgeConfig
from backend.domain.model.task import Task
from backend.domain.model.trajectory import Frame, Observation, StepRecord
from backend.services.runs.action_description import action_words
from tests.factories.models import client, endpoint
from tests.fakes.votes import MemoryVotes

CONFIG = JudgeConfig(endpoint="recorded", model="judge-1")


def recorded_judge(cassette: Path) -> Callable[[Task, Sequence[StepRecord], Observation], bytes]:
    """A judge whose answers stand in that file: the first line whose words the question has."""

    def ask(task: Task, steps: Sequence[StepRecord], end: Observation) -> bytes:
        pictures: dict[str, bytes] = {}

        def kept(frame: Frame | None) -> StoredPicture | None:
            if frame is None:
                return None
            sha256 = hashlib.sha256(frame.data).hexdigest()
            pictures[sha256] = frame.data
            return StoredPicture(sha256=sha256, media_type=frame.media_type, width=frame.width, height=frame.height)

        seen = [
            JudgeInputStep(
                index=step.index,
                actions="; ".join(action_words(action.model_dump(mode="json")) for action in step.decision.actions),
                picture=kept(step.observation.frame),
            )
            for step in steps
        ]
        seen.append(JudgeInputStep(index=len(steps), picture=kept(end.frame), final=True))
        question = Question(CONFIG, task.instruction, criteria_of(task), tuple(seen), task.max_steps)
        speaker = client(endpoint("recorded", cassette=cassette))
        return judge(question, lambda: speaker, MemoryVotes(), pictures.__getitem__).model_dump_json().encode()

    return ask
