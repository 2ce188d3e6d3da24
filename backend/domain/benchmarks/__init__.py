"""Benchmark readers, one file each: a published benchmark's files -> Tasks. `lint` says what is wrong with a task."""

from backend.domain.benchmarks._lint import lint

__all__ = ["lint"]
