"""Runs user-defined evaluation functions in Python, in a child of the evaluator.

The evaluator's sandbox isolates host, network and other processes; this module is only used if the sandbox has its own
view of files. In addition the function's process can open no file or socket, start nothing, write only its answer, and
has little memory and time. An audit hook reports attempts, so that they become an evaluation failure, not a verdict.
The hook only reports; sandbox and limits enforce.
"""

import builtins
import json
import os
import resource
import selectors
import signal
import sys
import time
from collections import namedtuple
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn

from pydantic import ValidationError

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.evaluators.user_functions import Fact, FunctionAnswer, key_of
from backend.domain.model.task import JSON
from backend.domain.omnibench.expression import CALLS, FUNCTION, MOST_CHECKS, fact_of

SECONDS = 3.0
CPU_SECONDS = 2
MEMORY = 256 * 2**20
"""Bytes beyond what the evaluator uses already."""
MAX_ANSWER = 256 * 2**10
MODULES = frozenset(
    {"collections", "datetime", "functools", "itertools", "json", "math", "os", "os.path", "pathlib", "re"}
    | {"string", "textwrap", "typing", "ntpath", "posixpath", "unicodedata", "__future__", "enum", "time"}
)
"""Modules that a function may import: texts, paths, dates. All are loaded before the function runs."""
_LATE = ("_strptime",)  # What these import only when they are used.
REFUSED = (
    "open", "os.", "socket.", "subprocess.", "ctypes.", "mmap.", "shutil.", "tempfile.", "pty.", "fcntl.", "signal.",
    "resource.", "glob.", "pathlib.", "sqlite3.", "urllib.", "http.", "ftplib.", "gc.", "marshal.", "pickle.",
    "syslog.", "webbrowser.", "import", "sys.settrace", "sys.setprofile", "sys._current_frames", "builtins.input",
)  # fmt: skip
"""Prefixes of audit events that no function may cause."""
EvalResult = namedtuple("EvalResult", ["success", "message", "progress"], defaults=("", None))  # noqa: PYI024 - as OmniBench's functions know it


class _TooManyChecks(BaseException):
    """The function requests too many checks; a BaseException, so that its `except Exception` cannot catch it."""


def run_apart(source: str, values: Mapping[str, JSON], facts: Mapping[str, bool]) -> FunctionAnswer:
    """Implements `Runner`: see `backend.domain.evaluators.user_functions`."""
    for name in (*MODULES, *_LATE):
        __import__(name)
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        _inside(writing, source, values, facts)
    os.close(writing)
    try:
        output = _read_output(reading)
    finally:
        os.close(reading)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return _read(output)


def _read_output(reading: int) -> bytes:
    """Complete output of the function's process. Raises EvaluatorFailed if it is too long or takes too long."""
    deadline, output = time.monotonic() + SECONDS, bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(reading, selectors.EVENT_READ)
        while selector.select(max(0.0, deadline - time.monotonic())):
            read = os.read(reading, 65536)
            if not read:
                return bytes(output)
            output += read
            if len(output) > MAX_ANSWER:
                raise EvaluatorFailed("the evaluation function's output is too long", code="evaluation_function_failed")
    raise EvaluatorFailed(f"the evaluation function took longer than {SECONDS:g} s", code="evaluation_timeout")


def _read(data: bytes) -> FunctionAnswer:
    if not data:
        raise EvaluatorFailed(
            "the evaluation function ended without an answer: out of memory or CPU time",
            code="evaluation_function_failed",
        )
    try:
        answer = json.loads(data)
        if "failed" in answer:
            raise EvaluatorFailed(
                f"the evaluation function {str(answer['failed'])[:500]}", code="evaluation_function_failed"
            )
        return FunctionAnswer.model_validate(answer)
    except (ValueError, TypeError, ValidationError) as error:
        raise EvaluatorFailed(
            "the evaluation function's answer is invalid", code="evaluation_function_failed"
        ) from error


def _inside(writing: int, source: str, values: Mapping[str, JSON], facts: Mapping[str, bool]) -> NoReturn:
    """Main function of the function's process."""
    with suppress(BaseException):
        checks = _Checks(facts)
        tell = _fence_in(writing)
        try:
            answer = _result(_run(source, values, checks))
        except BaseException as error:  # noqa: BLE001 - whatever foreign code raises, it is told.
            answer = {"failed": f"raised {type(error).__name__}: {error}"}
        tell({"missing": checks.missing} if checks.missing else answer)
    os._exit(0)


def _run(source: str, values: Mapping[str, JSON], checks: "_Checks") -> Any:
    space: dict[str, Any] = {
        "__builtins__": {**vars(builtins), "__import__": _import},
        "__name__": "evaluation",
        "EvalResult": EvalResult,
        **{name: checks.check_function(name) for name in CALLS},
    }
    exec(compile(source, "<evaluation function>", "exec"), space)  # noqa: S102 - this is what the process is for.
    return space[FUNCTION](**values)


def _result(result: Any) -> dict[str, Any]:
    """Parses a function's result: `(success, message[, progress])`, an object with these fields, or a bool."""
    if isinstance(result, bool):
        result = (result,)
    success, message, progress = (
        (getattr(result, "success", None), getattr(result, "message", ""), getattr(result, "progress", None))
        if hasattr(result, "success")
        else (*result, "", None)[:3]
        if isinstance(result, tuple)
        else (None, "", None)
    )
    if not isinstance(success, bool):
        return {"failed": f"returned a {type(result).__name__}, expected True or False"}
    valid = isinstance(progress, int | float) and not isinstance(progress, bool) and 0.0 <= progress <= 1.0
    return {"success": success, "message": str(message)[:2000], "progress": progress if valid else None}


class _Checks:
    """The eleven calls that a function can make."""

    def __init__(self, facts: Mapping[str, bool]) -> None:
        self._facts = facts
        self.missing: list[Fact] = []

    def check_function(self, name: str) -> Callable[..., bool]:
        def check(*arguments: Any, **named: Any) -> bool:
            try:
                fact = fact_of(name, arguments, named)
            except Invalid as error:
                raise TypeError(error.message) from error
            fact_value = self._facts.get(key_of(fact))
            if fact_value is None and fact not in self.missing:
                self.missing.append(fact)
            if len(self.missing) > MOST_CHECKS:
                raise _TooManyChecks
            return fact_value is not False

        check.__name__ = name
        return check


def _import(name: str, *arguments: Any, **named: Any) -> Any:
    if name not in MODULES and name not in _LATE:
        sys.audit("import", name)  # The hook ends the process.
    return __import__(name, *arguments, **named)


class _NullOutput:
    """Discards what a function prints."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None: ...


def _fence_in(writing: int) -> Callable[[Mapping[str, Any]], None]:
    """Drops everything that this process does not need; returns its only output channel."""
    pipe = os.dup2(writing, 3)
    for low, high in ((0, pipe), (pipe + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])):
        os.closerange(low, high)
    sys.stdin, sys.stdout, sys.stderr = None, _NullOutput(), _NullOutput()
    memory = _address_space() + MEMORY
    for name, value in (
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_AS, min(memory, resource.getrlimit(resource.RLIMIT_AS)[1])),
    ):
        resource.setrlimit(name, (value, value))
    leave, write, encode = os._exit, os.write, json.dumps

    def tell(answer: Mapping[str, Any]) -> None:
        unsent = encode(answer).encode()
        while unsent:
            unsent = unsent[write(pipe, unsent) :]

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(REFUSED):
            tell({"failed": f"tried a forbidden operation: {event}{arguments!r}"[:500]})
            leave(1)

    sys.addaudithook(watch)
    return tell


def _address_space() -> int:
    """Address space of this process in bytes: the smallest limit that allows an allocation, without /proc."""
    import mmap

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    low, high = 0, hard if hard != resource.RLIM_INFINITY else 2**47
    while high - low > 2**20:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_AS, (middle, hard))
        try:
            mmap.mmap(-1, mmap.PAGESIZE).close()
            high = middle
        except OSError:
            low = middle
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return high
