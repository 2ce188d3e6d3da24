"""`sleep`: waits for a fixed time, as published tasks require. Our own tasks wait for windows instead."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from backend.domain.model.parameters import Parameters
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Sleep(Parameters):
    seconds: float = Field(ge=0, le=600)


@register(PluginKind.SETUP, "sleep")
class Sleep:
    """`seconds`, 600 at most. They pass inside the desktop, whose clock it is about."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Sleep.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        seconds = _Sleep.parse(parameters).seconds
        context.desktop.run_python(f"import time; time.sleep({seconds})", timeout=seconds + 30.0)
