"""Seconds of an attempt by phase."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext

from backend.telemetry import tracing
from backend.telemetry.metrics import PHASE_SECONDS

TRACED = frozenset({"reset", "health", "setup", "evaluation"})
"""Phases that are spans; others are many and short."""


class Phases:
    """A stopwatch per phase: `reset`, `setup`, `agent`, `action`, `settle`, `record`, `turn`, `evaluation`, ..."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._within = 0.0

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Adds the duration of the block, also on errors; a nested block counts for its own phase only."""
        before, beside, self._within = time.monotonic(), self._within, 0.0
        try:
            with tracing.span(phase) if phase in TRACED else nullcontext():
                yield
        finally:
            spent = time.monotonic() - before
            self.add({phase: spent - self._within})
            self._within = beside + spent

    def add(self, seconds: Mapping[str, float]) -> None:
        """Adds seconds that were measured elsewhere."""
        for phase, value in seconds.items():
            PHASE_SECONDS.labels(phase).inc(max(0.0, value))
            self._seconds[phase] = self._seconds.get(phase, 0.0) + value

    def seconds(self) -> dict[str, float]:
        """Rounded to milliseconds."""
        return {phase: round(value, 3) for phase, value in self._seconds.items()}
