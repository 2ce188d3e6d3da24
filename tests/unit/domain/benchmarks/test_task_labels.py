"""Labels that the importers of the five suites fill, flat and in one spelling."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from backend.domain.benchmarks import labels_of
from backend.domain.benchmarks._task_labels import LONGEST, PRIVATE
from backend.domain.model.task import Labels, LoadedBenchmark, Task
from tests.factories.suites import OSWORLD_WINDOWS, SAMPLES, read
from tests.factories.tasks import make_task

SUITES = {
    "waa": ("waa", Path("waa")),
    "osworld": ("osworld", Path("osworld")),
    "osworld-windows": ("osworld", OSWORLD_WINDOWS),
    "windowsworld": ("windowsworld", Path("windowsworld")),
}
COUNTS = {
    ("waa", "group"): {
        "Office": 43, "Web": 30, "Windows System": 24, "Coding": 24, "Media": 21, "Windows Utilities": 12
    },
    ("waa", "feasible"): {"yes": 141, "no": 13},
    ("waa", "apps_count"): {"single": 154},
    ("waa", "os"): {"windows": 154},
    ("waa", "difficulty"): {"medium": 142, "easy": 12},
    ("osworld", "group"): {"Office": 117, "Workflow": 101, "Daily": 78, "Professional": 49, "OS": 24},
    ("osworld", "apps_count"): {"single": 268, "multi": 101},
    ("osworld", "feasible"): {"yes": 340, "no": 29},
    ("osworld", "network"): {"assets": 269, "none": 66, "web": 58, "account": 8},
    ("osworld-windows", "apps_count"): {"single": 27, "multi": 22},
    ("windowsworld", "level"): {"L1": 39, "L2": 80, "L3": 50, "L4": 12},
    ("windowsworld", "apps_number"): {"1": 40, "2": 45, "3": 84, "4": 10, "5": 2},
    ("windowsworld", "feasible"): {"yes": 169, "no": 12},
}  # fmt: skip
"""Tasks by value, from the papers' and the files' own statistics."""


def counted(tasks: Iterable[Task], label: str) -> Counter[str]:
    return Counter(value for task in tasks for value in labels_of(task).get(label, ()))


@pytest.fixture(scope="module")
def published(shared_dir: Path) -> dict[str, LoadedBenchmark]:
    return {name: read(kind, shared_dir / "benchmarks" / folder) for name, (kind, folder) in SUITES.items()}


class TestPublishedSuites:
    @pytest.mark.parametrize(("suite", "label"), list(COUNTS))
    def test_number_of_tasks_by_value(self, published: dict[str, LoadedBenchmark], suite: str, label: str) -> None:
        assert counted(published[suite].tasks, label) == COUNTS[suite, label]

    def test_every_windows_task_names_its_twin(self, published: dict[str, LoadedBenchmark]) -> None:
        ubuntu = {str(task.key) for task in published["osworld"].tasks}
        twins = counted(published["osworld-windows"].tasks, "twin")
        assert len(twins) == 49
        assert set(twins) <= ubuntu

    def test_windowsworld_has_fifteen_personas(self, published: dict[str, LoadedBenchmark]) -> None:
        assert len(counted(published["windowsworld"].tasks, "persona")) == 15

    def test_labels_are_short_texts(self, published: dict[str, LoadedBenchmark]) -> None:
        for loaded in published.values():
            for task in loaded.tasks:
                labels = labels_of(task)
                assert not PRIVATE & set(labels)
                assert all(0 < len(value) <= LONGEST for values in labels.values() for value in values)


class TestSamples:
    def test_omnibench_tasks_have_their_labels(self) -> None:
        first, second = (labels_of(task) for task in read("omnibench", SAMPLES / "omnibench").tasks)
        assert first["complexity.dependency"] == ["medium"]
        assert (first["structure"], second["structure"]) == (["graph"], ["chain"])
        assert (first["scenario"], first["apps_count"]) == (["Correspondence"], ["multi"])

    def test_prosoftarena_tasks_have_their_labels(self) -> None:
        tasks = {task.key.domain: labels_of(task) for task in read("prosoftarena", SAMPLES / "prosoftarena").tasks}
        assert sorted(tasks["excel"]["software"]) == ["Excel", "Photoshop"]
        assert (tasks["photoshop"]["level"], tasks["photoshop"]["discipline"]) == (["L1"], ["Art & Design"])
        assert tasks["photoshop"]["operation"] == tasks["excel"]["operation"] == ["desaturate"]


class TestLabelsOf:
    def test_imported_values_become_labels(self) -> None:
        extra = {"team": ["red", "blue"], "graph": {"depth": 3}, "checked": True, "note": "x" * 61, "id": "only me"}
        task = make_task()
        labels = labels_of(task.model_copy(update={"labels": Labels(extra=extra)}))
        assert labels["team"] == ["red", "blue"]
        assert (labels["graph.depth"], labels["checked"]) == (["3"], ["yes"])
        assert not {"note", "id"} & set(labels)

    def test_infeasible_task_is_labelled(self) -> None:
        assert labels_of(make_task(infeasible=True))["feasible"] == ["no"]

    def test_a_task_without_applications_has_no_number_of_them(self) -> None:
        assert not {"app", "apps_count", "apps_number"} & set(labels_of(make_task()))
