from pathlib import Path

from worker.local.programs import programs


class TestPrograms:
    def test_programs_of_the_system_are_found(self) -> None:
        result = programs()
        assert {"sh", "python3"} <= set(result)
        assert list(result) == sorted(set(result))

    def test_programs_outside_the_desktops_view_are_left_out(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").write_text("#!/bin/sh\n")
        (tmp_path / "elsewhere").chmod(0o755)
        (tmp_path / "shell").symlink_to("/usr/bin/sh")
        (tmp_path / "text").symlink_to("/usr/lib/os-release")
        (tmp_path / "broken").symlink_to("/usr/bin/no-such-program")
        assert programs([str(tmp_path), str(tmp_path / "absent")]) == ("shell",)
