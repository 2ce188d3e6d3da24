import pytest

from backend.domain.machines.slots import MOST, DesktopNeeds, FreeResources, largest, need_of, room_for, slot_count
from backend.domain.model.units import GIB
from tests.factories.machine_images import image_of

SLOTS = {"local": 4, "qemu": 2, "none": 0}
NEED = DesktopNeeds(memory=GIB, cores=1.0, disk=GIB)


def room(memory: float = 100, cores: int = 100, disk: float = 1000) -> FreeResources:
    return FreeResources(int(memory * GIB), cores, int(disk * GIB))


class TestCounted:
    @pytest.mark.parametrize(
        ("machine", "number", "by"),
        [
            (room(memory=4.5), 3, "memory"),
            (room(cores=2), 2, "cores"),
            (room(disk=7.9), 5, "disk"),
            (room(memory=4, cores=3), 3, "memory and cores"),
            (room(), MOST, f"the maximum of {MOST}"),
        ],
    )
    def test_the_scarcest_decides(self, machine: FreeResources, number: int, by: str) -> None:
        count = slot_count(machine, NEED)
        assert count.number == number
        assert count.reason.startswith(f"limited by {by}: ")

    def test_says_what_there_is_and_what_one_takes(self) -> None:
        assert slot_count(room(memory=7.5, cores=4, disk=20.25), NEED).reason == (
            "limited by cores: 7.5 GiB of memory, 4 cores, 20.2 GiB of disk; one takes 1 GiB, 1 core, 1 GiB"
        )

    def test_one_core_runs_one_desktop_that_wants_two(self) -> None:
        assert slot_count(room(cores=1), DesktopNeeds(cores=2.0)).number == 1

    @pytest.mark.parametrize("machine", [room(memory=0.5), room(memory=1.9), room(disk=1)])
    def test_no_room_gives_no_slots(self, machine: FreeResources) -> None:
        assert slot_count(machine, NEED).number == 0

    def test_a_configured_number_of_slots_takes_precedence(self) -> None:
        assert slot_count(room(cores=4), NEED, slot_limit=2).reason == "set to 2"
        assert slot_count(room(cores=4), NEED, slot_limit=0).number == 0

    def test_more_than_there_is_room_for_is_reported(self) -> None:
        count = slot_count(room(cores=4), NEED, slot_limit=9)
        assert (count.number, count.reason) == (9, "set to 9: more than the machine has room for (4)")


class TestNeedOf:
    def test_a_linux_clone_shares_half_of_its_memory(self) -> None:
        assert need_of(image_of(memory_mib=1024, cpus=2)) == DesktopNeeds(memory=768 * 2**20, cores=1.0, disk=4 * GIB)

    def test_windows_counts_in_full(self) -> None:
        assert need_of(image_of(os="windows", memory_mib=8192, cpus=4)).memory == 8448 * 2**20


class TestLargest:
    def test_is_enough_for_each(self) -> None:
        result = largest([DesktopNeeds(memory=5, cores=1, disk=1), DesktopNeeds(memory=1, cores=3, disk=9)])
        assert result == DesktopNeeds(memory=5, cores=3, disk=9)

    def test_largest_need_of_none_is_empty(self) -> None:
        assert largest([]) == DesktopNeeds()


class TestRoomFor:
    @pytest.mark.parametrize(
        ("running", "provider", "there_is_room"),
        [
            ([], "local", True),
            (["local"] * 3, "local", True),
            (["local"] * 4, "local", False),
            (["local"] * 3, "qemu", False),
            (["local"] * 2, "qemu", True),
            (["qemu", "local"], "local", True),
            (["qemu", "local", "local"], "local", False),
            ([], "none", False),
            ([], "unknown", False),
            (["gone"] * 9, "local", True),
        ],
    )
    def test_providers_share_the_machine(self, running: list[str], provider: str, *, there_is_room: bool) -> None:
        assert (room_for(running, provider, SLOTS) > 0) is there_is_room

    def test_a_set_number_holds_over_all_providers(self) -> None:
        assert room_for(["a", "b"], "a", {"a": 3, "b": 3}) == 1
        assert room_for(["a", "b", "b"], "a", {"a": 3, "b": 3}) == 0

    def test_counts_what_is_left_of_the_machine(self) -> None:
        assert [room_for(["local"] * used, "local", SLOTS) for used in range(6)] == [4, 3, 2, 1, 0, 0]
        assert room_for(["qemu"], "local", SLOTS) == 2
