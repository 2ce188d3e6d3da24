"""Limits of this machine's own control groups, run into."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from worker.local.cgroups import CONTROLLERS, Cgroups, here


@pytest.fixture
def groups() -> Iterator[Cgroups]:
    made = Cgroups(f"deskarena-test-{os.getpid()}", here())
    yield made
    assert made.remove()


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_a_limit_holds_or_it_is_said_why_not(groups: Cgroups, controller: str) -> None:
    if controller not in groups.bases:
        assert groups.why_not[controller]
        pytest.skip(f"no control group limits {controller} here: {groups.why_not[controller]}")
    version, folder = groups.bases[controller]
    assert groups.versions()[controller] == f"cgroup v{version}"
    assert not (Path(folder) / "probe").exists()
