"""A study of `oracle` and `random` on real desktops: paired table and intervals, repeatable from its seed."""

from collections.abc import Iterator
from uuid import UUID

import pytest

from backend.domain.model.run import Budget, RunConfig, ScreenSize
from backend.domain.studies.study import Factor, StudyConfig
from backend.services.studies.studies import Results, get_study, study_results, submit_study
from tests.integration.worker.stack import WorkerStack
from tests.sampling import runs_everything, sample
from tests.waiting import until

pytestmark = [pytest.mark.desktop, pytest.mark.stack, pytest.mark.timeout(3600)]
TASKS = (
    "editor/add_milk",
    "files/rename_report",
    "calculator/product",
    "terminal/count_lines",
    "settings/calm_keyboard",
)
LEVELS = {
    "image.scale": (1.0, 0.5),
    "observation": ("screenshot_a11y", "a11y_tree"),
    "perturbation": (None, "moved"),
}
CELLS = 4
SECONDS_PER_EPISODE = 90.0


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerStack]:
    """An installation with one worker of two desktops and the starter benchmark."""
    made = WorkerStack(tmp_path_factory.mktemp("studies"), DESKARENA_POLL_SECONDS="0.5")
    try:
        made.import_starter()
        made.start_worker()
        yield made
    finally:
        made.close()


def submit(stack: WorkerStack, agent: str, tasks: list[str]) -> UUID:
    """A study of an agent, one factor at a time."""
    study = StudyConfig(
        name=f"{agent} under other conditions",
        benchmark="starter",
        base=RunConfig(
            agent=agent,
            tasks=tuple(tasks),
            seed=11,
            screen=ScreenSize(width=1280, height=800),
            budget=Budget(max_steps=10 if agent == "random" else 40),
        ),
        factors=tuple(Factor(name=name, levels=levels) for name, levels in LEVELS.items()),
    )
    with stack.world.work() as session:
        project, actor = stack.world.who(session)
        return submit_study(session, study, project=project, actor=actor).id


def ended(stack: WorkerStack, study_ids: list[UUID], seconds: float) -> list[Results]:
    """Results of the studies after all episodes have ended."""

    def done() -> bool:
        views = [stack.world.do(get_study, study_id) for study_id in study_ids]
        return all(view.ended == view.episodes > 0 for view in views)

    until(done, seconds, what="all episodes of the studies have ended")
    return [stack.world.do(study_results, study_id) for study_id in study_ids]


@pytest.mark.campaign
class TestStudy:
    def test_oracle_and_random_twice(self, stack: WorkerStack) -> None:
        tasks = sample(TASKS, 2 if runs_everything() else 1)
        again = ("oracle", "random") if runs_everything() else ("random",)
        ids = [submit(stack, agent, tasks) for agent in ("oracle", "random", *again)]
        episodes = len(ids) * CELLS * len(tasks)
        oracle, random, *repeated = ended(stack, ids, episodes * SECONDS_PER_EPISODE)

        for results in (oracle, random):
            assert [dict(cell.levels) for cell in results.cells] == [
                {"image.scale": 1.0, "observation": "screenshot_a11y", "perturbation": None},
                {"image.scale": 0.5, "observation": "screenshot_a11y", "perturbation": None},
                {"image.scale": 1.0, "observation": "a11y_tree", "perturbation": None},
                {"image.scale": 1.0, "observation": "screenshot_a11y", "perturbation": "moved"},
            ]
            for level in results.result.levels:
                assert level.excluded == {}, level
                assert level.comparison.pairs == level.comparison.tasks == len(tasks)
                assert level.comparison.success is not None
                low, high = level.comparison.success.interval
                assert -1.0 <= low <= level.comparison.success.value <= high <= 1.0
        for cell in oracle.result.cells:
            assert cell.ended_by == {"done": len(tasks)}
        assert all(cell.summary.success_rate == 1.0 for cell in oracle.cells), "the oracle needs no pixels"
        for cell in random.result.cells:
            assert cell.ended_by == {"steps": len(tasks)}
            assert cell.steps is not None
            assert (cell.steps.lowest, cell.steps.highest) == (10, 10)
        # The same numbers from the same seed: the paired table for both, the whole result for the agent of chance.
        assert repeated[-1].result == random.result
        if len(repeated) > 1:
            assert repeated[0].result.levels == oracle.result.levels
