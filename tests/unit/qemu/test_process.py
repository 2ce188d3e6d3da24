import pytest

from worker.qemu.process import _verdict
from worker.qemu.qmp import Event


class TestVerdict:
    @pytest.mark.parametrize(
        ("event", "why"),
        [
            (Event("SHUTDOWN", {"guest": True, "reason": "guest-shutdown"}), "the guest shut its machine down"),
            (Event("SHUTDOWN", {"guest": False, "reason": "host-signal"}), "QEMU was ended (host-signal)"),
            (Event("GUEST_PANICKED", {"action": "pause"}), "the guest's system crashed"),
            (Event("INTERNAL_ERROR"), "the machine cannot go on: an internal error of QEMU"),
            (
                Event("BLOCK_IO_ERROR", {"action": "stop", "nospace": True}),
                "the machine was stopped: the host has no room for what it writes to its disk",
            ),
            (Event("RESET", {"guest": True, "reason": "guest-reset"}), "the guest restarted its machine"),
        ],
    )
    def test_says_why_a_machine_is_given_up(self, event: Event, why: str) -> None:
        assert _verdict(event, restarts=False) == why

    @pytest.mark.parametrize(
        "event",
        [
            Event("BLOCK_IO_ERROR", {"action": "report"}),
            Event("RTC_CHANGE", {"offset": 1}),
            Event("RESET", {"guest": False, "reason": "host-qmp-system-reset"}),
            Event("STOP"),
        ],
    )
    def test_what_a_machine_lives_with_is_none(self, event: Event) -> None:
        assert not _verdict(event, restarts=False)

    def test_a_machine_that_boots_may_restart(self) -> None:
        assert not _verdict(Event("RESET", {"guest": True}), restarts=True)
