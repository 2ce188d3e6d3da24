from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed, MissingEvidence
from backend.domain.evaluators import user_functions
from backend.domain.evaluators.evaluate import evaluate, evaluate_part, gather
from backend.domain.evaluators.facts import gather_more, pack, unpack, with_facts
from backend.domain.evaluators.user_functions import FunctionAnswer, key_of
from backend.domain.model.score import Blob
from backend.domain.model.task import MetricCall, Part, Task
from backend.domain.omnibench.expression import compile_expression, compile_function
from tests.error_codes import raises_code
from tests.factories.checkpoints import part, task_of_parts
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop

registry.load()
FACTS = [{"type": "check_file_exists", "file_path": path} for path in ("/a", "/b")]
SOURCE = "def evaluate_agent_task_completion(): ..."


def task_with(call: MetricCall) -> tuple[Task, Part]:
    node = part("n", calls=(call,))
    return task_of_parts(node, calls=()).model_copy(update={"dialect": "omnibench"}), node


class TestPacked:
    def test_pack_roundtrip(self) -> None:
        result: list[Any] = [(FACTS[0], (Blob(name="a"), Blob(name="b", data=b"b"))), (FACTS[1], ())]
        assert unpack(pack(result)) == result

    @pytest.mark.parametrize(
        "blobs",
        [
            (),
            (Blob(name="facts", data=b"{"),),
            (Blob(name="facts", data=b"[{}]"),),
            (Blob(name="facts", data=b"[]"), Blob(name="x")),
            (Blob(name="facts", data=b'[{"fact": {}, "blobs": 2}]'), Blob(name="x")),
        ],
    )
    def test_unknown_evidence_gives_no_verdict(self, blobs: tuple[Blob, ...]) -> None:
        with pytest.raises(EvaluatorFailed):
            unpack(blobs)


class TestExpression:
    @pytest.mark.parametrize(
        ("files", "value", "progress"),
        [([], 0.0, 0.5), (["/a"], 1.0, 1.0), (["/a", "/b"], 0.0, 0.5), (["/b"], 0.0, 0.0)],
    )
    def test_expression_is_collected_and_evaluated(
        self, files: list[str], value: float, progress: float, tmp_path: Path
    ) -> None:
        text = "check_file_exists('/a') and not check_file_exists('/b')"
        task, node = task_with(compile_expression(text, {}).calls[0])
        desktop = FakeDesktop()
        desktop.files |= dict.fromkeys(files, b"x")
        result = evaluate_part(task, node, [gather(FakeContext(desktop, task), task, node.calls[0])], tmp_path)
        assert (result.value, result.progress) == (value, progress)


class TestFunction:
    @pytest.fixture(autouse=True)
    def runner(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Requests both files, one after the other."""

        def run(_source: str, _values: Any, known: Any) -> FunctionAnswer:
            for fact in FACTS:
                if key_of(fact) not in known:
                    return FunctionAnswer(success=True, missing=(fact,))
            return FunctionAnswer(success=all(known.values()), message="said", progress=0.25)

        monkeypatch.setattr(user_functions, "run", run)

    def test_evidence_is_collected_until_complete(self, tmp_path: Path) -> None:
        task, node = task_with(compile_function(SOURCE, {}).calls[0])
        desktop = FakeDesktop()
        desktop.files |= {"/a": b"", "/b": b""}
        context = FakeContext(desktop, task)
        seen = gather(context, task, node.calls[0])
        for number, fact in enumerate(FACTS):
            with pytest.raises(MissingEvidence) as wanted:
                evaluate_part(task, node, [seen], tmp_path / str(number))
            assert wanted.value.facts == (fact,)
            seen = gather_more(context, task, node.calls[0], seen, wanted.value.facts)
        result = evaluate_part(task, node, [seen], tmp_path / "last")
        assert (result.value, result.reasons, result.progress) == (1.0, ("said",), 0.25)

    def test_reached_facts_are_not_queried_again(self) -> None:
        task, node = task_with(compile_function(SOURCE, {}).calls[0])
        context = FakeContext(FakeDesktop(), task)
        seen = gather(context, task, with_facts(node.calls[0], FACTS[:1]))
        context.desktop.files["/a"] = b""
        more = gather_more(context, task, node.calls[0], seen, FACTS)
        assert more.result is not None
        assert [blob.data for blob in more.result[1:]] == [None, None]

    def test_incomplete_stored_evidence_gives_no_verdict(self, tmp_path: Path) -> None:
        task, node = task_with(compile_function(SOURCE, {}).calls[0])
        task = task.model_copy(update={"evaluator": task.evaluator.model_copy(update={"calls": ()})})
        seen = gather(FakeContext(FakeDesktop(), task), task, node.calls[0])
        with raises_code(EvaluatorFailed, "evidence_missing", mentions="check_file_exists"):
            evaluate(task, [seen], tmp_path)

    def test_number_of_checks_is_limited(self) -> None:
        task, node = task_with(compile_function(SOURCE, {}).calls[0])
        context = FakeContext(FakeDesktop(), task)
        seen = gather(context, task, node.calls[0])
        many = [{"type": "check_file_exists", "file_path": f"/{number}"} for number in range(51)]
        with raises_code(EvaluatorFailed, "too_many_checks", mentions="50"):
            gather_more(context, task, node.calls[0], seen, many)


class TestWithoutRunner:
    def test_missing_sandbox_gives_no_verdict(self, tmp_path: Path) -> None:
        task, node = task_with(compile_function(SOURCE, {}).calls[0])
        with raises_code(EvaluatorFailed, "sandbox_not_available"):
            evaluate_part(task, node, [gather(FakeContext(FakeDesktop(), task), task, node.calls[0])], tmp_path)


class TestWithFacts:
    def test_only_calls_that_need_facts_get_them(self) -> None:
        plain = compile_expression("check_file_exists('/a')", {}).calls[0]
        assert with_facts(plain, FACTS) is plain
        call = with_facts(compile_function(SOURCE, {}).calls[0], FACTS)
        assert with_facts(call, FACTS).result == {"type": "facts", "facts": FACTS}
