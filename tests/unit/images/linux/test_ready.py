"""Obstacles to building an image, reported before the build starts."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from backend.domain.errors import ClusterLost
from backend.domain.model.units import GIB
from tests.error_codes import raises_code
from worker.images.linux import ready
from worker.images.linux.ready import check, hint_for

OF_ROOT = ("mmdebstrap", "mke2fs", "dumpe2fs", "debugfs", "qemu-img", "tar")
OF_OTHERS = (*OF_ROOT, "fakeroot", "newuidmap", "newgidmap")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A machine with every program, two files of subordinate numbers, and 100 GiB."""
    given = SimpleNamespace(tools=tmp_path / "bin", numbers=(tmp_path / "subuid", tmp_path / "subgid"), free=100 * GIB)
    given.tools.mkdir()
    for name in OF_OTHERS:
        (given.tools / name).touch(0o755)
    for file in given.numbers:
        file.write_text("somebody:100000:65536\n")
    monkeypatch.setattr(ready, "SUBORDINATE", given.numbers)
    monkeypatch.setattr("pwd.getpwuid", lambda _: SimpleNamespace(pw_name="somebody"))
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=given.free))
    return given


class TestCheck:
    @pytest.mark.parametrize("root", [True, False])
    def test_suitable_host_passes(self, machine: SimpleNamespace, tmp_path: Path, *, root: bool) -> None:
        check("full", tmp_path, root=root, path=str(machine.tools))

    def test_root_needs_no_namespace(self, machine: SimpleNamespace, tmp_path: Path) -> None:
        (machine.tools / "newuidmap").unlink()
        machine.numbers[0].unlink()
        check("full", tmp_path, root=True, path=str(machine.tools))

    @pytest.mark.parametrize("name", OF_OTHERS)
    def test_a_missing_program_is_named(self, machine: SimpleNamespace, tmp_path: Path, name: str) -> None:
        (machine.tools / name).unlink()
        with raises_code(ClusterLost, "image_build_failed", mentions=str(name)) as raised:
            check("minimal", tmp_path, root=False, path=str(machine.tools))
        assert "make image-linux" in raised.value.hint

    @pytest.mark.parametrize("which", [0, 1])
    def test_missing_subordinate_ids_have_a_hint(self, machine: SimpleNamespace, tmp_path: Path, which: int) -> None:
        machine.numbers[which].write_text("somebodyelse:100000:65536\n")
        with raises_code(ClusterLost, "image_build_failed") as raised:
            check("minimal", tmp_path, root=False, path=str(machine.tools))
        assert "--add-subuids" in raised.value.hint

    @pytest.mark.parametrize(("variant", "needed"), [("minimal", 3), ("full", 9)])
    def test_missing_disk_space_is_reported(
        self, machine: SimpleNamespace, tmp_path: Path, variant: str, needed: int
    ) -> None:
        machine.free = needed * GIB - 1
        with raises_code(ClusterLost, "image_build_failed", mentions=(str(needed), "GiB")):
            check(variant, tmp_path, root=True, path=str(machine.tools))  # type: ignore[arg-type]


class TestHintFor:
    @pytest.mark.parametrize(
        ("said", "expected"),
        [
            ("E: Failed to fetch http://a/InRelease  Could not connect to a:80", "--source"),
            ("Temporary failure: Could not resolve 'a.example'", "--source"),
            ("E: The repository 'http://a nosuch Release' does not have a Release file.", "--suite"),
            ("W: GPG error: ... NO_PUBKEY 0E98404D386FA1D9", "debian-archive-keyring"),
            ("dpkg-deb: error: failed to write: No space left on device", "Free space"),
            ("E: unable to pick chroot mode automatically (use --mode for manual selection)", "as root"),
            ("E: Unable to locate package mousepad", "bookworm"),
        ],
    )
    def test_known_problems_have_a_hint(self, said: str, expected: str) -> None:
        assert expected in hint_for(f"I: finding correct signed-by value...\n{said}\nE: mmdebstrap failed to run\n")

    def test_unknown_problems_have_no_hint(self) -> None:
        assert hint_for("I: finding correct signed-by value...\nSegmentation fault\n") == ""
