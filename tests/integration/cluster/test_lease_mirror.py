"""Holds mirrored into the cluster: what people see, conflicts, orphans, a lost API server; Postgres decides."""

import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from backend.db.models import Worker
from backend.domain.errors import Unavailable as DatabaseAway
from backend.domain.machines.nodes import NodeReport, NodeState
from backend.services.capacity import nodes
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.factories.records import World, capabilities
from tests.fakes.kubernetes.cluster import FakeCluster
from tests.fakes.kubernetes.faults import ApiFault
from tests.integration.cluster.conftest import NAMESPACE
from tests.waiting import until
from worker.base.database import Database
from worker.k8s import lease_objects
from worker.k8s.client import Kubernetes
from worker.k8s.cluster import LEASES, ClusterError, ClusterUnavailable, Object
from worker.k8s.lease_mirror import LeaseMirror
from worker.k8s.manifests import FENCE

NAME, OWNER = "desks/test", "test"
POD = "vm-pod"


class Setting:
    """A cluster with two slots, workers that serve it, and their mirrors."""

    def __init__(self, world: World, database: Database, cluster: Kubernetes) -> None:
        self.world, self.database, self.cluster = world, database, cluster
        self.taken: list[tuple[UUID, str]] = []
        self.late = 0.0
        slots = [NodeReport(name="n1", state=NodeState.READY, slots=2)]
        world.do(nodes.observe, NAME, slots, whole=True)
        self.first, self.second = self.worker("w1"), self.worker("w2")
        world.submit(provider="k8s")

    def worker(self, name: str) -> Worker:
        offer = {"ok": True, "reason": "", "programs": ["mousepad"], "cluster": NAME}
        return self.world.worker(name, node=name, slots_by_provider={"k8s": 9}, capabilities=capabilities(k8s=offer))

    def mirror(self, worker: Worker) -> LeaseMirror:
        return LeaseMirror(
            self.database,
            self.cluster,
            owner=OWNER,
            worker=lambda: (worker.id, worker.name),
            pod_name=lambda _: POD,
            on_takeover=lambda lease, why: self.taken.append((lease, why)),
            clock=lambda: time.time() + self.late,
        )

    def claim(self, worker: Worker) -> Claim:
        claim = self.world.claim(worker, "k8s")
        assert claim is not None
        return claim

    def leases(self) -> list[Object]:
        return list(self.cluster.list(LEASES).items)

    def lease(self) -> Object:
        (found,) = self.leases()
        return found


@pytest.fixture
def setting(ready: World, database: Database, cluster: Kubernetes) -> Setting:
    return Setting(ready, database, cluster)


def notes(found: Object) -> dict[str, Any]:
    return {name.removeprefix("deskarena.dev/"): text for name, text in found["metadata"]["annotations"].items()}


def said(fake: FakeCluster) -> dict[str, Any]:
    """Facts that the pod's program reports."""
    pod = fake.pod(NAMESPACE, POD)
    assert pod is not None
    return {name: text for name, text in notes(pod).items() if name != "fence"}


class TestWhatPeopleSee:
    def test_a_lease_object_names_worker_slot_and_attempt(self, setting: Setting) -> None:
        claim = setting.claim(setting.first)
        setting.mirror(setting.first).look()
        found = setting.lease()
        assert found["metadata"]["name"] == f"deskarena-slot-{claim.slot.id}"
        assert (found["spec"]["holderIdentity"], found["spec"]["leaseDurationSeconds"]) == ("w1", 60)
        told = notes(found)
        assert (told["fence"], told["run"], told["episode"], told["attempt"], told["place"]) == (
            str(claim.fence.token), str(claim.run_id), str(claim.episode_id), str(claim.attempt_id), "n1 0",
        )  # fmt: skip

    def test_the_slots_pod_says_it_too_once_it_is_there(self, fake: FakeCluster, setting: Setting) -> None:
        claim, mirror = setting.claim(setting.first), setting.mirror(setting.first)
        mirror.look()
        container = {"name": "vm", "image": "vm:1"}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": POD}, "spec": {"containers": [container]}}
        fake.create(body, NAMESPACE)
        setting.world.score(claim)
        again = setting.claim(setting.first)
        mirror.look()
        pod = fake.pod(NAMESPACE, POD)
        assert pod is not None
        assert notes(pod)["episode"] == str(again.episode_id)

    @pytest.mark.parametrize("later", [0, 1])
    def test_lease_object_is_removed_with_the_lease(self, fake: FakeCluster, setting: Setting, later: int) -> None:
        claim, mirror = setting.claim(setting.first), setting.mirror(setting.first)
        fence = {FENCE: str(claim.fence.token + later)}
        container = {"name": "vm", "image": "vm:1"}
        about = {"name": POD, "annotations": fence}
        fake.create(
            {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": {"containers": [container]}}, NAMESPACE
        )
        mirror.look()
        ran = {"run": str(claim.run_id), "episode": str(claim.episode_id), "attempt": str(claim.attempt_id)}
        assert said(fake) == ran
        setting.world.score(claim)
        mirror.look()
        assert setting.leases() == []
        assert said(fake) == (ran if later else dict.fromkeys(ran, "")), "what others have taken is theirs to write on"

    def test_unchanged_leases_are_not_written_again(self, fake: FakeCluster, setting: Setting) -> None:
        setting.claim(setting.first)
        mirror = setting.mirror(setting.first)
        mirror.look()
        before = len(fake.asked)
        for _ in range(5):
            mirror.look()
        assert len(fake.asked) == before


class TestConflicts:
    def test_a_later_hold_takes_the_object_over_and_counts(self, setting: Setting) -> None:
        old = setting.claim(setting.first)
        first, second = setting.mirror(setting.first), setting.mirror(setting.second)
        first.look()
        setting.world.do(claims.release_lease, old.lease_id, "its worker was cut off")
        new = setting.claim(setting.second)
        assert new.slot == old.slot
        second.look()
        found = setting.lease()
        assert (found["spec"]["holderIdentity"], found["spec"]["leaseTransitions"]) == ("w2", 1)
        # The first removes what it wrote, and leaves what is another's by now.
        first.look()
        assert setting.lease() == found

    def test_stale_holder_is_reported_and_writes_nothing(
        self, setting: Setting, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first asked Postgres just before it lost its lease, and reaches the cluster after the second."""
        old = setting.claim(setting.first)
        first, second = setting.mirror(setting.first), setting.mirror(setting.second)
        stale = setting.world.do(nodes.leases_of, setting.first.id)
        setting.world.do(claims.release_lease, old.lease_id, "its worker was cut off")
        setting.claim(setting.second)
        second.look()
        before = setting.lease()
        with monkeypatch.context() as patched:
            patched.setattr(nodes, "leases_of", lambda *_: stale)
            first.look()
            first.look()
        assert setting.taken == [(old.lease_id, "w2 holds the slot n1 0 under a later lease")]
        assert setting.lease() == before

    def test_an_object_that_only_says_that_it_is_later_loses_against_postgres(self, setting: Setting) -> None:
        """As after Postgres was set back to a copy: tokens begin anew, and nobody must stop for it."""
        claim, mirror = setting.claim(setting.first), setting.mirror(setting.first)
        mirror.look()
        spoilt = setting.lease()
        spoilt["metadata"]["annotations"][FENCE] = str(claim.fence.token + 1000)
        setting.cluster.replace(LEASES, spoilt)
        setting.mirror(setting.first).look()
        assert setting.taken == []
        assert notes(setting.lease())["fence"] == str(claim.fence.token)

    def test_changed_or_removed_leases_are_restored(self, setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
        setting.claim(setting.first)
        mirror = setting.mirror(setting.first)
        mirror.look()
        monkeypatch.setattr(lease_objects, "RENEW_SECONDS", 0.0)
        changed = setting.lease()
        changed["spec"]["holderIdentity"] = "somebody"
        setting.cluster.replace(LEASES, changed)
        mirror.look()
        assert setting.lease()["spec"]["holderIdentity"] == "w1"
        setting.cluster.delete(LEASES, changed["metadata"]["name"])
        mirror.look()
        mirror.look()
        assert setting.lease()["spec"]["holderIdentity"] == "w1"

    def test_renewing_moves_the_time_and_nothing_else(self, setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
        setting.claim(setting.first)
        mirror = setting.mirror(setting.first)
        mirror.look()
        before = setting.lease()["spec"]
        monkeypatch.setattr(lease_objects, "RENEW_SECONDS", 0.0)
        setting.late = 20.0
        mirror.look()
        after = setting.lease()["spec"]
        assert after.pop("renewTime") > before.pop("renewTime")
        assert after == before


class TestOrphans:
    def test_any_worker_removes_expired_lease_objects(self, setting: Setting) -> None:
        claim = setting.claim(setting.first)
        setting.mirror(setting.first).look()
        setting.world.do(claims.release_lease, claim.lease_id, "the worker died")
        other = setting.mirror(setting.second)
        assert other.sweep() == 0
        setting.late = 61.0
        assert other.sweep() == 1
        assert setting.leases() == []

    def test_held_leases_stay_with_a_wrong_clock(self, setting: Setting) -> None:
        setting.claim(setting.first)
        setting.mirror(setting.first).look()
        setting.late = 75 * 365 * 86400.0
        assert setting.mirror(setting.second).sweep() == 0
        assert len(setting.leases()) == 1

    def test_database_outage_removes_nothing(self, setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
        setting.claim(setting.first)
        setting.mirror(setting.first).look()
        setting.late = 61.0
        monkeypatch.setattr(setting.database, "once", away)
        with pytest.raises(DatabaseAway):
            setting.mirror(setting.second).sweep()
        assert len(setting.leases()) == 1

    def test_ignores_lease_objects_of_other_installations(self, setting: Setting) -> None:
        claim = setting.claim(setting.first)
        setting.mirror(setting.first).look()
        setting.world.do(claims.release_lease, claim.lease_id, "the worker died")
        found = setting.lease()
        found["metadata"]["labels"]["deskarena.dev/owner"] = "another"
        setting.cluster.replace(LEASES, found)
        setting.late = 61.0
        assert setting.mirror(setting.second).sweep() == 0


class TestApiServerAway:
    def test_attempt_continues_and_is_mirrored_after_the_outage(self, fake: FakeCluster, setting: Setting) -> None:
        claim, mirror = setting.claim(setting.first), setting.mirror(setting.first)
        fake.faults.away = True
        with pytest.raises(ClusterUnavailable):
            mirror.look()
        assert setting.world.do(claims.worker_heartbeat, setting.first.id, [claim.lease_id]) == {claim.lease_id}
        setting.world.run_to_evaluation(claim)
        fake.faults.clear()
        mirror.look()
        assert notes(setting.lease())["attempt"] == str(claim.attempt_id)
        setting.world.score_only(claim)
        assert setting.taken == []

    @pytest.mark.parametrize("after", [False, True])
    def test_an_answer_that_is_lost_does_no_harm(self, fake: FakeCluster, setting: Setting, *, after: bool) -> None:
        setting.claim(setting.first)
        mirror = setting.mirror(setting.first)
        fake.faults.cut("create", path="leases", after=after)
        with pytest.raises(ClusterError):
            mirror.look()
        mirror.look()
        assert setting.lease()["spec"]["leaseTransitions"] == 0

    def test_thread_survives_errors(self, fake: FakeCluster, setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("worker.k8s.lease_mirror.LOOK_SECONDS", 0.05)
        claim, mirror = setting.claim(setting.first), setting.mirror(setting.first)
        fake.faults.add(ApiFault(("create",), path="leases", times=4, cut="before"))
        mirror.start()
        until(lambda: len(setting.leases()) == 1)
        setting.world.score(claim)
        mirror.stop()
        assert setting.leases() == []


def away(_: Callable[..., object]) -> object:
    """A database that does not answer."""
    raise DatabaseAway("the database is away")
