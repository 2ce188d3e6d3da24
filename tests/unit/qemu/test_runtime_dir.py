import os
import tempfile
from collections.abc import Iterator

import pytest

from worker.qemu.runtime_dir import RuntimeDir, base_folder, sweep


@pytest.fixture(autouse=True)
def _temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="p-", dir="/tmp") as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        yield


class TestPlace:
    def test_is_private_and_goes_with_its_base(self) -> None:
        made = RuntimeDir()
        assert made.path.stat().st_mode & 0o066 == 0
        made.remove()
        made.remove()
        assert not made.path.parent.exists()

    def test_sweeps_what_the_dead_left_and_not_what_lives(self) -> None:
        living = RuntimeDir()
        dead = base_folder() / "s-dead"
        (dead / "m1").mkdir(parents=True)
        other = RuntimeDir()
        assert living.path.is_dir()
        assert not dead.exists()
        assert sweep(base_folder()) == 0
        other.remove()
        living.remove()

    def test_a_base_that_others_may_write_to_is_refused(self) -> None:
        base_folder().chmod(0o777)
        with pytest.raises(PermissionError):
            base_folder()

    def test_unwritable_folder_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tempfile, "tempdir", "/no-such-folder")
        with pytest.raises(FileNotFoundError):
            RuntimeDir()

    def test_the_path_leaves_room_for_a_socket_s_name(self) -> None:
        assert len(os.fsencode(base_folder())) < 80
