"""A desktop supervisor's knowledge of its end; deaths of real desktops are in tests/integration."""

from pathlib import Path

import pytest

from backend.domain.machines.desktop_end import EndCause, cause_of
from worker.desktop_supervisor.desktop import SupervisedDesktop
from worker.local.limits import DesktopLimits


class CountedGroups(SupervisedDesktop):
    """One whose control groups counted that."""

    counted: dict[str, int]

    def hits(self) -> dict[str, int]:
        return self.counted


def desktop(status: int | None, **counted: int) -> CountedGroups:
    made = CountedGroups("d1", Path("/nowhere"), DesktopLimits(), None, 0.0, exit_status=status)
    made.counted = counted
    return made


class TestWhyEnded:
    @pytest.mark.parametrize(
        ("status", "counted", "cause"),
        [
            (0, {}, EndCause.SESSION_ENDED),
            (1, {}, EndCause.SESSION_ENDED),
            (139, {}, EndCause.SESSION_ENDED),
            (3, {}, EndCause.SESSION_KILLED),
            (137, {}, EndCause.SESSION_KILLED),
            (-9, {}, EndCause.SESSION_KILLED),
            (137, {"memory": 1}, EndCause.MEMORY_LIMIT),
            (3, {"memory": 2, "processes": 5}, EndCause.MEMORY_LIMIT),
            (137, {"processes": 5}, EndCause.SESSION_KILLED),
            (1, {"processes": 5}, EndCause.PROCESS_LIMIT),
            (None, {"processes": 5}, EndCause.PROCESS_LIMIT),
            (None, {"memory": 1}, EndCause.MEMORY_LIMIT),
            (None, {"memory": 0, "processes": 0}, EndCause.UNKNOWN),
        ],
    )
    def test_by_exit_code_and_counters(self, status: int | None, counted: dict[str, int], cause: EndCause) -> None:
        known = desktop(status, **counted).why_ended()
        assert cause_of(known["cause"]) is cause
        facts = {name: number for name, number in counted.items() if number}
        assert known["facts"] == (facts if status is None else {**facts, "exit_status": status})

    def test_without_a_filter_a_kill_is_unexplained(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("platform.machine", lambda: "riscv64")
        assert desktop(137).why_ended()["cause"] == "unknown"

    @pytest.mark.parametrize("cause", ["memory_limit", "process_limit", "host_memory", "supervisor_ended", "removed"])
    def test_ends_caused_by_the_supervisor(self, cause: str) -> None:
        made = desktop(None)
        made.kill("why", cause)
        made.kill("later", "removed")
        assert made.why_ended()["cause"] == cause
        assert cause_of(cause).value == cause
