"""`deskarena benchmark`, `episode` and `worker` against a real service without a worker."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import backend
from backend.cli.embedded.stack import Plan, Stack
from tests.integration.cli.service import deskarena

STARTER = Path(backend.__file__).parent / "starter" / "tasks"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    plan = Plan(
        data=tmp_path_factory.mktemp("service") / "data", port=0, slots=0, durable=False, outer={"PATH": "/usr/bin"}
    )
    with Stack(plan, print) as stack:
        yield stack.url


@pytest.mark.stack
class TestBenchmark:
    def test_the_starter_is_there_from_the_start(self, url: str) -> None:
        found = json.loads(deskarena("benchmark", "list", "-o", "json", server=url).stdout)
        assert [(row["name"], row["task_set"]["version"]) for row in found] == [("starter", 1)]
        assert found[0]["tasks"] == len(list(STARTER.glob("*/*.json"))) - len(list(STARTER.glob("assets/*.json")))

    def test_the_same_files_change_nothing_and_changed_ones_make_a_version(self, url: str, tmp_path: Path) -> None:
        files = shutil.copytree(STARTER, tmp_path / "files")
        words = ("benchmark", "import", "starter", str(files), "--name", "mine", "-o", "json")
        first, same = (json.loads(deskarena(*words, server=url).stdout) for _ in range(2))
        assert (first["created"], same["created"]) == (True, False)
        task = next(iter(sorted((files / "files").glob("*.json"))))
        spec = json.loads(task.read_text())
        task.write_text(json.dumps({**spec, "instruction": spec["instruction"] + " Please."}))
        changed = json.loads(deskarena(*words, server=url).stdout)
        assert (changed["created"], changed["benchmark"]["task_set"]["version"]) == (True, 2)

    def test_a_broken_task_file_names_file_and_key_and_imports_nothing(self, url: str, tmp_path: Path) -> None:
        files = shutil.copytree(STARTER, tmp_path / "files")
        task = next(iter(sorted((files / "files").glob("*.json"))))
        spec = json.loads(task.read_text())
        del spec["instruction"]
        task.write_text(json.dumps(spec))
        done = deskarena("benchmark", "import", "starter", str(files), "--name", "broken", server=url)
        assert done.returncode == 2
        assert task.name in done.stderr
        assert "instruction" in done.stderr
        assert deskarena("benchmark", "show", "broken", server=url).returncode == 2

    def test_a_kind_that_nobody_reads_is_refused(self, url: str) -> None:
        done = deskarena("benchmark", "import", "no-such-kind", str(STARTER), server=url)
        assert done.returncode == 2
        assert "no-such-kind" in done.stderr

    def test_a_path_that_is_not_there_is_refused(self, url: str) -> None:
        assert "does not exist" in deskarena("benchmark", "import", "starter", "/no/such/path", server=url).stderr

    def test_an_unknown_name_is_refused_with_the_nearest(self, url: str) -> None:
        done = deskarena("benchmark", "show", "startr", server=url)
        assert done.returncode == 2
        assert "starter" in done.stderr

    def test_show_and_lint(self, url: str) -> None:
        assert "Apache-2.0" in deskarena("benchmark", "show", "starter", server=url).stdout
        linted = deskarena("benchmark", "lint", "starter", "-o", "json", server=url)
        assert json.loads(linted.stdout)["ok"] == (linted.returncode == 0)

    def test_nothing_can_be_validated_without_a_worker(self, url: str) -> None:
        done = deskarena("benchmark", "validate", "starter", server=url)
        assert done.returncode == 3
        assert "worker" in done.stderr


@pytest.mark.stack
class TestOthers:
    def test_no_worker_is_said_so(self, url: str) -> None:
        done = deskarena("worker", "list", server=url)
        assert (done.returncode, done.stdout) == (0, "")
        assert "no worker has announced itself" in done.stderr

    @pytest.mark.parametrize("thing", ["run", "episode"])
    def test_a_thing_that_does_not_exist_is_2(self, url: str, thing: str) -> None:
        done = deskarena(thing, "show", "018f0000-0000-7000-8000-000000000000", server=url)
        assert done.returncode == 2
        assert "there is no" in done.stderr

    @pytest.mark.parametrize("thing", ["run", "episode"])
    def test_what_is_no_id_is_2(self, url: str, thing: str) -> None:
        assert deskarena(thing, "show", "nonsense", server=url).returncode == 2
