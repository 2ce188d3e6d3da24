"""Tasks and claims for tests of the worker."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from backend.domain.machines.slots import SlotRef
from backend.domain.model.model_wait import ModelWait
from backend.domain.model.run import Budget, RunConfig, ScreenSize
from backend.domain.model.task import EvaluatorSpec, MetricCall, SetupStep, Task, TaskKey
from backend.services.scheduling.claims import Claim, Fence

SCREEN = ScreenSize(width=640, height=480)
NOTE = "/home/user/note.txt"
RATE_LIMIT = "HTTP 429: slow down <b>please</b>"
LIMITED = ModelWait(
    call=3, endpoint="lab", model="m-1", failures=2, seconds=14.0, retry_seconds=20.0, words=RATE_LIMIT, limited=True
)
"""A heartbeat's report of a call that a rate limit holds."""


def note_task(name: str = "say-hello", **changes: Any) -> Task:
    """A task that is solved by writing `hello` into a file which is open in an editor."""
    call = MetricCall(
        func="exact_match",
        result={"type": "vm_command_line", "command": ["cat", NOTE]},
        expected={"type": "rule", "rules": {"expected": "hello"}},
    )
    setup = (
        SetupStep(type="create_file", parameters={"path": NOTE, "content": ""}),
        SetupStep(type="open", parameters={"path": NOTE}),
    )
    task = Task(
        key=TaskKey(domain="notes", name=name),
        dialect="starter",
        instruction="Write hello into the note and save it.",
        setup=setup,
        evaluator=EvaluatorSpec(calls=(call,)),
    )
    return task.model_copy(update=changes)


def infeasible_task(name: str = "fly") -> Task:
    """A task that is solved by saying that it cannot be done."""
    return note_task(name, setup=(), evaluator=EvaluatorSpec(calls=(MetricCall(func="infeasible"),)))


def claim_of(
    task: Task, agent: str = "noop", params: Mapping[str, Any] | None = None, *, budget: Budget | None = None
) -> Claim:
    """A claim on the first attempt at an episode of that task."""
    attempt_id = uuid4()
    config = RunConfig(
        agent=agent, params=params or {}, provider="fake", screen=SCREEN, budget=budget or Budget(max_steps=10)
    )
    return Claim(
        fence=Fence(attempt_id, 1),
        attempt_id=attempt_id,
        episode_id=uuid4(),
        run_id=uuid4(),
        task_id=uuid4(),
        lease_id=uuid4(),
        provider="fake",
        slot=SlotRef(0),
        task=task,
        config=config,
        seed=7,
        attempt_number=1,
        assets={},
    )
