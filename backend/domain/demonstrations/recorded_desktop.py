"""A recorded step in place of a desktop: observation spaces see what was recorded, and nothing can be done."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, cast

from backend.domain.errors import GuestRefused
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Frame, Window
from backend.domain.ports.desktop import Desktop, Probe


def recorded_desktop(frame: Frame, tree: str = "", platform: str = "Linux") -> Desktop:
    """The Desktop port for what shows the screen. Windows and clipboard are empty: demonstrations do not have them.

    Args:
        frame: the screen.
        tree: the accessibility tree; empty if it was not recorded, then asking for it raises GuestRefused.
        platform: `Linux` or `Windows`.
    """
    return cast("Desktop", _RecordedDesktop(frame, tree, platform))


class _RecordedDesktop:
    def __init__(self, frame: Frame, tree: str, platform: str) -> None:
        self._frame, self._tree, self._platform = frame, tree, platform
        self.screen = ScreenSize(width=frame.width, height=frame.height)
        self.patience = 1.0

    def probe(self) -> Probe:
        return Probe(api="recorded", platform=self._platform, screen=self.screen)

    def frame(self, *, quality: int = 85) -> Frame:  # noqa: ARG002 - as it was recorded
        return self._frame

    def screenshot(self) -> Frame:
        return self._frame

    def accessibility_tree(self) -> str:
        if not self._tree:
            _refuse("accessibility_tree")
        return self._tree

    def windows(self) -> Sequence[Window]:
        return ()

    def clipboard(self) -> str:
        return ""

    def call(self, method: str, route: str, payload: Mapping[str, Any] | None = None) -> Any:  # noqa: ARG002 - the port's signature
        _refuse(f"{method} {route}")

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        """Everything else that the port has."""
        return lambda *_args, **_more: _refuse(name)


def _refuse(operation: str) -> NoReturn:
    raise GuestRefused(f"the step was recorded without {operation}", kind="not_recorded")
