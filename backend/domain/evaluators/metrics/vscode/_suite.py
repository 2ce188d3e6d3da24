"""Runs a task's tests of an agent's program, each in a process of its own.

Both are untrusted code. The evaluation's process already has no network, no write access to our files and its own user
(see worker/evaluation). It starts the tests without environment and with small limits; they start the program in a
second process, in a folder with copies of its files only, and call it through a socket (see `_suite_peer`). The program
has no access to the pipe of the tests' answer, which repeats a nonce: it decides what its functions return, and nothing
else. Both processes have a deadline, and are ended with their children.

A process that is killed before its limits is run once more, because a kernel that is out of memory kills as well. If
that happens again, there is no verdict only if the kernel has counted such a kill meanwhile: a program may kill itself
on purpose, which must score 0.
"""

import contextlib
import ctypes
import json
import os
import resource
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
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
_PROCESSES = Path(__file__).with_name("_suite_processes.py")
_PR_SET_DUMPABLE = 4


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
        return None, "the program's file does not exist"
    with tempfile.TemporaryDirectory() as folder:
        reason = _copy(Path(first).parent, Path(folder))
        if reason:
            return None, reason
        task = {
            "source": source,
            "path": str(Path(folder, Path(str(tests)).name)),
            "function": function,
            "modules": sorted(_modules(Path(folder), [program] if isinstance(program, str) else program or ())),
            "libraries": LIBRARIES,
            "seconds": CPU_SECONDS,
        }
        return _answer(_patiently(Path(folder), task), function)


def _modules(folder: Path, program: Sequence[str | None]) -> set[str]:
    """Names that tests import from the program: its own files, and modules in its folder that are not installed."""
    own = {Path(path).stem for path in program if path is not None}
    beside = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    return own | {name for name in beside if name.isidentifier() and find_spec(name) is None}


def _copy(source: Path, folder: Path) -> str:
    """Copies the files beside the program; returns the reason if that fails."""
    files = [path for path in sorted(source.rglob("*")) if path.is_file() and not path.is_symlink()]
    if len(files) > MAX_FILES or sum(path.stat().st_size for path in files) > MAX_BYTES:
        return f"the program has {len(files)} files, or more than {MAX_BYTES // 2**20} MiB"
    for path in files:
        target = folder / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return ""


def _patiently(folder: Path, task: Mapping[str, Any]) -> dict[str, Any] | None:
    """The answer, of a second run if the first was killed. None and errors as `_run` and `run_suite`."""
    output, killed = _run(folder, task)
    if not killed:
        return output
    before = _kills()
    output, killed = _run(folder, task)
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


def _run(folder: Path, task: Mapping[str, Any]) -> tuple[dict[str, Any] | None, bool]:
    """The answer, None on timeout; and whether tests or program were killed before their limits."""
    reader, writer = os.pipe()
    command = [sys.executable, "-I", "-B", str(_PROCESSES), "tests", str(writer)]
    variables = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "LC_ALL": "C.UTF-8"}
    silent, nonce = subprocess.DEVNULL, secrets.token_hex()
    before = _cpu_seconds()
    with os.fdopen(reader, "rb") as answers, _without_a_look_inside():
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=silent,
            stderr=silent,
            pass_fds=(writer,),
            start_new_session=True,
        )
        os.close(writer)
        try:
            process.communicate(json.dumps({**task, "nonce": nonce}).encode(), timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return None, False
        finally:
            used = _cpu_seconds()
            _end(process)
        os.set_blocking(answers.fileno(), False)
        answer = _read(answers.read(_MAX_ANSWER) or b"", nonce)
        ended = process.returncode == -signal.SIGKILL or answer.get("killed") is True
        return answer, ended and used - before < CPU_SECONDS - 0.5


@contextlib.contextmanager
def _without_a_look_inside() -> Iterator[None]:
    """Keeps processes of the same user from reading or changing this one's memory for a while."""
    prctl = ctypes.CDLL(None).prctl
    prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    try:
        yield
    finally:
        prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


def _read(output: bytes, nonce: str) -> dict[str, Any]:
    try:
        answer = json.loads(output)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) and answer.get("nonce") == nonce else {}


def _cpu_seconds() -> float:
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


def _answer(answer: dict[str, Any] | None, function: str) -> tuple[dict[str, Any] | None, str]:
    if answer is None:
        return None, f"the tests did not end within {SECONDS:g} s"
    if not answer or answer.get("ended"):
        return None, "tests or program ended without a result"
    if answer.get("missing"):
        raise EvaluatorFailed(f"the test file has no function {function!r}", code="invalid_reference")
    # A program can raise this error itself; where the library is there, it does.
    if answer.get("module") in LIBRARIES and find_spec(answer["module"]) is None:
        hint = f"Install the library {answer['module']} where workers run, then re-evaluate."
        raise EvaluatorFailed(
            f"the tests need {answer['module']}, which is not installed", code="module_missing", hint=hint
        )
    if "raised" in answer:
        return None, f"the tests raised {str(answer['raised'])[:300]}"
    return answer, ""
