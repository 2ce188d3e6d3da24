import subprocess
from pathlib import Path

import pytest

from worker.images.linux.initrd import DRIVERS, cpio, drivers_in_order, initrd

DEPENDENCIES = """\
kernel/drivers/block/virtio_blk.ko: kernel/drivers/virtio/virtio.ko kernel/drivers/virtio/virtio_ring.ko
kernel/drivers/virtio/virtio.ko: kernel/drivers/virtio/virtio_ring.ko
kernel/drivers/virtio/virtio_ring.ko:
kernel/arch/x86/crypto/crc32c-intel.ko:
"""


def listed(archive: bytes) -> dict[str, tuple[str, bytes]]:
    """Name to (type and rights, content), by reading the format as the kernel does."""
    result: dict[str, tuple[str, bytes]] = {}
    at = 0
    while True:
        fields = [int(archive[at + 6 + 8 * each : at + 14 + 8 * each], 16) for each in range(13)]
        assert archive[at : at + 6] == b"070701"
        mode, size, length = fields[1], fields[6], fields[11]
        name = archive[at + 110 : at + 110 + length - 1].decode()
        start = at + (110 + length + 3) // 4 * 4
        if name == "TRAILER!!!":
            return result
        result[name] = (oct(mode), archive[start : start + size])
        at = start + (size + 3) // 4 * 4


class TestDriversInOrder:
    def test_each_comes_after_what_it_needs_and_once(self) -> None:
        order = drivers_in_order(DEPENDENCIES, ["virtio_blk", "crc32c_intel", "virtio"])
        assert [path.name for path in order] == ["virtio_ring.ko", "virtio.ko", "virtio_blk.ko", "crc32c-intel.ko"]

    def test_a_missing_one_is_named(self) -> None:
        with pytest.raises(ValueError, match="no module nvme"):
            drivers_in_order(DEPENDENCIES, ["nvme"])


class TestCpio:
    def test_written_archive_is_listed(self) -> None:
        archive = cpio({"bin": (0o040755, b""), "bin/x": (0o100755, b"12345"), "y": (0o100644, b"")})
        assert listed(archive) == {"bin": ("0o40755", b""), "bin/x": ("0o100755", b"12345"), "y": ("0o100644", b"")}

    def test_the_same_content_gives_the_same_bytes(self) -> None:
        entries = {"x": (0o100644, b"1")}
        assert cpio(entries) == cpio(dict(entries))


class TestInitrd:
    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        modules = tmp_path / "root/usr/lib/modules/6.1.0-amd64"
        names = [*DRIVERS]
        (modules / "kernel").mkdir(parents=True)
        for name in names:
            (modules / "kernel" / f"{name}.ko").write_text(name)
        (modules / "modules.dep").write_text("".join(f"kernel/{name}.ko:\n" for name in names))
        (tmp_path / "root/usr/bin").mkdir(parents=True)
        (tmp_path / "root/usr/bin/busybox").write_text("busybox")
        (tmp_path / "init").write_text("#!init")
        return tmp_path / "root"

    def test_holds_a_program_its_tools_and_the_drivers_in_order(self, root: Path) -> None:
        result = listed(initrd(root, root.parent / "init"))
        assert result["init"] == ("0o100755", b"#!init")
        assert result["bin/busybox"] == ("0o100755", b"busybox")
        assert result["modules/order"][1].decode().split()[:2] == ["virtio_pci.ko", "virtio_blk.ko"]
        assert result["modules/ext4.ko"] == ("0o100644", b"ext4")
        assert list(result)[:4] == ["bin", "dev", "disk", "modules"]

    def test_two_kernels_are_refused(self, root: Path) -> None:
        (root / "usr/lib/modules/6.2.0-amd64").mkdir()
        with pytest.raises(ValueError, match="found 2"):
            initrd(root, root.parent / "init")


class TestInit:
    def test_the_shell_can_read_it(self) -> None:
        init = Path(__file__).resolve().parents[4] / "vm_images" / "linux" / "init"
        done = subprocess.run(["sh", "-n", str(init)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
