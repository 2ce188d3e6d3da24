"""Seeded samples of the slow tests: `make test SEED=n` draws them, `make test-daily` runs more, `make test-all` all.

Left to the longer runs are all but so many of the tests with the mark `sampled(number)`, every second one of those that
take seconds (the next seed runs the others), and the tests with the mark `campaign`; `make test-daily` runs all three.
Only `make test-all` runs tests with the mark `long`, and all of what `sample` draws from.
"""

import os
import random
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

import pytest

from tests.order import function_of

T = TypeVar("T")


def seed() -> int:
    """The seed of this run (DESKARENA_TEST_SEED), printed in the header so that a sample can be repeated."""
    return int(os.environ.get("DESKARENA_TEST_SEED", "0"))


def runs_everything() -> bool:
    """True under `make test-all`."""
    return os.environ.get("DESKARENA_TEST_ALL") == "1"


def runs_campaigns() -> bool:
    """True under `make test-daily`, which sets DESKARENA_TEST_CAMPAIGNS, and under `make test-all`."""
    return runs_everything() or os.environ.get("DESKARENA_TEST_CAMPAIGNS") == "1"


def marks_left_out() -> tuple[str, ...]:
    """Tests with these marks do not run."""
    if runs_everything():
        return ()
    return ("long",) if runs_campaigns() else ("long", "campaign")


def left_out(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The tests that do not run: those with a mark of `marks_left_out`, and of the sampled ones all but the sample.

    The mark stands at a test with parameters, at a class or at a whole file, and its number is for all of that.
    `sampled(number, of="kind")` is for all of that kind in the file, be they parameters, tests or classes.

    Args:
        items: the tests that were asked for. Who asks for a single one gets it, sampled or not.
    """
    out = [item for item in items if any(map(item.get_closest_marker, marks_left_out()))]
    if runs_campaigns():
        return out
    left = set(out)
    groups: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        node, mark = next(item.iter_markers_with_node("sampled"), (None, None))  # The nearest counts.
        if node is not None and mark is not None and item not in left:
            place = item.nodeid.partition("[")[0] if node is item else node.nodeid
            of = mark.kwargs.get("of", "")
            groups[place.partition("::")[0] if of else place, of].append(item)
    for group, members in groups.items():
        number = max(item.get_closest_marker("sampled").args[0] for item in members)  # type: ignore[union-attr]
        draw = random.Random(f"{seed()} {group}")  # noqa: S311 -- a sample, not a secret
        out += draw.sample(members, max(0, len(members) - number))
    return out


def slow_of_other_seeds(items: Iterable[pytest.Item], slow: Collection[str]) -> list[pytest.Item]:
    """Every second slow test; the seeds before and after this one run them, and leave out the others.

    Args:
        items: the tests of a run of all.
        slow: ids of slow tests, without parameters.
    """
    if runs_campaigns():
        return []
    return [
        item for item in items if function_of(item.nodeid) in slow and (zlib.crc32(item.nodeid.encode()) + seed()) % 2
    ]


def sample(items: Sequence[T], size: int, *, daily: bool = False) -> list[T]:
    """At most `size` of the items, the same ones for the same seed, in their own order; all under `make test-all`.

    Args:
        items: to draw from.
        size: of the sample.
        daily: `make test-daily` takes all of them; else only `make test-all` does.
    """
    if runs_everything() or (runs_campaigns() and daily) or len(items) <= size:
        return list(items)
    chosen = random.Random(seed()).sample(range(len(items)), size)  # noqa: S311 -- a sample, not a secret
    return [items[index] for index in sorted(chosen)]
