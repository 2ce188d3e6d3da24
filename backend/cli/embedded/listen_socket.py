"""Listening socket of the API: opened before anything starts, and kept open while the API restarts."""

import contextlib
import errno
import socket

import psutil

from backend.addresses import SHORTEST_TOKEN, is_loopback, own_address
from backend.cli.errors import StackError, UsageError

BACKLOG = 512
NEXT_PORTS = 50


def check_exposure(host: str, *, token: str, accounts: bool) -> None:
    """Requires accounts or a token for addresses that other machines can reach.

    Raises:
        UsageError: `host` is not loopback and neither is set, or the token is short.
    """
    if 0 < len(token) < SHORTEST_TOKEN:
        raise UsageError(
            f"DESKARENA_TOKEN has fewer than {SHORTEST_TOKEN} characters; `openssl rand -hex 16` creates one.",
            code="token_too_short",
        )
    if not token and not accounts and not is_loopback(host):
        raise UsageError(
            f"--host {host} is reachable from other machines and needs accounts or a token. Set "
            "DESKARENA_ACCOUNTS=true or DESKARENA_TOKEN, or listen on 127.0.0.1.",
            code="token_needed",
        )


def listen(host: str, port: int) -> socket.socket:
    """Binds and listens; port 0 takes a free one.

    Raises:
        StackError: The port is in use, or the address does not belong to this machine.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise UsageError(f"--host {host} is not an address: {error.strerror}.", code="invalid_host") from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise StackError(_why_not(host, port, error), code="port_not_available") from None
    return listener


def url_of(listener: socket.socket) -> str:
    """URL of the listener on this machine."""
    host, port = listener.getsockname()[:2]
    return own_address(host, port)


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is in use{_holder(port)}. Choose another one, such as `--port "
            f"{_free_after(host, port)}`. Nothing was started."
        )
    if error.errno == errno.EACCES:
        return f"Port {port} on {host} requires root. Choose a port above 1023 with --port. Nothing was started."
    return (
        f"Cannot listen on {host} port {port}: {error.strerror}. Choose another address with "
        "--host and --port. Nothing was started."
    )


def _holder(port: int) -> str:
    # An ordinary user cannot see other users' connections.
    with contextlib.suppress(psutil.Error):
        for connection in psutil.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr[1:] == (port,) and connection.pid:
                return f" by process {connection.pid} ({psutil.Process(connection.pid).name()})"
    return ""


def _free_after(host: str, port: int) -> int:
    for candidate in range(port + 1, min(port + NEXT_PORTS, 65536)):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe, contextlib.suppress(OSError):
            probe.bind((host, candidate))
            return candidate
    return 0
