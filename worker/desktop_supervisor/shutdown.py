"""End of a desktop: every process, then control groups, then files; only then it is `gone`."""

import contextlib
import os
import time
from collections.abc import Callable

from worker.desktop_supervisor import folders
from worker.desktop_supervisor.desktop import PIPES, SupervisedDesktop
from worker.desktop_supervisor.loop import Loop

_RETRY = 0.005
_REMOVE_SECONDS = 5.0


class DesktopShutdown:
    """Follows desktops to their end, whatever the cause."""

    def __init__(self, loop: Loop, supervisor: str, gone: Callable[[SupervisedDesktop], None]) -> None:
        """Args: loop: event loop; supervisor: its name; gone: called once per desktop at its very end."""
        self._loop, self._supervisor, self._gone = loop, supervisor, gone

    def expect(self, desktop: SupervisedDesktop) -> None:
        """Watches the desktop's first process, as soon as it is known. Safe to call often."""
        if desktop.inner_handle < 0 or desktop.awaited:
            return
        desktop.awaited = True
        self._loop.listen(desktop.inner_handle, lambda: self._inner_ended(desktop))
        if desktop.stopping:
            desktop.kill(desktop.stopping)

    def _inner_ended(self, desktop: SupervisedDesktop) -> None:
        """Process 1 has ended, and with it, by the kernel's guarantee, every process of the namespace."""
        self._loop.forget(desktop.inner_handle)
        desktop.close_inner()
        self.check(desktop)

    def check(self, desktop: SupervisedDesktop) -> None:
        """Continues the end of a desktop if bubblewrap has ended; called whenever something may have changed."""
        if desktop.outer or desktop.gone:
            return
        for name in PIPES:
            # Its last output may have the reason, or a process to wait for.
            if desktop.pipes[name] >= 0:
                desktop.feed(name)
        self.expect(desktop)
        if desktop.inner_handle >= 0:
            desktop.kill(desktop.why(), desktop.why_ended()["cause"])
            return
        _bury(desktop.inner)
        orphans = [] if desktop.inner else folders.processes_of(self._supervisor, desktop.name)
        if orphans:
            # It ended before bubblewrap could report the process that it had started.
            folders.kill(orphans)
            self._loop.later(_RETRY, lambda: self.check(desktop))
            return
        self._remove(desktop, time.monotonic() + _REMOVE_SECONDS)

    def _remove(self, desktop: SupervisedDesktop, deadline: float) -> None:
        """Removes control groups and files. The kernel empties a group shortly after its last process."""
        if desktop.gone:
            return
        desktop.conclude()
        if desktop.group is not None and not desktop.group.remove() and time.monotonic() < deadline:
            self._loop.later(_RETRY, lambda: self._remove(desktop, deadline))
            return
        for name in PIPES:
            self._loop.forget(desktop.pipes[name])
        desktop.clean()
        self._gone(desktop)


def _bury(pid: int) -> None:
    """Reaps a desktop's first process if bubblewrap, its parent, ended before."""
    if pid:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
