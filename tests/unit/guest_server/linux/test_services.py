import json
import os
import signal
import struct
import threading
from pathlib import Path

import pytest

from guest_server.linux.environment import SessionConfig
from guest_server.linux.services import (
    KILLED_STATUS,
    PROBLEM_STATUS,
    Services,
    conclude,
    use_up_process_ids,
    write_authority,
    x_command,
)
from guest_server.protocol.errors import StartError
from guest_server.protocol.limits import GuestLimits
from tests.error_codes import raises_code


class TestWriteAuthority:
    def test_a_wildcard_and_a_host_entry_for_every_display(self, tmp_path: Path) -> None:
        file = tmp_path / "xauthority"
        write_authority(file, "host", b"k" * 16)
        tail = struct.pack(">H", 0) + struct.pack(">H", 18) + b"MIT-MAGIC-COOKIE-1" + struct.pack(">H", 16) + b"k" * 16
        wild = struct.pack(">HH", 65535, 0) + tail
        assert file.read_bytes() == wild + struct.pack(">HH", 256, 4) + b"host" + tail
        assert file.stat().st_mode & 0o777 == 0o600


class TestServices:
    def test_a_missing_program_is_named(self) -> None:
        with raises_code(StartError, "not_started", mentions="no-such-program"):
            Services().start("x", ["no-such-program"], {})

    def test_the_answer_of_a_program(self) -> None:
        services = Services()
        read_end, write_end = os.pipe()
        services.start("sh", ["bash", "-c", f"echo :5 >&{write_end}; sleep 60"], {"PATH": os.defpath}, [write_end])
        os.close(write_end)
        assert services.answer("sh", read_end) == ":5"
        services.stop()
        assert services.processes["sh"].returncode is not None

    def test_service_that_dies_at_start_is_named(self) -> None:
        services = Services()
        read_end, write_end = os.pipe()
        services.start("sh", ["sh", "-c", "exit 3"], {"PATH": os.defpath}, [write_end])
        os.close(write_end)
        with raises_code(StartError, "not_ready", mentions="sh "):
            services.answer("sh", read_end)
        os.close(read_end)
        services.stop()


class TestConclude:
    @pytest.mark.parametrize(
        ("command", "status"),
        [("kill -9 $$", KILLED_STATUS), ("kill -6 $$", PROBLEM_STATUS), ("exit 0", PROBLEM_STATUS)],
    )
    def test_the_exit_code_tells_whether_sigkill_ended_a_program(
        self, command: str, status: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        services = Services()

        def work() -> str:
            services.start("sh", ["sh", "-c", command], {"PATH": os.defpath})
            services.processes["sh"].wait()
            return "sh ended"

        handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
        try:
            assert conclude(services, work) == status
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        assert json.loads(capsys.readouterr().err) == {"ready": False, "error": "sh ended"}


class TestUseUpProcessIds:
    def test_later_ones_are_larger(self) -> None:
        last = threading.get_native_id() + 5
        thread = threading.Thread(target=int)
        use_up_process_ids(last)
        thread.start()
        thread.join()
        assert thread.native_id is not None
        assert thread.native_id > last

    def test_without_a_number_none_is_used(self) -> None:
        use_up_process_ids(0)
        assert threading.active_count() >= 1


class TestXCommand:
    def config(self, tmp_path: Path, x_server: str) -> SessionConfig:
        home, limits = tmp_path / "home", GuestLimits()
        return SessionConfig(1280, 800, home=home, runtime=Path("/run/x"), limits=limits, x_server=x_server)

    def test_xvfb_keeps_its_screen_in_a_file(self, tmp_path: Path) -> None:
        argv = x_command(self.config(tmp_path, "xvfb"), 7)
        assert argv[:6] == ["Xvfb", "-screen", "0", "1280x800x24", "-fbdir", "/run/x/screen"]
        assert argv[6:8] == ["-displayfd", "7"]

    def test_xorg_is_on_the_first_terminal_and_logs_outside_the_home(self, tmp_path: Path) -> None:
        argv = x_command(self.config(tmp_path, "xorg"), 7)
        assert argv[:6] == ["Xorg", "vt1", "-keeptty", "-sharevts", "-logfile", "/run/x/Xorg.log"]
        assert "1280x800x24" not in argv
