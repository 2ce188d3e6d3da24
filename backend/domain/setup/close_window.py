"""`close_window`: asks a window to close and waits until it is gone."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import TaskSetupFailed
from backend.domain.loop.polling import look_again
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register
from backend.domain.setup._steps import find_window
from backend.domain.setup._windows import WindowName


@register(PluginKind.SETUP, "close_window")
class CloseWindow:
    """`window_name`, `strict`, `by_class`. A window that asks a question and stays is an error."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        WindowName.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        target, desktop = WindowName.parse(parameters), context.desktop

        def there(name: str) -> bool:
            return find_window(desktop, name, strict=target.strict, by_class=target.by_class)

        name = next(filter(there, target.spellings()), target.window_name)
        desktop.close_window(name, strict=target.strict, by_class=target.by_class)
        if not look_again(desktop, lambda: not there(name)):
            raise TaskSetupFailed(f"the window {target.window_name!r} did not close", code="window_not_closed")
