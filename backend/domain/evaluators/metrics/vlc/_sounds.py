"""Distance of two sounds."""

import math
from collections.abc import Callable
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.vlc._alignment import aligned_distance
from backend.domain.formats.audio import RATE, mel_cepstrum, read_samples
from backend.domain.model.score import MetricValue

FLAT = 1e-6  # of a coefficient of silence; smaller values are rounding


def compare_sounds(
    result: str | None, expected: str | None, likeness: Callable[[float, int], float], *, strict: bool
) -> MetricValue:
    """Similarity of two sounds, independent of their file formats.

    Args:
        result: path of the sound to judge.
        expected: path of the expected sound.
        likeness: (distance, pairs) of the alignment -> value in [0, 1].
        strict: as published, two unreadable files are equal.
    """
    gold, problem = read_samples(expected)
    if gold is None and not strict:
        raise EvaluatorFailed(f"expected sound: {problem}", code="invalid_reference")
    actual, reason = read_samples(result)
    if actual is None or gold is None:
        both = actual is None and gold is None and bool(result) and bool(expected)
        return verdict(strict and both, reason or f"expected sound: {problem}")
    if len(actual) == len(gold) and bool((actual == gold).all()):
        return verdict(met=True, reason="the sounds are the same, sample by sample")
    distance, pairs = aligned_distance(_features(actual), _features(gold))
    value = likeness(distance, pairs)
    seconds = " and ".join(f"{len(samples) / RATE:.1f} s" for samples in (actual, gold))
    return MetricValue(value=value, reasons=(f"sounds of {seconds} are {distance / pairs:.4f} apart on average",))


def _features(samples: Any) -> Any:
    """Cepstral coefficients, each divided by its maximum, as librosa's `util.normalize` does."""
    import numpy as np

    features = mel_cepstrum(samples)
    largest = np.abs(features).max(axis=0)
    return np.where(largest > FLAT, features / np.where(largest > FLAT, largest, 1.0), 0.0)


def by_average(distance: float, pairs: int) -> float:
    """OSWorld's formula: exp(-average distance)."""
    return math.exp(-distance / pairs)


def by_sum(distance: float, _pairs: int) -> float:
    """WindowsAgentArena's formula: 1 / (1 + sum of distances)."""
    return 1 / (1 + distance)
