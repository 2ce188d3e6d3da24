"""Stages of a build: each is recorded as done, and repeated when its inputs have changed."""

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from backend.domain.errors import Conflict
from worker.activity import Tracker

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Stage:
    """One stage.

    Attributes:
        name: of the stage and its record.
        title: description for the log.
        inputs: text that changes with its inputs, besides those from earlier stages.
        work: runs it; raises one of our errors on failure. Its outputs are complete or missing.
        outputs: files that must exist for the stage to count as done.
    """

    name: str
    title: str
    inputs: tuple[str, ...]
    work: Callable[[], None]
    outputs: tuple[Path, ...] = ()


class Stages:
    """Records of one build's stages, in a folder of their own."""

    def __init__(self, folder: Path, tell: Tell, tracker: Tracker | None = None) -> None:
        """Args: folder: must exist; tell: prints progress; tracker: records the current stage."""
        self._folder, self._tell, self._tracker = folder, tell, tracker or Tracker()

    def run(self, stages: Sequence[Stage]) -> None:
        """Runs the stages that are not done, in order.

        A stage's key includes those of all earlier ones: if one is repeated, so are all that follow.
        """
        key = ""
        for number, stage in enumerate(stages, start=1):
            key = hashlib.sha256("\0".join((key, stage.name, *stage.inputs)).encode()).hexdigest()
            head = f"[{number}/{len(stages)}] {stage.title}"
            if self.is_done(stage, key):
                self._tell(f"{head}: done already")
                continue
            self._tell(head)
            self._forget(stages[number - 1 :])
            with self._tracker.during(stage.name, stage.title) as activity:
                stage.work()
            seconds = self._tracker.seconds(activity)
            self._write(stage, key, seconds)
            self._tell(f"{head}: done after {seconds:.0f} s")

    def is_done(self, stage: Stage, key: str) -> bool:
        """Whether the stage was done with that key and all its outputs exist."""
        try:
            mark = json.loads(self._mark(stage).read_text())
        except (FileNotFoundError, ValueError):
            return False
        return bool(mark.get("key") == key) and all(path.exists() for path in stage.outputs)

    def seconds(self) -> dict[str, float]:
        """Duration of each completed stage."""
        marks = {path.stem: json.loads(path.read_text()) for path in self._folder.glob("*.done")}
        return {name: float(mark["seconds"]) for name, mark in sorted(marks.items(), key=lambda pair: pair[1]["at"])}

    def _mark(self, stage: Stage) -> Path:
        return self._folder / f"{stage.name}.done"

    def _forget(self, stages: Sequence[Stage]) -> None:
        for stage in stages:
            self._mark(stage).unlink(missing_ok=True)

    def _write(self, stage: Stage, key: str, seconds: float) -> None:
        partial = self._folder / f".{stage.name}"
        mark = {"key": key, "seconds": round(seconds, 1), "at": datetime.now(UTC).isoformat()}
        partial.write_text(json.dumps(mark))
        partial.replace(self._mark(stage))


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Excludes a second build from the folder. Raises Conflict."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Conflict(f"another build is running in {folder}", code="build_running") from None
    else:
        yield
    finally:
        os.close(handle)


def logged(file: Path, show: Tell) -> Tell:
    """A `tell` that also appends each line to a log, with its time."""

    def tell(text: str) -> None:
        show(text)
        with file.open("a", encoding="utf-8") as log:
            log.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text}\n")

    return tell
