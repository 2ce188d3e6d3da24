from types import SimpleNamespace
from typing import Any

from backend.db.models import Run
from backend.services.results.configuration_differences import condition_differences, configuration_differences


def row(version: int = 1, pins: dict[str, Any] | None = None, **config: Any) -> Any:
    """A run with its task set's version, as `run_columns` gives it."""
    return SimpleNamespace(Run=Run(config={"agent": "prompt", **config}, pins=pins or {}), version=version)


class TestConditionDifferences:
    def test_alike_runs_have_none(self) -> None:
        explicit = row(screen={"width": 1920, "height": 1080}, budget={"max_seconds": 1800.0})
        assert condition_differences([row(), explicit]) == []

    def test_the_version_comes_first_then_fields_by_path(self) -> None:
        other = row(2, budget={"max_steps": 50}, desktop_image="windows")
        assert [(each.name, each.values) for each in condition_differences([row(), other])] == [
            ("task_set.version", [1, 2]),
            ("desktop_image", [None, "windows"]),
            ("budget.max_steps", [None, 50]),
        ]

    def test_the_actor_is_not_a_condition(self) -> None:
        assert condition_differences([row(params={"model": "a"}), row(params={"model": "b"})]) == []


class TestConfigurationDifferences:
    def test_names_parameters_and_pins(self) -> None:
        one = row(params={"model": "a", "history": 3}, pins={"prompts": {"system": "aa"}})
        two = row(params={"model": "b", "history": 3}, pins={"prompts": {"system": "bb"}})
        assert [(each.name, each.values, each.diff) for each in configuration_differences([one, two])] == [
            ("params.model", ["a", "b"], []),
            ("prompts.system", ["aa", "bb"], []),
        ]

    def test_texts_of_several_lines_have_a_diff_to_the_first_run(self) -> None:
        texts = ("be brief\nclick", "be brief\nthink", "be brief\nclick")
        (difference,) = configuration_differences([row(params={"rules": text}) for text in texts])
        assert difference.diff == [["--- ", "+++ ", "@@ -1,2 +1,2 @@", " be brief", "-click", "+think"], []]
