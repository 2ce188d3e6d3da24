"""What observation spaces share: how they are made."""

from typing import Any

from pydantic import BaseModel

from backend.domain.parameters import Parameters
from backend.domain.ports_agent import Eyes


class Space:
    """A space without options; one with options has its own `Params`."""

    Params: type[BaseModel] = Parameters

    def __init__(self, params: Any = None, eyes: Eyes | None = None) -> None:
        """Args: params: as `Params`, None = its defaults; eyes: what it may use beside the desktop."""
        self.params: Any = self.Params() if params is None else params
        self.eyes = eyes
