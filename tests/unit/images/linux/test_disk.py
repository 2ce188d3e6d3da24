import os
import shutil
import subprocess
from pathlib import Path

import pytest

from worker.images.linux.disk import (
    as_root,
    convert_command,
    format_command,
    inspect_command,
    moments,
    moments_command,
    unpack_command,
)

ROOT, DISK = Path("/b/root"), Path("/b/disk.raw")


class TestCommands:
    def test_root_is_root(self) -> None:
        assert as_root(["tar"], Path("/b/owners"), root=True) == ["tar"]

    def test_anybody_else_pretends_and_remembers(self) -> None:
        expected = ["fakeroot", "-i", "/b/owners", "-s", "/b/owners", "--", "tar"]
        assert as_root(["tar"], Path("/b/owners"), root=False) == expected

    def test_unpacking_keeps_owners_and_makes_no_devices(self) -> None:
        words = unpack_command(Path("/b/root.tar"), ROOT)
        assert {"--numeric-owner", "--same-owner", "--exclude=./dev/*"} <= set(words)

    def test_the_same_content_has_the_same_identifiers(self) -> None:
        one = format_command(ROOT, DISK, 4 * 2**30, "a" * 64)
        assert one == format_command(ROOT, DISK, 4 * 2**30, "a" * 64)
        assert one != format_command(ROOT, DISK, 4 * 2**30, "b" * 64)
        assert one[-3:] == ["/b/root", "/b/disk.raw", "4194304k"]

    def test_every_files_moments_are_set(self) -> None:
        header = "Inode count:              16\nBlock count: 9\nFree inodes:              4\n"
        assert moments(header, 7).splitlines() == [
            f"sif <{inode}> {field} @7" for inode in (2, 11, 12) for field in ("ctime", "atime", "crtime")
        ]

    def test_invalid_headers_are_reported(self) -> None:
        with pytest.raises(ValueError, match="not the header"):
            moments("dumpe2fs: Bad magic number", 7)

    def test_conversion_command_is_complete(self) -> None:
        words = ["qemu-img", "convert", "-f", "raw", "-O", "qcow2", "-o", "compat=1.1", "/b/disk.raw", "/b/disk.qcow2"]
        assert convert_command(DISK, Path("/b/disk.qcow2")) == words


class TestSameBytes:
    def test_the_same_content_gives_the_same_disk(self, tmp_path: Path) -> None:
        """Independent of the time of the build: here the files have different times."""
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        if not all(shutil.which(tool, path=path) for tool in ("mke2fs", "debugfs", "dumpe2fs")):
            pytest.skip("needs e2fsprogs: `make image-linux` installs it")
        env = {"PATH": path, "E2FSPROGS_FAKE_TIME": "1700000000"}

        def run(command: list[str]) -> str:
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
            return done.stdout + done.stderr

        disks = []
        for name in ("one", "two"):
            folder, disk, commands = tmp_path / name, tmp_path / f"{name}.raw", tmp_path / f"{name}.txt"
            for number in range(20):
                (folder / f"folder{number}").mkdir(parents=True)
                (folder / f"folder{number}" / "file").write_text(f"content {number}")
                os.utime(folder / f"folder{number}" / "file", (1_600_000_000, 1_600_000_000))
                os.utime(folder / f"folder{number}", (1_600_000_000, 1_600_000_000))
            os.utime(folder, (1_600_000_000, 1_600_000_000))
            run(format_command(folder, disk, 16 * 2**20, "a" * 64))
            commands.write_text(moments(run(inspect_command(disk)), 1_700_000_000))
            said = run(moments_command(disk, commands))
            assert [line for line in said.splitlines() if line and not line.startswith("debugfs")] == []
            disks.append(disk.read_bytes())
        assert disks[0] == disks[1]
