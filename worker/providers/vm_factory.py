"""Creates virtual machines for a slot: as clones of a template, or by a cold boot if there is no template."""

import logging
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event, Lock
from typing import TypeVar

from backend.domain.errors import ClusterLost, GuestLost, GuestRefused, MachineLost
from backend.domain.machines.health import HealthLimits
from worker.activity import Activity, ScreenWatch, Tracker
from worker.base.health import check_health
from worker.desktops import GuestDesktop
from worker.providers._guest_resume import restore, settle, wait_answer
from worker.providers._template_store import ImageChanged, StoredTemplate, VmHost
from worker.providers.vm_order import VmRequest
from worker.qemu.client import SupervisorClient, SupervisorError, SupervisorLost, VmHandle
from worker.qemu.slot import CLONE, COLD, MASTER
from worker.qemu.templates import Template

BOOT_SECONDS = 600.0
"""Emulated on a busy host a desktop boots for minutes."""
KVM_BOOT_SECONDS = 300.0
"""With KVM it boots in ten seconds, Windows in a minute: longer boots are retried emulated."""
CLONE_SECONDS = 30.0
_QUIET_SECONDS = 2.0
_SETTLE_SECONDS = 60.0
FORGET_FAILURE_SECONDS = 600.0
_PATIENCE_SECONDS = 60.0
"""Seconds for transient findings in a newly booted machine."""
PHASES: Mapping[str, str] = {
    "lock": "waiting until another process has created it",
    "check": "checking the image's files",
    "start": "starting the machine",
    "boot": "waiting for the guest API",
    "rest": "waiting until the screen stops changing",
    "health": "checking the machine's health",
    "freeze": "saving the machine's state",
}
"""Phases of a booting machine, in order, with descriptions."""
logger = logging.getLogger(__name__)


@dataclass
class StartedVm:
    """A machine whose guest responds.

    Attributes:
        order: its request; emulated if a machine of the original request does not boot with KVM.
        desktop: client of its guest, on the connection over which it was initialised.
        secret: of its guest API, known only here.
        path: `clone` or `cold boot`.
        why_cold: why it is not a clone; empty for a clone.
        seconds: by phase.
    """

    supervisor: SupervisorClient
    handle: VmHandle
    order: VmRequest
    desktop: GuestDesktop
    secret: str
    path: str
    why_cold: str
    seconds: Mapping[str, float]

    @property
    def address(self) -> str:
        """Address of the guest API."""
        return address_of(self.handle)


def address_of(handle: VmHandle) -> str:
    """Address of a machine's guest API."""
    return f"http://{handle.host}:{handle.port}"


class VmFactory:
    """Creates machines. Thread-safe."""

    def __init__(self, limits: HealthLimits) -> None:
        """Does not start any yet. Args: limits: health limits for a machine that becomes a template."""
        self._limits = limits.model_copy(update={"patience": _PATIENCE_SECONDS})
        self._lock = Lock()
        self._failed: dict[tuple[str, str], tuple[float, MachineLost]] = {}

    def make(self, bench: VmHost, order: VmRequest) -> StartedVm:
        """A machine whose guest responds and is initialised.

        Raises:
            ClusterLost: it could not be started here, or a machine of its image failed here recently; nothing of it is
                left.
            GuestLost: it started, but its guest API never became ready.
        """
        template, why_cold = self.usable_template(bench, order)
        supervisor = bench.supervisor
        if template is None:
            return self.boot(supervisor, order, why_cold, bench.tracker)
        if template.key != order.key:
            order = order.as_emulated(template.why_emulated)
        start = time.monotonic()
        handle = _start_vm(lambda: supervisor.start(CLONE, order.machine, folder=template.place))
        return _hand_over(_BootingVm(supervisor, handle, template.secret, start), order)

    def boot(
        self, supervisor: SupervisorClient, order: VmRequest, why_cold: str, tracker: Tracker | None = None
    ) -> StartedVm:
        """Like `make`, without a template and with the reason."""
        start, secret, tracker = time.monotonic(), order.first_secret(), tracker or Tracker()
        with _phase(tracker, order, "start", subject="a machine"):
            handle = _start_vm(lambda: supervisor.start(COLD, order.machine, secret=secret))
        return _hand_over(_BootingVm(supervisor, handle, secret, start, tracker), order, why_cold)

    def prepare(self, bench: VmHost, order: VmRequest) -> Template:
        """The request's template, created if missing.

        Raises:
            ClusterLost: it cannot be created; the message says why.
            ImageChanged: The image's files were modified.
            GuestLost: The image's guest never became ready.
        """
        try:
            return _find(bench, order) or self._make_or_find(bench, order)
        except GuestRefused as error:
            raise GuestLost(
                f"the template of the image {order.image.name} cannot be created: {error.message}",
                code="desktop_not_started",
            ) from error
        except (SupervisorError, OSError) as error:
            raise ClusterLost(
                f"the template of the image {order.image.name} cannot be created: {error}", code="desktop_not_created"
            ) from error

    def _make_or_find(self, bench: VmHost, order: VmRequest) -> Template:
        """Creates it unless somebody else did while we waited. Raises like `prepare`, or OSError."""
        with ExitStack() as making:
            with _phase(bench.tracker, order, "lock"):
                folder = making.enter_context(bench.stock.making(order.key))
            template = _find(bench, order)
            if template is not None:
                return template
            try:
                return self._make_template(bench, order, folder)
            except _KvmBootFailed as error:
                return self._make_emulated(bench, order, error.failure)

    def _make_emulated(self, bench: VmHost, order: VmRequest, failure: GuestLost | SupervisorError) -> Template:
        """Creates it without KVM, once, after a machine with KVM did not boot. Raises like `_make_or_find`."""
        logger.warning("%s does not boot with KVM (%s), retrying without", order.image.name, failure)
        emulated = order.as_emulated(f"the image did not boot with KVM: {failure}")
        try:
            with bench.stock.making(emulated.key) as folder:
                # An existing one has no reason for replacing KVM, or it would have been found before.
                return self._make_template(bench, emulated, folder)
        except (MachineLost, SupervisorError):
            # It boots neither way, so the accelerator is not the reason: report the first failure.
            raise failure from None

    def usable_template(self, bench: VmHost, order: VmRequest) -> tuple[Template | None, str]:
        """The template, or why there is none. A failure is not retried for a while in the same place.

        Raises:
            GuestLost: No machine of the image becomes ready.
            ClusterLost: one failed recently, so none is booted for each attempt. An attempt for which no machine was
                started has lost none.
        """
        failure = self._known_failure(bench, order)
        if failure is not None:
            # Another slot may have created it meanwhile.
            template = self._known_template(bench, order)
            if template is not None:
                return template, ""
            if isinstance(failure, GuestLost):
                message = f"a machine of the image {order.image.name} failed here recently: {failure.message}"
                raise ClusterLost(message, code="image_not_available", hint=failure.hint)
            return None, failure.message
        try:
            return self.prepare(bench, order), ""
        except MachineLost as error:
            if isinstance(error, ImageChanged) or not bench.supervisor.alive():
                raise
            with self._lock:
                self._failed[bench.where, order.key] = time.monotonic(), error
            if isinstance(error, GuestLost):
                raise
            logger.warning("%s; machines boot cold", error.message)
            return None, error.message

    def _known_failure(self, bench: VmHost, order: VmRequest) -> MachineLost | None:
        """Why it could not be created there recently."""
        with self._lock:
            now = time.monotonic()
            young = {
                place: failure for place, failure in self._failed.items() if now - failure[0] < FORGET_FAILURE_SECONDS
            }
            self._failed = young
            return young[bench.where, order.key][1] if (bench.where, order.key) in young else None

    @staticmethod
    def _known_template(bench: VmHost, order: VmRequest) -> Template | None:
        try:
            return _find(bench, order)
        except (SupervisorError, OSError) as error:
            raise ClusterLost(f"templates cannot be searched: {error}", code="desktop_not_created") from error

    def _make_template(self, bench: VmHost, order: VmRequest, folder: Path) -> Template:
        start, secret, supervisor = time.monotonic(), order.first_secret(), bench.supervisor
        phase = partial(_phase, bench.tracker, order)
        with phase("check"):
            bench.stock.check(order.folder, order.image)
        logger.warning("creating a template of the image %s (%s)", order.image.name, order.machine.accelerator)
        with phase("start"):
            handle = _boots_or(order, lambda: supervisor.start(MASTER, order.machine, secret=secret, folder=folder))
        client = GuestDesktop(address_of(handle), secret, screen=order.screen)
        screen = _screen(supervisor, handle)
        try:
            with phase("boot", limit=_boot_limit(order), screen=screen):
                booted = _boots_or(order, lambda: _wait_boot(handle, secret, order))
            with phase("rest", limit=_SETTLE_SECONDS, screen=screen):
                rested = settle(client, quiet=_QUIET_SECONDS, seconds=_SETTLE_SECONDS)
            with phase("health", screen=screen):
                frame = client.frame()
                # An emulated machine's clock drifts while it boots on a busy host.
                restore(client, secret, seconds=CLONE_SECONDS)
                check_health(client, order.screen, frame, self._limits, pause=_pause)
            client.close()
            with phase("freeze"):
                frozen = supervisor.freeze(handle, folder)
        finally:
            client.close()
            supervisor.end(handle)
        seconds = {**handle.seconds, "boot": booted, "rest": rested, **frozen, "all": time.monotonic() - start}
        size = (order.screen.width, order.screen.height)
        why_emulated = order.host.acceleration.detail if order.host.gave_up_kvm else ""
        return bench.stock.keep(
            folder, StoredTemplate(order.key, order.image.name, size, secret, seconds, why_emulated)
        )


class _KvmBootFailed(Exception):  # noqa: N818 - says what happened.
    """A machine did not boot with KVM; it may do so emulated."""

    def __init__(self, failure: GuestLost | SupervisorError) -> None:
        super().__init__(str(failure))
        self.failure = failure


_Result = TypeVar("_Result")


def _boots_or(order: VmRequest, step: Callable[[], _Result]) -> _Result:
    """Context manager for a step of booting. Raises _KvmBootFailed on failure if the machine uses KVM."""
    try:
        return step()
    except (GuestLost, SupervisorError) as error:
        if not order.host.chose_kvm or isinstance(error, SupervisorLost):
            raise
        raise _KvmBootFailed(error) from error


def _boot_limit(order: VmRequest) -> float:
    return BOOT_SECONDS if order.host.emulated else KVM_BOOT_SECONDS


def _wait_boot(handle: VmHandle, secret: str, order: VmRequest) -> float:
    return wait_answer(address_of(handle), secret, seconds=_boot_limit(order), dead=lambda: handle.dead)


def _find(bench: VmHost, order: VmRequest) -> Template | None:
    """The request's template, or the emulated one of an image that does not boot with KVM."""
    template = bench.stock.find(order.key)
    if template is None and order.host.chose_kvm:
        emulated = bench.stock.find(order.as_emulated("").key)
        template = emulated if emulated is not None and emulated.why_emulated else None
    return template


def _pause(seconds: float) -> None:
    Event().wait(seconds)


def _phase(  # noqa: PLR0913 - what is known of it
    tracker: Tracker,
    order: VmRequest,
    phase: str,
    *,
    limit: float | None = None,
    screen: ScreenWatch | None = None,
    subject: str = "the template",
) -> AbstractContextManager[Activity]:
    """Records the block as that phase of the request."""
    note = "machines are emulated" if phase == "boot" and order.machine.accelerator == "tcg" else ""
    return tracker.during(
        phase, PHASES[phase], subject=f"{subject} of {order.image.name}", limit=limit, note=note, screen=screen
    )


def _screen(supervisor: SupervisorClient, handle: VmHandle) -> ScreenWatch:
    """The machine's screen from QEMU."""

    def take() -> bytes:
        try:
            return supervisor.picture(handle)
        except SupervisorError:
            return b""

    return ScreenWatch(take)


def _start_vm(start: Callable[[], VmHandle]) -> VmHandle:
    try:
        return start()
    except SupervisorError as error:
        raise ClusterLost(f"a virtual machine could not be started: {error}", code="desktop_not_created") from error


def remove(supervisor: SupervisorClient, handle: VmHandle) -> None:
    """Ends a failed machine; only its first failure is reported."""
    try:
        supervisor.end(handle)
    except SupervisorError as error:
        logger.warning("failed machine not removed: %s", error)


@dataclass(frozen=True)
class _BootingVm:
    """A machine, its start on the monotonic clock, and its guest's secret."""

    supervisor: SupervisorClient
    handle: VmHandle
    secret: str
    at: float
    tracker: Tracker = field(default_factory=Tracker)


def _hand_over(launch: _BootingVm, order: VmRequest, why_cold: str = "") -> StartedVm:
    """Initialises the guest, after waiting if it boots. Nothing of the machine is left on failure.

    Args:
        launch: the started machine.
        order: its request.
        why_cold: why it boots; empty for a clone, which needs no waiting: its server is already running.
    """
    handle, secret = launch.handle, secrets.token_urlsafe(24)
    address, seconds = address_of(handle), dict(handle.seconds)
    client = GuestDesktop(address, launch.secret, screen=order.screen, patience=order.host.patience)
    try:
        if why_cold:
            phase = partial(
                _phase, launch.tracker, order, screen=_screen(launch.supervisor, handle), subject="a machine"
            )
            with phase("boot", limit=_boot_limit(order)):
                seconds["boot"] = _wait_boot(handle, launch.secret, order)
            with phase("rest", limit=_SETTLE_SECONDS):
                seconds["rest"] = settle(client, quiet=_QUIET_SECONDS, seconds=_SETTLE_SECONDS)
        at = time.monotonic()
        restore(client, secret, seconds=CLONE_SECONDS)
        seconds["restored"] = time.monotonic() - at
    except BaseException:
        client.close()
        remove(launch.supervisor, handle)
        raise
    seconds["made"] = time.monotonic() - launch.at
    return StartedVm(
        launch.supervisor, handle, order, client, secret, "cold boot" if why_cold else "clone", why_cold, seconds
    )
