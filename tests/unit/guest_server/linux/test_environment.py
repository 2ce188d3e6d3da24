import locale
from pathlib import Path
from typing import Any

import pytest

from guest_server.environment import LIBRARY, PACKAGE
from guest_server.linux.environment import children_environment, language, own_environment, read_config


@pytest.fixture
def given(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path), "PATH": "/usr/bin"}


class TestReadConfig:
    def test_unset_variables_have_defaults(self, given: dict[str, str]) -> None:
        config = read_config(given)
        assert (config.width, config.height, config.desktop) == (1920, 1080, "plain")
        assert config.tunnel_ports == {1337, 8080, 9222}
        assert config.egress_proxy == ""

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("DESKARENA_SCREEN", "big"),
            ("DESKARENA_SCREEN", "10x10"),
            ("DESKARENA_SCREEN", "99999x100"),
            ("DESKARENA_DESKTOP", "kde"),
            ("DESKARENA_X_SERVER", "xwayland"),
            ("DESKARENA_TUNNEL_PORTS", "80,x"),
            ("DESKARENA_TUNNEL_PORTS", "70000"),
            ("XDG_RUNTIME_DIR", "/does/not/exist"),
            ("XDG_RUNTIME_DIR", ""),
            ("HOME", "/does/not/exist"),
        ],
    )
    def test_a_wrong_variable_is_named(self, given: dict[str, str], name: str, value: str) -> None:
        with pytest.raises(ValueError, match=name):
            read_config({**given, name: value})


class TestChildrenEnvironment:
    def test_gives_the_screen_the_bus_and_nothing_of_ours(self, given: dict[str, str]) -> None:
        ours: dict[str, Any] = {"DESKARENA_SCREEN": "800x600", "DESKARENA_LISTEN_FD": "3", "SOME_TOKEN": "x"}
        made = children_environment(read_config({**given, **ours}), ":7")
        assert made["DISPLAY"] == ":7"
        assert made["DBUS_SESSION_BUS_ADDRESS"] == f"unix:path={given['XDG_RUNTIME_DIR']}/bus"
        assert not set(ours) & set(made)

    def test_python_finds_the_site_folder_but_not_this_package(self, given: dict[str, str]) -> None:
        config = read_config({**given, "PYTHONPATH": f"{PACKAGE.parent}:/opt/guest/site"})
        assert children_environment(config, ":0")["PYTHONPATH"] == f"/opt/guest/site:{LIBRARY}"
        assert own_environment(config, ":0")["PYTHONPATH"] == f"{PACKAGE.parent}:/opt/guest/site"

    def test_without_a_site_folder_there_is_only_the_library_for_agents_code(self, given: dict[str, str]) -> None:
        config = read_config({**given, "PYTHONPATH": str(PACKAGE.parent)})
        assert children_environment(config, ":0")["PYTHONPATH"] == str(LIBRARY)

    def test_a_locale_that_this_system_lacks_is_not_passed_on(self, given: dict[str, str]) -> None:
        config = read_config({**given, "LANG": "xx_XX.UTF-8"})
        assert children_environment(config, ":0")["LANG"] == "C.UTF-8"


class TestLanguage:
    def test_installed_locale_is_used_without_changing_the_process(self) -> None:
        before = locale.setlocale(locale.LC_ALL)
        assert (language("C.UTF-8"), language("POSIX"), language("xx_XX.UTF-8")) == ("C.UTF-8", "POSIX", "C.UTF-8")
        assert locale.setlocale(locale.LC_ALL) == before
