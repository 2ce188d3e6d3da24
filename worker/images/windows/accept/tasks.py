"""Ten tasks of WindowsAgentArena with our own solutions, run through the whole service."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import Field, model_validator

from backend.domain.errors import Invalid, NotFound, Unavailable
from backend.domain.model.task import JSON, Frozen
from worker.images.checks import CheckResult
from worker.images.windows.accept.report import Section
from worker.images.windows.settings import SOURCES

FILE = SOURCES / "windows" / "accept-tasks.yaml"
EXAMPLES = "evaluation_examples_windows"
BENCHMARK = "accept-waa"
LONGEST_RUN = 259
"""Maximum characters in Windows' Run box."""
_PATIENCE = 60
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
_UP_SECONDS = 180.0
_COMMAND_SECONDS = 300.0
_LOOK = 0.2


class Solution(Frozen):
    """Solution of one task; see the head of the file."""

    task: str = Field(pattern=r"^[a-z_]+/[A-Za-z0-9-]+$")
    run: str = Field(default="", max_length=LONGEST_RUN)
    steps: tuple[dict[str, JSON], ...] = ()
    fail: str = ""

    @model_validator(mode="after")
    def _check_single(self) -> Self:
        if sum(map(bool, (self.run, self.steps, self.fail))) != 1:
            raise ValueError(f"{self.task}: exactly one of run, steps and fail is required")
        return self

    def oracle(self) -> list[dict[str, Any]]:
        """Steps for the agent `oracle`."""
        if self.fail:
            return [{"fail": self.fail}]
        return list(self.steps) or [
            {"hotkey": ["win", "r"]},
            {"wait_window": "Run", "patience": _PATIENCE},
            {"type": self.run},
            {"press": "enter"},
            {"wait_window_gone": "Run", "patience": _PATIENCE},
        ]


def read_solutions(file: Path = FILE) -> tuple[Solution, ...]:
    """The solutions. Raises OSError or ValueError: they are ours, and tested."""
    return tuple(Solution.model_validate(entry) for entry in yaml.safe_load(file.read_text(encoding="utf-8"))["tasks"])


def with_solutions(waa: Path, target: Path, solutions: Sequence[Solution]) -> None:
    """Copies the tasks that have a solution, with it, to a folder that can be imported.

    Args:
        waa: WindowsAgentArena as published, or its folder of examples.
        target: folder to create.
        solutions: of the tasks.

    Raises:
        NotFound: A task is missing.
        Invalid: A task's file is invalid.
    """
    examples = next(iter(sorted(waa.rglob(EXAMPLES))), waa)
    index: dict[str, list[str]] = {}
    for solution in solutions:
        source = examples / "examples" / f"{solution.task}.json"
        if not source.is_file():
            raise NotFound(
                f"{waa} has no {source.name}",
                code="file_not_found",
                hint=("--waa must name WindowsAgentArena as published."),
            )
        try:
            task = json.loads(source.read_text(encoding="utf-8"))
        except ValueError as error:
            raise Invalid(f"not valid JSON: {error}", code="invalid_image_plan", path=str(source)) from error
        domain, name = solution.task.split("/")
        index.setdefault(domain, []).append(name)
        file = target / "examples" / domain / source.name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({**task, "oracle": solution.oracle()}), encoding="utf-8")
    (target / "test_all.json").write_text(json.dumps(index), encoding="utf-8")


def solve(waa: Path, data: Path, image: str) -> Section:
    """Starts the service, imports the tasks and runs the oracle on the image.

    Args:
        waa: WindowsAgentArena as published.
        data: data folder with the image.
        image: its name.

    Raises:
        NotFound, Invalid: as `with_solutions`.
        Unavailable: The service or the run failed.
    """
    folder = data / "accept-waa"
    shutil.rmtree(folder, ignore_errors=True)
    with_solutions(waa, folder, read_solutions())
    with service(data) as address:
        _deskarena(address, "benchmark", "import", "waa", str(folder), "--name", BENCHMARK)
        words = ["--benchmark", BENCHMARK, "--agent", "oracle", "--provider", "qemu", "--desktop-image", image]
        reply = _deskarena(address, "run", "submit", *words, "--wait", "-o", "json", seconds=3600.0)
        run = _deskarena(address, "run", "show", str(reply["id"]), "-o", "json")
    return Section(name="", lines=tuple(lines_of(run)), facts={"run": _short(run)})


def lines_of(run: Mapping[str, Any]) -> Iterator[CheckResult]:
    """One line per episode of a run: solved, or why not."""
    for episode in run["episodes"]:
        score = episode.get("score")
        lost = episode.get("failure_class") or episode.get("outcome")
        fault = "" if score == 1 else f"score {score}, {lost}, ended by {episode.get('ended_by')}"
        yield CheckResult(name=str(episode.get("task", episode.get("id"))), fault=fault)


def _short(run: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in run.items() if name in {"id", "state", "summary"}}


@contextmanager
def service(data: Path) -> Iterator[str]:
    """Context manager: the whole service on a free port; yields its address."""
    log = data / "accept-service.log"
    with log.open("w") as output:
        words = [sys.executable, "-m", "backend.cli.main", "up", "--port", "0", "--slots", "1", "--data", str(data)]
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            yield _address(process, log)
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(60)
            process.kill()
            process.wait()


def _address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + _UP_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if match := _ADDRESS.search(log.read_text(encoding="utf-8", errors="replace")):
            return match[0]
        time.sleep(_LOOK)
    raise Unavailable(
        f"the service did not start: {log.read_text(encoding='utf-8', errors='replace')[-500:]}",
        code="windows_build_failed",
    )


def _deskarena(address: str, *words: str, seconds: float = _COMMAND_SECONDS) -> Any:
    """Runs one command; returns its output, also for a run with lost tasks (exit code 3)."""
    command = [sys.executable, "-m", "backend.cli.main", *words]
    environment = {**os.environ, "DESKARENA_SERVER": address}
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False, env=environment)
    except subprocess.TimeoutExpired as error:
        raise Unavailable(
            f"`{' '.join(words[:2])}` did not finish within {seconds:.0f} s", code="windows_build_failed"
        ) from error
    if "json" not in words and result.returncode == 0:
        return {}
    try:
        return json.loads(result.stdout)
    except ValueError:
        raise Unavailable(
            f"`{' '.join(words[:2])}` failed: {result.stderr.strip()[-500:]}", code="windows_build_failed"
        ) from None
