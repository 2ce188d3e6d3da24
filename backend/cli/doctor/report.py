"""Runs all checks."""

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
    """Runs all checks; about 10 s on two processors, and 10 to 40 s more where KVM is slow.

    Args:
        data: Data folder; expensive results are cached in it if it exists.
        accelerator: The setting.
    """
    parts: Sequence[Callable[[], list[DoctorCheck]]] = (
        lambda: [servers.database(os.environ), servers.broker(os.environ), store.store(data)],
        lambda: _of_workers(_trials(data)),
        lambda: [cluster.k8s()],
    )
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        served, worked, clustered = pool.map(lambda part: part(), parts)
    # Alone: other work would distort the measurement of KVM.
    machines = [*machine.machines(accelerator), machine.images(data)]
    return [*served, *worked, *machines, *clustered, machine.memory(), machine.disk(data)]


def _trials(data: Path) -> Trials:
    """Runs the worker's own tests in the data folder; does not create the folder."""
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
        desktops.locale(),
        desktops.SUDO.missing("a local desktop has no root"),
        trials.check(desktops.WINE),
        desktops.WINDOWS_SHELL.missing("Windows has no bash"),
        *helpers.helpers(trials),
    ]
