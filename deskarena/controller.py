"""`env.controller` for agents written for OSWorld: reads the newest observation and acts by steps."""

import logging
from collections.abc import Callable
from typing import Any, Protocol

from deskarena.episode import Observation
from deskarena.pictures import as_png

logger = logging.getLogger(__name__)


class Environment(Protocol):
    """What the controller needs of `DesktopEnv`."""

    screen_width: int
    screen_height: int

    def step(self, action: Any) -> object:
        """Carries out one action."""


class Controller:
    """Reading is free, acting is a step; the desktop's files are not available."""

    def __init__(self, env: Environment, newest: Callable[[], Observation]) -> None:
        self._env = env
        self._newest = newest

    def get_screenshot(self) -> bytes:
        """The newest screenshot as PNG."""
        observation = self._newest()
        return as_png(observation.picture, observation.media_type)

    def get_accessibility_tree(self) -> str | None:
        """The newest accessibility tree as XML, if the environment requests it."""
        tree = self._newest().details.get("accessibility_tree")
        return None if tree is None else str(tree)

    def get_terminal_output(self) -> str | None:
        """The newest text of the terminal, if the environment requests it."""
        text = self._newest().details.get("terminal")
        return None if text is None else str(text)

    def get_vm_platform(self) -> str:
        """`Linux` or `Windows`."""
        return str(self._newest().details["platform"])

    def get_vm_screen_size(self) -> dict[str, int]:
        """Pixels."""
        return {"width": self._env.screen_width, "height": self._env.screen_height}

    def execute_action(self, action: Any) -> None:
        """One step of the episode."""
        self._env.step(action)

    def execute_python_command(self, command: str) -> None:
        """Pyautogui code, as one step of the episode."""
        self._env.step(command)

    def start_recording(self) -> None:
        """Does nothing: the service stores a picture of every step."""

    def end_recording(self, dest: str) -> None:
        """No film is written: the episode's page shows its steps."""
        logger.info("%s is not written: the service has the episode's steps", dest)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(
            f"controller.{name} is not available here: an agent acts on the desktop by mouse, keyboard and code"
        )
