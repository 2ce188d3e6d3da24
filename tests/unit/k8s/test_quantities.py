"""Amounts as Kubernetes writes them."""

from decimal import Decimal

import pytest

from worker.k8s.quantities import amount


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        (4, 4),
        ("500m", Decimal("0.5")),
        ("16Gi", 16 * 2**30),
        ("129e6", 129_000_000),
        ("1k", 1000),
        ("1.5Gi", 3 * 2**29),
        ("100M", 10**8),
        ("3u", Decimal("0.000003")),
        ("110", 110),
    ],
)
def test_is_the_number_that_is_meant(text: object, expected: Decimal) -> None:
    assert amount(text) == expected


@pytest.mark.parametrize("text", ["", "many", "1 Gi", "1GiB", "1.2.3", "9e99999", "1e30", None])
def test_invalid_quantities_are_none(text: object) -> None:
    assert amount(text) is None
