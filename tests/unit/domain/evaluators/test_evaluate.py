from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed, GuestLost, GuestRefused
from backend.domain.evaluators.evaluate import (
    MAX_SHOWN,
    CallEvidence,
    check_gathered,
    collect,
    evaluate,
    evaluate_part,
    gather,
    short_value,
)
from backend.domain.model.episode import EndedBy
from backend.domain.model.score import GAVE_UP, Blob, PartResult, Verdict, score_by_rule
from backend.domain.model.task import EvaluatorSpec, MetricCall, Task
from backend.domain.ports.desktop import ExecResult
from backend.domain.registry import PluginKind
from tests.error_codes import raises_code
from tests.factories.checkpoints import part, task_of_parts
from tests.factories.creative import POSTER, creative_task
from tests.factories.judging import answer, judged_task, judgement
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

    def after(self, desktop: FakeDesktop, kind: str, **parameters: Any) -> CallEvidence:
        """Evidence after one step of post-configuration."""
        task = make_task(text_call("/a", "x"), postconfig=[{"type": kind, "parameters": parameters}])
        return collect(FakeContext(desktop, task), task)[0]

    @pytest.mark.parametrize(("kind", "asked"), [("timeout", 2), ("failed", 2), ("internal", 2)])
    def test_failing_step_is_retried_and_gives_no_verdict(self, kind: str, asked: int) -> None:
        """The file to save would seem to be missing: a 0 that is not the agent's fault."""
        desktop = FakeDesktop()
        tries: list[str] = []
        desktop.commands["save"] = lambda _: refused(tries, kind)
        with raises_code(EvaluatorFailed, "evidence_not_gathered"):
            self.after(desktop, "execute", command="save")
        assert len(tries) == asked

    def test_step_may_succeed_on_retry(self) -> None:
        desktop = FakeDesktop()
        tries: list[str] = []
        desktop.commands["save"] = lambda _: refused(tries, "timeout") if not tries else ExecResult(returncode=0)
        assert self.after(desktop, "execute", command="save").notes == ()

    def test_step_with_a_missing_program_is_noted(self) -> None:
        assert "no such program" in self.after(FakeDesktop(), "execute", command="save").notes[0]

    @pytest.mark.parametrize("kind", ["timeout", "failed", "not_found"])
    def test_failing_open_step_is_noted_as_the_agents_end_state(self, kind: str) -> None:
        desktop = FakeDesktop()
        desktop.open_file = lambda _: refused([], kind)  # type: ignore[method-assign,assignment]
        assert "post-configuration step open failed" in self.after(desktop, "open", path="/a").notes[0]

    def test_program_that_the_agent_broke_is_noted_as_its_end_state(self) -> None:
        """A loss would be another try for whoever removes the program's files."""
        desktop = FakeDesktop()
        desktop.launch = lambda *_, **__: None  # type: ignore[method-assign]
        assert "post-configuration step launch failed" in self.after(desktop, "launch", command=["gimp"]).notes[0]

    def test_a_step_without_its_asset_is_the_tasks_fault(self) -> None:
        with raises_code(EvaluatorFailed, "evidence_not_gathered", mentions="x"):
            self.after(FakeDesktop(), "download", files=[{"url": "asset:x", "path": "/x"}])

    def test_a_step_with_wrong_parameters_is_the_tasks_fault(self) -> None:
        with raises_code(EvaluatorFailed, "evidence_not_gathered", mentions="close_window"):
            self.after(FakeDesktop(), "close_window", window="gone")

    def test_a_dead_desktop_is_a_loss(self) -> None:
        desktop = FakeDesktop()
        desktop.die()
        with pytest.raises(GuestLost):
            collect(FakeContext(desktop), make_task())

    def test_a_missing_asset_is_the_tasks_fault(self) -> None:
        call = MetricCall(func="compare_text_file", result={"type": "cloud_file", "path": "asset:x", "dest": "x"})
        evidence = collect(FakeContext(FakeDesktop()), make_task(call))
        with raises_code(EvaluatorFailed, "invalid_reference", mentions="x"):
            check_gathered(evidence)

    def test_failing_getter_does_not_lose_other_evidence(self, tmp_path: Path) -> None:
        desktop = FakeDesktop()
        desktop.files["/a"] = b"done\n"
        missing = {"type": "cloud_file", "path": "asset:x", "dest": "x"}
        first = MetricCall(func="compare_text_file", result=text_call("/a", "").result, expected=missing)
        task = make_task(first, text_call("/a", "done"))
        evidence = collect(FakeContext(desktop, task), task)
        assert [one.result[0].data for one in evidence if one.result] == [b"done\n", b"done\n"]
        assert [[(each.side, each.code) for each in one.failures] for one in evidence] == [
            [("expected", "invalid_reference")],
            [],
        ]
        with raises_code(EvaluatorFailed, "invalid_reference"):
            evaluate(task, evidence, tmp_path)

    def test_a_getter_that_raises_leaves_a_bounded_reason(self) -> None:
        desktop = FakeDesktop()

        def broken(_: object) -> ExecResult:
            raise RuntimeError("x" * 10_000)

        desktop.commands["cat"] = broken
        call = MetricCall(func="exact_match", result={"type": "vm_command_line", "command": ["cat", "/a"]})
        ((failure,),) = [one.failures for one in collect(FakeContext(desktop), make_task(call))]
        assert (failure.side, failure.code) == ("result", "evidence_not_gathered")
        assert len(failure.message) == MAX_SHOWN

    @pytest.mark.parametrize(("kind", "asked"), [("timeout", 2), ("failed", 2), ("not_available", 1)])
    def test_busy_desktop_is_queried_twice(self, kind: str, asked: int) -> None:
        desktop = BusyDesktop(kind)
        call = MetricCall(func="exact_match", result={"type": "check_clipboard_contains", "text": "x"})
        task = make_task(call).model_copy(update={"dialect": "omnibench"})
        evidence = collect(FakeContext(desktop), task)
        with raises_code(EvaluatorFailed, "evidence_not_gathered"):
            check_gathered(evidence)
        assert desktop.asked == asked


def refused(tries: list[str], kind: str) -> ExecResult:
    """Counts a try and refuses it."""
    tries.append(kind)
    raise GuestRefused("not now", kind=kind)


class BusyDesktop(FakeDesktop):
    """Its clipboard cannot be read."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind, self.asked = kind, 0

    def clipboard(self) -> str:
        self.asked += 1
        raise GuestRefused("not now", kind=self.kind)


class TestEvaluate:
    def test_verdict_has_reasons_and_the_read_values(self, tmp_path: Path) -> None:
        task = make_task(text_call("/a", "done"))
        result = evaluate(task, [CallEvidence(result=(Blob(name="/a", data=b"done"),), expected=())], tmp_path)
        assert (result.score, result.measures) == (1.0, {"score": 1.0})
        assert result.metrics[0].reasons == ("met: a line 'done'",)
        assert result.metrics[0].result == "a.txt"
        assert result.metrics[0].expected == {"lines": ["done"]}

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
        result = evaluate(make_task(text_call("/a", "x")), evidence, tmp_path)
        assert result.metrics[0].reasons == ("the window was gone", "the file does not exist")

    def test_evidence_of_another_task_gives_no_verdict(self, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            evaluate(make_task(), [], tmp_path)

    def test_a_metric_that_breaks_gives_no_verdict(self, tmp_path: Path) -> None:
        call = text_call("/a", "(unclosed")
        evidence = [CallEvidence(result=(Blob(name="/a", data=b"x"),), expected=())]
        with raises_code(EvaluatorFailed, "metric_broke", mentions="text_goals"):
            evaluate(make_task(call), evidence, tmp_path)


class TestShown:
    def test_long_values_are_cut(self, tmp_path: Path) -> None:
        assert len(short_value("x" * 10_000, tmp_path)) == MAX_SHOWN + 4

    def test_paths_lose_their_folder(self, tmp_path: Path) -> None:
        assert short_value([f"{tmp_path}/result/0/a.txt"], tmp_path) == ["0/a.txt"]


class TestParts:
    def evidence(self, task: Task, **files: str) -> Sequence[CallEvidence]:
        desktop = FakeDesktop()
        desktop.files = {f"/{name}": text.encode() for name, text in files.items()}
        return collect(FakeContext(desktop, task), task)

    def test_every_part_has_a_result(self, tmp_path: Path) -> None:
        task = task_of_parts(part("a", each_step=False, text="A is done", app="editor"), part("b", each_step=False))
        result = evaluate(task, self.evidence(task, end="done", a="done"), tmp_path)
        assert [(one.name, one.value, one.reached) for one in result.parts] == [("a", 1.0, True), ("b", 0.0, False)]
        assert (result.parts[0].text, result.parts[0].app) == ("A is done", "editor")
        assert [metric.part for metric in result.metrics] == ["", "a", "b"]
        assert result.score == 1.0

    def test_a_protocol_makes_score_and_measures(self, tmp_path: Path, request: pytest.FixtureRequest) -> None:
        class Protocol:
            primary = "final"

            def __call__(self, _spec: EvaluatorSpec, score: float | None, parts: Sequence[PartResult]) -> Verdict:
                return Verdict(score=0.5, measures={"final": score or 0.0, "parts": sum(one.value for one in parts)})

        registry.register(PluginKind.PROTOCOL, "test")(Protocol)
        request.addfinalizer(lambda: registry.unregister(PluginKind.PROTOCOL, "test"))
        task = task_of_parts(part("a", each_step=False), part("b", each_step=False), protocol="test")
        result = evaluate(task, self.evidence(task, end="done", a="done"), tmp_path)
        assert result.measures == {"score": 0.5, "final": 1.0, "parts": 1.0}

    def test_giving_up_scores_zero_and_keeps_reached_parts(self, tmp_path: Path) -> None:
        task = task_of_parts(part("a", each_step=False))
        assert score_by_rule(task.evaluator, EndedBy.INFEASIBLE) is None
        evidence = self.evidence(task, end="done", a="done")
        result = evaluate(task, evidence, tmp_path, ended_by=EndedBy.INFEASIBLE)
        assert (result.score, result.rule, result.parts[0].value) == (0.0, GAVE_UP, 1.0)

    def test_score_by_rule_has_the_protocols_measures(self) -> None:
        task = task_of_parts(part("a", each_step=False), calls=[MetricCall(func="infeasible")], protocol="windowsworld")
        right = score_by_rule(task.evaluator, EndedBy.INFEASIBLE)
        wrong = score_by_rule(task.evaluator, EndedBy.DONE)
        assert right is not None
        assert wrong is not None
        assert right.measures == {"score": 1.0, "S_final": 1.0}
        assert wrong.measures == {"score": 0.0, "S_final": 0.0}

    def test_stalling_scores_zero(self, tmp_path: Path) -> None:
        task = task_of_parts(part("a", each_step=False))
        evidence = self.evidence(task, end="done", a="done")
        assert evaluate(task, evidence, tmp_path, ended_by=EndedBy.STALLED).score == 0.0

    def test_evidence_from_the_way_says_when(self, tmp_path: Path) -> None:
        task = task_of_parts(part("a"), part("b", "a"))
        desktop = FakeDesktop()
        desktop.files = {"/a": b"done"}
        context = FakeContext(desktop, task)
        seen = [gather(context, task, task.evaluator.parts[0].calls[0]).model_copy(update={"step": 4})]
        result = evaluate(task, collect(context, task, {"a": seen}), tmp_path)
        assert [(one.reached, one.step, one.opened) for one in result.parts] == [(True, 4, True), (False, None, False)]
        assert "not evaluated" in result.parts[1].reasons[0]

    def test_evaluates_a_single_part(self, tmp_path: Path) -> None:
        task = task_of_parts(part("a"))
        one = task.evaluator.parts[0]
        desktop = FakeDesktop()
        desktop.files = {"/a": b"done"}
        seen = gather(FakeContext(desktop, task), task, one.calls[0])
        assert evaluate_part(task, one, [seen], tmp_path).value == 1.0


class TestJudged:
    """A judgement is evidence like any other: what does not fit the task's criteria has no verdict."""

    def evidence(self, *answers: str) -> list[CallEvidence]:
        blob = Blob(name="judgement.json", data=judgement(*answers).model_dump_json().encode())
        return [CallEvidence(result=(blob,)) for _ in judged_task().evaluator.all_calls]

    def test_all_calls_share_one_judgement(self, tmp_path: Path) -> None:
        context = FakeContext(FakeDesktop(), judged_task(), judged=b"{}")
        assert [one.result and one.result[0].data for one in collect(context, judged_task())] == [b"{}"] * 2

    def test_verdicts_become_parts_and_measures(self, tmp_path: Path) -> None:
        result = evaluate(judged_task(), self.evidence(answer(opened=(True, 1), final=False)), tmp_path)
        assert (result.score, result.measures["S_int"], result.measures["S_final"]) == (0.0, 1.0, 0.0)
        assert (result.parts[0].step, result.parts[0].progress, result.parts[0].reasons) == (1, 1.0, ("opened: seen",))

    @pytest.mark.parametrize("text", [answer(opened=True), answer(opened=True, final=True, more=True), "done"])
    def test_a_judge_that_drops_or_adds_a_criterion_raises_no_score(self, text: str, tmp_path: Path) -> None:
        with raises_code(EvaluatorFailed, "judge_answer_invalid"):
            evaluate(judged_task(), self.evidence(text), tmp_path)

    def test_unjudged_criterion_gives_no_verdict(self, tmp_path: Path) -> None:
        asked = self.evidence(answer(opened=True, final=True))
        with raises_code(EvaluatorFailed, "judge_evidence_mismatch"):
            evaluate(judged_task(text="The note says goodbye."), asked, tmp_path)


class TestRule:
    def test_an_infeasible_task_counts_in_its_protocols_measure(self) -> None:
        spec = EvaluatorSpec(calls=(MetricCall(func="infeasible"),), protocol="windowsworld")
        said, silent = (score_by_rule(spec, ended_by) for ended_by in (EndedBy.INFEASIBLE, EndedBy.DONE))
        assert said is not None
        assert silent is not None
        assert said.measures == {"S_final": 1.0, "score": 1.0}
        assert silent.measures == {"S_final": 0.0, "score": 0.0}


class TestHandedIn:
    """Work that people judge has no score, whatever the end state."""

    @pytest.mark.parametrize("files", [{POSTER: b"a poster"}, {}])
    @pytest.mark.parametrize("ended_by", list(EndedBy))
    def test_has_no_score_and_no_measure(self, files: dict[str, bytes], ended_by: EndedBy, tmp_path: Path) -> None:
        task, desktop = creative_task(), FakeDesktop()
        desktop.files = dict(files)
        assert score_by_rule(task.evaluator, ended_by) is None
        result = evaluate(task, collect(FakeContext(desktop, task), task), tmp_path, ended_by=ended_by)
        assert (result.score, result.solved, result.handed_in, result.measures) == (None, None, True, {})
        assert result.metrics[0].value == float(bool(files))
