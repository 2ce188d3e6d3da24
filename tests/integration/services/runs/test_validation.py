"""Oracle, no-op and always-FAIL say whether a task is sound."""

import pytest

from backend.domain.errors import FailureClass
from backend.domain.model.reason import ReasonCode
from backend.services.benchmarks.task_validation import wrongs
from backend.services.runs.validation import ValidationReport, start_validation, validation_report
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task


@pytest.fixture
def started(installation: World) -> World:
    """A feasible task, an infeasible one and one that cannot run here; validation submitted."""
    made = [make_task(name="good"), make_task(name="never", infeasible=True), make_task(name="x", requires=("gimp",))]
    installation.benchmark(make_benchmark(*made))
    installation.worker(slots=1)
    with installation.work() as session:
        project, actor = installation.who(session)
        start_validation(session, "starter", project=project, actor=actor)
    return installation


def finish(installation: World, scores: dict[tuple[str, str], float | None]) -> None:
    """Plays all claims; None = lost for good."""
    worker = installation.worker(slots=1)
    while (claim := installation.claim(worker)) is not None:
        score = scores[claim.config.agent, claim.task.key.name]
        if score is None:
            installation.lose(claim, FailureClass.EVALUATOR)
        else:
            installation.score(claim, score)


SOUND: dict[tuple[str, str], float | None] = {
    ("oracle", "good"): 1.0,
    ("noop", "good"): 0.0,
    ("always_fail", "good"): 0.0,
    ("oracle", "never"): 1.0,
    ("noop", "never"): 0.0,
    ("always_fail", "never"): 1.0,
}


def report(installation: World) -> ValidationReport:
    found: ValidationReport = installation.do(validation_report, "starter")
    return found


def unknown(report: ValidationReport) -> int:
    """Tasks of which nothing is known yet."""
    return sum(task.sound is None for task in report.tasks)


class TestValidationReport:
    def test_before_the_runs_have_ended(self, started: World) -> None:
        found = report(started)
        assert (found.complete, found.ok, unknown(found)) == (False, False, 3)
        assert set(found.runs) == {"oracle", "noop", "always_fail"}

    def test_sound_benchmark_passes(self, started: World) -> None:
        finish(started, SOUND)
        found = report(started)
        assert (found.complete, found.ok, found.sound, unknown(found)) == (True, True, 2, 1)
        reasons = {verdict.task.partition("/")[2]: verdict.reason_code for verdict in found.tasks}
        assert reasons == {"good": None, "never": None, "x": ReasonCode.PROGRAMS_NOT_INSTALLED}
        assert found.not_runnable == 1

    def test_an_unsound_task_is_named_with_its_reason(self, started: World) -> None:
        finish(started, SOUND | {("noop", "good"): 1.0})
        found = report(started)
        assert (found.complete, found.ok) == (True, False)
        assert [verdict.reason for verdict in found.tasks if verdict.sound is False] == [
            "doing nothing scores 1, not 0"
        ]

    def test_a_lost_episode_gives_no_verdict(self, started: World) -> None:
        finish(started, SOUND | {("oracle", "good"): None})
        found = report(started)
        assert (found.complete, found.ok) == (True, False)
        good = next(verdict for verdict in found.tasks if verdict.task.partition("/")[2] == "good")
        assert (good.sound, good.reason, good.oracle) == (None, "lost: oracle", None)

    def test_the_newest_results_count(self, started: World) -> None:
        finish(started, SOUND | {("noop", "good"): 1.0})
        with started.work() as session:
            project, actor = started.who(session)
            start_validation(session, "starter", project=project, actor=actor)
        assert report(started).complete is False
        finish(started, SOUND)
        assert report(started).ok is True

    def test_measurements_leave_no_result(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit("noop")
        ready.score(ready.must_claim(worker))
        assert unknown(ready.do(validation_report, "starter")) == 3


class TestWrongs:
    def test_each_agent_has_its_own_sentence(self) -> None:
        assert wrongs(feasible=True, scores={"oracle": 0.5, "noop": 0.1, "always_fail": 1.0}) == [
            "the oracle scores 0.5, not 1",
            "doing nothing scores 0.1, not 0",
            "saying FAIL scores 1 on a feasible task, not 0",
        ]
        assert wrongs(feasible=False, scores={"oracle": 1.0, "noop": 0.0, "always_fail": 0.0}) == [
            "saying FAIL scores 0 on an infeasible task, not 1"
        ]
