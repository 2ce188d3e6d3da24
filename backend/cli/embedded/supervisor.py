"""Supervisor of the embedded stack's children: restarts them, and stops them in order."""

import selectors
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.cli.embedded.process_spawn import Exit, GuardedProcess, crash_message
from backend.cli.errors import StackError

FIRST_DELAY, LONGEST_DELAY = 1.0, 30.0
HEALTHY_SECONDS = 60.0
STOP_LOOK_SECONDS = 0.1


def restart_delay(failures: int) -> float:
    """Seconds before the next start after that many consecutive failures: 1, 2, 4, ... at most 30."""
    return min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** max(0, failures - 1))


@dataclass
class ChildService:
    """A child that must always run.

    Args:
        name: Name in messages.
        start: Starts it and returns it once it is ready (or raises StackError); also used for restarts.
        stage: Higher stages depend on lower ones and are stopped first; one stage is stopped together.
    """

    name: str
    start: Callable[[], GuardedProcess]
    stage: int = 0
    process: GuardedProcess | None = None
    failures: int = 0
    started_at: float = 0.0
    restart_at: float = 0.0

    def launch(self) -> None:
        self.process = self.start()
        self.started_at = time.monotonic()

    def note_failure(self) -> float:
        """Counts a failure and schedules the next start; returns the delay. A long healthy run resets the count."""
        now = time.monotonic()
        self.failures = 1 if self.process and now - self.started_at > HEALTHY_SECONDS else self.failures + 1
        self.process = None
        delay = restart_delay(self.failures)
        self.restart_at = now + delay
        return delay


class ServiceSupervisor:
    """Starts services in order, restarts crashed ones, stops them in reverse order.

    Args:
        say: Prints a message for the user.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.services: list[ChildService] = []
        self._say = say

    def add(self, service: ChildService) -> None:
        """Starts a service and keeps it running.

        Raises:
            StackError: This first start fails; later ones are repeated.
        """
        self.services.append(service)
        service.launch()

    def watch(self, stop_fd: int | None = None) -> None:
        """Restarts crashed services until `stop_fd` becomes readable, or until a signal raises an exception."""
        while True:
            with selectors.DefaultSelector() as selector:
                if stop_fd is not None:
                    selector.register(stop_fd, selectors.EVENT_READ, None)
                for service in self.services:
                    if service.process is not None:
                        selector.register(service.process, selectors.EVENT_READ, service)
                events = selector.select(self._seconds_to_next_start())
            if any(key.data is None for key, _ in events):
                return
            self._look_after([key.data for key, _ in events])

    def stop(self, in_a_hurry: Callable[[], bool] = lambda: False) -> None:
        """Stops everything, highest stage first, and returns when all processes have ended. Safe to call twice.

        Args:
            in_a_hurry: Called repeatedly; once true, everything is killed.
        """
        for stage in sorted({service.stage for service in self.services}, reverse=True):
            _end(
                [service.process for service in self.services if service.process and service.stage == stage], in_a_hurry
            )
        self.services.clear()

    def _seconds_to_next_start(self) -> float | None:
        planned = [service.restart_at for service in self.services if service.process is None]
        return max(0.0, min(planned) - time.monotonic()) if planned else None

    def _look_after(self, readable: Sequence[ChildService]) -> None:
        for service in readable:
            ended = service.process and service.process.wait(0)
            if service.process and ended:
                self._tell_crash(service, service.process, ended)
        for service in self.services:
            if service.process is None and service.restart_at <= time.monotonic():
                self._start_again(service)

    def _tell_crash(self, service: ChildService, process: GuardedProcess, ended: Exit) -> None:
        message = crash_message(service.name, ended, process.spec.log)
        self._say(f"{message}\n    Restarting in {service.note_failure():g} s.")

    def _start_again(self, service: ChildService) -> None:
        try:
            service.launch()
        except StackError as error:
            self._say(f"{error}\n    Trying {service.name} again in {service.note_failure():g} s.")
        else:
            self._say(f"{service.name} was restarted.")


def _end(processes: list[GuardedProcess], in_a_hurry: Callable[[], bool]) -> None:
    for process in processes:
        process.request_stop()
    for process in processes:
        # The guard enforces the deadlines; this one is for a guard that hangs.
        deadline = time.monotonic() + process.patience
        while process.wait(STOP_LOOK_SECONDS) is None and time.monotonic() < deadline:
            if in_a_hurry():
                process.kill()
        process.stop()
