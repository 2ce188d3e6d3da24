"""Scoring again: what may be asked, how evidence is matched, what is kept, and two workers at once."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select, text

from backend.db.models import Episode, Evaluation, Event, Evidence, Reevaluation, Run
from backend.db.models.enums import EvidenceRole
from backend.domain.errors import Conflict, Invalid, NotFound, Unavailable
from backend.domain.evaluators.evaluate import CallEvidence, GatherFailure
from backend.domain.model.task import EvaluatorSpec, LoadedBenchmark, MetricCall, Task, TaskKey
from backend.services.artifacts.artifacts import ArtifactRef
from backend.services.attempts import attempts, reevaluation, reevaluation_failures
from backend.services.attempts.attempts import EvaluationBasis, EvidenceRow
from backend.services.attempts.evidence import plan_of, spec_of
from backend.services.attempts.reevaluation import RescoreRow
from backend.services.scheduling import claims
from tests.error_codes import raises_code
from tests.factories.records import World, evaluation

CAT = {"type": "vm_command_line", "command": ["cat", "note"]}
GOLD = {"type": "cloud_file", "path": "asset:gold.txt", "dest": "gold.txt"}


def task_of(expected: str = "hello", result: Mapping[str, Any] = CAT, **changes: Any) -> Task:
    """A task that looks at what a command says."""
    rule = {"type": "rule", "rules": {"expected": expected}}
    call = MetricCall(func="exact_match", result=result, expected=rule)
    return Task(
        key=TaskKey(domain="notes", name="hello"),
        dialect="starter",
        instruction=changes.pop("instruction", "Write hello."),
        evaluator=EvaluatorSpec(calls=(call,), **changes),
    )


def import_task(world: World, task: Task, **assets: bytes) -> None:
    files = {name.replace("_", "."): data for name, data in assets.items()}
    world.benchmark(LoadedBenchmark(kind="starter", tasks=(task,), assets=files))


def scored(world: World, task: Task, said: bytes = b"hello", *, spec: bool = True) -> UUID:
    """An episode of the task, scored 0, with what the command said as evidence; its id."""
    worker = world.worker()
    world.submit()
    claim = world.must_claim(worker)
    world.run_to_evaluation(claim)
    ref = ArtifactRef(world.store.put(said, "text/plain"), len(said), "text/plain")
    rows = [EvidenceRow(0, EvidenceRole.RESULT, "vm_command_line", "cat note", ref, "as it was")]
    judged = EvaluationBasis(spec_of(task, [CallEvidence(notes=("a window was gone",))])) if spec else None
    world.do(attempts.finish_scored, claim.fence, evaluation(0.0), rows, {}, judged=judged)
    world.do(claims.release_lease, claim.lease_id, "done")
    return claim.episode_id


def ask(world: World, episode_id: UUID, by: reevaluation.By = "own", make_current: bool | None = None) -> RescoreRow:  # noqa: FBT001
    with world.work() as session:
        _, actor = world.who(session)
        return reevaluation.request(session, episode_id, actor, reevaluation.ReevaluationOptions(by, make_current))


class TestRequest:
    def test_request_waits_with_the_old_score(self, installation: World) -> None:
        import_task(installation, task_of())
        row = ask(installation, scored(installation, task_of()))
        assert (row.rescore.state, row.before, row.after, row.task.key) == ("waiting", 0.0, None, "notes/hello")
        assert row.rescore.make_current

    def test_the_same_request_while_it_waits(self, installation: World) -> None:
        import_task(installation, task_of())
        episode = scored(installation, task_of())
        assert ask(installation, episode).rescore.id == ask(installation, episode).rescore.id

    def test_episode_without_a_score_is_refused(self, installation: World) -> None:
        import_task(installation, task_of())
        installation.worker()
        installation.submit()
        with installation.work() as session:
            episode = session.scalars(select(Episode.id)).one()
        with pytest.raises(Conflict):
            ask(installation, episode)

    def test_unknown_episode_is_refused(self, installation: World) -> None:
        with pytest.raises(NotFound):
            ask(installation, UUID(int=5))

    def test_newer_task_with_missing_evidence_is_refused(self, installation: World) -> None:
        import_task(installation, task_of())
        episode = scored(installation, task_of())
        import_task(installation, task_of(result={"type": "vm_command_line", "command": ["cat", "other"]}))
        with raises_code(Invalid, "evidence_incomplete", mentions=("metric 1 (exact_match), result", "other")):
            ask(installation, episode, "latest")

    def test_newer_task_set_without_the_task_is_refused(self, installation: World) -> None:
        import_task(installation, task_of())
        episode = scored(installation, task_of())
        other = task_of().model_copy(update={"key": TaskKey(domain="notes", name="other")})
        import_task(installation, other)
        with pytest.raises(NotFound):
            ask(installation, episode, "latest")

    def test_a_newer_tasks_verdict_does_not_count_unless_asked(self, installation: World) -> None:
        import_task(installation, task_of())
        episode = scored(installation, task_of())
        import_task(installation, task_of("other"))
        assert not ask(installation, episode, "latest").rescore.make_current
        assert ask(installation, episode, "latest", True).rescore.make_current  # noqa: FBT003

    def test_a_run_refuses_only_what_cannot_be(self, installation: World) -> None:
        import_task(installation, task_of())
        episode = scored(installation, task_of())
        with installation.work() as session:
            run_id = session.scalars(select(Run.id)).one()
            _, actor = installation.who(session)
            asked, refused = reevaluation.request_run(session, run_id, actor, reevaluation.ReevaluationOptions())
        assert [row.rescore.episode_id for row in asked] == [episode]
        assert refused == []
        import_task(installation, task_of(result={"type": "vm_command_line", "command": "x"}))
        with installation.work() as session:
            _, actor = installation.who(session)
            asked, refused = reevaluation.request_run(
                session, run_id, actor, reevaluation.ReevaluationOptions("latest")
            )
        assert asked == []
        assert [(one.episode_id, one.task) for one in refused] == [(episode, "notes/hello")]


class TestTake:
    def test_the_plan_has_the_stored_evidence_and_its_notes(self, installation: World) -> None:
        import_task(installation, task_of())
        ask(installation, scored(installation, task_of()))
        with installation.work() as session:
            job = reevaluation.claim_request(session)
            assert job is not None
            assert job.plan is not None
            result, expected = job.plan.calls[0]
            assert [row.blob_name for row in result.rows] == ["cat note"]
            assert (expected.anew, expected.rows) == (False, [])
            assert job.plan.notes == [("a window was gone",)]
            assert job.problem == ""

    @pytest.mark.parametrize(
        ("side", "anew", "missing"),
        [
            pytest.param("expected", [False, True], False, id="what needs no desktop is gathered again"),
            pytest.param("result", [], True, id="what only the desktop had is missing"),
        ],
    )
    def test_failed_getter_is_run_again_where_possible(
        self, installation: World, side: str, anew: list[bool], *, missing: bool
    ) -> None:
        import_task(installation, task_of())
        failure = GatherFailure(side=side, code="evidence_not_gathered", message="no answer")
        spec = spec_of(task_of(), [CallEvidence(failures=(failure,))])
        plan = plan_of(task_of(), spec, [], same_task=True)
        assert bool(plan.missing) is missing
        assert not missing or "no answer" in plan.missing[0]
        assert missing or [each.anew for each in plan.calls[0]] == anew

    def test_evidence_from_before_specs_were_stored(self, installation: World) -> None:
        import_task(installation, task_of())
        ask(installation, scored(installation, task_of(), spec=False))
        with installation.work() as session:
            job = reevaluation.claim_request(session)
            assert job is not None
            assert job.problem == ""

    def test_a_newer_tasks_rules_are_taken_from_it(self, installation: World) -> None:
        import_task(installation, task_of())
        episode = scored(installation, task_of())
        import_task(installation, task_of("bye"))
        ask(installation, episode, "latest")
        with installation.work() as session:
            job = reevaluation.claim_request(session)
            assert job is not None
            assert job.plan is not None
            result, expected = job.plan.calls[0]
            assert (result.anew, expected.anew) == (False, True)

    def test_claimed_request_is_locked(self, installation: World) -> None:
        import_task(installation, task_of())
        ask(installation, scored(installation, task_of()))
        with installation.work() as first, installation.work() as second:
            assert reevaluation.claim_request(first) is not None
            assert reevaluation.claim_request(second) is None

    def test_request_is_free_again_after_a_crash(self, installation: World) -> None:
        """The server releases the row with the connection, as when the worker's process is killed."""
        import_task(installation, task_of())
        ask(installation, scored(installation, task_of()))

        def killed() -> None:
            with installation.work() as session:
                assert reevaluation.claim_request(session) is not None
                backend = session.scalar(text("SELECT pg_backend_pid()"))
                installation.do(lambda other: other.execute(text(f"SELECT pg_terminate_backend({backend})")))
                session.execute(text("SELECT 1"))

        with pytest.raises(Unavailable):
            killed()
        with installation.work() as session:
            assert reevaluation.claim_request(session) is not None

    def test_no_request_to_claim(self, installation: World) -> None:
        with installation.work() as session:
            assert reevaluation.claim_request(session) is None


class TestFinish:
    def finished(self, world: World, *, make_current: bool = True) -> UUID:
        import_task(world, task_of())
        episode = scored(world, task_of())
        ask(world, episode, make_current=make_current)
        with world.work() as session:
            job = reevaluation.claim_request(session)
            assert job is not None
            reevaluation.finish(session, job, evaluation(1.0), [], 0.5)
        return episode

    def test_both_verdicts_are_stored_and_the_new_one_counts(self, installation: World) -> None:
        episode_id = self.finished(installation)
        with installation.work() as session:
            found = session.scalars(select(Evaluation).order_by(Evaluation.id)).all()
            assert [(row.score, row.current) for row in found] == [(0.0, False), (1.0, True)]
            assert found[1].spec["dialect"] == "starter"
            episode = session.get_one(Episode, episode_id)
            assert (episode.score, episode.solved) == (1.0, True)
            run = session.get_one(Run, episode.run_id)
            assert run.rollup_stale
            row = session.scalars(select(Reevaluation)).one()
            assert (row.state, row.new_evaluation_id) == ("done", found[1].id)
            told = session.scalars(select(Event).order_by(Event.seq.desc()).limit(1)).one()
            assert told.data["rescored"]

    def test_the_old_one_may_stay(self, installation: World) -> None:
        episode_id = self.finished(installation, make_current=False)
        with installation.work() as session:
            found = session.scalars(select(Evaluation).order_by(Evaluation.id)).all()
            assert [(row.score, row.current) for row in found] == [(0.0, True), (1.0, False)]
            assert session.get_one(Episode, episode_id).score == 0.0

    def test_finished_request_can_be_repeated(self, installation: World) -> None:
        episode_id = self.finished(installation)
        assert ask(installation, episode_id).before == 1.0
        with installation.work() as session:
            assert session.scalars(select(func.count()).select_from(Reevaluation)).one() == 2


class TestFail:
    def test_the_old_verdict_stands(self, installation: World) -> None:
        import_task(installation, task_of())
        episode_id = scored(installation, task_of())
        row = ask(installation, episode_id)
        installation.do(reevaluation_failures.fail, row.rescore.id, "no verdict")
        with installation.work() as session:
            found = session.scalars(select(Reevaluation)).one()
            assert (found.state, found.message) == ("failed", "no verdict")
            assert session.get_one(Episode, episode_id).score == 0.0
            assert session.scalars(select(func.count()).select_from(Evidence)).one() == 1

    def test_a_request_in_progress_is_left_alone(self, installation: World) -> None:
        import_task(installation, task_of())
        row = ask(installation, scored(installation, task_of()))
        with installation.work() as session:
            assert reevaluation.claim_request(session) is not None
            installation.do(reevaluation_failures.fail, row.rescore.id, "no verdict")
        assert installation.do(reevaluation.listing)[0].rescore.state == "waiting"
