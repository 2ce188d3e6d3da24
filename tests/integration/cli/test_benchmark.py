"""`deskarena benchmark`, `episode` and `worker` against a real service without a worker."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import backend
from backend.cli.embedded.stack import Stack, StackPlan
from backend.starter import starters
from tests.factories.suites import OSWORLD_WINDOWS, SAMPLES
from tests.integration.cli.service import deskarena

STARTER = Path(backend.__file__).parent / "starter" / "tasks"
OURS = sorted(starter.name for starter in starters())


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    plan = StackPlan(
        data=tmp_path_factory.mktemp("service") / "data", port=0, slots=0, durable=False, outer={"PATH": "/usr/bin"}
    )
    with Stack(plan, print) as stack:
        yield stack.url


@pytest.mark.sampled(4)
@pytest.mark.stack
class TestBenchmark:
    def test_our_own_are_there_from_the_start(self, url: str) -> None:
        found = json.loads(deskarena("benchmark", "list", "-o", "json", server=url).stdout)
        assert [(row["name"], row["task_set"]["version"]) for row in found] == [(name, 1) for name in OURS]
        assert found[0]["tasks"] == len(list(STARTER.glob("*/*.json"))) - len(list(STARTER.glob("assets/*.json")))

    def test_only_changed_files_create_a_version(self, url: str, tmp_path: Path) -> None:
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

    def test_a_kind_that_is_unknown_is_refused(self, url: str) -> None:
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

    def test_without_a_worker_a_validation_waits_and_says_so(self, url: str) -> None:
        done = deskarena("benchmark", "validate", "starter", "--timeout", "0.1", server=url)
        assert done.returncode == 4
        assert "worker" in done.stderr


@pytest.mark.stack
class TestSuites:
    """Our samples of the published suites; the suites themselves where they are at hand."""

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize(
        ("kind", "tasks", "infeasible"), [("waa", 5, 2), ("osworld", 7, 1), ("windowsworld", 4, 1)]
    )
    def test_a_sample_from_a_folder_and_from_a_zip(
        self, url: str, tmp_path: Path, kind: str, tasks: int, infeasible: int
    ) -> None:
        archive = shutil.make_archive(str(tmp_path / "files"), "zip", SAMPLES / kind)
        for number, path in enumerate((SAMPLES / kind, archive)):
            done = deskarena(
                "benchmark", "import", kind, str(path), "--name", f"{kind}-sample", "-o", "json", server=url
            )
            assert json.loads(done.stdout)["created"] == (number == 0)
        shown = json.loads(deskarena("benchmark", "show", f"{kind}-sample", "-o", "json", server=url).stdout)
        assert (shown["tasks"], shown["infeasible"]) == (tasks, infeasible)

    def test_windows_folder_is_recognized_by_its_name(self, url: str) -> None:
        words = ("benchmark", "import", "osworld", str(SAMPLES / OSWORLD_WINDOWS), "--name", "office", "-o", "json")
        made = json.loads(deskarena(*words, server=url).stdout)
        assert made["benchmark"]["tasks"] == 2
        assert "2 tasks" in deskarena(*words[:-2], server=url).stdout

    def test_difference_and_labels(self, url: str, tmp_path: Path) -> None:
        words = ("benchmark", "import", "waa", str(SAMPLES / "waa"), "--name", "twice", "-o", "json")
        deskarena(*words, server=url)
        assert json.loads(deskarena(*words, "--strict-upstream", server=url).stdout)["created"]
        told = deskarena("benchmark", "diff", "twice@1", "twice", server=url).stdout
        assert "0 added, 0 removed, 5 changed, 0 unchanged" in told
        assert "evaluator.strict_upstream: false -> true" in told
        labels = tmp_path / "labels.csv"
        labels.write_text("task,human_seconds\nnotepad/sample-draft-WOS,20\n")
        assert deskarena("benchmark", "label", "twice", str(labels), server=url).stdout == "1 rows, 2 tasks changed\n"

    def test_an_address_that_leads_into_the_private_network_is_refused(self, url: str) -> None:
        done = deskarena("benchmark", "import", "waa", f"{url}/files.zip", "--name", "inside", server=url)
        assert done.returncode == 2
        assert "not on the public network" in done.stderr

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize(
        ("kind", "path", "counts"),
        [
            ("waa", Path("waa"), (154, 13)),
            ("osworld", Path("osworld"), (369, 29)),
            ("osworld", OSWORLD_WINDOWS, (49, 1)),
            ("windowsworld", Path("windowsworld"), (181, 12)),
        ],
    )
    def test_published_suites_are_imported(
        self, url: str, shared_dir: Path, kind: str, path: Path, counts: tuple[int, int]
    ) -> None:
        name = f"published-{counts[0]}"
        words = ("benchmark", "import", kind, str(shared_dir / "benchmarks" / path), "--name", name)
        assert deskarena(*words, server=url).returncode == 0
        shown = json.loads(deskarena("benchmark", "show", name, "-o", "json", server=url).stdout)
        assert (shown["tasks"], shown["infeasible"], shown["unknown"]) == (*counts, [])
        assert deskarena("benchmark", "lint", name, server=url).returncode == 0
        assert "unchanged, version 1" in deskarena(*words, server=url).stdout


@pytest.mark.stack
class TestOthers:
    def test_empty_worker_list_says_so(self, url: str) -> None:
        done = deskarena("worker", "list", server=url)
        assert (done.returncode, done.stdout) == (0, "")
        assert "No workers" in done.stderr

    @pytest.mark.parametrize("thing", ["run", "episode"])
    def test_a_thing_that_does_not_exist_is_2(self, url: str, thing: str) -> None:
        done = deskarena(thing, "show", "018f0000-0000-7000-8000-000000000000", server=url)
        assert done.returncode == 2
        assert "there is no" in done.stderr

    @pytest.mark.parametrize("thing", ["run", "episode"])
    def test_an_invalid_id_exits_with_2(self, url: str, thing: str) -> None:
        assert deskarena(thing, "show", "nonsense", server=url).returncode == 2
