"""Both versions of control groups, on folders that look like theirs."""

from pathlib import Path

import pytest

from worker.local.cgroups import CgroupParent, Cgroups, members, places, remove_tree
from worker.local.group_trial import V2, try_limit
from worker.local.limits import DesktopLimits

FILES = {
    "memory.max": "max\n",
    "memory.current": "1000\n",
    "memory.peak": "5000\n",
    "memory.swap.max": "max\n",
    "memory.events": "low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\n",
    "pids.max": "max\n",
    "pids.events": "max 4\n",
    "cpu.weight": "100\n",
    "cgroup.procs": "",
    "cgroup.subtree_control": "",
}

V1 = """\
30 25 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
31 30 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
33 30 0:29 /docker/abc /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
34 30 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
"""
V1_MEMBERSHIP = "4:memory:/some/group\n3:pids:/docker/abc/inner\n1:cpu:/\n0::/\n"
V2_MOUNT = "30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders behave like version 2: a new one has its files, and removing one removes them."""
    make, remove = Path.mkdir, Path.rmdir

    def mkdir(self: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:  # noqa: FBT001, FBT002
        known = self.is_dir()
        make(self, mode, parents, exist_ok)
        for name, text in FILES.items() if not known else ():
            (self / name).write_text(text)

    def rmdir(self: Path) -> None:
        for name in FILES:
            (self / name).unlink()
        remove(self)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(Path, "rmdir", rmdir)


@pytest.fixture
def parent(tmp_path: Path, kernel: None) -> Path:
    folder = tmp_path / "group"
    folder.mkdir()
    return folder


def made(parent: Path) -> Cgroups:
    """Of a kernel whose limits hold; see TestLimitsThatDoNotHold for others."""
    return Cgroups("deskarena-k", {name: [CgroupParent(V2, parent)] for name in ("memory", "pids", "cpu")}, holds)


def holds(controller: str, group: Path, version: int) -> None:
    assert (group.name, version) == ("probe", V2), controller


class TestPlaces:
    def test_version_1_has_one_candidate_per_controller(self) -> None:
        result = places(V1, V1_MEMBERSHIP)
        assert result["memory"][0] == CgroupParent(1, Path("/sys/fs/cgroup/memory/some/group"))
        assert result["cpu"][0] == CgroupParent(1, Path("/sys/fs/cgroup/cpu"))

    def test_a_container_sees_its_hierarchy_from_its_own_group_on(self) -> None:
        assert places(V1, V1_MEMBERSHIP)["pids"][0] == CgroupParent(1, Path("/sys/fs/cgroup/pids/inner"))

    def test_version_2_tries_its_own_group_then_those_above(self) -> None:
        membership = "0::/user.slice/user-1000.slice/session-1.scope\n"
        base = Path("/sys/fs/cgroup")
        assert places(V2_MOUNT, membership)["memory"] == [
            CgroupParent(V2, base / "user.slice/user-1000.slice/session-1.scope"),
            CgroupParent(V2, base / "user.slice/user-1000.slice"),
            CgroupParent(V2, base / "user.slice"),
            CgroupParent(V2, base),
        ]

    def test_no_hierarchies_give_no_candidates(self) -> None:
        assert places("", "") == {"memory": [], "pids": [], "cpu": []}


class TestCgroups:
    def test_switches_controllers_on_and_makes_its_own_group(self, parent: Path) -> None:
        groups = made(parent)
        assert groups.versions() == {"memory": "cgroup v2", "pids": "cgroup v2", "cpu": "cgroup v2"}
        assert groups.folders() == [str(parent / "deskarena-k")]
        assert not (parent / "deskarena-k" / "probe").exists()

    def test_first_working_candidate_is_used(self, parent: Path, tmp_path: Path) -> None:
        candidates = [CgroupParent(V2, tmp_path / "absent"), CgroupParent(V2, parent)]
        groups = Cgroups("deskarena-k", {"memory": candidates}, holds)
        assert (groups.bases, groups.why_not) == ({"memory": (V2, parent / "deskarena-k")}, {})

    def test_unusable_hierarchies_leave_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "cgroup.subtree_control").write_text("memory")
        groups = Cgroups("deskarena-k", {"memory": [CgroupParent(V2, tmp_path), CgroupParent(1, tmp_path / "absent")]})
        assert (groups.bases, groups.why_not) == ({}, {}), "that there is none is no fault of one"
        assert not (tmp_path / "deskarena-k").exists()

    def test_a_desktops_group_has_its_limits(self, parent: Path) -> None:
        group = made(parent).create("d1", DesktopLimits(cpu_weight=50))
        folder = parent / "deskarena-k" / "d1"
        assert (folder / "memory.max").read_text() == str(2048 * 2**20)
        assert (folder / "memory.swap.max").read_text() == "0"
        assert (folder / "pids.max").read_text() == "1024"
        assert (folder / "cpu.weight").read_text() == "50"
        assert group.entrances() == [str(folder / "cgroup.procs")]

    def test_remove_deletes_nested_groups(self, parent: Path) -> None:
        groups = made(parent)
        groups.create("d1", DesktopLimits())
        assert groups.remove()
        assert not (parent / "deskarena-k").exists()


class TestLimitsThatDoNotHold:
    """Folders with every file of a control group, that limit nothing."""

    def test_ineffective_limits_are_reported_and_not_used(self, parent: Path) -> None:
        groups = Cgroups("deskarena-k", {name: [CgroupParent(V2, parent)] for name in ("memory", "pids")})
        assert groups.bases == {}
        assert "a program with a limit of 16 MiB took 64 MiB" in groups.why_not["memory"]
        assert "a program with a limit of 1 process started another" in groups.why_not["pids"]
        assert not (parent / "deskarena-k").exists()

    def test_result_of_the_trial_is_reported_despite_later_failures(self, parent: Path, tmp_path: Path) -> None:
        groups = Cgroups("deskarena-k", {"memory": [CgroupParent(V2, parent), CgroupParent(V2, tmp_path / "absent")]})
        assert "took 64 MiB" in groups.why_not["memory"]

    def test_ignored_weight_is_reported(self, parent: Path) -> None:
        (parent / "cpu.weight").unlink()
        (parent / "cpu.weight").symlink_to("/dev/null")
        with pytest.raises(OSError, match=r"cpu\.weight does not keep its value"):
            try_limit("cpu", parent, V2)

    def test_controller_without_its_file_is_reported(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"pids\.max"):
            try_limit("pids", tmp_path, V2)


class TestGroup:
    def test_reports_usage_and_limit_hits(self, parent: Path) -> None:
        group = made(parent).create("d1", DesktopLimits())
        assert (group.memory(), group.peak_memory(), group.memory_kills(), group.processes_refused()) == (
            1000,
            5000,
            2,
            4,
        )

    def test_old_kernels_do_not_tell_the_peak(self, parent: Path) -> None:
        group = made(parent).create("d1", DesktopLimits())
        (parent / "deskarena-k" / "d1" / "memory.peak").unlink()
        assert group.peak_memory() == 0

    def test_remove_is_safe_to_call_twice(self, parent: Path) -> None:
        group = made(parent).create("d1", DesktopLimits())
        assert group.remove()
        assert group.remove()

    def test_remove_returns_false_while_the_group_is_busy(self, parent: Path) -> None:
        group = made(parent).create("d1", DesktopLimits())
        (parent / "deskarena-k" / "d1" / "busy").mkdir()
        assert not group.remove()


class TestMembers:
    def test_counts_groups_below(self, parent: Path) -> None:
        (parent / "one").mkdir()
        (parent / "cgroup.procs").write_text("1\n2\n")
        (parent / "one" / "cgroup.procs").write_text("3\n")
        assert sorted(members(parent)) == [1, 2, 3]

    def test_removed_group_has_no_members(self, tmp_path: Path) -> None:
        assert members(tmp_path / "gone") == []


class TestRemoveTree:
    def test_removal_of_a_tree_is_limited_in_time(self, parent: Path) -> None:
        (parent / "one").mkdir()
        (parent / "one" / "busy").mkdir()
        (parent / "one" / "busy" / "x").write_text("")
        assert not remove_tree(parent, 0.02)
