"""The fake cluster's nodes and kubelets do what a real cluster's do, step by step."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.fakes.kubernetes import behaviours
from tests.fakes.kubernetes.cluster import FakeCluster, fake_cluster
from tests.fakes.kubernetes.kinds import KVM, NODES, PODS, SECRETS, Json
from tests.fakes.kubernetes.lifecycle import delete
from tests.fakes.kubernetes.processes import ContainerChild
from tests.waiting import until

HERE = ("desks", "vm")


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    with fake_cluster() as found:
        found.add_namespace("desks")
        found.add_node("node-1", kvm=2)
        yield found


def make(cluster: FakeCluster, name: str = "vm", **spec: Any) -> Json:
    container = {"name": "vm", "image": "vm:1", "resources": {"limits": {KVM: "1"}}}
    whole = {"containers": [container], "restartPolicy": "Never", **spec}
    return cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": whole}, "desks")


def status(cluster: FakeCluster, name: str = "vm") -> Json:
    found = cluster.pod("desks", name)
    return dict(found["status"]) if found else {}


def container(cluster: FakeCluster, name: str = "vm") -> Json:
    return dict((status(cluster, name).get("containerStatuses") or [{"state": {}, "restartCount": 0}])[0])


def is_ready(cluster: FakeCluster, name: str = "vm") -> bool:
    return any(
        one["type"] == "Ready" and one["status"] == "True" for one in status(cluster, name).get("conditions", [])
    )


def reasons(cluster: FakeCluster, name: str = "vm") -> list[str]:
    return [event["reason"] for event in cluster.events(name)]


def program(code: str) -> Callable[[Json, str], ContainerChild]:
    """Starts a Python program with its address as argument."""
    return lambda _pod, address: ContainerChild([sys.executable, "-c", code, address])


class TestStart:
    def test_pod_becomes_ready(self, cluster: FakeCluster) -> None:
        make(cluster)
        until(lambda: is_ready(cluster))
        assert reasons(cluster) == ["Scheduled", "Pulling", "Pulled", "Created", "Started"]
        assert status(cluster)["podIP"].startswith("127.")

    def test_every_pod_has_an_address_of_its_own(self, cluster: FakeCluster) -> None:
        for name in ("a", "b"):
            make(cluster, name)
            until(lambda name=name: is_ready(cluster, name))  # type: ignore[misc]
        assert status(cluster, "a")["podIP"] != status(cluster, "b")["podIP"]

    def test_pod_with_a_missing_image_waits(self, cluster: FakeCluster) -> None:
        cluster.script(behaviours.image_pull_back_off())
        make(cluster)
        until(lambda: container(cluster)["state"].get("waiting", {}).get("reason") == "ImagePullBackOff")
        assert status(cluster)["phase"] == "Pending"
        assert 'Failed to pull image "vm:1": rpc error' in cluster.events("vm", "Failed")[0]["message"]

    def test_pod_with_an_unmountable_volume_waits_with_events(self, cluster: FakeCluster) -> None:
        cluster.script(behaviours.mount_failed("exit status 32"))
        make(cluster)
        told = until(lambda: [each for each in cluster.events("vm", "FailedMount") if each["count"] >= 4])
        assert [each["message"] for each in told] == ['MountVolume.SetUp failed for volume "images" : exit status 32']
        assert (status(cluster)["phase"], container(cluster)["state"]) == (
            "Pending",
            {"waiting": {"reason": "ContainerCreating"}},
        )

    def test_a_volume_that_is_in_use_elsewhere_is_told_of_once(self, cluster: FakeCluster) -> None:
        cluster.script(behaviours.attach_failed())
        make(cluster)
        (told,) = until(lambda: cluster.events("vm", "FailedAttachVolume"))
        assert told["message"].startswith("Multi-Attach error for volume")
        assert told["source"]["component"] == "attachdetach-controller"
        assert status(cluster)["phase"] == "Pending"

    def test_each_sandbox_that_gets_no_network_is_another_event(self, cluster: FakeCluster) -> None:
        cluster.script(behaviours.sandbox_failed())
        make(cluster)
        until(lambda: len(cluster.events("vm", "FailedCreatePodSandBox")) >= 3)
        assert {each["count"] for each in cluster.events("vm", "FailedCreatePodSandBox")} == {1}

    def test_pod_starts_when_its_secret_appears(self, cluster: FakeCluster) -> None:
        cluster.script(behaviours.secret_awaited(behaviours.running()))
        make(cluster, volumes=[{"name": "token", "secret": {"secretName": "late"}}])
        (told,) = until(lambda: cluster.events("vm", "FailedMount"))
        assert told["message"] == 'MountVolume.SetUp failed for volume "token" : secret "late" not found'
        cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "late"}}, "desks")
        until(lambda: is_ready(cluster))

    def test_crashing_pod_restarts_with_backoff(self, cluster: FakeCluster) -> None:
        cluster.script(behaviours.crash_loop(78, "no token"))
        make(cluster, restartPolicy="Always")
        until(lambda: container(cluster)["state"].get("waiting", {}).get("reason") == "CrashLoopBackOff")
        assert container(cluster)["lastState"]["terminated"]["exitCode"] == 78
        until(lambda: container(cluster)["restartCount"] >= 2)
        assert cluster.run(*HERE).output(previous=True) == "no token\n"
        assert status(cluster)["phase"] == "Running"

    def test_unready_pod_has_a_reason(self, cluster: FakeCluster) -> None:
        cluster.script(behaviours.never_ready())
        make(cluster)
        until(lambda: cluster.events("vm", "Unhealthy"))
        assert (status(cluster)["phase"], is_ready(cluster)) == ("Running", False)

    def test_a_node_may_refuse_it(self, cluster: FakeCluster) -> None:
        cluster.script(behaviours.refused())
        make(cluster)
        until(lambda: status(cluster).get("reason") == "UnexpectedAdmissionError")
        assert status(cluster)["phase"] == "Failed"

    def test_the_newest_script_that_fits_counts_as_often_as_it_says(self, cluster: FakeCluster) -> None:
        cluster.script(behaviours.never_ready(), name="a*", times=1)
        make(cluster, "a-1")
        until(lambda: status(cluster, "a-1").get("phase") == "Running")
        make(cluster, "a-2")
        until(lambda: is_ready(cluster, "a-2"))
        assert not is_ready(cluster, "a-1")


class TestMishaps:
    def test_container_killed_for_memory_has_reason_and_exit_code(self, cluster: FakeCluster) -> None:
        make(cluster)
        until(lambda: is_ready(cluster))
        cluster.run(*HERE).follow(behaviours.oom_killed())
        until(lambda: status(cluster)["phase"] == "Failed")
        ended = container(cluster)["state"]["terminated"]
        assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)

    def test_a_restart_keeps_uid_and_address(self, cluster: FakeCluster) -> None:
        uid = make(cluster, restartPolicy="Always")["metadata"]["uid"]
        until(lambda: is_ready(cluster))
        before = container(cluster)
        address = status(cluster)["podIP"]
        cluster.run(*HERE).follow(behaviours.restart())
        until(lambda: container(cluster)["restartCount"] == 1 and is_ready(cluster))
        after = cluster.pod(*HERE)
        assert after is not None
        assert (after["metadata"]["uid"], after["status"]["podIP"]) == (uid, address)
        assert container(cluster)["containerID"] != before["containerID"]

    def test_eviction_by_the_node(self, cluster: FakeCluster) -> None:
        make(cluster)
        until(lambda: is_ready(cluster))
        cluster.nodes.press("node-1")
        cluster.run(*HERE).follow(behaviours.evicted())
        until(lambda: status(cluster).get("reason") == "Evicted")
        assert "The node was low on resource: ephemeral-storage" in status(cluster)["message"]
        make(cluster, "next")
        said = until(lambda: cluster.events("next", "FailedScheduling"))[0]["message"]
        assert said.startswith("0/1 nodes are available: 1 node(s) had untolerated taint(s).")
        cluster.nodes.press("node-1", full=False)
        until(lambda: is_ready(cluster, "next"))

    def test_somebody_elses_pod_of_the_same_name(self, cluster: FakeCluster) -> None:
        first = make(cluster)["metadata"]["uid"]
        until(lambda: is_ready(cluster))
        second = cluster.replace(*HERE)["metadata"]["uid"]
        assert first != second
        until(lambda: is_ready(cluster))


class TestNodes:
    def test_a_lost_one_keeps_its_pods_terminating_until_it_is_back(self, cluster: FakeCluster) -> None:
        make(cluster)
        until(lambda: is_ready(cluster))
        cluster.lose("node-1")
        assert not is_ready(cluster)
        until(lambda: (cluster.pod(*HERE) or {})["metadata"].get("deletionTimestamp"))
        assert cluster.events("vm", "TaintManagerEviction")
        make(cluster, "next")
        until(lambda: cluster.events("next", "FailedScheduling"))
        cluster.find("node-1")
        until(lambda: cluster.pod(*HERE) is None)
        until(lambda: is_ready(cluster, "next"))

    def test_a_pod_says_how_long_it_stays_on_a_lost_one(self, cluster: FakeCluster) -> None:
        stays = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
        make(cluster, "stays", tolerations=[stays])
        make(cluster, "goes", tolerations=[{**stays, "tolerationSeconds": 1}])
        for name in ("stays", "goes"):
            until(lambda name=name: is_ready(cluster, name))  # type: ignore[misc]
        cluster.lose("node-1")
        until(lambda: (cluster.pod("desks", "goes") or {})["metadata"].get("deletionTimestamp"))
        assert "deletionTimestamp" not in (cluster.pod("desks", "stays") or {})["metadata"]
        assert not is_ready(cluster, "stays")
        cluster.find("node-1")
        until(lambda: is_ready(cluster, "stays"))

    def test_scale_down_takes_pods_along(self, cluster: FakeCluster) -> None:
        make(cluster)
        until(lambda: is_ready(cluster))
        cluster.delete_node("node-1")
        until(lambda: cluster.pod(*HERE) is None)
        assert cluster.store.get(NODES, ("", "node-1")) is None

    def test_a_cordoned_one_gets_no_new_pods_and_keeps_the_old(self, cluster: FakeCluster) -> None:
        make(cluster, "old")
        until(lambda: is_ready(cluster, "old"))
        cluster.cordon("node-1")
        make(cluster, "new")
        said = until(lambda: cluster.events("new", "FailedScheduling"))[0]["message"]
        assert said.startswith("0/1 nodes are available: 1 node(s) were unschedulable.")
        assert is_ready(cluster, "old")
        cluster.cordon("node-1", on=False)
        until(lambda: is_ready(cluster, "new"))

    def test_reasons_are_counted_as_the_scheduler_does(self, cluster: FakeCluster) -> None:
        cluster.cordon("node-1")
        cluster.add_node("node-2")
        cluster.add_node("node-3")
        make(cluster)
        said = until(lambda: cluster.events("vm", "FailedScheduling"))[0]["message"]
        assert said == (
            f"0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient {KVM}. preemption: 0/3 nodes are "
            "available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod."
        )


class TestProcesses:
    def test_a_pod_is_a_real_process_at_its_address(self, cluster: FakeCluster) -> None:
        cluster.script(behaviours.running(program("import sys, time; print(sys.argv[1], flush=True); time.sleep(600)")))
        make(cluster)
        until(lambda: is_ready(cluster))
        run = cluster.run(*HERE)
        until(lambda: run.output() == f"{run.address}\n")
        delete(cluster.store, PODS, HERE)
        until(lambda: cluster.pod(*HERE) is None)
        assert run.process is not None
        assert run.process.poll() == 143

    def test_exit_of_the_process_ends_the_container(self, cluster: FakeCluster) -> None:
        cluster.script(behaviours.running(program("raise SystemExit(3)")))
        make(cluster)
        until(lambda: status(cluster).get("phase") == "Failed")
        assert container(cluster)["state"]["terminated"]["exitCode"] == 3

    def test_process_restarts_by_restart_policy(self, cluster: FakeCluster) -> None:
        cluster.script(behaviours.running(program("raise SystemExit(3)")))
        make(cluster, restartPolicy="OnFailure")
        until(lambda: container(cluster)["restartCount"] >= 2, 30)

    def test_process_survives_a_network_cut_but_not_its_node(self, cluster: FakeCluster) -> None:
        cluster.script(behaviours.running(program("import time; time.sleep(600)")))
        make(cluster)
        until(lambda: is_ready(cluster))
        process = cluster.run(*HERE).process
        assert process is not None
        cluster.lose("node-1")
        assert process.poll() is None
        cluster.lose("node-1", processes=True)
        assert process.poll() == 137

    def test_ended_cluster_leaves_no_process(self) -> None:
        with fake_cluster() as cluster:
            cluster.add_namespace("desks")
            cluster.add_node("node-1", kvm=1)
            cluster.script(behaviours.running(program("import time; time.sleep(600)")))
            make(cluster)
            until(lambda: is_ready(cluster))
            process = cluster.run(*HERE).process
        assert process is not None
        assert process.poll() is not None


class TestOwners:
    def test_a_secret_goes_with_its_pod_and_not_with_the_next(self, cluster: FakeCluster) -> None:
        pod = make(cluster)
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "vm", "uid": pod["metadata"]["uid"]}
        about = {"name": "its", "ownerReferences": [owner]}
        cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": about}, "desks")
        until(lambda: is_ready(cluster))
        cluster.replace(*HERE)
        until(lambda: cluster.store.get(SECRETS, ("desks", "its")) is None)

    def test_orphaned_objects_stay_after_their_owner(self, cluster: FakeCluster) -> None:
        pod = make(cluster)
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "vm", "uid": pod["metadata"]["uid"]}
        about = {"name": "its", "ownerReferences": [owner]}
        cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": about}, "desks")
        delete(cluster.store, PODS, HERE, {"propagationPolicy": "Orphan"})
        until(lambda: cluster.pod(*HERE) is None)
        found = cluster.store.get(SECRETS, ("desks", "its"))
        assert found is not None
        assert "ownerReferences" not in found["metadata"]

    def test_foreground_waits_for_what_is_owned(self, cluster: FakeCluster) -> None:
        pod = make(cluster)
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "vm", "uid": pod["metadata"]["uid"]}
        about = {"name": "its", "ownerReferences": [owner], "finalizers": ["deskarena.dev/test"]}
        cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": about}, "desks")
        delete(cluster.store, PODS, HERE, {"propagationPolicy": "Foreground", "gracePeriodSeconds": 0})
        until(lambda: (cluster.store.get(SECRETS, ("desks", "its")) or {})["metadata"].get("deletionTimestamp"))
        assert cluster.pod(*HERE) is not None
        cluster.verbs.change(SECRETS, ("desks", "its"), lambda found: found["metadata"].pop("finalizers"))
        until(lambda: cluster.pod(*HERE) is None)
