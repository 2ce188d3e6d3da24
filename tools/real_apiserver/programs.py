"""How the programs of a control plane are started: pure command lines."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = "127.0.0.1"
# Who is who: token, name and group, for a server that listens on this machine only.
USERS = {
    "admin": ("kubernetes-admin", "system:masters"),
    "manager": ("system:kube-controller-manager", "system:authenticated"),
    "scheduler": ("system:kube-scheduler", "system:authenticated"),
}


@dataclass(frozen=True)
class Layout:
    """Folders and files of the installation.

    Attributes:
        programs: folder with kube-apiserver and the others; etcd is found on the PATH.
        folder: this cluster's own.
        ports: of `etcd`, `peer` (etcd's own) and `api`.
        tokens: by the names in USERS.
    """

    programs: Path
    folder: Path
    ports: Mapping[str, int]
    tokens: Mapping[str, str]

    @property
    def address(self) -> str:
        return f"https://{HERE}:{self.ports['api']}"

    def kubeconfig(self, user: str) -> Path:
        """Kubeconfig of `user`."""
        return self.folder / f"{user}.kubeconfig"


def token_file(layout: Layout) -> str:
    """The API server's list of users."""
    lines = (f'{layout.tokens[who]},{name},{who},"{group}"' for who, (name, group) in USERS.items())
    return "".join(f"{line}\n" for line in lines)


def kubeconfig(layout: Layout, user: str) -> dict[str, Any]:
    """A kubeconfig as JSON, which is YAML."""
    authority = str(layout.folder / "certificates" / "apiserver.crt")
    named = "control-plane"
    return {
        "apiVersion": "v1", "kind": "Config", "current-context": named,
        "clusters": [{"name": named, "cluster": {"server": layout.address, "certificate-authority": authority}}],
        "users": [{"name": user, "user": {"token": layout.tokens[user]}}],
        "contexts": [{"name": named, "context": {"cluster": named, "user": user}}],
    }  # fmt: skip


def etcd(layout: Layout) -> list[str]:
    """The store; losing its data in a crash does not matter."""
    client, peer = (f"http://{HERE}:{layout.ports[name]}" for name in ("etcd", "peer"))
    return [
        "etcd", f"--data-dir={layout.folder / 'etcd'}", "--unsafe-no-fsync", "--log-level=warn",
        f"--listen-client-urls={client}", f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}",
    ]  # fmt: skip


def api_server(layout: Layout) -> list[str]:
    """With rights (RBAC), service accounts, and the admission that is on by default."""
    key = layout.folder / "accounts.key"
    return [
        str(layout.programs / "kube-apiserver"), f"--etcd-servers=http://{HERE}:{layout.ports['etcd']}",
        f"--bind-address={HERE}", f"--advertise-address={HERE}", f"--secure-port={layout.ports['api']}",
        f"--cert-dir={layout.folder / 'certificates'}", f"--token-auth-file={layout.folder / 'tokens'}",
        "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction,ResourceQuota,LimitRanger",
        f"--service-account-issuer={layout.address}", f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}", "--service-cluster-ip-range=10.96.0.0/16",
        "--kubelet-preferred-address-types=InternalIP", "--endpoint-reconciler-type=none",
        "--allow-privileged=true",
    ]  # fmt: skip


def controller_manager(layout: Layout) -> list[str]:
    """All controllers; nodes without a heartbeat for 8 seconds are lost."""
    return [
        str(layout.programs / "kube-controller-manager"), f"--kubeconfig={layout.kubeconfig('manager')}",
        f"--service-account-private-key-file={layout.folder / 'accounts.key'}", "--use-service-account-credentials",
        f"--root-ca-file={layout.folder / 'certificates' / 'apiserver.crt'}", "--leader-elect=false",
        f"--bind-address={HERE}", "--secure-port=0", "--port=0", "--node-monitor-period=1s",
        "--node-monitor-grace-period=8s",
    ]  # fmt: skip


def scheduler(layout: Layout) -> list[str]:
    return [
        str(layout.programs / "kube-scheduler"), f"--kubeconfig={layout.kubeconfig('scheduler')}",
        "--leader-elect=false", f"--bind-address={HERE}", "--secure-port=0", "--port=0",
    ]  # fmt: skip
