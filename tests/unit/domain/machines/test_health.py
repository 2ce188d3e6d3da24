from typing import Any

import pytest

from backend.domain.machines.health import (
    PASSING,
    Ailment,
    DesktopHealth,
    DiskRoom,
    HealthFinding,
    HealthLimits,
    HealthReply,
    RunningProgram,
    findings,
)
from backend.domain.model.run import ScreenSize
from backend.domain.model.units import MIB
from tests.factories.health import health_of

NOW = 1_800_000_000.0
SCREEN = ScreenSize(width=1280, height=800)
LIMITS = HealthLimits()


def asked(*, seen: tuple[int, int] = (1280, 800), **changes: Any) -> HealthReply:
    """A question that took a tenth of a second; the clock was read in its middle."""
    return HealthReply(health_of(SCREEN, **({"clock": NOW} | changes)), NOW - 0.05, NOW + 0.05, SCREEN, seen)


def told(**changes: Any) -> list[str]:
    return [str(result) for result in findings(asked(**changes), LIMITS)]


class TestFindings:
    def test_a_healthy_desktop(self) -> None:
        assert findings(asked(), LIMITS) == ()

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"api": "1.0"}, "guest_api: the guest speaks '1.0', this worker 1.1"),
            ({"api": "2.1"}, "guest_api: the guest speaks '2.1', this worker 1.1"),
            ({"api": "one"}, "guest_api: the guest speaks 'one', this worker 1.1"),
            ({"clock": NOW + 3.05}, "clock: 3.0 s ahead, at most 2 s allowed"),
            ({"clock": NOW - 86400.05}, "clock: 86400.0 s behind, at most 2 s allowed"),
            ({"disks": (DiskRoom(path="/tmp", free=0, size=512 * MIB),)},
             "disk: 0 MiB free of 512 MiB in /tmp, 100 MiB needed"),
            ({"memory_free": 30 * MIB}, "memory: 30 MiB free, 100 MiB needed"),
            ({"width": 1024, "height": 768}, "resolution: the screen is 1024x768 instead of 1280x800"),
            ({"seen": (800, 600)}, "resolution: its picture is 800x600 instead of 1280x800"),
            ({"scale": 1.5}, "scale: the display is scaled by 1.5: coordinates would not be pixels"),
            ({"black": True}, "black_screen: the screen shows nothing"),
            ({"locked": "i3lock"}, "locked_screen: the screen is covered: i3lock"),
            ({"pending": ("dpkg is running",)}, "pending: dpkg is running"),
            ({"licence_days": 0.5}, "licence: the system's licence ends in 0.5 days"),
            ({"licence_days": -3.0}, "licence: the system's licence has ended"),
            ({"processes": (RunningProgram(pid=5, name="miner"),)},
             "processes: programs of an earlier task run: miner"),
        ],
    )  # fmt: skip
    def test_each_failure_is_named(self, changes: dict[str, Any], words: str) -> None:
        assert told(**changes) == [words]

    def test_every_name_can_be_told(self) -> None:
        """The table above is complete: with all faults at once, every failure is reported."""
        everything = asked(
            api="", clock=0.0, disks=(DiskRoom(path="/", free=0, size=1),), memory_free=0, width=1, scale=2.0,
            black=True, locked="x", pending=("x",), licence_days=0.0, processes=(RunningProgram(pid=1, name="x"),),
        )  # fmt: skip
        assert [result.ailment for result in findings(everything, LIMITS)] == list(Ailment)

    def test_a_slow_answer_is_not_a_wrong_clock(self) -> None:
        slow = HealthReply(health_of(SCREEN, clock=NOW), NOW - 20, NOW + 20, SCREEN, (1280, 800))
        assert findings(slow, LIMITS) == ()

    def test_memory_that_nobody_can_tell_is_not_a_failure(self) -> None:
        assert told(memory_free=None) == []

    def test_a_newer_guest_is_understood(self) -> None:
        assert told(api="1.7") == []

    def test_many_programs_are_counted(self) -> None:
        many = tuple(RunningProgram(pid=n, name=f"p{n}") for n in range(8))
        assert told(processes=many) == ["processes: programs of an earlier task run: p0, p1, p2, p3, p4 and 3 more"]

    def test_the_limits_are_the_installations(self) -> None:
        strict = HealthLimits(disk=2**40, licence_days=30)
        result = findings(asked(licence_days=7.0), strict)
        assert [each.ailment for each in result] == [Ailment.DISK, Ailment.LICENCE]

    def test_transient_findings_are_not_permanent(self) -> None:
        assert not PASSING & {Ailment.CLOCK, Ailment.DISK, Ailment.LICENCE, Ailment.SCALE, Ailment.GUEST_API}


class TestHealth:
    def test_unknown_fields_of_a_newer_guest_are_ignored(self) -> None:
        value = health_of(SCREEN).model_dump(mode="json")
        value["screen"]["depth"] = 24
        assert DesktopHealth.model_validate(value | {"status": "success", "mood": "good"}).screen.size == (1280, 800)


class TestFinding:
    def test_reads_as_name_and_words(self) -> None:
        assert str(HealthFinding(Ailment.CLOCK, "late")) == "clock: late"
