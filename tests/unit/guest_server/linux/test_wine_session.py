from pathlib import Path

import pytest

from guest_server.linux.environment import SessionConfig
from guest_server.linux.wine_session import (
    ready_report,
    server_environment,
    set_size,
    start_wine_server,
    wine_environment,
)
from guest_server.protocol.errors import StartError
from guest_server.protocol.limits import GuestLimits
from tests.error_codes import raises_code


@pytest.fixture
def config(tmp_path: Path) -> SessionConfig:
    given = {
        "HOME": "/home/user",
        "USER": "Docker",
        "WINEPREFIX": "/home/user/.wine",
        "DESKARENA_LISTEN_FD": "3",
        "DESKARENA_LIMIT_OUTPUT": "100",
        "PYTHONPATH": "/opt/guest",
    }
    return SessionConfig(
        width=1280,
        height=800,
        home=tmp_path,
        runtime=tmp_path,
        limits=GuestLimits(),
        tunnel_ports=frozenset({9222, 1337}),
        egress_proxy="http://127.0.0.1:18888",
        inherited=given,
    )


class TestEnvironments:
    def test_programs_get_nothing_of_ours(self, config: SessionConfig, tmp_path: Path) -> None:
        assert wine_environment(config, ":0") == {
            "HOME": "/home/user",
            "USER": "Docker",
            "WINEPREFIX": "/home/user/.wine",
            "LANG": "C.UTF-8",
            "PATH": "/usr/bin:/bin",
            "DISPLAY": ":0",
            "XAUTHORITY": str(tmp_path / "xauthority"),
            "XDG_RUNTIME_DIR": str(tmp_path),
        }

    def test_windows_part_gets_the_session_environment(self, config: SessionConfig) -> None:
        more = set(server_environment(config, ":0").items()) - set(wine_environment(config, ":0").items())
        assert dict(more) == {
            "PYTHONPATH": "C:\\Deskarena",
            "DESKARENA_SCREEN": "1280x800",
            "DESKARENA_TUNNEL_PORTS": "1337,9222",
            "DESKARENA_EGRESS_PROXY": "http://127.0.0.1:18888",
            "DESKARENA_LIMIT_OUTPUT": "100",
        }


class TestSetSize:
    def test_adds_a_key_of_the_registrys_text_form(self, tmp_path: Path) -> None:
        (tmp_path / "user.reg").write_text("WINE REGISTRY Version 2\n")
        set_size(tmp_path, 1280, 800)
        key = '\n[Software\\\\Wine\\\\Explorer\\\\Desktops]\n"Default"="1280x800"\n'
        assert (tmp_path / "user.reg").read_text() == f"WINE REGISTRY Version 2\n{key}"


class TestUnderstood:
    def test_ready_message_of_a_server(self) -> None:
        assert ready_report('{"ready": true, "api": "1.1"}') == {"ready": True, "api": "1.1"}

    @pytest.mark.parametrize("line", ["", "hello", "[]", '{"ready": false}'])
    def test_other_output_is_reported(self, line: str) -> None:
        with raises_code(StartError, "not_ready"):
            ready_report(line)


class TestStartWineServer:
    @pytest.fixture
    def wine(self, tmp_path: Path) -> str:
        """The path of a Wine whose server ends at once, and says that all is well."""
        (tmp_path / "wineserver").write_text("#!/bin/sh\nexit $CODE\n")
        (tmp_path / "wineserver").chmod(0o755)
        return str(tmp_path / "wine64")

    @pytest.fixture
    def processes(self, tmp_path: Path) -> Path:
        """Looks like /proc."""
        for pid, name in ((1, "bwrap"), (12, "wineserver64"), (20, "explorer.exe")):
            (tmp_path / "proc" / str(pid)).mkdir(parents=True)
            (tmp_path / "proc" / str(pid) / "comm").write_text(f"{name}\n")
        (tmp_path / "proc" / "13").mkdir()  # It has ended meanwhile.
        return tmp_path / "proc"

    def test_finds_its_process_by_the_kernels_name(self, wine: str, processes: Path) -> None:
        assert start_wine_server(wine, {"CODE": "0"}, processes) == 12

    def test_unstartable_server_is_reported(self, wine: str, processes: Path, tmp_path: Path) -> None:
        with raises_code(StartError, "start_failed", mentions="3"):
            start_wine_server(wine, {"CODE": "3"}, processes)
        with raises_code(StartError, "not_started"):
            start_wine_server(str(tmp_path / "absent" / "wine64"), {}, processes)

    def test_server_that_did_not_stay_is_reported(self, wine: str, tmp_path: Path) -> None:
        with raises_code(StartError, "not_running"):
            start_wine_server(wine, {"CODE": "0"}, tmp_path)
