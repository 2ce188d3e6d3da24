"""Pearson's correlation by its textbook form, for tests that check ours."""

from collections.abc import Sequence


def correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's from the sums of its textbook form; None where a side does not vary."""
    n = len(x)
    spread = (n * sum(a * a for a in x) - sum(x) ** 2) * (n * sum(b * b for b in y) - sum(y) ** 2)
    if spread <= 1e-12:
        return None
    return float((n * sum(a * b for a, b in zip(x, y, strict=True)) - sum(x) * sum(y)) / spread**0.5)
