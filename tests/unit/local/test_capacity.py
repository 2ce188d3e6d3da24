from pathlib import Path

import pytest

from worker.local import capacity
from worker.local.cgroups import CgroupParent
from worker.local.group_trial import V2
from worker.local.watchdog import host_memory


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "host_memory", lambda: (1000, 2000))


class TestFreeMemory:
    def in_group(self, monkeypatch: pytest.MonkeyPatch, place: CgroupParent) -> int:
        monkeypatch.setattr(capacity, "here", lambda: {"memory": [place]})
        return capacity.free_memory()

    def test_free_memory_is_limited_by_our_own_group(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: None
    ) -> None:
        (tmp_path / "memory.max").write_text("700\n")
        (tmp_path / "memory.current").write_text("400\n")
        assert self.in_group(monkeypatch, CgroupParent(V2, tmp_path)) == 300

    def test_a_group_without_a_limit_does_not_count(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: None
    ) -> None:
        (tmp_path / "memory.max").write_text("max\n")
        (tmp_path / "memory.current").write_text("400\n")
        assert self.in_group(monkeypatch, CgroupParent(V2, tmp_path)) == 1000

    def test_free_memory_of_cgroup_version_1(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: None) -> None:
        (tmp_path / "memory.limit_in_bytes").write_text("900\n")
        (tmp_path / "memory.usage_in_bytes").write_text("100\n")
        assert self.in_group(monkeypatch, CgroupParent(1, tmp_path)) == 800

    def test_a_group_that_cannot_be_read_does_not_count(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: None
    ) -> None:
        assert self.in_group(monkeypatch, CgroupParent(V2, tmp_path / "absent")) == 1000


class TestMostMemory:
    def in_groups(self, monkeypatch: pytest.MonkeyPatch, *places: CgroupParent) -> int:
        monkeypatch.setattr(capacity, "here", lambda: {"memory": list(places)})
        return capacity.most_memory()

    def test_smallest_limit_of_own_and_parent_groups_counts(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: None
    ) -> None:
        own = tmp_path / "pod" / "worker"
        own.mkdir(parents=True)
        (own / "memory.max").write_text("max\n")
        (own.parent / "memory.max").write_text("700\n")
        (tmp_path / "memory.max").write_text("1500\n")
        places = [CgroupParent(V2, folder) for folder in (own, own.parent, tmp_path, tmp_path.parent)]
        assert self.in_groups(monkeypatch, *places) == 700

    def test_memory_limit_of_cgroup_version_1(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: None
    ) -> None:
        (tmp_path / "memory.limit_in_bytes").write_text("900\n")
        assert self.in_groups(monkeypatch, CgroupParent(1, tmp_path)) == 900

    def test_cgroup_version_1_without_a_limit_does_not_count(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: None
    ) -> None:
        (tmp_path / "memory.limit_in_bytes").write_text("9223372036854771712\n")
        assert self.in_groups(monkeypatch, CgroupParent(1, tmp_path)) == 2000

    def test_memory_without_groups_is_the_hosts(self, monkeypatch: pytest.MonkeyPatch, host: None) -> None:
        assert self.in_groups(monkeypatch) == 2000

    def test_memory_of_this_machine_is_plausible(self) -> None:
        assert 0 < capacity.most_memory() <= host_memory()[1]
