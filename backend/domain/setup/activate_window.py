"""`activate_window`: waits for a window and brings it to the front."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import GuestRefused, TaskSetupFailed
from backend.domain.loop.polling import look_again
from backend.domain.ports.desktop import Desktop
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register
from backend.domain.setup._windows import WindowName


@register(PluginKind.SETUP, "activate_window")
class ActivateWindow:
    """`window_name`, `strict`, `by_class`. Where upstream fails if the window is late, this waits for it (15 s)."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        WindowName.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        target = WindowName.parse(parameters)
        desktop = context.desktop
        if not look_again(desktop, lambda: any(_activated(desktop, target, name) for name in target.spellings())):
            titles = ", ".join(window.title for window in desktop.windows()) or "none"
            raise TaskSetupFailed(
                f"no window called {target.window_name!r} appeared; there are: {titles}", code="window_not_opened"
            )


def _activated(desktop: Desktop, target: WindowName, name: str) -> bool:
    try:
        desktop.activate_window(name, strict=target.strict, by_class=target.by_class)
    except GuestRefused as error:
        if error.kind != "not_found":
            raise
        return False
    return True
