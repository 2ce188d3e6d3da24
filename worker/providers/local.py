"""The `local` provider: isolated virtual desktops (Xvfb, with Linux applications or Wine) on this machine."""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from backend.config import Settings
from backend.domain.errors import ClusterLost, GuestLost, MachineLost
from backend.domain.machines.desktop_end import DesktopEnd, EndCause, cause_of
from backend.domain.machines.egress_rules import EgressRules
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Frame
from backend.domain.ports.desktop import Availability, Desktop, DesktopSpec, OpenDesktop
from backend.domain.registry import PluginKind, register
from worker.desktop_supervisor.client import (
    CHECKOUT,
    DesktopHandle,
    DesktopSupervisorClient,
    DesktopSupervisorError,
    DesktopSupervisorLost,
    DesktopSupervisorOptions,
)
from worker.desktop_supervisor.desktop import WAY_OUT
from worker.desktops import GuestDesktop
from worker.egress import Gateway, Gateways
from worker.local import wine
from worker.local.ca_bundle import trust
from worker.local.capacity import free_memory
from worker.local.home import content_hash
from worker.local.images import SYSTEMS, WINE, offers
from worker.local.limits import DesktopLimits
from worker.local.session_processes import full_of_files, runnable_threads
from worker.local.trials import once, version_of
from worker.local.wine_threads import count_suspended
from worker.providers._prewarmed import SlotDesktops, warm_up
from worker.providers.local_trial import Trial, use
from worker.qemu.memory_budget import RESERVE

READY_SECONDS = {"linux": 30.0, "windows": 90.0}
"""Time limit until a desktop's guest API responds; on an idle machine it takes under 1 s (Windows: 5 s)."""
_FORGET_FAILURE_SECONDS, _FORGET_WINE_SECONDS = 60.0, 600.0
_NEWS_SECONDS = 0.5
"""Seconds that the news of a desktop's end may take after its guest API stopped responding."""
_END_SECONDS = 6.0
"""Seconds that a session may take to end its programs once one of them has ended."""
_BUSY_SECONDS = 30.0
"""Seconds for a supervisor's answer while a desktop uses all processors."""
_MANY_RUNNABLE = 64
"""Threads that compute at once in a desktop that one of its programs overloads; a busy application has a few."""
_TRIAL = DesktopSpec(screen=ScreenSize(width=640, height=480))
_WINE_TRIAL = _TRIAL.model_copy(update={"image": WINE})
logger = logging.getLogger(__name__)


class LocalDesktop:
    """An isolated desktop of this machine."""

    def __init__(
        self,
        supervisor: DesktopSupervisorClient,
        handle: DesktopHandle,
        secret: str,
        spec: DesktopSpec,
        gateway: Gateway,
    ) -> None:
        """Takes ownership of a desktop and its gateway."""
        self._supervisor, self.handle, self._secret, self._gateway = supervisor, handle, secret, gateway
        self._address = f"unix:{handle.socket}"
        self.spec = spec
        self._client = GuestDesktop(self._address, secret, screen=spec.screen)
        self.desktop: Desktop = self._client
        self.details: Mapping[str, Any] = {
            "provider": "local",
            "os": SYSTEMS[spec.image],
            "home": handle.home,
            "limits": handle.limits,
            "notes": handle.notes,
            "user": handle.user,
            "seconds": {"made": handle.seconds},
        }

    def alive(self) -> bool:
        """False once it is known to be gone."""
        return not self.handle.dead

    def death_reason(self) -> str:
        """Why it is gone; empty while alive.

        Called when the guest API does not respond: the reason may still be on its way.
        """
        self.handle.ended.wait(_NEWS_SECONDS)
        return self.handle.dead

    def revocation_reason(self) -> str:
        """Why the machine ended it: its supervisor died; empty if it ended by itself, or is alive."""
        cause = self.death_reason()
        return cause if cause == self._supervisor.gone else ""

    def ending(self) -> DesktopEnd:
        """As its supervisor knows it: exit code, control groups, what it did itself; and what its processes do now."""
        self.handle.ended.wait(_END_SECONDS)
        text = self.death_reason()
        ending = self.handle.ending if text else self._present()
        end = DesktopEnd(cause=cause_of(ending.get("cause")), text=text, facts=ending.get("facts", {}))
        return end if text or end.cause is not EndCause.UNKNOWN else self._end_by_processes()

    def _end_by_processes(self) -> DesktopEnd:
        """Reason why a living desktop does not answer, from the state of its processes."""
        if files := full_of_files(self.handle.pid):
            return DesktopEnd(cause=EndCause.FILE_LIMIT, facts={"open_files": files})
        runnable = runnable_threads(self.handle.pid)
        if runnable >= _MANY_RUNNABLE:
            return DesktopEnd(cause=EndCause.PROCESSOR_LIMIT, facts={"runnable_threads": runnable})
        threads = count_suspended(self.handle.pid) if self.spec.image == WINE else 0
        return (
            DesktopEnd(cause=EndCause.SESSION_SUSPENDED, facts={"suspended_threads": threads})
            if threads
            else DesktopEnd()
        )

    def _present(self) -> Mapping[str, Any]:
        """The supervisor's facts about a living desktop; empty if it does not answer."""
        try:
            known: Mapping[str, Any] = (
                self._supervisor.status(_BUSY_SECONDS).get(self.handle.name, {}).get("ending", {})
            )
        except DesktopSupervisorError as error:
            logger.warning("state of a local desktop unknown: %s", error)
            return {}
        return known

    def stream_address(self) -> tuple[str, str]:
        """Address of the guest API and its secret."""
        return self._address, self._secret

    def picture(self) -> Frame | None:
        """None: without its session such a desktop has no screen."""
        return None

    def let_out(self, way_out: EgressRules, fetch: Callable[[str], bytes]) -> None:
        """Sets its egress rules and trusted authority.

        Raises:
            GuestLost: It is gone.
            ClusterLost: It failed.
        """
        try:
            trust(_way_out_of(self.handle), self._gateway.allow(way_out, fetch))
        except OSError as error:
            if self.death_reason():
                raise GuestLost("the local desktop is gone", code="desktop_gone") from error
            raise ClusterLost(
                f"the certificate authority of a local desktop cannot be written: {error}",
                code="desktop_not_created",
                hint=_HINT,
            ) from error

    def usage(self) -> Mapping[str, Any]:
        """Usage after closing: peak memory in bytes, and how often each limit was reached."""
        return self.handle.usage

    def close(self) -> None:
        """Destroys it; nothing of it is left then. Safe to call twice.

        Raises:
            ClusterLost: It could not be ended.
        """
        self._client.close()
        self._gateway.close()
        try:
            self._supervisor.destroy(self.handle)
        except DesktopSupervisorError as error:
            raise ClusterLost(f"a local desktop could not be removed: {error}", code="desktop_not_removed") from error


@register(PluginKind.PROVIDER, "local")
class LocalProvider:
    """Creates isolated desktops through one supervisor process. Thread-safe."""

    name = "local"

    def __init__(
        self,
        settings: Settings,
        *,
        limits: DesktopLimits | None = None,
        options: DesktopSupervisorOptions | None = None,
        gateways: Gateways | None = None,
    ) -> None:
        """Does not start yet.

        Args:
            settings: the data folder has the cache, and is invisible in desktops.
            limits: of each desktop.
            options: how to start the supervisor, instead of the settings'.
            gateways: of all desktops; None = those that reach the public network.
        """
        private = (CHECKOUT, settings.data_dir)
        self._options = options or DesktopSupervisorOptions(
            cache=settings.data_dir / "cache" / "local", private=private
        )
        self._limits = limits or DesktopLimits()
        self._supervisor: DesktopSupervisorClient | None = None
        self._gateways = gateways or Gateways()
        self._starting = threading.Lock()
        self._trying = threading.Lock()
        self.slot_desktops: SlotDesktops[LocalDesktop] = SlotDesktops()
        self._answer: Availability | None = None
        self._tried_at = 0.0

    # ---- capabilities

    def availability(self) -> Availability:
        """Tests a real desktop of each kind once; a failure is retried after a minute, one of Wine after ten."""
        with self._trying:
            age = time.monotonic() - self._tried_at
            if self._answer is None or (not self._answer.ok and age > _FORGET_FAILURE_SECONDS):
                self._answer, self._tried_at = self._try_out(), time.monotonic()
            elif self._answer.ok and age > _FORGET_WINE_SECONDS and any(image.reason for image in self._answer.images):
                self._answer, self._tried_at = self._offering(self._answer.reason), time.monotonic()
            return self._answer

    def _try_out(self) -> Availability:
        try:
            return self._offering(_in_words(self.trial()))
        except MachineLost as error:
            return Availability(ok=False, reason=error.text)

    def _offering(self, reason: str) -> Availability:
        images = offers(self._options.wine, self.wine_trial)
        programs = tuple(sorted({program for image in images for program in image.programs}))
        return Availability(ok=True, reason=reason, programs=programs, images=images)

    def trial(self, programs: Mapping[str, Sequence[str]] | None = None) -> Trial:
        """Creates a desktop with Linux programs and uses it like an agent.

        Args:
            programs: see `use`.

        Raises:
            MachineLost: none can be created, or it does not last.
        """
        desktop = warm_up(self._make(_TRIAL))
        try:
            return use(desktop, programs or {})
        finally:
            desktop.close()

    @property
    def wine_folder(self) -> Path:
        """Template of desktops with Windows programs."""
        return self._options.wine

    def wine_trial(self) -> str:
        """Creates a desktop whose guest server runs in Wine. Returns what went wrong, or empty.

        Skipped if it succeeded since this host was started.
        """
        folder, loader = self._options.wine, wine.loader()
        files = [folder / "python" / "python.exe", folder / "home" / wine.PREFIX / "system.reg"]
        versions = version_of(*([loader] if loader else []), *files)
        return once("wine", (content_hash(self._options.server), *versions), self._try_wine)

    def _try_wine(self) -> str:
        try:
            warm_up(self._make(_WINE_TRIAL)).close()
        except MachineLost as error:
            return f"Wine is installed, but no desktop with it can be created: {error.message}"
        return ""

    # ---- desktops

    def open(self, slot: SlotRef, spec: DesktopSpec) -> OpenDesktop:
        """A pristine desktop: the prepared one of the slot if there is one, else a new one."""
        if spec.image not in SYSTEMS:
            raise ClusterLost(
                f"local desktops have no image {spec.image!r}",
                code="image_not_available",
                hint=f"Available: {', '.join(SYSTEMS)}.",
            )
        return self.slot_desktops.open(slot, spec, partial(self._make, spec))

    def prepare(self, slot: SlotRef, spec: DesktopSpec) -> None:
        """Starts creating the slot's next desktop, if the machine has room for its maximum usage."""
        if free_memory() >= self._limits.memory + RESERVE:
            seconds = 2 * READY_SECONDS[SYSTEMS[spec.image]]
            self.slot_desktops.prepare(slot, spec, partial(self._make, spec), seconds=seconds)

    def unprepare(self, slot: SlotRef) -> None:
        """Destroys the slot's prepared desktop, if any: a machine without work keeps none."""
        self.slot_desktops.unprepare(slot)

    def close(self) -> None:
        """Destroys everything. Safe to call twice."""
        self.slot_desktops.close()
        with self._starting:
            if self._supervisor is not None:
                self._supervisor.close()
        self._gateways.close()

    # ---- creating desktops

    def _make(self, spec: DesktopSpec) -> LocalDesktop:
        """A new desktop. One that does not start is retried once, with a new supervisor if needed.

        Nobody has acted in it yet, so nothing is lost; Windows' Python occasionally exits at start.
        """
        try:
            return self._ask_supervisor(spec)
        except (DesktopSupervisorLost, GuestLost) as error:
            logger.warning("local desktop failed to start, retrying: %s", error)
        try:
            return self._ask_supervisor(spec)
        except DesktopSupervisorLost as error:
            raise ClusterLost(
                f"the supervisor of local desktops died twice: {error}", code="desktop_not_created"
            ) from error

    def _ask_supervisor(self, spec: DesktopSpec) -> LocalDesktop:
        secret = secrets.token_urlsafe(24)
        supervisor = self._running_supervisor()
        screen, system = (spec.screen.width, spec.screen.height), SYSTEMS[spec.image]
        seconds = READY_SECONDS[system]
        try:
            handle = supervisor.spawn(secret=secret, screen=screen, limits=self._limits, timeout=seconds, os=system)
        except DesktopSupervisorLost:
            raise
        except DesktopSupervisorError as error:
            if error.kind == "guest":
                raise GuestLost(f"a local desktop did not start: {error}", code="desktop_not_started") from error
            raise ClusterLost(
                f"a local desktop could not be created: {error}", code="desktop_not_created", hint=_HINT
            ) from error
        return LocalDesktop(supervisor, handle, secret, spec, self._gateway_of(supervisor, handle))

    def _gateway_of(self, supervisor: DesktopSupervisorClient, handle: DesktopHandle) -> Gateway:
        """The desktop's gateway, in the folder of the host that it sees."""
        try:
            # The desktop's user has another id; the parent folder keeps everybody else out.
            return self._gateways.open(_way_out_of(handle) / "gateway", mode=0o666)
        except OSError as error:
            supervisor.destroy(handle)
            raise ClusterLost(
                f"the egress gateway of a local desktop cannot be opened: {error}", code="egress_failed", hint=_HINT
            ) from error

    def _running_supervisor(self) -> DesktopSupervisorClient:
        with self._starting:
            if self.slot_desktops.closed:
                raise ClusterLost("the worker is stopping", code="worker_stopping")
            if self._supervisor is not None and not self._supervisor.alive():
                self._supervisor.close()
                self._supervisor = None
            if self._supervisor is None:
                try:
                    self._supervisor = DesktopSupervisorClient(self._options)
                except (DesktopSupervisorError, OSError) as error:
                    raise ClusterLost(
                        f"local desktops cannot be created here: {error}", code="desktop_not_created", hint=_HINT
                    ) from error
            return self._supervisor


def _way_out_of(handle: DesktopHandle) -> Path:
    """The folder of the host that a desktop sees."""
    return Path(handle.socket).parent / WAY_OUT


_HINT = "Run `deskarena doctor` to see what is missing; docs/internals/local-provider.md lists the requirements."


def _in_words(trial: Trial) -> str:
    """Limits in force, as text."""
    details = trial.details
    limits = ", ".join(f"{resource} by {how}" for resource, how in details["limits"].items())
    tree = [f"no accessibility tree: {trial.no_tree}"] if trial.no_tree else []
    return "; ".join([f"home: {details['home']}", f"limits: {limits}", *details["notes"], *tree])
