from backend.domain.model.units import MIB
from worker.qemu.memory_budget import RESERVE, MemoryBudget

GIB = 1024 * MIB


class TestBudget:
    def test_admits_what_fits_beside_the_reserve(self) -> None:
        assert MemoryBudget(0, lambda: GIB + RESERVE).admits(GIB, [])
        assert not MemoryBudget(0, lambda: GIB + RESERVE - 1).admits(GIB, [])

    def test_room_for_growth_of_running_machines_is_reserved(self) -> None:
        held = [(GIB, lambda: 100 * MIB), (GIB, lambda: 2 * GIB)]
        assert not MemoryBudget(0, lambda: GIB + RESERVE + 923 * MIB).admits(GIB, held)
        assert MemoryBudget(0, lambda: GIB + RESERVE + 924 * MIB).admits(GIB, held)

    def test_a_limit_counts_machines_at_their_full_size(self) -> None:
        budget = MemoryBudget(2 * GIB, lambda: 100 * GIB)
        assert budget.admits(GIB, [(GIB, int)])
        assert not budget.admits(GIB, [(GIB, int), (1, int)])

    def test_usage_is_not_queried_when_everything_fits(self) -> None:
        def asked() -> int:
            raise AssertionError("asked")

        assert MemoryBudget(0, lambda: 2 * GIB + RESERVE).admits(GIB, [(GIB, asked)])
