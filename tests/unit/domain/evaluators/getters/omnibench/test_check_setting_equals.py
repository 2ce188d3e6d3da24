from pathlib import Path

import pytest

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.evaluators.getters._evidence import as_json
from backend.domain.evaluators.getters.omnibench.check_setting_equals import CheckSettingEquals
from tests.error_codes import raises_code

GETTER = CheckSettingEquals()


def found(name: str, output: str = "", returncode: int = 0, error: str = "") -> str | None:
    told = {"returncode": returncode, "output": output, "error": error}
    value: str | None = GETTER.read([as_json(name, told)], {"name": name, "value": 1}, Path("/nowhere"))["found"]
    return value


class TestXfconf:
    NAME = "xfconf xfwm4 /general/theme"

    def test_set_property_is_returned(self) -> None:
        assert found(self.NAME, "Daloa\n") == "Daloa"

    def test_unset_property_is_none(self) -> None:
        said = 'Property "/general/theme" does not exist on channel "xfwm4".'
        assert found(self.NAME, returncode=1, error=said) is None
        assert found(self.NAME, said, returncode=1) is None

    def test_failed_xfconf_query_gives_no_verdict(self) -> None:
        with raises_code(EvaluatorFailed, "evidence_unreadable"):
            found(self.NAME, returncode=1, error="Failed to init libxfconf: no bus")


class TestRegistry:
    NAME = "registry HKCU\\Control Panel\\Desktop Value"

    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("    value    REG_DWORD    0x1f", "31"),
            ("    Value    REG_QWORD    0x100000000", "4294967296"),
            ("    Value    REG_SZ    0x1f", "0x1f"),
            ("    Value    REG_SZ    C:\\a b.jpg", "C:\\a b.jpg"),
            ("    Value    REG_SZ", ""),
            ("    Other    REG_SZ    x", None),
        ],
    )
    def test_registry_types_are_converted_to_text(self, line: str, expected: str | None) -> None:
        assert found(self.NAME, f"\r\nHKEY_CURRENT_USER\\Control Panel\\Desktop\r\n{line}\r\n\r\n") == expected

    def test_unset_value_is_none(self) -> None:
        assert found(self.NAME, returncode=1, error="ERROR: The system was unable to find the key.") is None


@pytest.mark.parametrize("name", ["xfconf xfwm4", "registry HKCU", "dconf a b", "gsettings"])
def test_malformed_setting_name_is_refused(name: str) -> None:
    with raises_code(Invalid, "invalid_check", mentions="gsettings or xfconf"):
        GETTER.check({"name": name, "value": 1})
