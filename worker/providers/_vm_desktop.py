"""A virtual machine as the OpenDesktop of an attempt."""

import io
import logging
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import Any
from urllib.parse import urlsplit

from backend.domain.errors import ClusterLost, GuestLost, GuestRefused
from backend.domain.machines.desktop_end import DesktopEnd, EndCause, cause_of
from backend.domain.machines.egress_rules import EgressRules
from backend.domain.machines.machine_image import MachineImage
from backend.domain.model.trajectory import Frame
from backend.domain.ports.desktop import Desktop, DesktopSpec
from worker.activity import decoded_png
from worker.egress import Gateway, GuestTunnels
from worker.providers.vm_factory import StartedVm
from worker.qemu.client import CLOSED, SupervisorError

_NEWS_SECONDS = 0.5
"""Seconds that the news of a machine's end may take after its guest API stopped responding."""
_LAST_SECONDS = 5.0
"""Time limit for the last picture of a machine that has just ended."""
_REFUSED_SECONDS = 5.0
_WATCHDOG_SECONDS = 75.0
"""Seconds until a Linux machine whose guest server hangs has powered itself off (`guest_server.linux.watchdog`)."""
_POLL_SECONDS = 5.0
_LIMIT_CAUSES = {"memory": EndCause.MEMORY_LIMIT, "processes": EndCause.PROCESS_LIMIT}
logger = logging.getLogger(__name__)


class QemuDesktop:
    """A virtual machine whose guest responds."""

    def __init__(
        self,
        vm: StartedVm,
        gateway: Gateway,
        lines: Callable[[], GuestTunnels],
        about: Mapping[str, Any] | None = None,
    ) -> None:
        """Takes ownership of a machine and its gateway.

        Args:
            vm: the machine.
            gateway: its egress gateway.
            lines: opens tunnels to the gateway.
            about: additional details for the record, including the provider's name.
        """
        order, host = vm.order, vm.order.host
        self.vm, self._gateway, self._open_lines = vm, gateway, lines
        self._lines: GuestTunnels | None = None
        self._trusts = b""
        self.spec = DesktopSpec(screen=order.screen, image=order.image.name)
        self._client = vm.desktop
        self.desktop: Desktop = vm.desktop
        self.details: Mapping[str, Any] = {
            **(about or {"provider": "qemu"}),
            "image": order.image.name,
            "image_version": order.image.version,
            "path": vm.path,
            **({"why_cold": vm.why_cold} if vm.why_cold else {}),
            "accelerator": host.acceleration.accelerator,
            **({"warning": host.speed} if host.emulated else {}),
            "template": order.key if vm.path == "clone" else "",
            "seconds": {name: round(seconds, 3) for name, seconds in vm.seconds.items()},
        }

        self._last: Frame | None = None
        self._watching = threading.Thread(target=self._watch, name="machine", daemon=True)
        self._watching.start()

    def _watch(self) -> None:
        """When the machine cannot continue: stores its last picture and ends it, so that waiting requests fail."""
        handle = self.vm.handle
        handle.ended.wait()
        if handle.dead != CLOSED:
            self._last = self._picture()
            with suppress(SupervisorError):
                self.vm.supervisor.end(handle)

    def alive(self) -> bool:
        """False once it is known to be gone."""
        return not self.vm.handle.dead

    def death_reason(self) -> str:
        """Why it is gone; empty while alive.

        Called when the guest API does not respond: the reason may still be on its way.
        """
        self.vm.handle.ended.wait(_NEWS_SECONDS)
        return self.vm.handle.dead

    def revocation_reason(self) -> str:
        """Why the machine ended it: its supervisor died; empty if it ended by itself, or is alive."""
        cause = self.death_reason()
        return cause if cause == self.vm.supervisor.gone else ""

    def ending(self) -> DesktopEnd:
        """As QEMU and the guest report it. While QEMU runs, nothing outside can have ended the guest server.

        A guest server that does not answer may take `_WATCHDOG_SECONDS` if its image has a watchdog: the machine then
        powers itself off.
        """
        deadline = time.monotonic() + _WATCHDOG_SECONDS
        while not self.death_reason():
            try:
                self.vm.supervisor.picture(self.vm.handle)  # QEMU itself answers.
            except SupervisorError as error:
                return DesktopEnd(text=str(error))
            if is_refused(self.vm.address):
                return DesktopEnd(cause=EndCause.SESSION_ENDED, text="the machine runs, and its guest server has ended")
            if (limits := self._limits_reached()) is not None:
                return DesktopEnd(cause=next(iter(limits), EndCause.UNKNOWN), facts=_facts_of(limits))
            if not _has_watchdog(self.vm.order.image) or time.monotonic() > deadline:
                return DesktopEnd(text="the machine runs, and its guest server does not answer")
            self.vm.handle.ended.wait(_POLL_SECONDS)
        return DesktopEnd(cause=cause_of(self.vm.handle.cause), text=self.vm.handle.dead)

    def _limits_reached(self) -> Mapping[EndCause, int] | None:
        """How often which limit of the desktop was reached, as its guest server counts; None if it does not answer."""
        try:
            counts = self._client.limits_reached()
        except GuestLost:
            return None
        except GuestRefused:
            return {}  # An image of before there was this route.
        return {cause: counts[name] for name, cause in _LIMIT_CAUSES.items() if counts.get(name)}

    def stream_address(self) -> tuple[str, str]:
        """Address of the guest API and its secret."""
        return self.vm.address, self.vm.secret

    def picture(self) -> Frame | None:
        """QEMU's picture of the screen, the last one if the machine is gone; None if there is none."""
        if self.alive():
            return self._picture()
        self._watching.join(_LAST_SECONDS)
        return self._last

    def _picture(self) -> Frame | None:
        try:
            return _as_jpeg(self.vm.supervisor.picture(self.vm.handle))
        except SupervisorError as error:
            logger.info("no picture of a machine: %s", error)
            return None

    def private_bytes(self) -> int:
        """Memory that belongs to it alone; 0 if unknown: it may then still come to use its maximum."""
        try:
            return self.vm.supervisor.private_bytes(self.vm.handle)
        except SupervisorError:
            return 0

    def let_out(self, way_out: EgressRules, fetch: Callable[[str], bytes]) -> None:
        """Sets its egress rules and trusted authority.

        Raises:
            GuestLost: it is gone, or the authority cannot be installed.
        """
        certificate = self._gateway.allow(way_out, fetch)
        self._lines = self._lines or self._open_lines()
        if certificate == self._trusts:
            return
        try:
            self._client.call("POST", "/trust", {"certificate": certificate.decode()})
        except GuestRefused as error:
            raise GuestLost(
                f"the certificate authority could not be installed in the machine: {error.message}",
                code="resume_failed",
            ) from error
        self._trusts = certificate

    def close(self) -> None:
        """Destroys it; nothing of it is left then. Safe to call twice.

        Raises:
            ClusterLost: It could not be ended.
        """
        self._client.close()
        with ExitStack() as cleanup:
            cleanup.callback(self._gateway.close)
            if self._lines is not None:
                cleanup.callback(self._lines.close)
            try:
                # First: its tunnels would wait for a guest that no longer reads.
                self.vm.supervisor.end(self.vm.handle)
            except SupervisorError as error:
                raise ClusterLost(
                    f"a virtual machine could not be removed: {error}", code="desktop_not_removed"
                ) from error


def _has_watchdog(image: MachineImage) -> bool:
    """Whether it is a Linux image with our guest server, whose watchdog powers a machine off that hangs."""
    return image.os == "linux" and bool(image.guest_server)


def _facts_of(limits: Mapping[EndCause, int]) -> dict[str, int]:
    return {name: limits[cause] for name, cause in _LIMIT_CAUSES.items() if cause in limits}


def is_refused(address: str) -> bool:
    """Whether the machine itself refuses connections to its guest API: nothing listens there any more.

    QEMU accepts the connection, and closes it if its guest does not. No answer at all says nothing.
    """
    target = urlsplit(address)
    try:
        with socket.create_connection((target.hostname, target.port), timeout=_REFUSED_SECONDS) as connection:
            connection.sendall(b"GET /probe HTTP/1.0\r\n\r\n")
            try:
                return not connection.recv(1)
            except ConnectionError:
                return True
    except OSError:
        return False


def _as_jpeg(png: bytes) -> Frame | None:
    """QEMU's picture in the guest API's format; None if it is invalid or far too large."""
    picture = decoded_png(png)
    if picture is None:
        return None
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=85)
    return Frame(data=out.getvalue(), media_type="image/jpeg", width=picture.width, height=picture.height)
