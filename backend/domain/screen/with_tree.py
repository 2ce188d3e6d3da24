"""Observation for agents that require the accessibility tree (the oracle), regardless of the run's space."""

from collections.abc import Sequence

from pydantic import BaseModel

from backend.domain.model.trajectory import Action, Observation
from backend.domain.ports.agent import ObservationSpace
from backend.domain.ports.desktop import Desktop
from backend.domain.screen.tree import read_tree


class TreeSpace:
    """Another space, and the accessibility tree and the windows where it does not show them."""

    def __init__(self, inner: ObservationSpace) -> None:
        """Args: inner: what sees."""
        self._inner = inner
        self.Params: type[BaseModel] = inner.Params
        self.about = inner.about
        self.shows_frame = inner.shows_frame

    def acted(self, actions: Sequence[Action]) -> None:
        self._inner.acted(actions)

    def observe(self, desktop: Desktop, index: int) -> Observation:
        observation = self._inner.observe(desktop, index)
        if observation.a11y_tree is not None:
            return observation
        windows = observation.windows if observation.windows is not None else tuple(desktop.windows())
        return observation.model_copy(update={"a11y_tree": read_tree(desktop), "windows": windows})
