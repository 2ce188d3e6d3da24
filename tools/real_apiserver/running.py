"""A temporary control plane on loopback."""

import json
import secrets
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.waiting import until
from tools.real_apiserver import programs
from tools.real_apiserver.programs import HERE, USERS, Layout

READY_SECONDS = 180.0
"""Until the API server serves: a minute and more on a machine that does much else."""


def new_layout(built: Path, folder: Path) -> Layout:
    """Layout of a new cluster: free ports and random tokens."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ("etcd", "peer", "api")
    with ExitStack() as stack:
        lines = [stack.enter_context(socket.socket()) for _ in names]
        for line in lines:
            line.bind((HERE, 0))
        ports = {name: int(line.getsockname()[1]) for name, line in zip(names, lines, strict=True)}
    return Layout(built, folder, ports, {who: secrets.token_hex(16) for who in USERS})


def write_files(layout: Layout) -> None:
    """Writes the programs' files: users, kubeconfigs, and the key that service accounts' tokens are signed with."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, plain)
    files = {layout.folder / "accounts.key": pem, layout.folder / "tokens": programs.token_file(layout).encode()}
    for who in USERS:
        files[layout.kubeconfig(who)] = json.dumps(programs.kubeconfig(layout, who)).encode()
    for file, data in files.items():
        file.touch(mode=0o600)
        file.write_bytes(data)


@contextmanager
def _program(command: Sequence[str], log: Path) -> Iterator[Callable[[], str]]:
    """Runs one program. Yields a function that returns why it ended; empty while it runs."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield lambda: "" if process.poll() is None else f"{command[0]} ended, see {log}"
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _ready(layout: Layout, ended: Callable[[], str]) -> bool:
    if reason := ended():
        raise RuntimeError(reason)
    authority = layout.folder / "certificates" / "apiserver.crt"
    if not authority.exists():
        return False
    headers = {"Authorization": f"Bearer {layout.tokens['admin']}"}
    trusted = ssl.create_default_context(cafile=str(authority))
    try:
        response = httpx.get(f"{layout.address}/readyz", headers=headers, verify=trusted, timeout=10)
    except httpx.TransportError:
        return False
    return response.status_code == httpx.codes.OK


@contextmanager
def control_plane(built: Path, folder: Path) -> Iterator[Layout]:
    """A cluster without nodes. Args: built: the programs; folder: for its files and logs."""
    layout = new_layout(built, folder)
    write_files(layout)
    with ExitStack() as stack:
        stack.enter_context(_program(programs.etcd(layout), folder / "etcd.log"))
        ended = stack.enter_context(_program(programs.api_server(layout), folder / "api.log"))
        until(lambda: _ready(layout, ended), READY_SECONDS, what="the API server is not ready")
        for name, command in (("manager", programs.controller_manager), ("scheduler", programs.scheduler)):
            stack.enter_context(_program(command(layout), folder / f"{name}.log"))
        yield layout
