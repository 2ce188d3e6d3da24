"""Importing: the same files make no new version, other ones do."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from backend.db.models import Benchmark, Task, TaskAsset, TaskSet
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.domain.model.task import LoadedBenchmark
from backend.domain.model.task import Task as DomainTask
from backend.services.benchmarks.benchmarks import (
    get_benchmark,
    import_benchmark,
    latest_task_set,
    list_benchmarks,
    list_tasks,
)
from backend.services.benchmarks.lint import unknown_of
from tests.error_codes import raises_code
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task


class TestImportBenchmark:
    def test_keeps_everything_of_a_task(self, installation: World) -> None:
        task = make_task(
            difficulty="hard", difficulty_source="author", level="L2", apps=("calc",), requires=("localc",)
        )
        key = installation.benchmark(make_benchmark(task, warnings=("odd key",), licence="MIT", source="here"))
        with installation.work() as session:
            row = session.scalars(select(Task).where(Task.task_set_id == key)).one()
            assert DomainTask.model_validate(row.spec) == task
            assert (row.key, row.difficulty, row.level, row.apps, row.requires) == (
                "files/rename",
                "hard",
                "L2",
                ["calc"],
                ["localc"],
            )
            task_set = session.get_one(TaskSet, key)
            assert (task_set.version, task_set.warnings) == (1, ["odd key"])
            assert task_set.counts["labels"]["difficulty"] == {"hard": 1}
            assert unknown_of(session, task_set) == tuple(task_set.counts["unsupported"]["lines"]) == ()
            assert {
                name: count for name, count in task_set.counts.items() if name not in {"labels", "unsupported"}
            } == {
                "tasks": 1,
                "infeasible": 0,
                "domains": {"files": 1},
                "difficulties": {"hard": 1},
                "levels": {"L2": 1},
                "disciplines": {},
            }
            benchmark = get_benchmark(session, "starter")
            assert (benchmark.licence, benchmark.source, benchmark.title) == ("MIT", "here", "starter")

    def test_the_same_again_is_the_same_version(self, installation: World) -> None:
        first = installation.benchmark()
        assert installation.benchmark() == first
        with installation.work() as session:
            assert len(session.scalars(select(TaskSet)).all()) == 1

    def test_changed_files_are_a_new_version_and_the_old_one_stays(self, installation: World) -> None:
        old = installation.benchmark()
        new = installation.benchmark(make_benchmark(make_task(name="other")))
        with installation.work() as session:
            assert latest_task_set(session, "starter").id == new
            assert session.get_one(TaskSet, new).version == 2
            assert len(session.scalars(select(Task).where(Task.task_set_id == old)).all()) == 3

    def test_changed_assets_are_a_new_version(self, installation: World) -> None:
        one = installation.benchmark(make_benchmark(make_task(), assets={"a.txt": b"1"}))
        two = installation.benchmark(make_benchmark(make_task(), assets={"a.txt": b"2"}))
        assert one != two
        with installation.work() as session:
            hashes = session.scalars(select(TaskAsset.sha256)).all()
        assert {installation.store.get(sha256) for sha256 in hashes} == {b"1", b"2"}

    def test_a_name_belongs_to_one_kind(self, installation: World) -> None:
        installation.benchmark()
        other = LoadedBenchmark(kind="osworld", tasks=(make_task(),))
        with raises_code(Conflict, "benchmark_kind_differs", mentions="starter"):
            installation.benchmark(other)

    def test_two_tasks_of_one_key_are_refused(self, installation: World) -> None:
        with raises_code(Invalid, "invalid_benchmark", path="starter", mentions=("files/rename", "2")):
            installation.benchmark(make_benchmark(make_task(), make_task()))

    def test_empty_benchmark_is_refused(self, installation: World) -> None:
        with raises_code(Invalid, "invalid_benchmark", path="starter"):
            installation.benchmark(LoadedBenchmark(kind="starter", tasks=()))

    def test_two_imports_at_once_make_one_version(self, installation: World) -> None:
        with ThreadPoolExecutor(4) as pool:
            made = set(pool.map(lambda _: installation.benchmark(), range(4)))
        assert len(made) == 1
        with installation.work() as session:
            assert len(session.scalars(select(Benchmark)).all()) == 1

    def test_says_whether_it_is_new(self, installation: World) -> None:
        for expected in (True, False):
            with installation.work() as session:
                _, created = import_benchmark(session, make_benchmark(), name="b", store=installation.store)
                assert created is expected


class TestGetBenchmark:
    def test_unknown_name_gets_a_suggestion(self, ready: World) -> None:
        with pytest.raises(NotFound) as caught:
            ready.do(get_benchmark, "stater")
        assert caught.value.hint == "Did you mean starter?"

    def test_benchmarks_are_listed_by_name(self, ready: World) -> None:
        ready.benchmark(name="another")
        with ready.work() as session:
            assert [row.name for row in list_benchmarks(session)] == ["another", "starter"]


class TestListTasks:
    def names(self, installation: World, **filters: object) -> list[str]:
        with installation.work() as session:
            found = list_tasks(session, latest_task_set(session, "starter").id, **filters)  # type: ignore[arg-type]
            return [task.key for task in found.items]

    def test_tasks_are_filtered(self, installation: World) -> None:
        installation.benchmark(
            make_benchmark(
                make_task("files", "a", difficulty="easy", difficulty_source="author", apps=("pcmanfm", "xterm")),
                make_task("files", "b%_c", level="L1"),
                make_task("web", "c", infeasible=True),
            )
        )
        assert self.names(installation, domain="files") == ["files/a", "files/b%_c"]
        assert self.names(installation, difficulty="easy") == ["files/a"]
        assert self.names(installation, difficulty="unlabelled") == ["files/b%_c", "web/c"]
        assert self.names(installation, level="L1") == ["files/b%_c"]
        assert self.names(installation, app="xterm") == ["files/a"]
        assert self.names(installation, feasible=False) == ["web/c"]
        assert self.names(installation, words="B%_") == ["files/b%_c"]
        assert self.names(installation, words="do a in FILES") == ["files/a"]

    def test_tasks_are_listed_in_pages(self, ready: World) -> None:
        with ready.work() as session:
            key = latest_task_set(session, "starter").id
            first = list_tasks(session, key, limit=2)
            second = list_tasks(session, key, limit=2, cursor=first.next)
        assert [task.key for task in first.items + second.items] == ["files/a", "files/b", "editor/c"]
        assert second.next is None
