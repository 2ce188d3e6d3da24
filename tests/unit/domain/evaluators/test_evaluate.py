from pathlib import Path

import pytest

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed, GuestLost
from backend.domain.evaluators.evaluate import MAX_SHOWN, CallEvidence, collect, evaluate, shown
from backend.domain.score import Blob
from backend.domain.task import MetricCall
from tests.factories.starter_tasks import FakeContext, make_task
from tests.fakes.desktop import FakeDesktop

registry.load()


def text_call(path: str, line: str) -> MetricCall:
    return MetricCall(
        func="text_goals",
        result={"type": "vm_file", "path": path, "dest": "a.txt"},
        expected={"type": "rule", "rules": {"lines": [line]}},
    )


class TestCollect:
    def test_gathers_bytes_for_every_call(self) -> None:
        desktop = FakeDesktop()
        desktop.files["/a"] = b"done\n"
        task = make_task(text_call("/a", "done"), text_call("/b", "done"))
        evidence = collect(FakeContext(desktop, task), task)
        assert [one.result[0].data for one in evidence if one.result] == [b"done\n", None]
        assert [one.expected for one in evidence] == [(), ()]

    def test_postconfig_runs_first(self) -> None:
        steps = [{"type": "create_file", "parameters": {"path": "/a", "content": "late"}}]
        task = make_task(text_call("/a", "late"), postconfig=steps)
        evidence = collect(FakeContext(FakeDesktop(), task), task)
        assert evidence[0].result == (Blob(name="/a", data=b"late"),)

    def test_a_refused_postconfig_step_is_noted(self) -> None:
        """The agent has closed the window: that is the state it left, and it must not make its episode lost."""
        steps = [{"type": "close_window", "parameters": {"window_name": "gone"}}]
        task = make_task(text_call("/a", "x"), postconfig=steps)
        evidence = collect(FakeContext(FakeDesktop(), task), task)
        assert "close_window" in evidence[0].notes[0]

    def test_a_dead_desktop_is_a_loss(self) -> None:
        desktop = FakeDesktop()
        desktop.die()
        with pytest.raises(GuestLost):
            collect(FakeContext(desktop), make_task())

    def test_a_missing_asset_is_the_tasks_fault(self) -> None:
        call = MetricCall(func="compare_text_file", result={"type": "cloud_file", "path": "asset:x", "dest": "x"})
        with pytest.raises(EvaluatorFailed, match="no asset 'x'"):
            collect(FakeContext(FakeDesktop()), make_task(call))


class TestEvaluate:
    def test_a_verdict_with_reasons_and_what_was_read(self, tmp_path: Path) -> None:
        task = make_task(text_call("/a", "done"))
        found = evaluate(task, [CallEvidence(result=(Blob(name="/a", data=b"done"),), expected=())], tmp_path)
        assert (found.score, found.measures) == (1.0, {"score": 1.0})
        assert found.metrics[0].reasons == ("met: a line 'done'",)
        assert found.metrics[0].result == "a.txt"
        assert found.metrics[0].expected == {"lines": ["done"]}

    @pytest.mark.parametrize(("conj", "score"), [("and", 0.0), ("or", 1.0)])
    def test_calls_are_joined(self, tmp_path: Path, conj: str, score: float) -> None:
        task = make_task(text_call("/a", "done"), text_call("/a", "other"), conj=conj)
        evidence = CallEvidence(result=(Blob(name="/a", data=b"done"),), expected=())
        assert evaluate(task, [evidence, evidence], tmp_path).score == score

    def test_the_same_evidence_gives_the_same_verdict(self, tmp_path: Path) -> None:
        task = make_task(text_call("/a", "done"))
        evidence = [CallEvidence(result=(Blob(name="/a", note="no such file"),), expected=())]
        assert evaluate(task, evidence, tmp_path / "1") == evaluate(task, evidence, tmp_path / "2")

    def test_notes_stand_before_the_reasons(self, tmp_path: Path) -> None:
        evidence = [CallEvidence(result=(Blob(name="/a"),), expected=(), notes=("the window was gone",))]
        found = evaluate(make_task(text_call("/a", "x")), evidence, tmp_path)
        assert found.metrics[0].reasons == ("the window was gone", "the file is not there")

    def test_evidence_of_another_task_gives_no_verdict(self, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            evaluate(make_task(), [], tmp_path)

    def test_a_metric_that_breaks_gives_no_verdict(self, tmp_path: Path) -> None:
        call = text_call("/a", "(unclosed")
        evidence = [CallEvidence(result=(Blob(name="/a", data=b"x"),), expected=())]
        with pytest.raises(EvaluatorFailed, match="text_goals broke"):
            evaluate(make_task(call), evidence, tmp_path)


class TestShown:
    def test_long_values_are_cut(self, tmp_path: Path) -> None:
        assert len(shown("x" * 10_000, tmp_path)) == MAX_SHOWN + 4

    def test_paths_lose_their_folder(self, tmp_path: Path) -> None:
        assert shown([f"{tmp_path}/result/0/a.txt"], tmp_path) == ["0/a.txt"]
