import os
import signal
import subprocess
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import pytest

from backend.domain.errors import Cancelled, EvaluatorFailed, FailureClass
from tests.error_codes import raises_code
from tests.processes import read_living
from tests.unit.worker.evaluation.cases import LIMITS, place_with, said, task_with
from tests.waiting import until
from worker.evaluation.code_cache import STAMP, compile_ahead
from worker.evaluation.evaluator import Child, Evaluator, remove_left_folders
from worker.evaluation.limits import OWN_UID, ChildLimits
from worker.evaluation.sandbox import Sandbox, candidates, here
from worker.evaluation.sandboxed_process import FOLDERS
from worker.local.watchdog import descendants


@cache
def found() -> Sandbox:
    """The fence of this machine, looked for once."""
    return Evaluator(LIMITS).sandbox


@pytest.fixture
def judge() -> Evaluator:
    return Evaluator(LIMITS, sandbox=found())


def judge_with(folder: Path, body: str, limits: ChildLimits = LIMITS) -> Evaluator:
    """A judge whose children know one metric more, called `odd`."""
    return Evaluator(limits, place_with(folder, "odd", body), found())


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No repeats, where they would only take time."""
    monkeypatch.setattr("worker.evaluation.evaluator.RETRIES", {FailureClass.EVALUATOR: 0})


@pytest.mark.sampled(2)
class TestVerdict:
    def test_correct_end_state_scores_one(self, judge: Evaluator) -> None:
        evaluation = judge.verdict(task_with("exact_match"), said("hello"))
        assert evaluation.score == 1.0
        assert evaluation.measures == {"score": 1.0}
        assert [metric.func for metric in evaluation.metrics] == ["exact_match"]

    def test_wrong_end_state_scores_zero_with_a_reason(self, judge: Evaluator) -> None:
        evaluation = judge.verdict(task_with("exact_match"), said("goodbye"))
        assert evaluation.score == 0.0
        assert "goodbye" in evaluation.metrics[0].reasons[0]

    def test_prestarted_child_is_used_and_closed(self, judge: Evaluator) -> None:
        child = judge.start()
        assert judge.verdict(task_with("exact_match"), said("hello"), child).score == 1.0
        assert not child.blobs.exists()

    def test_unknown_metric_fails(self, judge: Evaluator) -> None:
        with raises_code(EvaluatorFailed, "unknown_plugin", mentions=("no_such_metric", "3 tries")):
            judge.verdict(task_with("no_such_metric"), said("hello"))


@pytest.mark.sampled(3)
@pytest.mark.usefixtures("once")
class TestFailure:
    def test_raising_metric_fails(self, tmp_path: Path) -> None:
        judge = judge_with(tmp_path, "raise RuntimeError('boom')")
        with raises_code(EvaluatorFailed, "metric_broke"):
            judge.verdict(task_with("odd"), said("hello"))

    def test_endless_metric_times_out(self, tmp_path: Path) -> None:
        judge = judge_with(tmp_path, "import threading\nthreading.Event().wait()", ChildLimits(wall=3.0))
        with raises_code(EvaluatorFailed, "evaluation_timeout", mentions="3"):
            judge.verdict(task_with("odd"), said("hello"))

    def test_cpu_limit_stops_a_metric(self, tmp_path: Path) -> None:
        judge = judge_with(tmp_path, "while True: pass", ChildLimits(wall=30.0, cpu=2))
        with raises_code(EvaluatorFailed, "evaluation_endless", mentions="2 s"):
            judge.verdict(task_with("odd"), said("hello"))

    def test_memory_limit_stops_a_metric(self, tmp_path: Path) -> None:
        judge = judge_with(tmp_path, "x = bytearray(3 * 2**30)")
        with raises_code(EvaluatorFailed, "evaluator_crashed", mentions="MemoryError"):
            judge.verdict(task_with("odd"), said("hello"))

    def test_metric_that_exits_its_process_fails(self, tmp_path: Path) -> None:
        judge = judge_with(tmp_path, "import os\nos._exit(0)")
        with raises_code(EvaluatorFailed, "evaluator_crashed"):
            judge.verdict(task_with("odd"), said("hello"))

    def test_printed_output_is_not_a_verdict(self, tmp_path: Path) -> None:
        judge = judge_with(tmp_path, "print('{\"score\": 1.0}', flush=True)\nraise RuntimeError('after printing')")
        with raises_code(EvaluatorFailed, "metric_broke", mentions="after printing"):
            judge.verdict(task_with("odd"), said("hello"))


class TestRepeats:
    def test_crashed_child_is_retried(self, tmp_path: Path) -> None:
        judge = judge_with(tmp_path, "pass")
        child = judge.start()
        child.process.kill()
        assert judge.verdict(task_with("odd"), said("hello"), child).score == 1.0

    def test_permanent_failures_are_not_retried(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        judge = judge_with(tmp_path, "raise RuntimeError('boom')")
        with raises_code(EvaluatorFailed, "metric_broke", is_final=True):
            judge.verdict(task_with("odd"), said("hello"))
        assert len([one for one in caplog.records if "evaluation of" in one.message]) == 1


class Counted:
    """Counts how many children work at once; each waits a little for a second one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.most = 0
        self._now = 0
        self._lock = Lock()
        self._two = Event()
        ask = Child.ask

        def counted(child: Child, *arguments: Any) -> dict[str, Any]:
            with self:
                return ask(child, *arguments)

        monkeypatch.setattr(Child, "ask", counted)

    def __enter__(self) -> None:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            if self._now > 1:
                self._two.set()
        self._two.wait(1.0)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._now -= 1


@pytest.mark.sampled(2)
class TestTurns:
    @pytest.mark.parametrize(("memory", "most"), [(2**30, 1), (6 * 2**30, 2)])
    def test_parallel_children_are_limited_by_memory(
        self, monkeypatch: pytest.MonkeyPatch, memory: int, most: int
    ) -> None:
        """One may use 1 GiB of address space and 1 GiB of files; the service itself keeps 1 GiB."""
        sandbox, counted = found(), Counted(monkeypatch)
        judge = Evaluator(LIMITS, sandbox=sandbox, memory=memory)
        scores: list[float | None] = []

        def score() -> None:
            scores.append(judge.verdict(task_with("exact_match"), said("hello"), judge.start()).score)

        threads = [Thread(target=score) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120.0)
        assert scores == [1.0, 1.0, 1.0]
        assert counted.most == most

    def test_default_limit_comes_from_the_hosts_memory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("worker.evaluation.evaluator.most_memory", lambda: 11 * 2**30)
        assert Evaluator().turns.number == 2

    def test_timeout_starts_with_the_childs_turn(self, judge: Evaluator, monkeypatch: pytest.MonkeyPatch) -> None:
        judge = Evaluator(LIMITS, sandbox=judge.sandbox, memory=2**30)
        child, told, ask = judge.start(), list[str](), Child.ask

        def asking(child: Child, *arguments: Any) -> dict[str, Any]:
            told.append("asked")
            return ask(child, *arguments)

        def pause(_seconds: float) -> None:
            told.append("waited")
            if told == ["waited"] * 3:
                others.close()

        monkeypatch.setattr(Child, "ask", asking)
        with ExitStack() as others:
            others.enter_context(judge.turns.turn(pause))
            assert judge.verdict(task_with("exact_match"), said("hello"), child, pause=pause).score == 1.0
        assert told == ["waited", "waited", "waited", "asked"]

    def test_stop_ends_the_wait_and_closes_the_child(self, judge: Evaluator) -> None:
        judge = Evaluator(LIMITS, sandbox=judge.sandbox, memory=2**30)
        child = judge.start()

        def stop(_seconds: float) -> None:
            raise Cancelled("the run was cancelled")

        with judge.turns.turn(stop), pytest.raises(Cancelled):
            judge.verdict(task_with("exact_match"), said("hello"), child, pause=stop)
        assert not child.blobs.exists()


class TestMemoryRunsOut:
    def test_oom_killer_picks_the_child_first(self, judge: Evaluator) -> None:
        """Before a desktop, whose attempt would begin again, and before the worker with all that it does."""
        child = judge.start()
        try:
            until(lambda: scores_of(child) == {"1000"}, what="all of its processes are to be taken first")
        finally:
            child.close()

    @pytest.mark.usefixtures("once")
    def test_child_killed_for_memory_has_no_verdict(self, judge: Evaluator) -> None:
        child = judge.start()
        until(lambda: is_python(descendants(child.process.pid)[-1]), what="the child behind the fence has begun")
        os.kill(descendants(child.process.pid)[-1], signal.SIGKILL)
        with raises_code(EvaluatorFailed, "evaluator_crashed", mentions="SIGKILL") as failed:
            judge.verdict(task_with("exact_match"), said("hello"), child)
        assert failed.value.failure_class is FailureClass.EVALUATOR


def scores_of(child: Child) -> set[str]:
    members = descendants(child.process.pid)
    return {score.strip() for score in read_living(Path(f"/proc/{pid}/oom_score_adj") for pid in members)}


def is_python(pid: int) -> bool:
    commands = read_living([Path(f"/proc/{pid}/cmdline")])
    return any("worker.evaluation.child" in command.split("\0")[:4] for command in commands)


@pytest.mark.sampled(3)
class TestFence:
    @pytest.mark.usefixtures("once")
    @pytest.mark.parametrize(
        "body",
        [
            "import socket\nsocket.create_connection(('127.0.0.1', 9), timeout=1)",
            "import socket\nsocket.getaddrinfo('localhost', 80)",
        ],
    )
    def test_network_access_is_refused(self, tmp_path: Path, body: str) -> None:
        with raises_code(EvaluatorFailed, "network_not_allowed"):
            judge_with(tmp_path, body).verdict(task_with("odd"), said("hello"))

    def test_child_has_no_network_interfaces(self, judge: Evaluator) -> None:
        child = judge.start()
        try:
            assert child.ask(b"probe")["networks"] == []
        finally:
            child.close()

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs root: only root can become another user")
    def test_child_of_root_runs_unprivileged(self, judge: Evaluator) -> None:
        if judge.sandbox is not Sandbox.BWRAP_OWN_USER:
            pytest.skip("needs bubblewrap with rights, and code that others may read")
        child = judge.start()
        try:
            assert child.ask(b"probe")["uid"] == OWN_UID
        finally:
            child.close()

    def test_environment_is_not_inherited(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
        body = "import os\nif 'DATABASE_URL' in os.environ: raise RuntimeError('leak')"
        assert judge_with(tmp_path, body).verdict(task_with("odd"), said("hello")).score == 1.0

    def test_host_files_are_not_visible(self, tmp_path: Path) -> None:
        judge = judge_with(tmp_path, f"import os\nif os.path.exists({__file__!r}): raise RuntimeError('seen')")
        if judge.sandbox not in {Sandbox.BWRAP, Sandbox.BWRAP_OWN_USER}:
            pytest.skip("needs bubblewrap: apt install bubblewrap")
        assert judge.verdict(task_with("odd"), said("hello")).score == 1.0


class TestCompiled:
    def test_code_is_compiled_once_for_all_children(self, tmp_path: Path) -> None:
        place = here(tmp_path / "compiled")
        compile_ahead(place)
        until(lambda: list(tmp_path.rglob("exact_match*.pyc")), 60.0, what="the metrics are compiled")
        assert Evaluator(LIMITS, place, found()).verdict(task_with("exact_match"), said("hello")).score == 1.0

    def test_code_is_compiled_again_only_when_it_changes(self, tmp_path: Path) -> None:
        place, code = here(tmp_path / "compiled"), tmp_path / "code"
        first = compile_ahead(place)
        assert first is not None
        first.join(120.0)
        assert (tmp_path / "compiled" / STAMP).exists()
        assert compile_ahead(place) is None
        (code / "backend" / "domain").mkdir(parents=True)
        (code / "backend" / "domain" / "new.py").write_text("")
        again = compile_ahead(replace(place, code=code))
        assert again is not None
        again.join(120.0)


@pytest.mark.sampled(2)
class TestSandbox:
    @pytest.mark.parametrize("sandbox", candidates())
    def test_available_sandboxes_give_the_same_verdict(self, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("worker.evaluation.evaluator.candidates", lambda: (sandbox,))
        judge = Evaluator(LIMITS)
        try:
            assert judge.sandbox is sandbox
        except EvaluatorFailed as error:
            pytest.skip(f"needs a machine that allows {sandbox}: {error.message[:200]}")
        assert judge.verdict(task_with("exact_match"), said("hello")).score == 1.0

    def test_host_without_any_sandbox_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("worker.evaluation.sandboxed_process.command", lambda *_, **__: ["no-such-program"])
        with raises_code(EvaluatorFailed, "evaluator_not_started"):
            _ = Evaluator(LIMITS).sandbox

    def test_failed_sandbox_leaves_no_process(self, tmp_path: Path) -> None:
        """Bubblewrap has a child before it has done everything that may fail."""
        told = tmp_path / "left"
        script = f"sleep 1000 & echo $! > {told}; exit 1"
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("worker.evaluation.sandboxed_process.command", lambda *_, **__: ["sh", "-c", script])
            child = Child(found(), here(), LIMITS)
        with raises_code(EvaluatorFailed, "evaluator_crashed", mentions="code 1"):
            child.ask(b"probe")
        child.close()
        left = Path("/proc", told.read_text().strip())
        until(lambda: not (left / "exe").exists(), what="the process is gone")


class TestRemoveLeftFolders:
    def test_removes_only_folders_of_dead_workers(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        with subprocess.Popen(["true"]) as ended:
            ended.wait()
        mine, left, other = (
            tmp_path / name for name in (f"{FOLDERS}{os.getpid()}-a", f"{FOLDERS}{ended.pid}-b", "something-else")
        )
        for folder in (mine, left, other):
            (folder / "blobs").mkdir(parents=True)
        remove_left_folders()
        assert sorted(tmp_path.iterdir()) == sorted([mine, other])
