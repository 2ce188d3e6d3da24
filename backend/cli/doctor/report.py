"""All checks."""

import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from backend.cli.doctor import cluster, desktops, helpers, machine, servers, store
from backend.cli.doctor.check import DoctorCheck
from backend.cli.doctor.trials import Trials, run_trials
from backend.cli.images import environment

_AT_ONCE = 4


def all_checks(data: Path, accelerator: str) -> list[DoctorCheck]:
    """Try everything; about 10 s on two processors, and 10 to 40 s more where KVM is slow.

    Args:
        data: Data folder: its disk is looked at, and what is costly to try is kept in it if it is there.
        accelerator: How virtual machines run, the setting.
    """
    parts: Sequence[Callable[[], list[DoctorCheck]]] = (
        lambda: [servers.database(os.environ), servers.broker(os.environ), store.store(data)],
        lambda: _of_workers(_trials(data)),
        lambda: [cluster.k8s()],
    )
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        served, worked, clustered = pool.map(lambda part: part(), parts)
    # Alone: how fast KVM is shows only where nothing else works.
    machines = [*machine.machines(accelerator), machine.images(data)]
    return [*served, *worked, *machines, *clustered, machine.memory(), machine.disk(data)]


def _trials(data: Path) -> Trials:
    """By the worker's own code, in the folder that it uses; a data folder that is not there yet is not made."""
    if data.is_dir():
        return run_trials(environment(data, os.environ, None), desktops.commands())
    with tempfile.TemporaryDirectory(prefix="deskarena-doctor-") as name:
        return run_trials(environment(Path(name), os.environ, None), desktops.commands())


def _of_workers(trials: Trials) -> list[DoctorCheck]:
    return [
        desktops.xvfb(),
        desktops.sandbox(trials),
        trials.check(desktops.OVERLAY),
        trials.check(desktops.CGROUPS),
        desktops.guest_server(trials),
        trials.check(desktops.LOCAL),
        trials.check(desktops.ACCESSIBILITY),
        *desktops.applications(trials),
        trials.check(desktops.WINE),
        *helpers.helpers(trials),
    ]
