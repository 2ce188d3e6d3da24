"""Ends of objects, and pods: grace, finalizers, owners, preconditions, eviction, events, logs."""

from typing import Any

from tests.contract.clusters import SECONDS, ClusterNamespace, place, pod, secret
from tests.error_codes import raises_fields
from tests.waiting import until
from worker.k8s.cluster import PODS, SECRETS, Object, ObjectConflict, RequestRefused, ResourceKind

__all__ = ["place"]
NOWHERE: Any = {"deskarena.dev/none": "here"}


class TestDelete:
    def test_means_the_one_of_that_uid(self, place: ClusterNamespace) -> None:
        uid = place.port.create(SECRETS, secret("one"))["metadata"]["uid"]
        with raises_fields(
            ObjectConflict,
            reason="Conflict",
            mentions=("the UID in the precondition (0000", "does not match the UID in record"),
        ):
            place.port.delete(SECRETS, "one", uid="00000000-0000-0000-0000-000000000000")
        assert place.port.delete(SECRETS, "one", uid=uid) is True
        assert place.port.delete(SECRETS, "one", uid=uid) is False

    def test_means_the_one_of_that_version(self, place: ClusterNamespace) -> None:
        version = place.port.create(SECRETS, secret("one"))["metadata"]["resourceVersion"]
        place.port.patch(SECRETS, "one", {"metadata": {"labels": {"a": "b"}}})
        said = place.ask("DELETE", place.path(SECRETS, "one"), {"preconditions": {"resourceVersion": version}})
        assert (said.status, said.body["reason"]) == (409, "Conflict")
        assert not place.gone(SECRETS, "one")

    def test_waits_for_finalizers(self, place: ClusterNamespace) -> None:
        place.port.create(SECRETS, secret("one", finalizers=["deskarena.dev/test"]))
        place.port.delete(SECRETS, "one")
        found = place.port.get(SECRETS, "one")
        assert found["metadata"]["deletionTimestamp"]
        with raises_fields(
            RequestRefused, reason="Invalid", mentions="no new finalizers can be added if the object is being deleted"
        ):
            place.port.patch(SECRETS, "one", {"metadata": {"finalizers": ["deskarena.dev/test", "deskarena.dev/more"]}})
        with raises_fields(ObjectConflict, reason="AlreadyExists"):
            place.port.create(SECRETS, secret("one"))
        place.port.patch(SECRETS, "one", {"metadata": {"finalizers": None}})
        assert place.gone(SECRETS, "one")

    def test_takes_along_what_it_owns(self, place: ClusterNamespace) -> None:
        owner = place.port.create(PODS, pod("one", nodeSelector=NOWHERE))
        place.port.create(SECRETS, secret("its", ownerReferences=[reference(owner)]))
        place.port.create(SECRETS, secret("other"))
        place.port.delete(PODS, "one")
        until(lambda: place.gone(SECRETS, "its"), SECONDS)
        assert not place.gone(SECRETS, "other")

    def test_objects_of_an_earlier_pod_of_the_name_are_removed(self, place: ClusterNamespace) -> None:
        owner = place.port.create(PODS, pod("one", nodeSelector=NOWHERE))
        place.port.delete(PODS, "one", grace=0)
        until(lambda: place.gone(PODS, "one"), SECONDS)
        place.port.create(PODS, pod("one", nodeSelector=NOWHERE))
        place.port.create(SECRETS, secret("its", ownerReferences=[reference(owner)]))
        until(lambda: place.gone(SECRETS, "its"), SECONDS)

    def test_deleting_a_namespace_leaves_nothing(self, place: ClusterNamespace) -> None:
        place.only_fake()
        place.port.create(SECRETS, secret("one"))
        place.running("two")
        said = place.ask("DELETE", f"/api/v1/namespaces/{place.port.namespace}")
        assert said.body["status"]["phase"] == "Terminating"
        until(lambda: place.ask("GET", f"/api/v1/namespaces/{place.port.namespace}").status == 404, SECONDS)


def reference(owner: Object) -> Object:
    """Says whose something is."""
    about = owner["metadata"]
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": about["name"], "uid": about["uid"]}


class TestPods:
    def test_running_pod_names_its_node(self, place: ClusterNamespace) -> None:
        found = place.running("one")
        assert found["spec"]["nodeName"]
        assert found["status"]["phase"] == "Running"
        assert found["status"]["podIP"]
        status = found["status"]["containerStatuses"][0]
        assert (status["ready"], status["restartCount"]) == (True, 0)
        assert "running" in status["state"]

    def test_its_node_confirms_its_end(self, place: ClusterNamespace) -> None:
        uid = place.running("one")["metadata"]["uid"]
        assert place.port.delete(PODS, "one", uid=uid)
        until(lambda: place.gone(PODS, "one"), SECONDS)

    def test_a_later_shorter_grace_counts(self, place: ClusterNamespace) -> None:
        place.running("one", terminationGracePeriodSeconds=30)
        place.port.delete(PODS, "one", grace=0)
        assert place.gone(PODS, "one")

    def test_pod_without_a_node_is_deleted_immediately(self, place: ClusterNamespace) -> None:
        place.port.create(PODS, pod("one", nodeSelector=NOWHERE))
        place.port.delete(PODS, "one")
        assert place.gone(PODS, "one")

    def test_unschedulable_pod_has_an_event(self, place: ClusterNamespace) -> None:
        place.port.create(PODS, pod("one", nodeSelector=NOWHERE))
        said = until(lambda: place.events("one", "FailedScheduling"), SECONDS)[0]
        assert said["type"] == "Warning"
        # Servers before 1.21 do not say `/selector`.
        assert "node(s) didn't match Pod's node affinity" in said["message"]
        assert "nodes are available" in said["message"]
        waiting = place.port.get(PODS, "one")["status"]
        assert waiting["phase"] == "Pending"
        scheduled = next(one for one in waiting["conditions"] if one["type"] == "PodScheduled")
        assert (scheduled["status"], scheduled["reason"]) == ("False", "Unschedulable")

    def test_events_name_their_object_by_uid(self, place: ClusterNamespace) -> None:
        uid = place.running("one")["metadata"]["uid"]
        listed = place.ask("GET", place.path(ResourceKind("events")), query=f"fieldSelector=involvedObject.uid%3D{uid}")
        assert {"Scheduled", "Created", "Started"} <= {one["reason"] for one in listed.body["items"]}

    def test_logs_are_the_output(self, place: ClusterNamespace) -> None:
        place.running("one")
        until(lambda: place.port.logs("one") == "hello\n", SECONDS)
        assert place.port.logs("one", lines=0) == ""

    def test_unscheduled_pod_has_no_logs(self, place: ClusterNamespace) -> None:
        place.port.create(PODS, pod("one", nodeSelector=NOWHERE))
        assert place.port.logs("one") == ""


class TestEviction:
    def test_deletes_with_a_reason(self, place: ClusterNamespace) -> None:
        place.running("one")
        assert evict(place, "one").status == 201
        until(lambda: place.gone(PODS, "one"), SECONDS)

    def test_ends_nothing_that_is_only_tried(self, place: ClusterNamespace) -> None:
        place.running("one")
        assert evict(place, "one", "dryRun=All").status == 201
        assert evict(place, "one", deleteOptions={"dryRun": ["All"]}).status == 201
        found = place.port.get(PODS, "one")
        assert "deletionTimestamp" not in found["metadata"]
        assert "DisruptionTarget" not in {each["type"] for each in found["status"]["conditions"]}

    def test_asks_no_budget_for_a_pod_that_ends_already(self, place: ClusterNamespace) -> None:
        fake = place.only_fake()
        found = pod("one")
        found["metadata"]["labels"] = {"app": "vm"}
        place.port.create(PODS, found)
        until(lambda: place.ready("one"), SECONDS)
        budget(place)
        until(lambda: refusal(place), SECONDS)
        fake.run(place.port.namespace, "one").stuck = True
        place.port.delete(PODS, "one")
        assert evict(place, "one").status == 201

    def test_is_refused_while_a_budget_forbids_it(self, place: ClusterNamespace) -> None:
        found = pod("one")
        found["metadata"]["labels"] = {"app": "vm"}
        place.port.create(PODS, found)
        until(lambda: place.ready("one"), SECONDS)
        budgets = budget(place)
        said = until(lambda: refusal(place), SECONDS)
        assert "violate the pod's disruption budget" in said["message"]
        place.port.delete(budgets, "b")
        until(lambda: evict(place, "one").status == 201, SECONDS)


def policy(place: ClusterNamespace) -> str:
    """The version that the cluster prefers: `v1`, before 1.21 `v1beta1`."""
    return str(place.ask("GET", "/apis/policy").body["preferredVersion"]["version"])


def budget(place: ClusterNamespace) -> ResourceKind:
    """Forbids the eviction of a single pod; the kind of its object, `b`."""
    budgets = ResourceKind("poddisruptionbudgets", "policy", policy(place))
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "vm"}}}
    kind = {"apiVersion": f"policy/{budgets.version}", "kind": "PodDisruptionBudget"}
    place.port.create(budgets, {**kind, "metadata": {"name": "b"}, "spec": spec})
    return budgets


def evict(place: ClusterNamespace, name: str, query: str = "", **rest: Any) -> Any:
    """The evictions that `kubectl drain` asks for."""
    body = {"apiVersion": f"policy/{policy(place)}", "kind": "Eviction", "metadata": {"name": name}, **rest}
    return place.ask("POST", place.path(PODS, name, "eviction"), body, query=query)


def refusal(place: ClusterNamespace) -> Any:
    """The server's no, once the budget is known to it; a dry run, so that a yes does no harm."""
    said = evict(place, "one", "dryRun=All")
    return said.body if said.status == 429 else None
