"""Judges, judged tasks, what they saw, and what a judge answers."""

import hashlib
import json
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from PIL import Image

from backend.domain.judging.criteria import FINAL, JUDGE, Criterion
from backend.domain.judging.judge_input import JudgeInputStep, StoredPicture
from backend.domain.judging.judgement import Judgement, JudgeReply, Vote
from backend.domain.model.judge_config import JudgeConfig
from backend.domain.model.task import EvaluatorSpec, MetricCall, Part, PartKind, Task, TaskKey

CONFIG = JudgeConfig(model="judge-1")
CRITERIA = (
    Criterion(name="opened", text="The note is open."),
    Criterion(name=FINAL, text="The note says hello."),
)
WIDTH, HEIGHT = 640, 480


def judged_call(name: str = FINAL) -> MetricCall:
    """The metric call by which a judge decides a criterion."""
    return MetricCall(func=JUDGE, result={"type": JUDGE}, options={"part": name})


def judged_task(**more: Any) -> Task:
    """A task of one checkpoint and a final state, both for a judge."""
    part = Part(name="opened", kind=PartKind.CHECKPOINT, text="The note is open.", calls=(judged_call("opened"),))
    values: dict[str, Any] = {
        "calls": (judged_call(),),
        "text": "The note says hello.",
        "parts": (part,),
        "protocol": "windowsworld",
    }
    return Task(
        key=TaskKey(domain="notes", name="judged"),
        dialect="starter",
        instruction="Write hello into the note.",
        evaluator=EvaluatorSpec(**(values | more)),
    )


def picture_bytes(shade: int = 0) -> bytes:
    """A small picture."""
    out = BytesIO()
    Image.new("RGB", (WIDTH, HEIGHT), (shade % 256, 80, 80)).save(out, "PNG")
    return out.getvalue()


def seen(number: int) -> tuple[tuple[JudgeInputStep, ...], Mapping[str, bytes]]:
    """An attempt of this many steps and its final state, with the bytes of its pictures by hash."""
    store = {}
    steps = []
    for index in range(number + 1):
        data = picture_bytes(index)
        sha256 = hashlib.sha256(data).hexdigest()
        store[sha256] = data
        kept = StoredPicture(sha256=sha256, media_type="image/png", width=WIDTH, height=HEIGHT)
        final = index == number
        steps.append(
            JudgeInputStep(index=index, actions="" if final else f"click {index}, 1", picture=kept, final=final)
        )
    return tuple(steps), store


def answer(**verdicts: bool | tuple[bool, int | None]) -> str:
    """A judge's answer: by criterion whether it is reached, and after which step."""
    said = []
    for name, verdict in verdicts.items():
        reached, step = verdict if isinstance(verdict, tuple) else (verdict, None)
        said.append({"name": name, "reached": reached, "step": step, "reason": f"{name}: seen"})
    return json.dumps({"verdicts": said})


def judgement(*answers: str, judge: JudgeConfig | None = None, **more: Any) -> Judgement:
    """Votes of a judge on an attempt of three steps."""
    votes = [Vote(number=number, replies=(JudgeReply(text=text),)) for number, text in enumerate(answers)]
    values: dict[str, Any] = {
        "judge": judge or CONFIG.model_copy(update={"votes": len(answers)}),
        "prompt_sha256": "0" * 64,
        "input_sha256": "1" * 64,
        "criteria": CRITERIA,
        "last_step": 2,
        "pictures": (0, 1, 2, 3),
        "votes": tuple(votes),
    }
    return Judgement.model_validate(values | more)
