from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import func, select

from backend.db.models import Run, Study
from backend.domain.errors import FailureClass, Invalid, NotFound, UnknownPlugin
from backend.domain.model.run import RunConfig
from backend.domain.studies.study import Design, Factor, StudyConfig
from backend.services.results.leaderboards import leaderboard
from backend.services.studies.studies import get_study, list_studies, sentence, study_results, submit_study
from tests.error_codes import raises_code
from tests.factories.records import World

LEVELS: dict[str, tuple[Any, ...]] = {"image.scale": (1.0, 0.5), "perturbation": (None, "moved")}


def study(levels: dict[str, tuple[Any, ...]] | None = None, **more: Any) -> StudyConfig:
    base = RunConfig(agent=more.pop("agent", "random"), seed=5, **more.pop("base", {}))
    factors = tuple(Factor(name=name, levels=given) for name, given in (levels or LEVELS).items())
    return StudyConfig(benchmark="starter", base=base, factors=factors, **more)


def submit(world: World, config: StudyConfig, key: str | None = None) -> UUID:
    with world.work() as session:
        project, actor = world.who(session)
        return submit_study(session, config, project=project, actor=actor, key=key).id


def counts(world: World) -> tuple[int, int]:
    with world.work() as session:
        return tuple(session.scalars(select(func.count()).select_from(table)).one() for table in (Study, Run))  # type: ignore[return-value]


@pytest.fixture
def world(ready: World) -> World:
    """With a benchmark of three tasks and a worker."""
    ready.worker()
    return ready


class TestSubmitStudy:
    def test_one_run_per_cell_with_the_same_episode_seeds(self, world: World) -> None:
        study_id = submit(world, study())
        with world.work() as session:
            runs = session.scalars(select(Run).where(Run.study_id == study_id).order_by(Run.id)).all()
            assert [run.cell for run in runs] == [
                {"image.scale": 1.0, "perturbation": None},
                {"image.scale": 0.5, "perturbation": None},
                {"image.scale": 1.0, "perturbation": "moved"},
            ]
            assert [run.config["perturbation"] for run in runs] == [None, None, "moved"]
            assert runs[1].config["image"]["scale"] == 0.5
        seeds = [_seeds(world, run.id) for run in runs]
        assert len(seeds[0]) == 3
        assert seeds[0] == seeds[1] == seeds[2]

    def test_nothing_is_written_unless_every_cell_is_right(self, world: World) -> None:
        with pytest.raises(UnknownPlugin) as wrong:
            submit(world, study({"image.scale": (1.0, 0.5), "observation": ("screenshot", "nonsense")}))
        assert wrong.value.path == "observation"
        assert "In the cell image.scale = 1.0, observation = nonsense" in wrong.value.hint
        assert counts(world) == (0, 0)

    def test_a_level_that_does_not_fit(self, world: World) -> None:
        with pytest.raises(Invalid) as wrong:
            submit(world, study({"image.scale": (1.0, 2.0)}))
        assert wrong.value.path == "factors.image.scale.1"

    def test_an_idempotency_key_gives_the_same_study(self, world: World) -> None:
        first = submit(world, study(), "k")
        assert submit(world, study(), "k") == first
        with raises_code(Invalid, "idempotency_key_reused"):
            submit(world, study(name="another"), "k")
        assert counts(world) == (1, 3)

    def test_a_sample_is_named_in_the_record_and_the_same_for_all_cells(self, world: World) -> None:
        study_id = submit(world, study(sample=0.34))
        view = world.do(get_study, study_id)
        assert len(view.config.base.tasks) == 1
        assert (view.cells, view.episodes) == (3, 3)
        again = world.do(get_study, submit(world, study(sample=0.34)))
        assert again.config.base.tasks == view.config.base.tasks

    def test_too_many_episodes(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("backend.services.studies.studies.MOST_EPISODES", 8)
        with raises_code(Invalid, "study_too_large", mentions=("9", "8")):
            submit(world, study())

    def test_no_such_benchmark(self, world: World) -> None:
        with pytest.raises(NotFound):
            submit(world, study().model_copy(update={"benchmark": "nothing"}))


def _seeds(world: World, run_id: UUID) -> dict[UUID, int]:
    from backend.db.models import Episode

    with world.work() as session:
        rows = session.execute(select(Episode.task_id, Episode.seed).where(Episode.run_id == run_id))
        return {row.task_id: row.seed for row in rows}


class TestListStudies:
    def test_newest_first_part_by_part(self, world: World) -> None:
        ids = [submit(world, study(name=str(number))) for number in range(3)]
        with world.work() as session:
            project, _ = world.who(session)
            first = list_studies(session, project, limit=2)
            second = list_studies(session, project, limit=2, cursor=first.next)
        assert [view.study.id for view in [*first.items, *second.items]] == ids[::-1]
        assert second.next is None

    def test_new_project_has_no_studies(self, world: World) -> None:
        with world.work() as session:
            assert list_studies(session, world.who(session)[0]).items == []


class TestStudyResults:
    def test_before_anything_has_ended(self, world: World) -> None:
        results = world.do(study_results, submit(world, study()))
        assert results.view.ended == 0
        assert all(level.excluded == {"base: waiting": 3} for level in results.result.levels)
        assert "No pair of episodes counts yet" in sentence(results)

    def test_scored_and_lost_episodes(self, world: World) -> None:
        study_id = submit(world, study({"perturbation": (None, "moved")}))
        worker = world.worker(slots=9)
        scores = {None: [1.0, 1.0, 1.0], "moved": [0.0, 0.5]}
        while (claim := world.claim(worker)) is not None:
            left = scores[claim.config.perturbation]
            if left:
                world.score(claim, left.pop())
            else:
                world.lose(claim, FailureClass.TASK_SETUP)
        results = world.do(study_results, study_id)
        (level,) = results.result.levels
        assert level.comparison.pairs == 2
        assert sum(level.excluded.values()) == 1
        assert level.comparison.success is not None
        assert level.comparison.success.value == -1.0
        assert level.comparison.score is not None
        assert level.comparison.score.value == -0.75
        assert results.result.cells[0].ended_by == {"done": 3}
        assert world.do(study_results, study_id).result == results.result

    def test_full_design_has_a_cell_for_every_combination(self, world: World) -> None:
        results = world.do(study_results, submit(world, study(design=Design.FULL)))
        assert len(results.cells) == 4
        assert all(sum(level.excluded.values()) == 6 for level in results.result.levels)

    def test_no_such_study(self, world: World) -> None:
        with raises_code(NotFound, "study_not_found"):
            world.do(study_results, uuid4())


class TestLeaderboard:
    def test_the_cells_of_a_study_do_not_enter_it(self, world: World) -> None:
        submit(world, study(agent="noop"))
        assert world.do(leaderboard, "starter").rows == []
        world.submit("noop")
        assert len(world.do(leaderboard, "starter").rows) == 1
