"""Getters of Windows' settings and of pictures made in Paint."""

from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters.settings import (
    active_hours_of_user_to_not_interrupt_for_windows_updates as hours,
)
from backend.domain.evaluators.getters.settings import (
    default_browser,
    desktop_background,
    night_light_state,
    storage_sense_run_frequency,
    system_notifications,
    system_timezone,
)
from tests.factories.desktops import windows
from tests.factories.getter_cases import GetterCase
from tests.factories.paint import canvas
from tests.factories.windows_night_light import settings

PICTURE = "C:\\Users\\Docker\\Downloads\\Picture.png"
PACIFIC = "(UTC-08:00) Pacific Time (US & Canada)"


def setting(*values: tuple[str, str, str, str], value: Any, absent_value: Any = None) -> GetterCase:
    """A getter of the registry: (key, name, type, data) each."""
    registry = {(key, name): (kind, data) for key, name, kind, data in values}
    return GetterCase(
        parameters={},
        found=lambda: windows(registry=registry),
        value=value,
        absent=windows,
        absent_value=absent_value,
    )


CASES = {
    "night_light_state": setting(
        (night_light_state.KEY, "Data", "REG_BINARY", settings((19, 0), (7, 0)).hex().upper()),
        value=[True, "07:00 PM", "07:00 AM"],
        absent_value=False,
    ),
    "default_browser": setting((default_browser.KEY, "ProgId", "REG_SZ", "ChromeHTML"), value="ChromeHTML"),
    "storage_sense_run_frequency": setting(
        (storage_sense_run_frequency.KEY, "01", "REG_DWORD", "0x1"),
        (storage_sense_run_frequency.KEY, "2048", "REG_DWORD", "0x7"),
        value="7",
    ),
    "active_hours_of_user_to_not_interrupt_for_windows_updates": setting(
        (hours.KEY, "ActiveHoursStart", "REG_DWORD", "0x8"),
        (hours.KEY, "ActiveHoursEnd", "REG_DWORD", "0x11"),
        value=["08:00 AM", "05:00 PM"],
    ),
    "system_timezone": setting(
        (system_timezone.KEY, "TimeZoneKeyName", "REG_SZ", "Pacific Standard Time"),
        (rf"{system_timezone.ZONES}\Pacific Standard Time", "Display", "REG_SZ", PACIFIC),
        value=PACIFIC,
        absent_value=EvaluatorFailed,
    ),
    "desktop_background": setting(
        (desktop_background.KEY, "WallPaper", "REG_SZ", "C:\\Windows\\Web\\img0.jpg"),
        value="False",
        absent_value="True",
    ),
    "system_notifications": setting(
        (system_notifications.KEY, "ToastEnabled", "REG_DWORD", "0x0"), value="True", absent_value="False"
    ),
    "image_dimension_matches_input": GetterCase(
        parameters={"filepath": PICTURE, "width": "800", "height": "600"},
        found=lambda: windows({PICTURE: canvas(800, 600)}),
        value=True,
        absent=windows,
        absent_value=False,
    ),
    "is_red_circle_present_on_canvas": GetterCase(
        parameters={"filepath": PICTURE},
        found=lambda: windows({PICTURE: canvas(400, 300, circle="red")}),
        value=True,
        absent=windows,
        absent_value=False,
    ),
}
