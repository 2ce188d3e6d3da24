"""Benchmark readers, one file each: a published benchmark's files -> Tasks.

`lint` says what is wrong with a task before it is run, `expected_score` what validation must find.
"""

from backend.domain.benchmarks._assets import external_assets
from backend.domain.benchmarks._lint import lint
from backend.domain.benchmarks._validate import VALIDATION_AGENTS, expected_score, is_sound

__all__ = ["VALIDATION_AGENTS", "expected_score", "external_assets", "is_sound", "lint"]
