"""The worker's client of a supervisor in a pod: over TCP, with mutual authentication by the pod's token."""

import socket
import time
from typing import Any

from worker.base.errors import CodedError
from worker.base.json_lines import LineDecoder, LineError, encode
from worker.qemu import handshake
from worker.qemu.access_gate import steady
from worker.qemu.client import SupervisorClient, SupervisorError, SupervisorLost
from worker.qemu.templates import Template

_CONNECT_SECONDS = 5.0
_HOST_SECONDS = 90.0
"""Measuring a host whose KVM is slow, or refuses features and hints, takes 15 to 40 s."""
_HASH_SECONDS = 1200.0
_KEEP_SECONDS = 120.0


class ForeignPod(SupervisorError):
    """The peer does not know the pod's token: it is another pod, or not a pod of ours."""

    code = "foreign_pod"


class LeaseSuperseded(SupervisorLost):
    """Access was refused or ended: the slot is held under a later lease."""

    code = "lease_superseded"


def connect(address: tuple[str, int], token: str, fence: int, *, seconds: float = 30.0) -> socket.socket:
    """Connects to the supervisor at an address, which is about to report its start.

    Args:
        address: host and port.
        token: the pod's token.
        fence: fencing token of the slot's lease.
        seconds: time limit; it may be busy with another worker's last request.

    Raises:
        SupervisorError: It does not respond.
        ForeignPod: The peer is another one.
    """
    nonce = handshake.nonce()
    try:
        connection = socket.create_connection(address, timeout=_CONNECT_SECONDS)
    except OSError as error:
        raise SupervisorError(f"no response at {address[0]}:{address[1]}: {error}", code="no_connection") from error
    try:
        connection.settimeout(seconds)
        steady(connection)
        connection.sendall(encode({"nonce": nonce, "fence": fence}))
        theirs = _check(_line(connection, time.monotonic() + seconds), token, nonce, fence)
        connection.settimeout(seconds)
        connection.sendall(encode({"proof": handshake.proof(token, handshake.WORKER, nonce, theirs, fence)}))
        connection.settimeout(None)
    except OSError as error:
        connection.close()
        raise SupervisorError(
            f"the supervisor at {address[0]}:{address[1]} does not respond: {error}", code="supervisor_timeout"
        ) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _line(connection: socket.socket, deadline: float) -> dict[str, Any]:
    """The first line; no byte after it is read. Raises TimeoutError at the deadline, on the monotonic clock."""
    decoder, received = LineDecoder(handshake.LONGEST), 0
    while received < handshake.LONGEST:
        # Time limit of the whole line: a peer that trickles bytes could otherwise take hours.
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("timed out")
        connection.settimeout(remaining)
        byte = connection.recv(1)
        if not byte:
            break
        received += 1
        try:
            messages = decoder.feed(byte)
        except LineError as error:
            raise ForeignPod(f"the peer is not a supervisor: {error}") from error
        if messages:
            return messages[0]
    raise ForeignPod("the peer is not a supervisor of ours")


def _check(answer: dict[str, Any], token: str, nonce: str, fence: int) -> str:
    theirs = answer.get("nonce")
    if not isinstance(theirs, str) or not theirs:
        raise ForeignPod("the peer is not a supervisor of ours")
    expected = handshake.proof(token, handshake.SUPERVISOR, nonce, theirs, fence)
    if not handshake.same(answer.get("proof"), expected):
        raise ForeignPod("the peer does not know the pod's token")
    return theirs


class RemoteSupervisor(SupervisorClient):
    """A supervisor in a pod. It outlives this connection and waits for the next one."""

    shown_out = False

    def __init__(self, address: tuple[str, int], token: str, fence: int) -> None:
        """Connects and waits until it is ready.

        Args:
            address: host and port.
            token: the pod's token.
            fence: fencing token of the slot's lease; earlier leases are disconnected.

        Raises:
            SupervisorError: it does not respond, or is not ready.
            LeaseSuperseded: The slot is held under a later lease.
            ForeignPod: The peer is another one.
        """
        super().__init__(connect(address, token, fence), host=address[0])
        try:
            self.qemu = str(self._wait_started()["qemu"])
        except SupervisorError as error:
            if self.shown_out:
                raise LeaseSuperseded(str(error)) from error
            raise
        except KeyError as error:
            self.close()
            raise SupervisorError(
                "the pod's supervisor has another version: it does not report its qemu", code="version_differs"
            ) from error

    def lost(self, reason: str) -> CodedError:
        return LeaseSuperseded(reason) if self.shown_out else super().lost(reason)

    def news(self, message: dict[str, Any]) -> None:
        """See `SupervisorClient`; also records that access was ended."""
        self.shown_out = self.shown_out or message["event"] == "refused"
        super().news(message)

    def lose(self, reason: str) -> None:
        """Gives it up: it is known from elsewhere to be gone. Its machines end with that reason."""
        self.gone = reason
        self._conversation.hang_up()

    def host(self, accelerator: str) -> dict[str, Any]:
        """The fields of `plan.Host`. Args: accelerator: the setting. Raises SupervisorError."""
        fields: dict[str, Any] = self.request_field("host", {"op": "host", "accelerator": accelerator}, _HOST_SECONDS)
        return fields

    def images(self) -> list[dict[str, Any]]:
        images: list[dict[str, Any]] = self.request_field("images", {"op": "images"})
        return images

    def hashes(self, folder: str, names: list[str]) -> dict[str, str]:
        """SHA-256 by file name of an image. Raises SupervisorError."""
        request = {"op": "hashes", "folder": folder, "names": names}
        hashes: dict[str, str] = self.request_field("hashes", request, _HASH_SECONDS)
        return hashes

    def find(self, key: str) -> Template | None:
        """The template with that key. Raises SupervisorError."""
        fields = self.request_field("template", {"op": "find", "key": key})
        return None if fields is None else _template(fields)

    def templates(self) -> list[Template]:
        """Every complete template. Raises SupervisorError."""
        return [_template(item) for item in self.request_field("templates", {"op": "templates"})]

    def make(self, key: str) -> str:
        return str(self.request_field("place", {"op": "make", "key": key}))

    def release(self, key: str) -> None:
        self.ask({"op": "release", "key": key})

    def keep(self, fields: dict[str, Any]) -> Template:
        return _template(self.request_field("template", {"op": "keep", **fields}, _KEEP_SECONDS))


def _template(fields: Any) -> Template:
    """Parses a template. Raises SupervisorError if it is invalid."""
    try:
        return Template.from_json(fields)
    except (TypeError, ValueError, KeyError) as error:
        raise SupervisorError(f"the supervisor sent an invalid template: {error!r}", code="invalid_response") from error
