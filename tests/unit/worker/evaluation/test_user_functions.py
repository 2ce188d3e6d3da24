"""Evaluation functions in Python, in the real fence of this machine."""

import socket
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed, FailureClass, MissingEvidence
from backend.domain.evaluators.evaluate import gather
from backend.domain.evaluators.facts import gather_more
from backend.domain.model.score import MetricValue
from backend.domain.model.task import Part, Task
from backend.domain.omnibench.expression import compile_function
from tests.error_codes import raises_code, raises_fields
from tests.factories.checkpoints import part, task_of_parts
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop
from tests.unit.worker.evaluation.test_evaluator import found
from worker.evaluation.evaluator import Evaluator
from worker.evaluation.limits import ChildLimits
from worker.evaluation.sandbox import Sandbox
from worker.evaluation.step_evaluator import StepEvaluator

registry.load()
SECRET = Path("/var/tmp/deskarena-secret-of-the-host")
FAILED, TIMEOUT = "evaluation_function_failed", "evaluation_timeout"


@pytest.fixture(scope="module")
def looks() -> Iterator[StepEvaluator]:
    """One child for the whole module: what one function does must not reach the next."""
    if not found().has_view:
        pytest.skip("needs bubblewrap, without which no foreign code runs")
    made = Evaluator(ChildLimits(), sandbox=found()).looks()
    yield made
    made.close()


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.evaluation.step_evaluator.RETRIES", {FailureClass.EVALUATOR: 0})


def function(body: str, head: str = "") -> tuple[Task, Part]:
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    source = f"{head}\ndef evaluate_agent_task_completion(path):\n{lines}\n"
    node = part("n", calls=compile_function(source, {"path": "/a"}).calls)
    return task_of_parts(node, calls=()).model_copy(update={"dialect": "omnibench"}), node


def judged(looks: StepEvaluator, body: str, files: Mapping[str, bytes] | None = None, head: str = "") -> MetricValue:
    """Evaluates, collects the requested facts, and evaluates again."""
    task, node = function(body, head)
    desktop = FakeDesktop()
    desktop.files |= files or {}
    context: Any = FakeContext(desktop, task)
    seen = gather(context, task, node.calls[0])
    while True:
        try:
            return looks.look(task, node, [seen])
        except MissingEvidence as more:
            seen = gather_more(context, task, node.calls[0], seen, more.facts)


class TestRunApart:
    HEAD = (
        "import os\nfrom collections import namedtuple\nEvalResult = namedtuple('EvalResult', ['success', 'message'])\n"
    )
    BODY = """
folder = os.path.dirname(path)
if not check_file_exists(file_path=path):
    return EvalResult(False, 'there is no ' + path)
if check_file_exists(folder + 'b'):
    return EvalResult(False, 'the other one is there')
return EvalResult(True, 'fine')
"""

    @pytest.mark.parametrize(
        ("files", "value", "reason"),
        [({"/a": b""}, 1.0, "fine"), ({}, 0.0, "there is no /a"), ({"/a": b"", "/b": b""}, 0.0, "the other one")],
    )
    def test_a_function_as_published(
        self, looks: StepEvaluator, files: dict[str, bytes], value: float, reason: str
    ) -> None:
        verdict = judged(looks, self.BODY, files, self.HEAD)
        assert verdict.value == value
        assert reason in verdict.reasons[0]

    @pytest.mark.parametrize(
        ("body", "value", "progress"),
        [
            ("return True", 1.0, 1.0),
            ("return False, 'no'", 0.0, 0.0),
            ("return EvalResult(False, 'half', 0.5)", 0.0, 0.5),
            ("return EvalResult(False, 'odd', 7)", 0.0, 0.0),
            ("print('words')\nreturn True", 1.0, 1.0),
            ("from datetime import datetime\nreturn datetime.strptime('2025', '%Y').year == 2025", 1.0, 1.0),
        ],
    )
    def test_allowed_return_values(self, looks: StepEvaluator, body: str, value: float, progress: float) -> None:
        verdict = judged(looks, body)
        assert (verdict.value, verdict.progress) == (value, progress)

    def test_evidence_requests_are_batched(self, looks: StepEvaluator) -> None:
        task, node = function("return all([check_file_exists(str(n)) for n in range(9)])")
        context: Any = FakeContext(FakeDesktop(), task)
        with pytest.raises(MissingEvidence) as wanted:
            looks.look(task, node, [gather(context, task, node.calls[0])])
        assert len(wanted.value.facts) == 9

    @pytest.mark.usefixtures("once")
    @pytest.mark.parametrize(
        ("body", "code", "mentions"),
        [
            ("return None", FAILED, "True or False"),
            ("return 'yes'", FAILED, "True or False"),
            ("raise ValueError('mine')", FAILED, "ValueError: mine"),
            ("return check_file_exists()", FAILED, "TypeError"),
            ("return check_mind('x')", FAILED, "NameError"),
            ("[check_file_exists(str(n)) for n in range(10**9)]", "too_many_checks", ""),
        ],
    )
    def test_broken_function_fails(self, looks: StepEvaluator, body: str, code: str, mentions: str) -> None:
        with raises_code(EvaluatorFailed, code, mentions=mentions):
            judged(looks, body)


def no_other_child(*_: object) -> None:
    raise AssertionError("the judging child did not outlive it")


@pytest.mark.usefixtures("once")
class TestHostile:
    """Each ends as a failure of the evaluator, in seconds, has reached nothing, and the next one is judged as ever."""

    def refused(self, looks: StepEvaluator, body: str, mentions: str = "", codes: Collection[str] = (FAILED,)) -> None:
        before = time.monotonic()
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("worker.evaluation.step_evaluator.SandboxedProcess", no_other_child)
            with raises_fields(EvaluatorFailed, mentions=mentions) as caught:
                judged(looks, body)
            assert caught.value.code in codes
            assert time.monotonic() - before < 60.0
            assert judged(looks, "return True").value == 1.0

    def test_endless_loop_is_stopped(self, looks: StepEvaluator) -> None:
        self.refused(looks, "while True: pass", codes=(FAILED, TIMEOUT))

    def test_endless_sleep_is_stopped(self, looks: StepEvaluator) -> None:
        self.refused(looks, "import time\nwhile True: time.sleep(1000)", "3 s", codes=(TIMEOUT,))

    @pytest.mark.parametrize(
        "body",
        [
            "import os\nwhile True:\n    try: os.fork()\n    except Exception: pass",
            "import os\nos.posix_spawn('/bin/sh', ['sh', '-c', ':(){ :|:& };:'], {})",
            "import os\nos.system('sleep 1000 &')",
        ],
    )
    def test_fork_bomb_is_refused(self, looks: StepEvaluator, body: str) -> None:
        self.refused(looks, body, "forbidden operation: os.")

    def test_limits_hold_code_that_no_hook_sees(self, looks: StepEvaluator) -> None:
        """No process, no file, no socket, no byte written; and it is nobody."""
        body = """
import os
r = os.sys.modules['resource']
limits = [r.getrlimit(which) for which in (r.RLIMIT_NPROC, r.RLIMIT_NOFILE, r.RLIMIT_FSIZE)]
return limits == [(0, 0)] * 3 and os.getuid() != 0
"""
        assert judged(looks, body).value == 1.0

    @pytest.mark.parametrize("body", ["x = bytearray(10**9)", "x = []\nwhile True: x.append('y' * 10**6)"])
    def test_memory_bomb_is_refused(self, looks: StepEvaluator, body: str) -> None:
        self.refused(looks, body)

    @pytest.mark.parametrize(
        "body",
        [
            "return open('/etc/passwd').read() == ''",
            "try:\n    open('{secret}')\nexcept Exception:\n    pass\nreturn True",
            "import os\nreturn bool(os.listdir('/'))",
            "import os\nos.environ.update(os.environ)\nos.open('/etc/passwd', 0)",
            "import pathlib\nreturn bool(pathlib.Path('{secret}').read_text())",
        ],
    )
    def test_reading_host_files_is_refused(self, looks: StepEvaluator, body: str) -> None:
        SECRET.write_text("secret")
        try:
            self.refused(looks, body.replace("{secret}", str(SECRET)), "forbidden operation")
        finally:
            SECRET.unlink()

    def test_the_hosts_files_are_out_of_sight_even_where_no_hook_sees(self, looks: StepEvaluator) -> None:
        SECRET.write_text("secret")
        try:
            body = f"import os\nreturn os.path.exists({str(SECRET)!r}) or os.path.exists('/etc/passwd')"
            assert judged(looks, body).value == 0.0
        finally:
            SECRET.unlink()

    @pytest.mark.parametrize(
        "body",
        [
            "import socket\nsocket.create_connection(('127.0.0.1', {port}))",
            "import os\ntry:\n    os.sys.modules['socket'].socket()\nexcept Exception:\n    pass\nreturn True",
        ],
    )
    def test_opening_a_socket_is_refused(self, looks: StepEvaluator, body: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(0.1)
            self.refused(looks, body.replace("{port}", str(server.getsockname()[1])), "forbidden operation")
            with pytest.raises(TimeoutError):
                server.accept()

    @pytest.mark.parametrize(
        ("body", "mentions"),
        [
            ("import os\nos.kill(os.getppid(), 9)", "forbidden operation: os.kill"),
            ("import os\nos._exit(0)", "without an answer"),
            ("import sys\nsys.exit()", "forbidden operation: import"),
            ("return 'x' * 10**6, 'x' * 10**6", ""),
            ("import os\nos.write(3, b'x' * 10**6)", "too long"),
            ("import os\nos.write(3, b'[1]')\nos._exit(0)", "invalid"),
            ("import subprocess", "forbidden operation: import"),
            ("import ctypes", "forbidden operation: import"),
        ],
    )
    def test_attack_on_the_evaluator_is_refused(self, looks: StepEvaluator, body: str, mentions: str) -> None:
        self.refused(looks, body, mentions)

    def test_endless_evidence_requests_are_limited(self, looks: StepEvaluator) -> None:
        body = "n = 0\nwhile check_file_exists(str(n)): n += 1\nreturn True"
        with raises_code(EvaluatorFailed, "too_many_checks", mentions="50"):
            judged(looks, body, {str(number): b"" for number in range(100)})


class TestWithoutAFence:
    @pytest.mark.usefixtures("once")
    def test_user_functions_are_refused(self) -> None:
        looks = Evaluator(ChildLimits(), sandbox=Sandbox.LIMITS).looks()
        try:
            with raises_code(EvaluatorFailed, "sandbox_not_available"):
                judged(looks, "return True")
        finally:
            looks.close()
