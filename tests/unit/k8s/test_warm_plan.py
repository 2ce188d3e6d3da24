"""Pods that are kept ready ahead."""

from hypothesis import given
from hypothesis import strategies as st

from backend.domain.machines.slots import SlotRef
from worker.k8s.warm_plan import WarmPlan, WarmSlot, plan

SLOTS = st.lists(
    st.builds(
        WarmSlot,
        slot=st.builds(SlotRef, st.integers(0, 5), st.sampled_from(["a", "b", "c"])),
        kind=st.sampled_from(["", "win", "linux"]),
        leased=st.booleans(),
        usable=st.booleans(),
    ),
    unique_by=lambda each: each.slot,
)
WAITING = st.dictionaries(st.sampled_from(["win", "linux"]), st.integers(0, 9))


def slots(node: str, *images: str, leased: int = 0, usable: bool = True) -> list[WarmSlot]:
    """Slots of a node with these pods; the first `leased` of them are leased."""
    return [
        WarmSlot(SlotRef(index, node), image, leased=index < leased, usable=usable)
        for index, image in enumerate(images)
    ]


def places(node: str, *indexes: int) -> frozenset[SlotRef]:
    return frozenset(SlotRef(index, node) for index in indexes)


class TestPlan:
    def test_spares_for_waiting_episodes_are_spread_over_nodes(self) -> None:
        warm = plan([*slots("a", "", "", ""), *slots("b", "", "", "")], {"win": 3}, 2)
        assert warm == WarmPlan(prepare=((SlotRef(0, "a"), "win"), (SlotRef(0, "b"), "win"), (SlotRef(1, "a"), "win")))

    def test_no_more_than_ahead_on_each_node(self) -> None:
        result = plan([*slots("a", "", "", ""), *slots("b", "", "")], {"win": 99}, 1)
        assert [slot for slot, _ in result.prepare] == [SlotRef(0, "a"), SlotRef(0, "b")]

    def test_the_image_that_most_wait_for_comes_first(self) -> None:
        result = plan(slots("a", "", ""), {"linux": 1, "win": 5}, 1)
        assert result.prepare == ((SlotRef(0, "a"), "win"),)

    def test_ready_pods_serve_what_waits(self) -> None:
        assert plan(slots("a", "win", "win", ""), {"win": 2}, 2) == WarmPlan(keep=places("a", 0, 1))

    def test_nothing_waits_and_nothing_changes(self) -> None:
        assert plan(slots("a", "win", "", ""), {}, 2) == WarmPlan(keep=places("a", 0))

    def test_a_surplus_that_nothing_waits_for_is_left_to_its_deadline(self) -> None:
        assert plan(slots("a", "win", "win", "win"), {}, 1) == WarmPlan(keep=places("a", 0))

    def test_a_surplus_that_is_about_to_be_used_stays(self) -> None:
        assert plan(slots("a", "win", "win", "win"), {"win": 3}, 1) == WarmPlan(keep=places("a", 0, 1, 2))

    def test_a_pod_that_nothing_waits_for_gives_way(self) -> None:
        result = plan(slots("a", "linux", "linux", leased=1), {"win": 1}, 1)
        assert result == WarmPlan(remove=(SlotRef(1, "a"),), prepare=((SlotRef(1, "a"), "win"),))

    def test_a_pod_that_an_attempt_holds_never_does(self) -> None:
        assert plan(slots("a", "linux", leased=1), {"win": 1}, 1) == WarmPlan()

    def test_idle_pods_leave_a_node_that_drains(self) -> None:
        result = plan([*slots("a", "win", "win", leased=1, usable=False), *slots("b", "")], {"win": 1}, 1)
        assert result == WarmPlan(remove=(SlotRef(1, "a"),), prepare=((SlotRef(0, "b"), "win"),))

    def test_no_pods_are_warmed_without_demand(self) -> None:
        assert plan(slots("a", "", ""), {"win": 5}, 0) == WarmPlan()

    @given(SLOTS, WAITING, st.integers(0, 4))
    def test_always_leaves_attempts_alone_and_never_makes_too_many(
        self, every: list[WarmSlot], waiting: dict[str, int], ahead: int
    ) -> None:
        result = plan(every, waiting, ahead)
        by_slot = {each.slot: each for each in every}
        assert not any(by_slot[slot].leased for slot in (*result.remove, *(slot for slot, _ in result.prepare)))
        assert len(set(result.remove)) == len(result.remove)
        for slot, image in result.prepare:
            assert by_slot[slot].usable
            assert not by_slot[slot].kind or slot in result.remove
            assert waiting[image] > 0
        for image, number in waiting.items():
            ready = sum(each.kind == image and not each.leased and each.usable for each in every)
            made = sum(each == image for _, each in result.prepare)
            assert made <= max(0, number - ready)

    @given(SLOTS, WAITING, st.integers(0, 4))
    def test_plan_is_stable_once_applied(self, every: list[WarmSlot], waiting: dict[str, int], ahead: int) -> None:
        first = plan(every, waiting, ahead)
        made = dict(first.prepare)
        after = [
            WarmSlot(each.slot, made.get(each.slot, "" if each.slot in first.remove else each.kind),
                     leased=each.leased, usable=each.usable)
            for each in every
        ]  # fmt: skip
        again = plan(after, waiting, ahead)
        assert (again.remove, again.prepare) == ((), ())
