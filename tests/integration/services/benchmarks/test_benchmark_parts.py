"""Variants, selections, labels, reported results, differences and the lint of stored task sets."""

import pytest
from sqlalchemy import select, update

from backend.db.models import Episode, PublishedResult, Run, Task, Worker
from backend.db.repositories.benchmarks import benchmark_parts as parts
from backend.domain.errors import Invalid, NotFound
from backend.domain.model.label_filter import label_filter
from backend.domain.model.task import LoadedBenchmark, MetricCall, SetupStep, Variant
from backend.domain.model.task import Task as DomainTask
from backend.services.benchmarks.benchmarks import latest_task_set, list_tasks
from backend.services.benchmarks.labels import LabelCounts, import_labels, label_counts
from backend.services.benchmarks.lint import lint_task_set, unknown_of
from backend.services.benchmarks.variants import known_variants, task_of
from backend.services.benchmarks.versions import diff, task_set_by_name
from tests.error_codes import raises_code
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task


def labels_by_key(world: World) -> dict[str, dict[str, list[str]]]:
    with world.work() as session:
        return {task.key: task.labels for task in session.scalars(select(Task))}


def sleepy(task: DomainTask, seconds: int = 1) -> DomainTask:
    return task.model_copy(update={"setup": (SetupStep(type="sleep", parameters={"seconds": seconds}),)})


def suite(**more: object) -> LoadedBenchmark:
    """Three tasks, two of them with a variant, one selection."""
    tasks = make_task("files", "a"), make_task("files", "b"), make_task("editor", "c")
    variants = tuple(Variant(axis="context", value="none", task=sleepy(task)) for task in tasks[:2])
    loaded = make_benchmark(*tasks, variants=variants, selections={"test_small": ("files/a", "editor/c")})
    return loaded.model_copy(update=more)


@pytest.fixture
def loaded(installation: World) -> World:
    """With that suite."""
    installation.benchmark(suite())
    return installation


@pytest.fixture
def worker(loaded: World) -> Worker:
    """A worker, without which no run is submitted."""
    return loaded.worker()


def episodes(world: World, run: Run) -> list[Episode]:
    """The run's episodes."""
    with world.work() as session:
        return list(session.scalars(select(Episode).where(Episode.run_id == run.id).order_by(Episode.id)))


class TestVariants:
    def test_are_stored_with_their_tasks(self, loaded: World) -> None:
        with loaded.work() as session:
            assert known_variants(session, latest_task_set(session, "starter").id) == {"context=none": 2}

    def test_a_worker_gets_the_runs_variant(self, loaded: World, worker: Worker) -> None:
        loaded.submit(tasks=("files/a",), variant="context=none")
        claim = loaded.must_claim(worker)
        assert claim.task == sleepy(make_task("files", "a"))
        assert claim.config.variant == "context=none"

    def test_task_itself_is_used_without_a_variant(self, loaded: World, worker: Worker) -> None:
        loaded.submit(tasks=("files/a",))
        assert loaded.must_claim(worker).task == make_task("files", "a")

    def test_tasks_without_it_cannot_run(self, loaded: World, worker: Worker) -> None:
        run = loaded.submit(variant="context=none")
        states = {episode.task_id: (episode.state, episode.reason_code) for episode in episodes(loaded, run)}
        with loaded.work() as session:
            keys = {task.id: task.key for task in session.scalars(select(Task))}
        assert {keys[task_id]: state for task_id, state in states.items()} == {
            "files/a": ("waiting", None),
            "files/b": ("waiting", None),
            "editor/c": ("not_runnable", "variant_not_in_task"),
        }

    def test_unknown_variant_is_refused(self, loaded: World, worker: Worker) -> None:
        with raises_code(Invalid, "unknown_variant", path="variant") as wrong:
            loaded.submit(variant="language=cn")
        assert wrong.value.hint == "Known: context=none."

    def test_runs_of_a_variant_are_another_condition(self, loaded: World, worker: Worker) -> None:
        runs = [loaded.submit(tasks=("files/a",), variant=variant) for variant in (None, "context=none")]
        assert runs[0].condition_hash != runs[1].condition_hash

    def test_a_task_that_lost_its_variant_is_reported(self, loaded: World) -> None:
        with loaded.work() as session:
            row = session.scalars(select(Task).where(Task.name == "c")).one()
            with raises_code(NotFound, "variant_not_found", mentions=("editor/c", "context=none")):
                task_of(session, row, {"variant": "context=none"})


class TestSelections:
    def test_a_run_takes_one_by_name(self, loaded: World, worker: Worker) -> None:
        assert len(episodes(loaded, loaded.submit(tasks=("@test_small",)))) == 2
        assert len(episodes(loaded, loaded.submit(tasks=("@test_small", "files/*")))) == 3

    def test_unknown_selection_is_refused(self, loaded: World, worker: Worker) -> None:
        with raises_code(Invalid, "unknown_selection", mentions="'test_smal'") as wrong:
            loaded.submit(tasks=("files/a", "@test_smal"))
        assert (wrong.value.path, wrong.value.hint) == ("tasks.1", "Known: test_small.")

    def test_an_open_run_takes_more(self, loaded: World, worker: Worker) -> None:
        from backend.services.runs.runs import add_episodes

        run = loaded.submit(tasks=("files/b",), accepts_episodes=True)
        assert loaded.do(add_episodes, run.id, ["@test_small"]) == 2


class TestFlatLabels:
    CSV = "task,difficulty,source,label:team\nfiles/a,hard,human_rating,red;blue\nfiles/b,,,red\n"

    def counts(self, world: World) -> LabelCounts:
        with world.work() as session:
            return label_counts(latest_task_set(session, "starter"))

    def test_an_import_counts_those_that_differ(self, loaded: World) -> None:
        assert self.counts(loaded) == {"domain": {"editor": 1, "files": 2}}

    def test_csv_adds_labels_and_a_difficulty(self, loaded: World) -> None:
        loaded.do(import_labels, "starter", self.CSV)
        labels = labels_by_key(loaded)
        assert (labels["files/a"]["team"], labels["files/a"]["difficulty"]) == (["red", "blue"], ["hard"])
        assert self.counts(loaded) == {
            "difficulty": {"hard": 1, "unlabelled": 2},
            "domain": {"editor": 1, "files": 2},
            "team": {"blue": 1, "red": 2},
        }

    def test_importing_the_same_files_again_changes_none(self, loaded: World, worker: Worker) -> None:
        loaded.do(import_labels, "starter", self.CSV)
        run = loaded.submit()
        loaded.roll_up()
        before = labels_by_key(loaded)
        loaded.benchmark(suite())
        assert labels_by_key(loaded) == before
        with loaded.work() as session:
            assert not session.get_one(Run, run.id).rollup_stale

    def test_importing_again_gives_an_older_version_what_its_files_have(self, loaded: World, worker: Worker) -> None:
        loaded.do(import_labels, "starter", self.CSV)
        before, run = labels_by_key(loaded), loaded.submit()
        loaded.roll_up()
        with loaded.work() as session:
            session.execute(update(Task).values(labels={}))
        loaded.benchmark(suite())
        assert labels_by_key(loaded) == before
        assert self.counts(loaded)["team"] == {"blue": 1, "red": 2}
        with loaded.work() as session:
            assert session.get_one(Run, run.id).rollup_stale

    def test_tasks_are_listed_by_them(self, loaded: World) -> None:
        loaded.do(import_labels, "starter", self.CSV)

        def keys(*where: str) -> list[str]:
            with loaded.work() as session:
                newest = latest_task_set(session, "starter")
                page = list_tasks(session, newest.id, where=label_filter(where))
                return sorted(task.key for task in page.items)

        assert keys("team=blue") == ["files/a"]
        assert keys("team=red", "difficulty=unlabelled") == ["files/b"]
        assert keys("team=blue", "team=unlabelled") == ["editor/c", "files/a"]

    def test_run_selects_tasks_by_label(self, loaded: World, worker: Worker) -> None:
        loaded.do(import_labels, "starter", self.CSV)
        run = loaded.submit(where=("team=blue", "feasible=yes"))
        with loaded.work() as session:
            (episode,) = session.scalars(select(Episode).where(Episode.run_id == run.id)).all()
            assert session.get_one(Task, episode.task_id).key == "files/a"
            assert session.get_one(Run, run.id).config["where"] == ["team=blue", "feasible=yes"]


class TestLabels:
    CSV = "task,difficulty,source,human_seconds,human_steps\nfiles/a,hard,human_rating,,\nb,,,59.5,4\n"

    def labels(self, world: World) -> dict[str, tuple[object, ...]]:
        with world.work() as session:
            return {
                f"{row.key} v{row.task_set_id.hex[-2:]}": (row.difficulty, row.difficulty_source, row.human_seconds)
                for row in session.scalars(select(Task).order_by(Task.id))
            }

    def test_imported_labels_override_files_in_every_version(self, loaded: World) -> None:
        loaded.benchmark(make_benchmark(make_task("files", "a", difficulty="easy", difficulty_source="author")))
        loaded.benchmark(suite())
        with loaded.work() as session:
            # The older version has three tasks, the newest one; both have files/a.
            assert import_labels(session, "starter", "task,difficulty,source\nfiles/a,hard,human_rating\n") == (1, 2)
        values = set(self.labels(loaded).values())
        assert ("hard", "human_rating", None) in values
        assert ("easy", "author", None) not in values

    def test_times_and_a_name_alone(self, loaded: World) -> None:
        assert loaded.do(import_labels, "starter", self.CSV) == (2, 2)
        assert ("easy", "human_time", 59.5) in self.labels(loaded).values()

    def test_the_same_again_changes_nothing(self, loaded: World) -> None:
        loaded.do(import_labels, "starter", self.CSV)
        assert loaded.do(import_labels, "starter", self.CSV) == (2, 0)

    def test_a_new_version_gets_them(self, loaded: World) -> None:
        loaded.do(import_labels, "starter", self.CSV)
        key = loaded.benchmark(make_benchmark(make_task("files", "a"), make_task("files", "z")))
        with loaded.work() as session:
            rows = session.scalars(select(Task).where(Task.task_set_id == key)).all()
            assert {row.name: row.difficulty for row in rows} == {"a": "hard", "z": None}

    def test_importing_labels_marks_runs_for_recomputation(self, loaded: World, worker: Worker) -> None:
        run = loaded.submit(tasks=("files/a",))
        with loaded.work() as session:
            session.get_one(Run, run.id).rollup_stale = False
        loaded.do(import_labels, "starter", self.CSV)
        with loaded.work() as session:
            assert session.get_one(Run, run.id).rollup_stale

    def test_invalid_row_writes_nothing(self, loaded: World) -> None:
        with raises_code(Invalid, "invalid_labels_file", path="line 3, task"):
            loaded.do(import_labels, "starter", "task,human_steps\nfiles/a,3\nfiles/q,3\n")
        with loaded.work() as session:
            assert set(session.scalars(select(Task.human_steps))) == {None}


class TestReported:
    def test_published_results_are_imported_once(self, installation: World) -> None:
        for name in ("a", "b"):
            loaded = make_benchmark(make_task("files", name), suite="osworld-windows")
            installation.benchmark(loaded)
        with installation.work() as session:
            rows = session.scalars(select(PublishedResult).order_by(PublishedResult.value)).all()
        assert [(row.measure, row.value, row.unit, row.group_name) for row in rows] == [
            ("correlation_ubuntu_windows", 0.7, "coefficient", "Ubuntu and Windows"),
            ("success_rate", 2.55, "percent", "Windows"),
        ]

    def test_own_tasks_have_no_published_results(self, loaded: World) -> None:
        with loaded.work() as session:
            assert session.scalars(select(PublishedResult)).all() == []


class TestDiff:
    def test_names_of_task_sets(self, loaded: World) -> None:
        loaded.benchmark(make_benchmark(make_task()))
        with loaded.work() as session:
            assert [task_set_by_name(session, name).version for name in ("starter", "starter@1", "starter@2")] == [
                2,
                1,
                2,
            ]
            with raises_code(NotFound, "version_not_found", mentions="3"):
                task_set_by_name(session, "starter@3")
            for name in ("starter@x", "starter@"):
                with raises_code(Invalid, "invalid_version"):
                    task_set_by_name(session, name)

    def test_a_diff_lists_changes_and_affected_scores(self, loaded: World, worker: Worker) -> None:
        run = loaded.submit(tasks=("files/a", "editor/c"))
        for _ in range(2):
            loaded.score(loaded.must_claim(worker))
        assert {episode.state for episode in episodes(loaded, run)} == {"scored"}
        changed = sleepy(make_task("files", "a"))
        labelled = make_task("editor", "c", level="L1")
        loaded.benchmark(make_benchmark(changed, labelled, make_task("web", "d")))
        with loaded.work() as session:
            found = diff(session, "starter@1", "starter")
        assert (found.added, found.removed, found.changed, found.unchanged) == (1, 1, 2, 0)
        told = {item.task: (item.kind, item.episodes, item.evaluations) for item in found.tasks}
        assert told == {
            "editor/c": ("changed", 0, 0),
            "files/a": ("changed", 1, 1),
            "files/b": ("removed", 0, 0),
            "web/d": ("added", 0, 0),
        }

    def test_version_does_not_differ_from_itself(self, loaded: World) -> None:
        with loaded.work() as session:
            found = diff(session, "starter", "starter@1")
        assert (found.tasks, found.unchanged) == ([], 3)


class TestLint:
    def test_variants_and_warnings_are_among_the_findings(self, installation: World) -> None:
        bad = make_task().model_copy(update={"setup": (SetupStep(type="lunch"),)})
        loaded = make_benchmark(make_task(), variants=(Variant(axis="context", value="none", task=bad),))
        installation.benchmark(loaded.model_copy(update={"warnings": ("an odd key",)}))
        with installation.work() as session:
            task_set = latest_task_set(session, "starter")
            found = lint_task_set(session, task_set)
            unknown = unknown_of(session, task_set)
        assert "files/rename (context=none)" in {item.task for item in found}
        assert found[-1].finding.message == "an odd key"
        assert unknown == ("files/rename (context=none): config.0: set-up step 'lunch'",)

    def test_sound_benchmark_has_no_findings(self, installation: World) -> None:
        call = MetricCall(func="infeasible")
        task = make_task(infeasible=True)
        assert task.evaluator.calls == (call,)
        installation.benchmark(make_benchmark(task))
        with installation.work() as session:
            assert unknown_of(session, latest_task_set(session, "starter")) == ()
            assert unknown_of(session, latest_task_set(session, "starter")) == ()
            assert parts.variant_counts(session, latest_task_set(session, "starter").id) == []
