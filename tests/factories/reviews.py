"""Judged attempts in a database, and people who judge them as well."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import select

from backend.db.models import Attempt, Episode, Judge, Task
from backend.domain.model.judge_config import JudgeConfig
from backend.domain.model.score import Evaluation
from backend.domain.model.task import Labels, LoadedBenchmark, TaskKey
from backend.services.accounts.projects import actor_for
from backend.services.judging import judges, reviews
from tests.factories.judging import answer, judged_task, judgement
from tests.factories.records import World, capabilities

CONFIG = JudgeConfig(endpoint="tape", model="judge-1")
BENCHMARK = "judged"


@dataclass(frozen=True)
class JudgedTask:
    """Of one task its level, and what the judge says of `opened` and `final`."""

    opened: bool
    final: bool
    level: str | None = None


@dataclass
class Judged:
    """Scored attempts, one per task, with verdicts of a judge of kind `vlm`.

    Attributes:
        attempts: their ids, in the order of what was said.
        judge: the judge's id.
    """

    world: World
    said: Sequence[JudgedTask]
    attempts: list[UUID] = field(default_factory=list)
    judge: UUID = field(init=False)

    def __post_init__(self) -> None:
        tasks = [
            judged_task().model_copy(
                update={"key": TaskKey(domain="notes", name=f"task-{at:03}"), "labels": Labels(level=scripted.level)}
            )
            for at, scripted in enumerate(self.said)
        ]
        self.world.benchmark(LoadedBenchmark(kind="starter", tasks=tuple(tasks)), name=BENCHMARK)
        models = {"tape": {"api": "recorded", "ok": True, "reason": "", "prices": []}}
        worker = self.world.worker(name="judging", node="judging", capabilities=capabilities() | {"models": models})
        run = self.world.submit(benchmark=BENCHMARK, judge=CONFIG)
        for _ in tasks:
            self.world.score(self.world.must_claim(worker))
        with self.world.work() as session:
            query = (
                select(Attempt.id)
                .join(Episode, Episode.id == Attempt.episode_id)
                .join(Task, Task.id == Episode.task_id)
                .where(Episode.run_id == run.id)
                .order_by(Task.name)
            )
            self.attempts = list(session.scalars(query))
            for attempt_id, scripted in zip(self.attempts, self.said, strict=True):
                judged_answer = judgement(answer(opened=scripted.opened, final=scripted.final), judge=CONFIG)
                judge_id = judges.judge_of_attempt(session, attempt_id, CONFIG)
                judges.keep_verdicts(session, judge_id, attempt_id, judged_answer)
            self.judge = session.scalars(select(Judge.id)).one()

    def draw(self, size: int = 100, seed: int = 1) -> int:
        """Draws items for people."""
        drawn: int = self.world.do(reviews.draw, self.judge, size, seed)
        return drawn

    def answered(self, name: str, *, opened: bool | None = True, final: bool | None = True, most: int = 1000) -> int:
        """A person says this of every item that is offered; returns how many there were."""
        number = 0
        while number < most:
            with self.world.work() as session:
                project, _ = self.world.who(session)
                person = actor_for(session, project, name)
                task = reviews.next_task(session, self.judge, person)
                if task is None:
                    break
                reviews.give_verdicts(session, self.judge, task.item, person, {"opened": opened, "final": final})
            number += 1
        return number


def graph_run(world: World, measures: Sequence[dict[str, float]]) -> list[UUID]:
    """Scored attempts with these measures of a graph; their ids in the same order."""
    from backend.services.attempts import attempts
    from backend.services.scheduling import claims

    worker = world.worker(name="graphs", node="graphs")
    world.submit(repeats=len(measures), tasks=("files/a",))
    attempt_ids = []
    for measure_values in measures:
        claim = world.must_claim(worker)
        world.run_to_evaluation(claim)
        evaluation = Evaluation(score=0.0, measures={"score": 0.0, **measure_values})
        world.do(attempts.finish_scored, claim.fence, evaluation, [], {})
        world.do(claims.release_lease, claim.lease_id, "done")
        attempt_ids.append(claim.attempt_id)
    return attempt_ids
