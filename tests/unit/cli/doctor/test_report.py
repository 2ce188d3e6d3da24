from backend.cli.doctor.check import Check, State
from backend.cli.doctor.report import NEEDED_FOR_LOCAL, NEEDED_FOR_STACK, verdict


def checks(*broken: str) -> list[Check]:
    names = (*NEEDED_FOR_LOCAL, *NEEDED_FOR_STACK, "qemu")
    return [Check(name=name, state=State.BROKEN if name in broken else State.OK, detail="", means="") for name in names]


class TestVerdict:
    def test_everything_works(self) -> None:
        assert verdict(checks()) == {"stack": True, "local": True, "qemu": True}

    def test_without_a_sandbox_there_are_no_local_desktops(self) -> None:
        assert verdict(checks("sandbox")) == {"stack": True, "local": False, "qemu": True}

    def test_without_a_database_there_is_no_stack(self) -> None:
        assert verdict(checks("database", "qemu")) == {"stack": False, "local": True, "qemu": False}
