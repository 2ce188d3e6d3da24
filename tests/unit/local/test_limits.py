import pytest

from worker.local.limits import MIB, DesktopLimits, prlimit_command


class TestLimits:
    def test_limits_survive_json(self) -> None:
        limits = DesktopLimits(memory=900 * MIB, home=100 * MIB, tmp=MIB, run=MIB, shm=MIB, processes=7)
        assert DesktopLimits.from_json(limits.to_json()) == limits

    def test_file_systems_must_fit_into_memory(self) -> None:
        with pytest.raises(ValueError, match="smaller than its memory limit"):
            DesktopLimits(memory=512 * MIB)

    def test_an_unknown_limit_is_an_error(self) -> None:
        with pytest.raises(TypeError):
            DesktopLimits.from_json({"memroy": 1})


class TestPrlimitCommand:
    def test_prlimit_command_is_complete(self) -> None:
        assert prlimit_command(DesktopLimits(), data=False) == [
            "/usr/bin/prlimit",
            "--nproc=1024:1024",
            "--nofile=4096:4096",
            "--fsize=536870912:536870912",
            "--core=1:1",
            "--msgqueue=819200:819200",
            "--sigpending=4096:4096",
            "--memlock=65536:65536",
            "--",
        ]

    def test_without_a_memory_group_each_process_is_bounded_below_the_desktop(self) -> None:
        assert "--data=1610612736:1610612736" in prlimit_command(DesktopLimits(), data=True)
