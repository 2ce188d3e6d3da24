from pathlib import Path

import pytest

from worker.local import room
from worker.local.cgroups import V2, Place


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "host_memory", lambda: (1000, 2000))


class TestFreeMemory:
    def in_group(self, monkeypatch: pytest.MonkeyPatch, place: Place) -> int:
        monkeypatch.setattr(room, "here", lambda: {"memory": [place]})
        return room.free_memory()

    def test_our_own_group_may_have_less_than_the_host(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: None
    ) -> None:
        (tmp_path / "memory.max").write_text("700\n")
        (tmp_path / "memory.current").write_text("400\n")
        assert self.in_group(monkeypatch, Place(V2, tmp_path)) == 300

    def test_a_group_without_a_limit_does_not_count(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: None
    ) -> None:
        (tmp_path / "memory.max").write_text("max\n")
        (tmp_path / "memory.current").write_text("400\n")
        assert self.in_group(monkeypatch, Place(V2, tmp_path)) == 1000

    def test_version_1(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: None) -> None:
        (tmp_path / "memory.limit_in_bytes").write_text("900\n")
        (tmp_path / "memory.usage_in_bytes").write_text("100\n")
        assert self.in_group(monkeypatch, Place(1, tmp_path)) == 800

    def test_a_group_that_cannot_be_read_does_not_count(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: None
    ) -> None:
        assert self.in_group(monkeypatch, Place(V2, tmp_path / "absent")) == 1000
