"""`active_hours_of_user_to_not_interrupt_for_windows_updates`: hours without restarts for updates. WAA."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters.settings._registry import query_registry, texts
from backend.domain.evaluators.getters.settings._times import format_time
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

KEY = r"HKLM\SOFTWARE\Microsoft\WindowsUpdate\UX\Settings"
_HOUR = re.compile(r"\d{1,3}", re.ASCII)


@register(PluginKind.GETTER, "active_hours_of_user_to_not_interrupt_for_windows_updates")
class ActiveHoursOfUserToNotInterruptForWindowsUpdates(ParameterGetter):
    """No parameters. The value is `[start, end]` (`08:00 AM`), None if they were never set."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return [query_registry(context, KEY, "ActiveHoursStart"), query_registry(context, KEY, "ActiveHoursEnd")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        hours = [int(hour) for hour in texts(blobs, 2) if hour is not None and _HOUR.fullmatch(hour)]
        return [format_time(hour, 0) for hour in hours] if len(hours) == len(blobs) else None
