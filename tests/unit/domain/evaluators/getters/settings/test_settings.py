from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import as_json
from backend.domain.evaluators.getters.settings import desktop_background, storage_sense_run_frequency
from backend.domain.evaluators.getters.settings._night_light import schedule
from backend.domain.evaluators.getters.settings._registry import query_registry, text
from backend.domain.evaluators.getters.settings._times import format_time
from backend.domain.evaluators.getters.settings.desktop_background import DesktopBackground
from backend.domain.evaluators.getters.settings.night_light_state import KEY, NightLightState
from backend.domain.evaluators.getters.settings.storage_sense_run_frequency import StorageSenseRunFrequency
from backend.domain.evaluators.getters.settings.system_notifications import SystemNotifications
from tests.error_codes import raises_code
from tests.factories.desktops import linux, windows
from tests.factories.windows_night_light import settings

NOWHERE = Path("unused")


def value(getter: Any, **registry: Any) -> Any:
    context = windows(**registry)
    return getter().read(getter().collect(context, {}), {}, NOWHERE)


class TestRegistry:
    """Texts as `reg query` of Windows 11 prints them."""

    def of(self, output: str, returncode: int = 0, name: str = "Name") -> str | None:
        return text(as_json(f"HKCU\\Key\\{name}", {"returncode": returncode, "output": output, "error": "oh"}))

    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("    Name    REG_SZ    C:\\a  b.jpg", "C:\\a  b.jpg"),
            ("    NAME    REG_SZ    ", ""),
            ("    Name    REG_SZ", ""),
            ("    Name    REG_DWORD    0x1f", "31"),
            ("    Name    REG_QWORD    0x100000000", "4294967296"),
            ("    Name    REG_BINARY    43420100", "43420100"),
        ],
    )
    def test_registry_values_are_parsed_by_type(self, line: str, expected: str) -> None:
        assert self.of(f"\r\nHKEY_CURRENT_USER\\Key\r\n{line}\r\n\r\n") == expected

    def test_value_name_with_spaces_is_read(self) -> None:
        assert self.of("\r\nHKEY_CURRENT_USER\\Key\r\n    My Name    REG_SZ    x\r\n", name="My Name") == "x"

    def test_missing_value_is_none(self) -> None:
        assert self.of("", returncode=1) is None

    @pytest.mark.parametrize("output", ["", "garbage", "    Other    REG_SZ    x"])
    def test_answer_without_the_value_gives_no_verdict(self, output: str) -> None:
        with pytest.raises(EvaluatorFailed):
            self.of(output)

    def test_missing_registry_gives_no_verdict(self) -> None:
        with raises_code(EvaluatorFailed, "evidence_unreadable", mentions="registry cannot be queried"):
            text(query_registry(linux(), "HKCU\\Key", "Name"))

    @pytest.mark.parametrize("evidence", [[], {}, {"output": 7}])
    def test_damaged_evidence_gives_no_verdict(self, evidence: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            text(as_json("HKCU\\Key\\Name", evidence))


class TestNightLight:
    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            (settings((19, 0), (7, 0)), ((19, 0), (7, 0))),
            (settings((21, 15), (6, 45)), ((21, 15), (6, 45))),
            (settings((0, 0), (7, 0)), ((0, 0), (7, 0))),
            (settings((0, 30), (0, 0)), ((0, 30), (0, 0))),
            (settings(by_the_sun=True), True),
            (settings(scheduled=False), False),
            (settings(scheduled=False, by_the_sun=True), False),
        ],
    )
    def test_schedule_fields_are_parsed(self, data: bytes, expected: Any) -> None:
        """From midnight on WAA's getter reads other bytes: it counts from the front."""
        assert schedule(data) == expected

    @pytest.mark.parametrize("data", [b"", b"\0" * 40, settings()[:-30], b"CB\1\0" + b"\x2a" * 5000, b"CB\1\0\x07"])
    def test_unknown_form_gives_no_verdict(self, data: bytes) -> None:
        with pytest.raises(EvaluatorFailed):
            schedule(data)

    def test_samples_have_the_bytes_that_waa_reads(self) -> None:
        """Byte 24 says that there is a schedule, 28 has the hour of its beginning, 33 that of its end."""
        data = settings((19, 0), (7, 0))
        assert (data[24], data[28], data[33]) == (1, 19, 7)
        assert (settings((19, 30), (7, 0))[30], settings((19, 30), (7, 0))[35]) == (30, 7)
        assert settings(by_the_sun=True)[28] == 202

    def test_registry_values_are_parsed_by_type(self) -> None:
        def of(data: str) -> Any:
            return value(NightLightState, registry={(KEY, "Data"): ("REG_BINARY", data)})

        assert of(settings((13, 5), (0, 0)).hex()) == [True, "01:05 PM", "00:00 AM"]
        assert of(settings(by_the_sun=True).hex()) == [True]
        assert of(settings(scheduled=False).hex()) is False
        with raises_code(EvaluatorFailed, "evidence_damaged"):
            of("xyz")


class TestOtherSettings:
    @pytest.mark.parametrize(("on", "expected"), [("0x1", "30"), ("0x0", None)])
    def test_storage_sense_counts_only_if_it_is_on(self, on: str, expected: str | None) -> None:
        key = storage_sense_run_frequency.KEY
        registry = {(key, "01"): ("REG_DWORD", on), (key, "2048"): ("REG_DWORD", "0x1e")}
        assert value(StorageSenseRunFrequency, registry=registry) == expected

    @pytest.mark.parametrize(("path", "expected"), [("", "True"), ("C:\\a.jpg", "False")])
    def test_empty_wallpaper_path_means_plain_colour(self, path: str, expected: str) -> None:
        registry = {(desktop_background.KEY, "WallPaper"): ("REG_SZ", path)}
        assert value(DesktopBackground, registry=registry) == expected

    def test_enabled_notifications_are_false(self) -> None:
        registry = {(SystemNotifications.__module__, ""): ("", "")}
        assert value(SystemNotifications, registry=registry) == "False"

    @pytest.mark.parametrize(
        ("hour", "expected"), [(0, "00:00 AM"), (7, "07:00 AM"), (12, "00:00 PM"), (19, "07:00 PM")]
    )
    def test_times_are_formatted_on_a_12_hour_clock(self, hour: int, expected: str) -> None:
        assert format_time(hour, 0) == expected
