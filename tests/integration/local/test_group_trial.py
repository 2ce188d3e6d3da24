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
def test_a_limit_holds(groups: Cgroups, controller: str) -> None:
    if controller not in groups.bases:
        pytest.skip(f"needs a control group that limits {controller}: {groups.why_not.get(controller, 'none')}")
    version, folder = groups.bases[controller]
    assert groups.versions()[controller] == f"cgroup v{version}"
    assert not (Path(folder) / "probe").exists()
