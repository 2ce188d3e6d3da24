"""Environment variables that are not settings: old names, and variables of other programs. Imports nothing heavy."""

from collections.abc import Iterable

PREFIX = "DESKARENA_"
RENAMED = {
    "DESKARENA_ALIVE_FILE": "DESKARENA_LIVENESS_FILE",
    "DESKARENA_DATA": "DESKARENA_DATA_DIR",
    "DESKARENA_EGRESS": "DESKARENA_EGRESS_POLICY",
    "DESKARENA_GRACE_SECONDS": "DESKARENA_SHUTDOWN_GRACE_SECONDS",
    "DESKARENA_IMAGE": "DESKARENA_DEFAULT_IMAGE",
    "DESKARENA_K8S_ATTEMPTS": "DESKARENA_K8S_MAX_ATTEMPTS_PER_POD",
    "DESKARENA_K8S_DESKTOPS": "DESKARENA_K8S_MAX_DESKTOPS_PER_WORKER",
    "DESKARENA_K8S_IMAGE": "DESKARENA_K8S_POD_IMAGE",
    "DESKARENA_K8S_IMAGES": "DESKARENA_K8S_IMAGE_VOLUME",
    "DESKARENA_K8S_OVERLAYS": "DESKARENA_K8S_SCRATCH_SIZE",
    "DESKARENA_K8S_OWNER": "DESKARENA_K8S_INSTANCE_LABEL",
    "DESKARENA_K8S_TEMPLATES": "DESKARENA_K8S_TEMPLATE_VOLUME",
    "DESKARENA_K8S_WARM": "DESKARENA_K8S_WARM_PODS_PER_NODE",
    "DESKARENA_MACHINES_AHEAD": "DESKARENA_QEMU_WARM_VMS",
    "DESKARENA_MACHINE_MEMORY_MIB": "DESKARENA_QEMU_MEMORY_LIMIT_MIB",
    "DESKARENA_MODELS": "DESKARENA_MODELS_FILE",
    "DESKARENA_RESERVED": "DESKARENA_RESERVED_SLOTS",
}
"""Settings from before 0.2 -> current names."""
FOREIGN_PREFIXES = ("DESKARENA_TEST_", "DESKARENA_POD_", "DESKARENA_LIMIT_")
FOREIGN = frozenset(
    f"{PREFIX}{name}"
    for name in (
        *("SERVER", "PERSON", "AGENT_TOKEN", "ID_TOKEN", "BENCHMARK", "PROVIDER"),  # clients
        *("WORKERS", "WORKER_MEMORY", "PACKAGES", "KVM_SLOTS", "KVM_MEMORY", "KVM_GROUP"),  # docker-compose.yml
        *("SUPERVISOR_TOKEN", "SUPERVISOR_TOKEN_FILE"),  # pods of virtual machines
        *(
            "SCREEN",
            "LISTEN_FD",
            "EGRESS_PROXY",
            "EGRESS_SOCKET",
            "EGRESS_LINES",
            "TUNNEL_PORTS",
            "X_SERVER",
            "PROTECTED_PIDS",
        ),  # desktops
        *("ROOT_HELPER", "DESKTOP", "VERBOSE", "PYTHON", "WINE", "WINE_FILTER", "CLIPBOARD"),
    )
)
"""Variables that are read by programs other than API and workers."""


class RenamedVariable(Exception):
    """An environment variable is set under an old name.

    Attributes:
        old, new: its names.
    """

    def __init__(self, old: str, new: str) -> None:
        super().__init__(f"{old} is now {new}. Rename the variable.")
        self.old, self.new = old, new


def check_renamed(names: Iterable[str]) -> None:
    """Rejects old names of settings, which would be ignored otherwise.

    Raises:
        RenamedVariable: One is set.
    """
    for name in sorted(names):
        if name in RENAMED:
            raise RenamedVariable(name, RENAMED[name])


def is_foreign(name: str) -> bool:
    """Whether another program of ours reads the variable, or it is not ours."""
    return not name.startswith(PREFIX) or name in FOREIGN or name.startswith(FOREIGN_PREFIXES)
