import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from backend.domain.errors import Invalid, NotFound
from backend.domain.solutions.steps import read_solution
from tests.error_codes import raises_code
from worker.images.windows.accept.tasks import EXAMPLES, Solution, lines_of, read_solutions, with_solutions


class TestReadSolutions:
    def test_there_are_ten_that_the_oracle_can_play(self) -> None:
        solutions = read_solutions()
        assert len(solutions) == len({solution.task for solution in solutions}) == 10
        assert all(read_solution(solution.oracle()) for solution in solutions)

    def test_they_are_of_several_domains_and_one_is_infeasible(self) -> None:
        solutions = read_solutions()
        assert {solution.task.split("/")[0] for solution in solutions} == {"file_explorer", "settings", "vs_code"}
        assert [solution.task for solution in solutions if solution.fail] == [
            "vs_code/INF-7c4cc09e-7a92-40dd-8338-b2286535c4ed-WOS"
        ]

    def test_are_of_published_tasks_and_need_nothing_of_the_web(self, shared_dir: Path) -> None:
        result = list((shared_dir / "benchmarks" / "waa").rglob(EXAMPLES))
        if not result:
            pytest.skip("needs the published files of WindowsAgentArena beside the checkout")
        for solution in read_solutions():
            text = (result[0] / "examples" / f"{solution.task}.json").read_text()
            assert '"cloud_file"' not in text
            assert '"download"' not in text


class TestSolution:
    @pytest.mark.parametrize("wrong", [{}, {"run": "a", "fail": "b"}, {"run": "x" * 260}])
    def test_refuses_none_two_and_what_the_run_box_would_cut(self, wrong: dict[str, str]) -> None:
        with pytest.raises(ValidationError):
            Solution.model_validate({"task": "a/b", **wrong})


class TestWithSolutions:
    def test_copies_tasks_with_their_solutions(self, tmp_path: Path) -> None:
        source = tmp_path / "waa" / "deep" / EXAMPLES / "examples" / "settings"
        source.mkdir(parents=True)
        (source / "one.json").write_text('{"id": "one"}')
        solution = Solution(task="settings/one", run="calc")
        with_solutions(tmp_path / "waa", tmp_path / "made", [solution])
        assert json.loads((tmp_path / "made" / "test_all.json").read_text()) == {"settings": ["one"]}
        task = json.loads((tmp_path / "made" / "examples" / "settings" / "one.json").read_text())
        assert task == {"id": "one", "oracle": solution.oracle()}
        assert task["oracle"][0] == {"hotkey": ["win", "r"]}

    def test_says_which_task_is_missing_or_damaged(self, tmp_path: Path) -> None:
        with raises_code(NotFound, "file_not_found", mentions="one.json"):
            with_solutions(tmp_path, tmp_path / "made", [Solution(task="settings/one", run="calc")])
        (tmp_path / "examples" / "settings").mkdir(parents=True)
        (tmp_path / "examples" / "settings" / "one.json").write_text("{")
        with raises_code(Invalid, "invalid_image_plan", mentions="JSON"):
            with_solutions(tmp_path, tmp_path / "made", [Solution(task="settings/one", run="calc")])


class TestLinesOf:
    def test_only_a_solved_task_is_well(self) -> None:
        episodes = [
            {"task": "a", "score": 1.0},
            {"task": "b", "score": 0.0, "ended_by": "done"},
            {"task": "c", "score": None, "failure_class": "guest"},
        ]
        assert [line.ok for line in lines_of({"episodes": episodes})] == [True, False, False]
