import pytest

from backend.db.models import Task
from backend.domain.errors import Invalid
from backend.domain.model.run import Budget, RunConfig, ScreenSize
from backend.domain.model.task import digest
from backend.services.capacity.run_request import RunRequest, condition_hash, config_hash, episode_seed, select_tasks


class TestHashes:
    def test_the_condition_ignores_selection_repeats_and_seed(self) -> None:
        one = RunConfig(agent="a", tasks=("x",), repeats=2, seed=3)
        assert condition_hash(one) == condition_hash(RunConfig(agent="a"))
        assert config_hash(one) != config_hash(RunConfig(agent="a"))

    def test_the_condition_depends_on_all_else(self) -> None:
        assert condition_hash(RunConfig(agent="a")) != condition_hash(RunConfig(agent="a", provider="qemu"))

    def test_the_request_is_the_same_whatever_its_key(self) -> None:
        one, two = (RunRequest(benchmark="b", agent="a", idempotency_key=key) for key in ("k", None))
        assert one.request_hash() == two.request_hash()
        assert one.request_hash() != RunRequest(benchmark="b", agent="a", repeats=2).request_hash()

    def test_a_request_holds_a_configuration(self) -> None:
        assert RunRequest(benchmark="b", agent="a", seed=4, name="n").config() == RunConfig(agent="a", seed=4)

    def test_newer_fields_do_not_change_older_hashes(self) -> None:
        """Pinned: runs that were stored before these fields existed keep their place on the leaderboards."""
        told = RunConfig(agent="a").model_dump(mode="json")
        later = ("variant", "preset", "observation_params", "action_params", "image", "perturbation", "judge")
        for name in (*later, "desktop_image", "where"):
            del told[name]
        del told["budget"]["level_steps"]
        assert config_hash(RunConfig(agent="a")) == digest(told)
        levels = Budget(level_steps={"L1": 3})
        assert config_hash(RunConfig(agent="a", budget=levels)) != config_hash(RunConfig(agent="a"))

    def test_explicit_default_overrides_the_preset_in_the_hash(self) -> None:
        silent = RunRequest(benchmark="b", agent="a", preset="waa")
        said = RunRequest(benchmark="b", agent="a", preset="waa", screen=ScreenSize(width=1920, height=1080))
        assert silent.request_hash() != said.request_hash()
        assert silent.config().screen.width == 1440
        assert said.config().screen.width == 1920


class TestEpisodeSeed:
    def test_is_reproducible_across_versions(self) -> None:
        assert episode_seed(0, "files/a", 1) == 2110470007

    def test_fits_what_generators_take(self) -> None:
        assert all(0 <= episode_seed(seed, "t", repeat) < 2**31 for seed in range(20) for repeat in range(20))

    def test_differs_by_each_part(self) -> None:
        made = [(0, "a/b", 1), (1, "a/b", 1), (0, "a/c", 1), (0, "a/b", 2)]
        assert len({episode_seed(*parts) for parts in made}) == 4


class TestWhere:
    TASKS = tuple(
        Task(domain="d", name=name, labels={"level": [level], "feasible": [feasible]})
        for name, level, feasible in (("a", "L1", "yes"), ("b", "L2", "yes"), ("c", "L2", "no"))
    )

    @pytest.mark.parametrize(
        ("where", "names"),
        [
            (["level=L2"], ["b", "c"]),
            (["level=L1", "level=L2"], ["a", "b", "c"]),
            (["level=L2", "feasible=no"], ["c"]),
            ([], ["a", "b", "c"]),
        ],
    )
    def test_takes_tasks_with_these_labels(self, where: list[str], names: list[str]) -> None:
        assert [task.name for task in select_tasks(self.TASKS, (), where=where)] == names

    def test_narrows_what_patterns_select(self) -> None:
        assert [task.name for task in select_tasks(self.TASKS, ("d/a", "d/b"), where=["level=L2"])] == ["b"]

    @pytest.mark.parametrize(
        ("where", "path"),
        [
            (["level=L2", "level=L9"], "where.1"),
            (["persona=clerk"], "where.0"),
            (["level=L1", "feasible=no"], "where"),
        ],
    )
    def test_says_which_condition_selects_nothing(self, where: list[str], path: str) -> None:
        with pytest.raises(Invalid) as error:
            select_tasks(self.TASKS, (), where=where)
        assert (error.value.code, error.value.path) == ("no_task_selected", path)


class TestSelected:
    TASKS = (Task(domain="files", name="a"), Task(domain="files", name="b"), Task(domain="editor", name="a"))

    def test_no_pattern_means_all(self) -> None:
        assert select_tasks(self.TASKS, ()) == list(self.TASKS)

    def test_keeps_the_order_of_the_task_set(self) -> None:
        assert [task.key for task in select_tasks(self.TASKS, ("editor/*", "files/b"))] == ["files/b", "editor/a"]

    def test_a_task_that_matches_twice_is_there_once(self) -> None:
        assert len(select_tasks(self.TASKS, ("files/*", "*/a"))) == 3

    def test_a_pattern_without_a_task_is_an_error(self) -> None:
        with pytest.raises(Invalid) as caught:
            select_tasks(self.TASKS, ("files/*", "Files/*"))
        assert caught.value.path == "tasks.1"

    def test_an_empty_task_set_is_an_error(self) -> None:
        with pytest.raises(Invalid):
            select_tasks((), ())
