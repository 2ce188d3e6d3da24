"""Lease objects of holds, and which of them are written when."""

from dataclasses import replace
from uuid import UUID

from backend.domain.machines.slots import SlotRef
from worker.k8s import lease_objects
from worker.k8s.lease_objects import SlotHold, WrittenLease, due

ID = UUID("018f0000-0000-7000-8000-000000000001")
NOW = 1_767_225_600.5


def held(number: int = 1, fence: int = 7, **more: str) -> SlotHold:
    slot = SlotRef(2, "node-1", f"slot-{number}", fence)
    return SlotHold(ID, slot, NOW - 30, run="r", episode="e", **{"attempt": "a", **more})


def written(what: SlotHold, at: float = 0.0) -> WrittenLease:
    return WrittenLease(what, uid="u", version="5", at=at, transitions=0)


def names(*numbers: int) -> list[str]:
    return [f"deskarena-slot-slot-{number}" for number in numbers]


class TestLease:
    def test_is_this_object(self) -> None:
        assert lease_objects.lease(held(), "w-1", "lab", NOW, transitions=3, version="9") == {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {
                "name": "deskarena-slot-slot-1",
                "resourceVersion": "9",
                "labels": {
                    "app.kubernetes.io/name": "deskarena-hold",
                    "deskarena.dev/owner": "lab",
                    "deskarena.dev/slot": "slot-1",
                },
                "annotations": {
                    "deskarena.dev/fence": "7",
                    "deskarena.dev/place": "node-1 2",
                    "deskarena.dev/worker": "w-1",
                    "deskarena.dev/deadline": "2026-01-01T00:01:00Z",
                    "deskarena.dev/run": "r",
                    "deskarena.dev/episode": "e",
                    "deskarena.dev/attempt": "a",
                },
            },
            "spec": {
                "holderIdentity": "w-1",
                "leaseDurationSeconds": 60,
                "acquireTime": "2025-12-31T23:59:30.500000Z",
                "renewTime": "2026-01-01T00:00:00.500000Z",
                "leaseTransitions": 3,
            },
        }

    def test_lease_roundtrip(self) -> None:
        lease = lease_objects.lease(held(), "w-1", "lab", NOW, transitions=3)
        assert (
            lease_objects.fence_of(lease),
            lease_objects.transitions_of(lease),
            lease_objects.holder_of(lease),
        ) == (
            7,
            3,
            "w-1",
        )
        assert not lease_objects.is_past(lease, NOW + 59)
        assert lease_objects.is_past(lease, NOW + 61)

    def test_an_object_that_somebody_has_spoilt_says_nothing(self) -> None:
        lease = {"metadata": {"annotations": {"deskarena.dev/fence": "-4", "deskarena.dev/deadline": "soon"}}}
        assert (
            lease_objects.fence_of(lease),
            lease_objects.transitions_of(lease),
            lease_objects.holder_of(lease),
        ) == (
            0,
            0,
            "somebody",
        )
        assert lease_objects.is_past(lease, NOW)


class TestDue:
    def test_new_ended_changed_then_the_oldest(self) -> None:
        ours = {held(number).name: held(number) for number in range(1, 6)}
        ours[held(3).name] = held(3, attempt="another")
        known = {held(number).name: written(held(number), at=-float(number)) for number in (2, 3, 4, 5, 6)}
        entries = due(ours, known, now=20.0, most=99)
        assert [name for name, _ in entries] == names(1, 6, 3, 5, 4, 2)
        assert [name for name, each in entries if each is None] == names(6)

    def test_recent_lease_objects_are_kept(self) -> None:
        assert due({held().name: held()}, {held().name: written(held(), at=1.0)}, now=20.9, most=9) == []

    def test_a_later_hold_of_ours_is_a_new_one(self) -> None:
        ours = {held().name: held(fence=8)}
        assert due(ours, {held().name: written(held())}, now=0.0, most=9) == list(ours.items())

    def test_a_hold_between_two_attempts_has_changed(self) -> None:
        idle = replace(held(), run="", episode="", attempt="")
        assert due({held().name: idle}, {held().name: written(held())}, now=0.0, most=9) == [(held().name, idle)]

    def test_renewals_are_batched_without_starving_any(self) -> None:
        """1,000 slots: each is renewed within its duration at 40 in a look of 2 s, by one worker alone."""
        ours = {held(number).name: held(number) for number in range(1000)}
        known = {name: written(each) for name, each in ours.items()}
        now, writes = 0.0, 0
        while now < 600.0:
            now += 2.0
            for name, each in due(ours, known, now, most=40):
                assert each is not None
                assert now - known[name].at <= lease_objects.DURATION_SECONDS + 20.0
                known[name], writes = written(each, at=now), writes + 1
        assert writes <= 600.0 * 20
