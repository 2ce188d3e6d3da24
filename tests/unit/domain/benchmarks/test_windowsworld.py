"""WindowsWorld's reader on our own sample of its format; the published file is in `test_windowsworld_published`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backend.domain.benchmarks import findings, lint, strict
from backend.domain.errors import Invalid
from backend.domain.machines.egress_rules import way_out_of
from backend.domain.model.task import LoadedBenchmark, PartKind, Task, Variant
from tests.error_codes import raises_code
from tests.factories.suites import SAMPLES, read

HOME = "%USERPROFILE%"


@pytest.fixture(scope="module")
def loaded() -> LoadedBenchmark:
    return read("windowsworld", SAMPLES / "windowsworld")


def sample(loaded: LoadedBenchmark, name: str) -> Task:
    return next(task for task in loaded.tasks if task.key.name == name)


def variants(loaded: LoadedBenchmark, axis: str) -> dict[str, Variant]:
    return {result.task.key.name: result for result in loaded.variants if result.axis == axis}


def changed(tmp_path: Path, change: Callable[[list[dict[str, Any]]], object]) -> Path:
    """The sample with something in it changed."""
    entries = json.loads((SAMPLES / "windowsworld" / "benchmark.json").read_text())
    change(entries)
    (tmp_path / "benchmark.json").write_text(json.dumps(entries))
    return tmp_path


class TestTasks:
    def test_the_persona_is_the_domain_and_is_repaired_where_all_see_it(self, loaded: LoadedBenchmark) -> None:
        keys = [str(task.key) for task in loaded.tasks]
        assert keys[:2] == ["it_administrator/win_lib__l1_001", "it_administrator/win_lib__l2_002"]
        extra = loaded.tasks[0].labels.extra
        assert (extra["persona"], extra["persona_raw"]) == ("IT Administrator", "IT Useristrator")
        assert "persona: 'IT Useristrator' is read as 'IT Administrator' (1 task)" in loaded.warnings

    def test_levels_and_budgets(self, loaded: LoadedBenchmark) -> None:
        assert [(task.labels.level, task.max_steps) for task in loaded.tasks] == [
            ("L1", 15), ("L2", 25), ("L3", 40), ("L4", 20),
        ]  # fmt: skip

    def test_applications_have_one_name(self, loaded: LoadedBenchmark) -> None:
        assert sample(loaded, "win_lib__l2_002").labels.apps == ("excel", "file_explorer")
        assert any(line.startswith("win_lib__l2_002: involved_apps: one application is listed twice")
                   for line in loaded.warnings)  # fmt: skip

    def test_review_is_a_label_and_a_warning(self, loaded: LoadedBenchmark) -> None:
        extra = sample(loaded, "win_lib__l2_002").labels.extra
        assert (extra["valid"], extra["review"]) == (False, "pending")
        assert any("not valid: 未定义的文件引用: loans.txt" in line for line in loaded.warnings)
        assert any(line.startswith("win_lib__l2_002: review_status: it is pending") for line in loaded.warnings)

    def test_paths_have_one_home_in_words_too(self, loaded: LoadedBenchmark) -> None:
        assert sample(loaded, "win_lib__l1_001").evaluator.text.startswith(f"{HOME}\\Desktop\\借阅表.xlsx")
        warning = f"file_path: 'C:\\\\AppData\\\\' is read as '{HOME}\\\\AppData\\\\Logs\\\\' (1 file)"
        assert warning in loaded.warnings

    def test_raw_file_is_stored_unchanged(self, loaded: LoadedBenchmark) -> None:
        entries = json.loads((SAMPLES / "windowsworld" / "benchmark.json").read_text())
        assert [task.raw for task in loaded.tasks] == entries

    def test_all_can_be_run(self, loaded: LoadedBenchmark) -> None:
        tasks = [*loaded.tasks, *(variant.task for variant in loaded.variants)]
        assert {str(task.key): result for task in tasks if (result := lint(task, loaded.assets))} == {}


class TestSetup:
    def test_files_of_one_persona_are_one(self, loaded: LoadedBenchmark) -> None:
        first, second = (sample(loaded, name).setup[0] for name in ("win_lib__l1_001", "win_lib__l2_002"))
        assert first == second
        assert first.parameters["path"] == f"{HOME}\\Desktop\\借阅表.xlsx"
        assert len(first.parameters["prompts"]) == 2

    def test_resources_go_where_no_task_looks_unless_they_have_a_folder(self, loaded: LoadedBenchmark) -> None:
        (step,) = sample(loaded, "win_art__l3_003").setup
        assert [file["path"] for file in step.parameters["files"]] == [
            f"{HOME}\\Documents\\Resources\\plan.png",
            f"{HOME}\\Desktop\\guides\\a.pdf",
        ]

    def test_mocked_addresses_are_answered_by_the_gateway(self, loaded: LoadedBenchmark) -> None:
        name = "mock/museum.example_hours.html"
        assert not [line for line in loaded.warnings if "urls_to_mock" in line]
        assert "museum.example/hours" in loaded.assets[name].decode()
        way_out = way_out_of(
            sample(loaded, "win_art__l3_003"), {name: "ab", "https://museum.example/plan.png": "cd"},
            egress="none", hosts=(), proxy="",
        )  # fmt: skip
        assert way_out.files == {"https://museum.example/hours": "ab", "https://museum.example/plan.png": "cd"}
        assert way_out.mocked == ("museum.example:443",)


class TestJudging:
    def test_judge_decides_checkpoints_and_final_state(self, loaded: LoadedBenchmark) -> None:
        spec = sample(loaded, "win_lib__l1_001").evaluator
        assert [(part.name, part.kind, part.calls[0].options) for part in spec.parts] == [
            (f"c{n}", PartKind.CHECKPOINT, {"part": f"c{n}"}) for n in (1, 2, 3)
        ]
        assert [call.options for call in spec.calls] == [{"part": "final"}]

    def test_assertions_become_checks(self, loaded: LoadedBenchmark) -> None:
        parts = sample(loaded, "win_lib__l2_002").evaluator.parts
        result = {part.name: part for part in parts if part.kind is PartKind.ASSERTION}
        assert {name: (part.weight, part.each_step) for name, part in result.items()} == {
            "a1": (1.0, False), "a2": (1.0, False), "a3": (0.0, True), "a8": (0.0, False),
        }  # fmt: skip
        seen = result["a2"].calls[0].result
        assert seen is not None
        assert seen["expression"] == f'file_contains("{HOME}\\Desktop\\loans.txt", "Total")'

    @pytest.mark.parametrize(
        ("position", "why"),
        [
            (3, "'reader_name' is the name of a value"),
            (4, "no desktop has %TEMP%"),
            (5, "the task's own words name no 'borrowed.txt'"),
            (6, "there is no check of 'email_sent_to'"),
        ],
    )
    def test_unexecutable_checks_are_named(self, loaded: LoadedBenchmark, position: int, why: str) -> None:
        place = f"win_lib__l2_002: evaluation_metrics.assertions.{position}: not executed"
        assert any(line.startswith(place) and why in line for line in loaded.warnings)

    def test_infeasible_task_expects_fail(self, loaded: LoadedBenchmark) -> None:
        task = sample(loaded, "win_art_l4_004")
        assert (task.evaluator.infeasible, task.evaluator.parts, task.labels.feasible) == (True, (), False)
        assert any("S_int is of L1 to L3 only" in line for line in loaded.warnings)


class TestVariants:
    def test_every_task_has_a_chinese_variant(self, loaded: LoadedBenchmark) -> None:
        chinese = variants(loaded, "language")
        assert len(chinese) == 4
        assert chinese["win_lib__l1_001"].task.instruction == "按读者排序桌面上的借阅表并保存。"

    def test_without_a_judge_where_assertions_decide(self, loaded: LoadedBenchmark) -> None:
        alone = variants(loaded, "judge")
        assert sorted(alone) == ["win_art__l3_003", "win_lib__l2_002"]
        spec = alone["win_lib__l2_002"].task.evaluator
        assert (spec.calls, {part.kind for part in spec.parts}) == ((), {PartKind.ASSERTION})

    def test_not_where_doing_nothing_would_do(self, tmp_path: Path) -> None:
        def only_what_is_there(entries: list[dict[str, Any]]) -> None:
            entries[0]["evaluation_metrics"]["assertions"] = ['file_exists("${DESKTOP}/借阅表.xlsx")']

        result = read("windowsworld", changed(tmp_path, only_what_is_there))
        assert "win_lib__l1_001" not in variants(result, "judge")


class TestRefused:
    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda entries: entries[1].pop("persona"), "key 1.persona"),
            (lambda entries: entries[0].update(task_category="L5"), "key 0.task_category"),
            (lambda entries: entries[1].update(task_id="win_lib__l1_001"), "occurs twice"),
            (lambda entries: entries[0].update(deskarena={"checks": [None]}), "3 checkpoints have 1 checks"),
            (lambda entries: entries[0].update(deskarena={"final_check": []}), "deskarena.final_check"),
            (lambda entries: entries.clear(), "expected a list of tasks"),
        ],
    )
    def test_a_broken_file_names_the_key(self, change: Callable[[Any], object], said: str, tmp_path: Path) -> None:
        with raises_code(Invalid, "invalid_task_file", mentions=said):
            read("windowsworld", changed(tmp_path, change))


class TestWithoutReviewedEnglish:
    """Words that only the Chinese instruction has, in a task that the table of English criteria does not know."""

    @pytest.fixture
    def quoting(self, tmp_path: Path) -> LoadedBenchmark:
        def quote(entries: list[dict[str, Any]]) -> None:
            entries[0]["instruction_cn"] += "，主题为“借阅通知”"
            entries[0]["evaluation_metrics"]["intermediate_checks"][0] += "，主题为“借阅通知”"
            entries[1]["evaluation_metrics"]["intermediate_checks"][0] += "“总时长：3天”、“读者列表.xlsx”"
            entries[1]["instruction"] += " Use the sheet '读者列表'."
            entries[3]["instruction_cn"] += "“借阅通知”"
            entries[3]["evaluation_metrics"]["intermediate_checks"] = ["“借阅通知”"]

        return read("windowsworld", changed(tmp_path, quote))

    def test_lint_and_import_name_the_task_and_the_criterion(self, quoting: LoadedBenchmark) -> None:
        task = quoting.tasks[0]
        assert task.labels.extra["unreviewed_criteria"]["c1"] == ["借阅通知"]
        assert [(one.path, one.severity) for one in findings(task, quoting.assets) if "借阅通知" in one.message] == [
            ("c1", "warning")
        ]
        assert [line for line in quoting.warnings if line.startswith(f"{task.key.name}: c1: ") and "借阅通知" in line]

    def test_the_selection_leaves_it_out(self, quoting: LoadedBenchmark) -> None:
        """A task that is judged by FAIL alone needs no criteria."""
        assert set(quoting.selections["english"]) == {str(task.key) for task in quoting.tasks[2:]}

    def test_unmatched_quotes_need_a_review(self, quoting: LoadedBenchmark) -> None:
        assert quoting.tasks[1].labels.extra["unreviewed_criteria"]["c1"] == ["总时长：3天"]

    def test_strict_has_the_released_criteria_in_both_languages(self, loaded: LoadedBenchmark) -> None:
        benchmark = strict(loaded)
        (judged, *_) = (task for task in benchmark.tasks if not task.evaluator.infeasible)
        (chinese,) = (one.task for one in benchmark.variants if one.axis == "language" and one.task.key == judged.key)
        assert judged.evaluator == chinese.evaluator
        assert judged.evaluator.strict_upstream
        assert variants(benchmark, "criteria") == {}
