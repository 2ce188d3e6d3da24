"""A worker scores stored evidence again."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.db.models import Evaluation, Evidence, Reevaluation, Task, Worker
from backend.db.repositories.attempts.reevaluations import COMES_BACK, hold_long
from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.model.task import EvaluatorSpec, MetricCall
from backend.services.attempts import reevaluation
from backend.services.attempts.reevaluation import RescoreRow
from backend.services.attempts.reevaluation_failures import PATIENCE
from backend.services.runs.episodes import get_episode
from tests.factories.claims import NOTE, infeasible_task, note_task
from tests.factories.records import World, fenced
from tests.factories.tasks import judged_by_function, make_benchmark
from tests.fakes.evaluator import InProcessJudge
from tests.integration.worker.in_process import InProcessWorker, benchmark_of, finished, submit
from tests.waiting import until
from worker.background.reevaluator import Rescorer
from worker.base.database import Database
from worker.evaluation.concurrency import LOOK_SECONDS
from worker.evaluation.sandbox import Sandbox
from worker.models.model_pool import ModelPool

SOLUTION = ({"type": "hello"}, {"hotkey": ["ctrl", "s"]})
OFTEN = 10
StartWorker = Callable[[], InProcessWorker]


def played(world: World, start_worker: StartWorker, *tasks: object, agent: str = "oracle") -> UUID:
    """One scored episode; its id."""
    world.benchmark(benchmark_of(*tasks))  # type: ignore[arg-type]
    worker = start_worker()
    run = submit(world, agent)
    worker.dispatcher.wake()
    (episode,) = finished(world, run.id)
    worker.stop()
    return episode.id


def ask(world: World, episode_id: UUID, by: reevaluation.By = "own", *, make_current: bool | None = None) -> None:
    with world.work() as session:
        _, actor = world.who(session)
        reevaluation.request(session, episode_id, actor, reevaluation.ReevaluationOptions(by, make_current))


def ask_by_function(world: World) -> None:
    """For a task that an evaluation function judges, where another worker, with a fence, is online."""
    world.benchmark(make_benchmark(judged_by_function()))
    worker = world.worker(capabilities=fenced())
    world.submit()
    claim = world.must_claim(worker)
    world.score(claim)
    ask(world, claim.episode_id)


def result(world: World) -> RescoreRow:
    row: RescoreRow = world.do(reevaluation.listing)[-1]
    return row


def judging(expected: str) -> EvaluatorSpec:
    call = MetricCall(
        func="exact_match",
        result={"type": "vm_command_line", "command": ["cat", NOTE]},
        expected={"type": "rule", "rules": {"expected": expected}},
    )
    return EvaluatorSpec(calls=(call,))


@pytest.fixture
def judge() -> InProcessJudge:
    registry.load()
    return InProcessJudge()


@pytest.fixture
def rescorer(world: World, judge: InProcessJudge, tmp_path: Path) -> Rescorer:
    return Rescorer(
        Database(world.factory),
        world.store,
        judge,
        ModelPool.from_settings(Settings(data_dir=tmp_path)).models,
        every=0.1,
    )


@pytest.mark.sampled(3)
class TestOne:
    def test_the_same_evidence_gives_the_same_verdict(
        self, world: World, start_worker: StartWorker, rescorer: Rescorer
    ) -> None:
        episode = played(world, start_worker, note_task(oracle=SOLUTION))
        ask(world, episode)
        assert rescorer.process_next()
        row = result(world)
        assert (row.rescore.state, row.before, row.after, row.rescore.message) == ("done", 1.0, 1.0, "")
        with world.work() as session:
            old, new = session.scalars(select(Evaluation).order_by(Evaluation.id)).all()
            assert (old.current, new.current) == (False, True)
            assert old.metrics == new.metrics
            assert old.spec == new.spec
            assert old.spec["calls"][0]["func"] == "exact_match"
            kept = session.scalars(select(Evidence).order_by(Evidence.evaluation_id)).all()
            assert {row.evaluation_id for row in kept} == {old.id, new.id}
            assert len({(row.sha256, row.blob_name, row.note) for row in kept}) == 1
        assert not rescorer.process_next()

    def test_leaves_evaluation_functions_to_a_worker_that_can_run_them(self, world: World, rescorer: Rescorer) -> None:
        ask_by_function(world)
        assert not rescorer.process_next()
        with world.work() as session:
            session.execute(update(Worker).values(state="offline", heartbeat_at=func.now() - 2 * COMES_BACK))
        assert rescorer.process_next()

    def test_a_fence_that_did_not_work_once_is_tried_again(self, world: World, tmp_path: Path) -> None:
        class EvaluatorFence(InProcessJudge):
            works = False

            @property
            def sandbox(self) -> Sandbox:
                if not self.works:
                    raise EvaluatorFailed("no process could be started")
                return Sandbox.BWRAP

        registry.load()
        judge = EvaluatorFence()
        models = ModelPool.from_settings(Settings(data_dir=tmp_path)).models
        rescorer = Rescorer(Database(world.factory), world.store, judge, models, every=0.1)
        ask_by_function(world)
        assert not rescorer.process_next()
        judge.works = True
        assert rescorer.process_next()

    def test_sandbox_is_tested_outside_any_transaction(self, world: World, tmp_path: Path) -> None:
        """The first test takes seconds, and PostgreSQL ends transactions that are idle for so long."""
        idle = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in tr%'"
        seen = []

        class SlowFence(InProcessJudge):
            @property
            def sandbox(self) -> Sandbox:
                with world.work() as session:
                    seen.append(session.scalar(text(idle)))
                return Sandbox.BWRAP

        registry.load()
        models = ModelPool.from_settings(Settings(data_dir=tmp_path)).models
        rescorer = Rescorer(Database(world.factory), world.store, SlowFence(), models, every=0.1)
        ask_by_function(world)
        assert rescorer.process_next()
        assert seen
        assert set(seen) == {0}

    def test_a_newer_task_judges_the_old_evidence(
        self, world: World, start_worker: StartWorker, rescorer: Rescorer
    ) -> None:
        episode = played(world, start_worker, note_task(oracle=SOLUTION))
        world.benchmark(benchmark_of(note_task(evaluator=judging("bye"), instruction="Write bye.")))
        ask(world, episode, "latest")
        assert rescorer.process_next()
        row = result(world)
        assert (row.before, row.after, row.task_set_version) == (1.0, 0.0, 2)
        assert row.rescore.message == "the newer task has another instruction"
        assert world.do(get_episode, episode).episode.score == 1.0
        ask(world, episode, "latest", make_current=True)
        assert rescorer.process_next()
        assert world.do(get_episode, episode).episode.score == 0.0

    def test_a_gold_file_comes_from_the_newer_task_set(
        self, world: World, start_worker: StartWorker, rescorer: Rescorer
    ) -> None:
        gold = {"type": "cloud_file", "path": "asset:gold.txt", "dest": "gold.txt"}
        file = {"type": "vm_file", "path": NOTE, "dest": "note.txt"}
        call = MetricCall(func="diff_text_file", result=file, expected=gold)
        task = note_task(oracle=SOLUTION, evaluator=EvaluatorSpec(calls=(call,)))
        world.benchmark(benchmark_of(task).model_copy(update={"assets": {"gold.txt": b"other"}}))
        worker = start_worker()
        run = submit(world, "oracle")
        worker.dispatcher.wake()
        (episode,) = finished(world, run.id)
        assert episode.score == 0.0
        world.benchmark(benchmark_of(task).model_copy(update={"assets": {"gold.txt": b"hello"}}))
        ask(world, episode.id)
        ask(world, episode.id, "latest")
        assert rescorer.process_next()
        assert rescorer.process_next()
        assert [row.after for row in world.do(reevaluation.listing)] == [0.0, 1.0]

    def test_a_rule_decides_again(self, world: World, start_worker: StartWorker, rescorer: Rescorer) -> None:
        episode = played(world, start_worker, infeasible_task(), agent="always_fail")
        ask(world, episode)
        assert rescorer.process_next()
        assert (result(world).before, result(world).after) == (1.0, 1.0)

    def test_failed_evaluation_preserves_the_old_verdict(
        self, world: World, start_worker: StartWorker, rescorer: Rescorer, judge: InProcessJudge
    ) -> None:
        episode = played(world, start_worker, note_task(oracle=SOLUTION))
        ask(world, episode)
        judge.broken = EvaluatorFailed("the metric broke")
        assert rescorer.process_next()
        row = result(world)
        assert (row.rescore.state, row.rescore.message, row.after) == ("failed", "the metric broke", None)
        assert world.do(get_episode, episode).episode.score == 1.0

    def test_missing_artifact_fails_the_reevaluation(
        self, world: World, start_worker: StartWorker, rescorer: Rescorer
    ) -> None:
        episode = played(world, start_worker, note_task(oracle=SOLUTION))
        with world.work() as session:
            for sha256 in session.scalars(select(Evidence.sha256).where(Evidence.sha256.is_not(None))):
                del world.store.blobs[str(sha256)]
        ask(world, episode)
        assert rescorer.process_next()
        assert result(world).rescore.state == "failed"


@pytest.mark.sampled(1)
class TestFilesThatCannotBeHad:
    @pytest.fixture
    def away(self, world: World, start_worker: StartWorker) -> World:
        """Two requests wait, of which the first needs a file, and the store gives none."""
        needs = played(world, start_worker, note_task(oracle=SOLUTION))
        needs_none = played(world, start_worker, infeasible_task(), agent="always_fail")
        ask(world, needs)
        ask(world, needs_none)
        world.store.away = "the store does not answer"
        return world

    def test_others_go_first_and_it_is_tried_again(self, away: World, rescorer: Rescorer) -> None:
        while rescorer.process_next():
            pass
        first, second = away.do(reevaluation.listing)
        assert (first.rescore.state, first.rescore.message) == ("waiting", "the store does not answer")
        assert second.rescore.state == "done"
        away.store.away = ""
        assert not rescorer.process_next()
        with away.work() as session:
            session.execute(update(Reevaluation).values(available_at=func.now()))
        assert rescorer.process_next()
        first, _ = away.do(reevaluation.listing)
        assert (first.rescore.state, first.rescore.tries) == ("done", 0)

    def test_fails_with_a_reason_after_the_last_retry(self, away: World, rescorer: Rescorer) -> None:
        with away.work() as session:
            session.execute(update(Reevaluation).values(created_at=func.now() - 2 * PATIENCE))
        while rescorer.process_next():
            pass
        first, _ = away.do(reevaluation.listing)
        assert first.rescore.state == "waiting", "that it has waited for its turn for long is no failure"
        with away.work() as session:
            long_ago = {"available_at": func.now(), "evidence_missing_since": func.now() - 2 * PATIENCE}
            session.execute(update(Reevaluation).where(Reevaluation.id == first.rescore.id).values(long_ago))
        assert rescorer.process_next()
        first, _ = away.do(reevaluation.listing)
        assert (first.rescore.state, first.rescore.message) == ("failed", "the store does not answer")

    def test_a_task_that_cannot_be_read_fails_and_the_others_continue(self, away: World, rescorer: Rescorer) -> None:
        away.store.away = ""
        with away.work() as session:
            first = session.scalars(select(Reevaluation).order_by(Reevaluation.id)).first()
            assert first is not None
            session.execute(update(Task).where(Task.id == first.task_id).values(spec={"of": "another release"}))
        while rescorer.process_next():
            pass
        assert [row.rescore.state for row in away.do(reevaluation.listing)] == ["failed", "done"]


class TestStopped:
    def test_a_failure_while_the_worker_stops_does_not_count(
        self, world: World, start_worker: StartWorker, rescorer: Rescorer, judge: InProcessJudge
    ) -> None:
        episode = played(world, start_worker, note_task(oracle=SOLUTION))
        rescorer.start()
        rescorer.stop(5.0)
        ask(world, episode)
        judge.broken = EvaluatorFailed("the worker stopped before the model responded")
        assert not rescorer.process_next()
        assert (result(world).rescore.state, result(world).rescore.tries) == ("waiting", 0)


class TestTurn:
    """Episodes are evaluated, so that the rescorer waits in line."""

    def test_wait_for_a_turn_is_not_evaluation_time(
        self,
        world: World,
        start_worker: StartWorker,
        rescorer: Rescorer,
        judge: InProcessJudge,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        episode = played(world, start_worker, note_task(oracle=SOLUTION))
        ask(world, episode)
        judge.turns.number = 1
        heard: list[object] = []

        def hear(session: Session) -> None:
            """The server ends a transaction that is idle for long."""
            hold_long(session)
            heard.append(session)
            if len(heard) == OFTEN:
                others.close()

        monkeypatch.setattr("worker.background.reevaluator.hold_long", hear)
        with ExitStack() as others:
            others.enter_context(judge.turns.turn(rescorer.pause))
            assert rescorer.process_next()
        assert result(world).rescore.state == "done"
        with world.work() as session:
            *_, new = session.scalars(select(Evaluation).order_by(Evaluation.id))
            assert new.seconds < len(heard) * LOOK_SECONDS

    def test_a_worker_that_stops_waits_no_longer(
        self, world: World, start_worker: StartWorker, rescorer: Rescorer, judge: InProcessJudge
    ) -> None:
        episode = played(world, start_worker, note_task(oracle=SOLUTION))
        ask(world, episode)
        judge.turns.number = 1
        with judge.turns.turn(rescorer.pause):
            rescorer.start()
            rescorer.wake()
            until(lambda: judge.asked, 20.0, what="the rescorer stands in line")
            rescorer.stop(10.0)
        until(lambda: "rescorer" not in {each.name for each in threading.enumerate()}, what="it has ended")
        assert (result(world).rescore.state, result(world).rescore.tries) == ("waiting", 0)


class TestThread:
    def test_wakes_up_for_a_request_and_stops(
        self, world: World, start_worker: StartWorker, rescorer: Rescorer
    ) -> None:
        episode = played(world, start_worker, note_task(oracle=SOLUTION))
        rescorer.start()
        ask(world, episode)
        rescorer.wake()
        until(lambda: result(world).rescore.state == "done", 20.0, what="scored again")
        rescorer.stop(5.0)
