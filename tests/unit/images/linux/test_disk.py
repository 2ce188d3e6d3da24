from pathlib import Path

from worker.images.linux.disk import as_root, convert_command, format_command, unpack_command

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

    def test_conversion(self) -> None:
        words = ["qemu-img", "convert", "-f", "raw", "-O", "qcow2", "-o", "compat=1.1", "/b/disk.raw", "/b/disk.qcow2"]
        assert convert_command(DISK, Path("/b/disk.qcow2")) == words
