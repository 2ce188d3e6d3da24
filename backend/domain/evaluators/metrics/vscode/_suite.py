"""Runs a task's tests of an agent's program in a separate process.

Both are untrusted code. The evaluation's process already has no network, no write access to our files and its own user
(see worker/evaluation). It starts this process without environment, in a folder with copies of the files only, with
small limits and a deadline; child processes are ended with it. The result comes through a pipe. As upstream, the
program runs in the same interpreter as the tests, so it could forge the result.

A process that is killed before its limits is run once more, because a kernel that is out of memory kills as well. If
that happens again, there is no verdict only if the kernel has counted such a kill meanwhile: a program may kill itself
on purpose, which must score 0.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.formats.text import read_text

SECONDS = 30.0
CPU_SECONDS = 20
COUNTS = Path("/proc/vmstat")
"""Since Linux 4.13, counts out-of-memory kills: of the whole machine, cgroups included."""
MAX_FILES = 200
MAX_BYTES = 16 * 2**20
_MAX_ANSWER = 4096
LIBRARIES = ("pygame",)
"""Libraries that published tests import."""
_RUNNER = """
import json, os, resource, sys
pipe, name, path, seconds = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
for what, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, 2 << 30), (resource.RLIMIT_FSIZE, 16 << 20),
                   (resource.RLIMIT_NOFILE, 64), (resource.RLIMIT_CORE, 0)):
    resource.setrlimit(what, (most, most))
def refuse(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"):
        raise PermissionError("no network here")
sys.addaudithook(refuse)
def say(**answer):
    os.write(pipe, json.dumps(answer).encode()[:4000])
    os._exit(0)
sys.path.insert(0, os.path.dirname(path))
import importlib.util
spec = importlib.util.spec_from_file_location("dynamic_test_module", path)
module = importlib.util.module_from_spec(spec)
sys.modules["dynamic_test_module"] = module
try:
    spec.loader.exec_module(module)
    test = getattr(module, name, None)
    if not callable(test):
        say(missing=True)
    value = test()
except ModuleNotFoundError as error:
    say(raised=f"ModuleNotFoundError: {error}"[:300], module=error.name)
except BaseException as error:
    say(raised=f"{type(error).__name__}: {error}"[:300])
number = float(value) if isinstance(value, (bool, int, float)) else None
say(true=bool(value), number=number)
"""


def run_suite(
    program: str | Sequence[str | None] | None, tests: str | None, function: str
) -> tuple[dict[str, Any] | None, str]:
    """Calls the function of the test file in a folder with copies of the program's files.

    Args:
        program: path of one of the program's files, or of all; they are siblings.
        tests: path of the test file.
        function: name of the function.

    Returns:
        ({"true": ..., "number": float or None}, "") or (None, reason).

    Raises:
        EvaluatorFailed: the test file is missing, is not Python, lacks the function, or needs a library that is not
            installed.
    """
    first = program if isinstance(program, str) or program is None else next(iter(program), None)
    source, reason = read_text(tests)
    if source is None:
        raise EvaluatorFailed(f"the test file: {reason}", code="invalid_reference")
    try:
        compile(source, "test file", "exec")
    except (SyntaxError, ValueError) as error:
        raise EvaluatorFailed(f"the test file is not Python: {error}", code="invalid_reference") from error
    if first is None or not Path(first).is_file():
        return None, "the program's file is not there"
    with tempfile.TemporaryDirectory() as folder:
        reason = _copied(Path(first).parent, Path(folder))
        if reason:
            return None, reason
        copy = Path(folder, Path(str(tests)).name)
        copy.write_text(source)
        return _answer(_patiently(copy, function), function)


def _copied(source: Path, folder: Path) -> str:
    """Copies the files beside the program; returns the reason if that fails."""
    files = [path for path in sorted(source.rglob("*")) if path.is_file() and not path.is_symlink()]
    if len(files) > MAX_FILES or sum(path.stat().st_size for path in files) > MAX_BYTES:
        return f"the program has {len(files)} files, or more than {MAX_BYTES // 2**20} MiB"
    for path in files:
        target = folder / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return ""


def _patiently(tests: Path, function: str) -> bytes | None:
    """The process' output, of a second run if the first was killed. None and errors as `_run` and `run_suite`."""
    output, killed = _run(tests, function)
    if not killed:
        return output
    before = _kills()
    output, killed = _run(tests, function)
    if killed and _kills() > before:
        raise EvaluatorFailed(
            "the tests' process was killed twice: the machine has no memory left", code="out_of_memory"
        )
    return output


def _kills() -> int:
    """Number of processes that the kernel has killed for lack of memory; 0 if unknown."""
    try:
        lines = COUNTS.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def _run(tests: Path, function: str) -> tuple[bytes | None, bool]:
    """The process' output, None on timeout; and whether it was killed before its limits."""
    reader, writer = os.pipe()
    command = [sys.executable, "-I", "-B", "-c", _RUNNER, str(writer), function, str(tests), str(CPU_SECONDS)]
    variables = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "LC_ALL": "C.UTF-8"}
    silent = subprocess.DEVNULL
    before = _used()
    with os.fdopen(reader, "rb") as answers:
        process = subprocess.Popen(
            command,
            cwd=tests.parent,
            env=variables,
            stdin=silent,
            stdout=silent,
            stderr=silent,
            pass_fds=(writer,),
            start_new_session=True,
        )
        os.close(writer)
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            return None, False
        finally:
            used = _used()
            _end(process)
        os.set_blocking(answers.fileno(), False)
        killed = process.returncode == -signal.SIGKILL and used - before < CPU_SECONDS - 0.5
        return answers.read(_MAX_ANSWER) or b"", killed


def _used() -> float:
    """CPU seconds of the finished children."""
    times = resource.getrusage(resource.RUSAGE_CHILDREN)
    return times.ru_utime + times.ru_stime


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kills the process and everything in its session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.wait()


def _answer(output: bytes | None, function: str) -> tuple[dict[str, Any] | None, str]:
    if output is None:
        return None, f"the tests did not end within {SECONDS:g} s"
    try:
        answer = json.loads(output)
    except ValueError:
        return None, "the tests' process ended without a result"
    if not isinstance(answer, dict):
        return None, "the tests' process ended without a result"
    if answer.get("missing"):
        raise EvaluatorFailed(f"the test file has no function {function!r}", code="invalid_reference")
    if answer.get("module") in LIBRARIES:
        hint = f"Install the library {answer['module']} where workers run, and score again."
        raise EvaluatorFailed(
            f"the tests need {answer['module']}, which is not installed", code="module_missing", hint=hint
        )
    if "raised" in answer:
        return None, f"the tests raised {str(answer['raised'])[:300]}"
    return answer, ""
