"""Arguments of OSWorld's environment and of its public forks that `DesktopEnv` takes without an effect."""

import warnings
from collections.abc import Mapping
from typing import Any

DEFAULTS: Mapping[str, Any] = {
    "provider_name": "vmware",
    "region": None,
    "path_to_vm": None,
    "snapshot_name": "init_state",
    "headless": False,
    "enable_proxy": False,
    "client_password": "",
}
"""Arguments for OSWorld's own virtual machines, with its defaults."""
_MACHINE = "the service makes the desktops"
_FORKS: Mapping[str, Mapping[str, str]] = {
    "DesktopEnv": dict.fromkeys(
        (
            "vm_ip", "host", "server_port", "chromium_port", "vnc_port", "vlc_port", "snapshot_path", "instance_id",
            "emulator_id", "emulator_ip", "emulator_name", "volume_size", "tmp_dir",
        ),
        _MACHINE,
    ),
    "reset": dict.fromkeys(("vm_ip", "reset_vm", "snapshot_name"), "every reset has a fresh desktop"),
}  # fmt: skip
"""Arguments of forks that address a machine, by the call that takes them, and why they mean nothing here."""
_ONLY: Mapping[str, tuple[Any, str]] = {
    "a11y_backend": ("uia", "trees of Windows come from UI Automation"),
    "reset_vm": (True, "a desktop is never used twice"),
    "proxy": (None, "the service decides how a desktop reaches the network (docs/security.md)"),
}
"""Arguments that would change what the agent gets: the only value that holds here, and why."""


def check(call: str, own: Mapping[str, Any], others: Mapping[str, Any]) -> None:
    """Warns of arguments without an effect; those that would have one, and unknown ones, are mistakes.

    Args:
        call: `DesktopEnv` or `reset`.
        own: OSWorld's own arguments.
        others: all further ones.

    Raises:
        TypeError: it is unknown.
        ValueError: its value is not possible here.
    """
    idle = [name for name, value in own.items() if name in DEFAULTS and value != DEFAULTS[name]]
    for name, value in sorted(others.items()):
        if name in _ONLY:
            only, why = _ONLY[name]
            if value != only:
                raise ValueError(f"{call}({name}={value!r}) is not possible: {why}. Leave {name} out.")
        elif name in _FORKS[call]:
            idle.append(name)
        else:
            message = f"{call} has no argument {name!r}, so what it asks for would silently be missing."
            raise TypeError(f"{message} Leave it out, or set it in the service; docs/bring-an-agent.md lists all.")
    if idle:
        warnings.warn(f"{', '.join(idle)}: without meaning here, {_MACHINE}", UserWarning, stacklevel=3)
