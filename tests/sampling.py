"""Seeded samples of the long parts: `make test SEED=n` runs a part of them, `make test-all` everything."""

import os
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def seed() -> int:
    """The seed of this run (DESKARENA_TEST_SEED), printed in the header so that a sample can be repeated."""
    return int(os.environ.get("DESKARENA_TEST_SEED", "0"))


def runs_everything() -> bool:
    """True under `make test-all`."""
    return os.environ.get("DESKARENA_TEST_ALL") == "1"


def marks_left_out() -> tuple[str, ...]:
    """Tests with these marks do not run: `.ci/run` sets DESKARENA_TEST_CAMPAIGNS, `make test-all` runs everything."""
    if runs_everything():
        return ()
    return ("long",) if os.environ.get("DESKARENA_TEST_CAMPAIGNS") == "1" else ("long", "campaign")


def sample(items: Sequence[T], size: int) -> list[T]:
    """At most `size` of the items, the same ones for the same seed, in their own order; all under `make test-all`.

    Args:
        items: to draw from.
        size: of the sample.
    """
    if runs_everything() or len(items) <= size:
        return list(items)
    chosen = random.Random(seed()).sample(range(len(items)), size)  # noqa: S311 -- a sample, not a secret
    return [items[index] for index in sorted(chosen)]
