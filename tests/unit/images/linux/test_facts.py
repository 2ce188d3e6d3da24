from pathlib import Path

import pytest

from backend.domain.machines.machine_image import Package
from worker.images.linux.facts import programs, read_packages

SAID = f"""\
Package: mousepad
Architecture: amd64
Version: 0.5.10-4
Description-en: an editor
 Version: not this one
SHA256: {"a" * 64}

Package: dbus
Version: 1.14.10-1~deb12u1

Package: mousepad
Version: 0.5.10-4
SHA256: {"b" * 64}
"""


class TestReadPackages:
    def test_sorted_with_versions_and_hashes_and_once(self) -> None:
        assert read_packages(SAID) == (
            Package(name="dbus", version="1.14.10-1~deb12u1"),
            Package(name="mousepad", version="0.5.10-4", sha256="a" * 64),
        )

    def test_package_without_a_version_is_refused(self) -> None:
        with pytest.raises(ValueError, match="without name or version"):
            read_packages("Package: x\n")


class TestPrograms:
    def test_programs_on_the_path_without_following_links(self, tmp_path: Path) -> None:
        (tmp_path / "usr/bin").mkdir(parents=True)
        (tmp_path / "usr/games").mkdir()
        (tmp_path / "usr/bin/mousepad").touch()
        (tmp_path / "usr/bin/editor").symlink_to("/etc/alternatives/editor")
        (tmp_path / "usr/bin/folder").mkdir()
        (tmp_path / "usr/games/chess").touch()
        assert programs(tmp_path) == ("chess", "editor", "mousepad")
