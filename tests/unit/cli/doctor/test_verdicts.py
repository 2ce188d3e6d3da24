import pytest

from backend.cli.doctor.check import CheckState, DoctorCheck
from backend.cli.doctor.verdicts import NEEDED, RECOMMENDED, DoctorVerdict, verdicts
from backend.domain.machines.slots import DesktopNeeds, FreeResources
from backend.domain.model.units import GIB

ROOM = FreeResources(memory=16 * GIB, cores=4, disk=100 * GIB)
NAMES = dict.fromkeys(name for names in (*NEEDED.values(), *RECOMMENDED.values()) for name in names)


def found(*broken: str, wanted: int | None = None, room: FreeResources = ROOM) -> dict[str, DoctorVerdict]:
    checks = [
        DoctorCheck(
            name=name,
            state=CheckState.BROKEN if name in broken else CheckState.OK,
            detail=f"no {name}",
            means=f"{name} is slow",
        )
        for name in NAMES
    ]
    needs = {"qemu": DesktopNeeds(memory=4 * GIB, cores=1.0, disk=GIB)}
    return {verdict.name: verdict for verdict in verdicts(checks, room, needs, wanted)}


class TestVerdicts:
    def test_every_part_works_without_problems(self) -> None:
        told = found()
        assert list(told) == ["stack", "local", "local, Windows programs", "qemu", "k8s"]
        assert all(verdict.works and not verdict.reason for verdict in told.values())

    @pytest.mark.parametrize(
        ("broken", "works_not"),
        [
            ("sandbox", {"local", "local, Windows programs"}),
            ("local desktop", {"local", "local, Windows programs"}),
            ("evaluators", set()),
            ("wine", {"local, Windows programs"}),
            ("qemu", {"qemu"}),
            ("images", {"qemu"}),
            ("k8s", {"k8s"}),
            ("database", {"stack"}),
            ("kvm", set()),
            ("overlay", set()),
        ],
    )
    def test_dependents_of_a_failure_fail(self, broken: str, works_not: set[str]) -> None:
        assert {name for name, verdict in found(broken).items() if not verdict.works} == works_not

    def test_says_everything_that_is_missing(self) -> None:
        assert found("xvfb", "sandbox")["local"].reason == "xvfb: no xvfb; sandbox: no sandbox"

    def test_an_untried_check_is_not_a_cause(self) -> None:
        checks = [DoctorCheck(name=name, state=CheckState.OK, detail="", means="") for name in NAMES]
        broken = {"local desktop": CheckState.BROKEN, "window manager": CheckState.UNTRIED}
        checks += [DoctorCheck(name=name, state=state, detail=f"no {name}", means="") for name, state in broken.items()]
        (local,) = (each for each in verdicts(checks, ROOM, {}, None) if each.name == "local")
        assert (local.works, local.reason) == (False, "local desktop: no local desktop")

    def test_says_what_is_not_as_it_should_be(self) -> None:
        told = found("kvm")["qemu"]
        assert (told.works, told.reason) == (True, "kvm is slow")

    def test_slots_by_what_one_desktop_takes(self) -> None:
        told = found()
        assert {name: verdict.slots.number for name, verdict in told.items() if verdict.slots} == {
            "local": 4,
            "qemu": 3,
        }

    def test_without_room_for_one_desktop_it_does_not_work(self) -> None:
        told = found(room=FreeResources(memory=3 * GIB, cores=4, disk=100 * GIB))
        assert {name for name, verdict in told.items() if not verdict.works} == {"qemu"}
        assert told["qemu"].reason.startswith("no slots: ")

    def test_slots_that_a_person_has_set(self) -> None:
        slots = found(wanted=9)["local"].slots
        assert slots is not None
        assert (slots.number, slots.reason) == (9, "set to 9: more than the machine has room for (4)")

    def test_failing_providers_have_no_slots(self) -> None:
        assert found("qemu")["qemu"].slots is None
