import pytest

from backend.domain.machines.desktop_end import (
    FROM_INSIDE,
    LIMITS,
    MAX_TEXT,
    OF_THE_HOST,
    Blame,
    DesktopEnd,
    EndCause,
    blame,
    cause_of,
)

RULE = {
    EndCause.MEMORY_LIMIT: Blame.AGENT,
    EndCause.PROCESS_LIMIT: Blame.AGENT,
    EndCause.DISK_LIMIT: Blame.AGENT,
    EndCause.SESSION_ENDED: Blame.AGENT,
    EndCause.SESSION_SUSPENDED: Blame.AGENT,
    EndCause.PROCESSOR_LIMIT: Blame.AGENT,
    EndCause.FILE_LIMIT: Blame.AGENT,
    EndCause.SHUT_DOWN: Blame.AGENT,
    EndCause.SYSTEM_CRASHED: Blame.AGENT,
    EndCause.SESSION_KILLED: Blame.MACHINE,
    EndCause.SUPERVISOR_ENDED: Blame.MACHINE,
    EndCause.HOST_MEMORY: Blame.MACHINE,
    EndCause.HOST_DISK: Blame.MACHINE,
    EndCause.EMULATOR_ENDED: Blame.MACHINE,
    EndCause.REMOVED: Blame.MACHINE,
    EndCause.UNKNOWN: Blame.UNEXPLAINED,
}


class TestBlame:
    @pytest.mark.parametrize("cause", EndCause)
    def test_after_the_agent_acted(self, cause: EndCause) -> None:
        assert blame(DesktopEnd(cause=cause), acted=True) is RULE[cause]

    @pytest.mark.parametrize("cause", EndCause)
    def test_before_the_agent_acted_it_is_always_the_machine(self, cause: EndCause) -> None:
        assert blame(DesktopEnd(cause=cause), acted=False) is Blame.MACHINE

    def test_no_cause_is_both_the_agent_s_and_the_host_s(self) -> None:
        assert not FROM_INSIDE & OF_THE_HOST
        assert LIMITS < FROM_INSIDE


class TestCauseOf:
    @pytest.mark.parametrize("cause", EndCause)
    def test_causes_sent_by_a_supervisor(self, cause: EndCause) -> None:
        assert cause_of(cause.value) is cause

    @pytest.mark.parametrize("value", ["", "agent", None, 3])
    def test_anything_else_is_unknown(self, value: object) -> None:
        assert cause_of(value) is EndCause.UNKNOWN


class TestText:
    def test_output_of_programs_becomes_one_short_line(self) -> None:
        end = DesktopEnd(text="a\x1b[31mb\n\x00c " + "x" * 10**6)
        assert end.text.startswith("a [31mb c x")
        assert len(end.text) == MAX_TEXT
