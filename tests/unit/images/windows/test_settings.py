from typing import Any

import pytest
from pydantic import ValidationError

from worker.images.windows.settings import WindowsSettings, read_settings

ENTRY = {
    "key": "HKEY_CURRENT_USER\\Software\\A",
    "name": "B",
    "type": "DWord",
    "value": 1,
    "why": "because",
    "source": "https://learn.microsoft.com/x",
}
# Where tasks of the benchmarks leave their marks: what the getters of these tasks read.
ANSWERS = (
    "CurrentVersion\\PushNotifications",
    "WindowsUpdate\\UX\\Settings",
    "Control\\TimeZoneInformation",
    "UrlAssociations",
    "StorageSense",
    "Policies\\Microsoft\\Windows\\WindowsUpdate",
)


def settings(**changed: Any) -> WindowsSettings:
    return WindowsSettings.model_validate({"registry": [ENTRY | changed], "commands": [], "services": []})


class TestReadSettings:
    def test_settings_do_not_solve_tasks(self) -> None:
        keys = [entry.key for entry in read_settings().registry]
        assert [key for key in keys for answer in ANSWERS if answer.lower() in key.lower()] == []

    @pytest.mark.parametrize(
        "subject", ["DisablePrivacyExperience", "PromptOnSecureDesktop", "AutoReboot", "NoLockScreen"]
    )
    def test_required_settings_are_set(self, subject: str) -> None:
        assert subject in {entry.name for entry in read_settings().registry}

    def test_windows_neither_sleeps_nor_updates(self) -> None:
        read = read_settings()
        assert ("powercfg.exe", "/change", "standby-timeout-ac", "0") in {command.run for command in read.commands}
        assert {"wuauserv", "UsoSvc"} <= {service.name for service in read.services}


class TestSettings:
    @pytest.mark.parametrize(
        "wrong",
        [
            {"key": "HKLM\\SOFTWARE\\A"},
            {"key": "HKEY_LOCAL_MACHINE\\SAM\\A"},
            {"value": "1"},
            {"value": -1},
            {"type": "String"},
            {"type": "Binary"},
            {"source": "https://example.com/x"},
            {"why": ""},
            {"name": "a\\b"},
        ],
    )
    def test_refuses_a_wrong_entry(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            settings(**wrong)

    def test_takes_a_right_one(self) -> None:
        assert settings().registry[0].value == 1

    def test_refuses_the_same_value_twice(self) -> None:
        with pytest.raises(ValidationError, match="set twice"):
            WindowsSettings.model_validate({"registry": [ENTRY, ENTRY | {"name": "b"}], "commands": [], "services": []})
