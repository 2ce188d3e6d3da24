"""Our code's expectations of a Kubernetes API, through the product's port: on the fake cluster, and on a real one.

KUBECONFIG (or DESKARENA_TEST_KUBECONFIG, which counts first; empty: none) names the real one. It gets a namespace that
is deleted afterwards.
"""

from typing import Any

import pytest

from tests.contract.clusters import (
    MERGE,
    REAL,
    SECONDS,
    STEPS,
    STRATEGIC,
    ClusterNamespace,
    lease,
    place,
    pod,
    secret,
)
from tests.error_codes import raises_fields
from tests.waiting import until
from worker.k8s.client import connect
from worker.k8s.cluster import LEASES, NODES, PODS, SECRETS, ObjectConflict, ObjectNotFound, RequestRefused

__all__ = ["place"]
OTHER = "00000000-0000-0000-0000-000000000000"
CHECKS = "the server's own check of fields"


class TestRealCluster:
    @pytest.mark.skipif(not REAL, reason="needs a Kubernetes cluster of one's own, which KUBECONFIG names")
    def test_real_cluster_lists_its_nodes(self) -> None:
        """Where there is one, every test of this suite runs on it, too."""
        port = connect(REAL, "default")
        assert port.list(NODES).items
        port.close()


class TestNames:
    def test_a_name_is_given_once(self, place: ClusterNamespace) -> None:
        place.port.create(SECRETS, secret("one"))
        with raises_fields(ObjectConflict, reason="AlreadyExists", mentions='secrets "one"') as caught:
            place.port.create(SECRETS, secret("one"))
        assert caught.value.reason == "AlreadyExists"

    def test_an_absent_object_is_missing(self, place: ClusterNamespace) -> None:
        with raises_fields(ObjectNotFound, reason="NotFound", mentions='leases.coordination.k8s.io "none"'):
            place.port.get(LEASES, "none")
        assert place.port.delete(SECRETS, "none") is False
        with pytest.raises(ObjectNotFound):
            place.port.patch(SECRETS, "none", {"metadata": {"labels": {"a": "b"}}})

    def test_a_name_has_to_be_one(self, place: ClusterNamespace) -> None:
        with raises_fields(RequestRefused, reason="Invalid", mentions="a lowercase RFC 1123 subdomain") as caught:
            place.port.create(SECRETS, secret("Not_A_Name"))
        assert caught.value.code == 422

    def test_a_namespace_has_to_be_there(self, place: ClusterNamespace) -> None:
        said = place.ask("POST", "/api/v1/namespaces/deskarena-none/secrets", secret("one"))
        assert (said.status, said.body["message"]) == (404, 'namespaces "deskarena-none" not found')

    def test_another_object_of_the_same_name_has_another_uid(self, place: ClusterNamespace) -> None:
        first = place.port.create(SECRETS, secret("one"))
        place.port.delete(SECRETS, "one")
        until(lambda: place.gone(SECRETS, "one"), SECONDS)
        second = place.port.create(SECRETS, secret("one"))
        assert first["metadata"]["uid"] != second["metadata"]["uid"]
        assert int(second["metadata"]["resourceVersion"]) > int(first["metadata"]["resourceVersion"])


class TestVersions:
    def test_a_stale_put_is_refused(self, place: ClusterNamespace) -> None:
        first = place.port.create(LEASES, lease("hold", "a"))
        place.port.replace(LEASES, {**first, "spec": {**first["spec"], "holderIdentity": "b"}})
        with raises_fields(
            ObjectConflict,
            reason="Conflict",
            mentions="the object has been modified; please apply your changes to the latest",
        ):
            place.port.replace(LEASES, {**first, "spec": {**first["spec"], "holderIdentity": "c"}})
        assert place.port.get(LEASES, "hold")["spec"]["holderIdentity"] == "b"

    @pytest.mark.parametrize("media", [MERGE, STRATEGIC, STEPS])
    def test_a_stale_patch_is_refused_where_it_names_a_version(self, place: ClusterNamespace, media: str) -> None:
        old = place.port.create(LEASES, lease("hold", "a"))["metadata"]["resourceVersion"]
        place.port.patch(LEASES, "hold", {"spec": {"holderIdentity": "b"}})
        changes: Any = {"metadata": {"resourceVersion": old}, "spec": {"holderIdentity": "c"}}
        if media == STEPS:
            changes = [{"op": "replace", "path": "/metadata/resourceVersion", "value": old}]
            changes.append({"op": "replace", "path": "/spec/holderIdentity", "value": "c"})
        said = place.ask("PATCH", place.path(LEASES, "hold"), changes, media=media)
        assert (said.status, said.body["reason"]) == (409, "Conflict")
        assert place.port.get(LEASES, "hold")["spec"]["holderIdentity"] == "b"

    def test_a_patch_without_a_version_is_made_on_what_is_there(self, place: ClusterNamespace) -> None:
        place.port.create(SECRETS, secret("one", labels={"a": "1"}))
        place.port.patch(SECRETS, "one", {"metadata": {"annotations": {"x": "1"}}})
        found = place.port.patch(SECRETS, "one", {"metadata": {"annotations": {"y": "2"}, "labels": {"a": None}}})
        assert found["metadata"]["annotations"] == {"x": "1", "y": "2"}
        assert not found["metadata"].get("labels")

    def test_a_patch_of_another_uid_is_refused(self, place: ClusterNamespace) -> None:
        made = place.port.create(SECRETS, secret("one"))
        changes = {"metadata": {"uid": OTHER, "labels": {"a": "b"}}}
        with raises_fields(
            RequestRefused, reason="Invalid", mentions=('metadata.uid: Invalid value: "0000', "field is immutable")
        ) as caught:
            place.port.patch(SECRETS, "one", changes)
        assert caught.value.code == 422
        changes["metadata"]["resourceVersion"] = str(int(made["metadata"]["resourceVersion"]) - 1)
        with raises_fields(ObjectConflict, reason="Conflict", mentions="the object has been modified"):
            place.port.patch(SECRETS, "one", changes)

    def test_a_put_of_another_uid_is_refused(self, place: ClusterNamespace) -> None:
        made = place.port.create(SECRETS, secret("one"))
        with raises_fields(ObjectConflict, reason="Conflict", mentions="Precondition failed: UID in precondition"):
            place.port.replace(SECRETS, {**made, "metadata": {**made["metadata"], "uid": OTHER}})

    def test_put_with_a_uid_does_not_recreate_a_lease(self, place: ClusterNamespace) -> None:
        made = place.port.create(LEASES, lease("hold", "a"))
        place.port.delete(LEASES, "hold")
        with raises_fields(ObjectConflict, reason="Conflict", mentions="Precondition failed: UID in precondition"):
            place.port.replace(LEASES, made)
        assert place.gone(LEASES, "hold")

    def test_a_lease_is_not_replaced_blindly(self, place: ClusterNamespace) -> None:
        place.port.create(LEASES, lease("hold", "a"))
        with raises_fields(
            RequestRefused,
            reason="Invalid",
            mentions=("metadata.resourceVersion: Invalid value: ", "must be specified for an"),
        ):
            place.port.replace(LEASES, lease("hold", "b"))

    def test_unchanged_object_has_the_same_version(self, place: ClusterNamespace) -> None:
        first = place.port.create(SECRETS, secret("one"))
        again = place.port.replace(SECRETS, first)
        assert again["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]

    def test_one_of_two_holders_renews(self, place: ClusterNamespace) -> None:
        """Both read the same lease, both want it: the second one's write says so."""
        place.port.create(LEASES, lease("hold", ""))
        seen = place.port.get(LEASES, "hold")
        place.port.replace(LEASES, {**seen, "spec": {**seen["spec"], "holderIdentity": "first"}})
        with pytest.raises(ObjectConflict):
            place.port.replace(LEASES, {**seen, "spec": {**seen["spec"], "holderIdentity": "second"}})
        held = place.port.get(LEASES, "hold")
        renewed = place.port.replace(
            LEASES, {**held, "spec": {**held["spec"], "renewTime": "2026-01-01T00:00:05.000000Z"}}
        )
        assert renewed["spec"]["holderIdentity"] == "first"
        assert int(renewed["metadata"]["resourceVersion"]) > int(held["metadata"]["resourceVersion"])


class TestFields:
    def test_unknown_fields_are_refused_by_name(self, place: ClusterNamespace) -> None:
        place.needs(25, CHECKS)
        wrong = pod("one")
        wrong["spec"]["containers"][0]["imagee"] = "x"
        wrong["spec"]["nodeSelektor"] = {}
        with raises_fields(RequestRefused, reason="BadRequest", mentions="strict decoding error: ") as caught:
            place.port.create(PODS, wrong)
        assert caught.value.code == 400
        assert 'unknown field "spec.containers[0].imagee"' in caught.value.message
        assert 'unknown field "spec.nodeSelektor"' in caught.value.message
        assert place.gone(PODS, "one")

    def test_unknown_fields_of_a_patch_are_refused(self, place: ClusterNamespace) -> None:
        place.needs(25, CHECKS)
        place.port.create(LEASES, lease("hold", "a"))
        with raises_fields(RequestRefused, reason="Invalid", mentions='unknown field "spec.holder"'):
            place.port.patch(LEASES, "hold", {"spec": {"holder": "b"}})

    def test_unknown_fields_are_dropped_with_a_warning_by_default(self, place: ClusterNamespace) -> None:
        place.needs(25, CHECKS)
        said = place.ask("POST", place.path(SECRETS), {**secret("one"), "dataa": {}})
        assert said.status == 201
        assert "dataa" not in said.body
        assert 'unknown field \\"dataa\\"' in said.headers["Warning"]

    def test_a_wrong_type_is_refused(self, place: ClusterNamespace) -> None:
        wrong = lease("hold", "a")
        wrong["spec"]["leaseDurationSeconds"] = "15"
        with raises_fields(RequestRefused, reason="BadRequest", mentions="cannot be handled as a Lease") as caught:
            place.port.create(LEASES, wrong)
        assert caught.value.code == 400

    def test_a_missing_one_is_refused(self, place: ClusterNamespace) -> None:
        with raises_fields(RequestRefused, reason="Invalid", mentions="spec.containers: Required value") as caught:
            place.port.create(PODS, pod("one", containers=[]))
        assert caught.value.code == 422

    def test_a_label_has_to_be_one(self, place: ClusterNamespace) -> None:
        with raises_fields(RequestRefused, reason="Invalid", mentions="metadata.labels: Invalid value"):
            place.port.create(SECRETS, secret("one", labels={"a": "not a label!"}))

    def test_a_pod_is_not_rebuilt(self, place: ClusterNamespace) -> None:
        place.port.create(PODS, pod("one", nodeSelector={"deskarena.dev/none": "here"}))
        with raises_fields(
            RequestRefused, reason="Invalid", mentions="Forbidden: pod updates may not change fields other than"
        ):
            place.port.patch(PODS, "one", {"spec": {"hostname": "other"}})

    def test_a_dry_run_asks_the_same_and_keeps_nothing(self, place: ClusterNamespace) -> None:
        assert place.port.create(PODS, pod("one"), dry_run=True)["spec"]["containers"]
        assert place.gone(PODS, "one")
        with pytest.raises(RequestRefused):
            place.port.create(PODS, pod("one", containers=[]), dry_run=True)


class TestLists:
    def test_selectors_filter_lists(self, place: ClusterNamespace) -> None:
        for number in range(4):
            place.port.create(SECRETS, secret(f"s-{number}", labels={"half": str(number % 2), "number": str(number)}))
        assert names(place, "half=1") == {"s-1", "s-3"}
        assert names(place, "half=1,number!=3") == {"s-1"}
        assert names(place, "number in (0,2)") == {"s-0", "s-2"}
        assert names(place, "half,number notin (0,1)") == {"s-2", "s-3"}
        listed = place.port.list(SECRETS, fields="metadata.name=s-2")
        assert [one["metadata"]["name"] for one in listed.items] == ["s-2"]

    def test_a_long_list_comes_in_parts_of_one_version(self, place: ClusterNamespace) -> None:
        for number in range(5):
            place.port.create(SECRETS, secret(f"s-{number}", labels={"mine": "yes"}))
        query = "limit=2&labelSelector=mine%3Dyes"
        first = place.ask("GET", place.path(SECRETS), query=query).body
        more = place.ask("GET", place.path(SECRETS), query=f"{query}&continue={first['metadata']['continue']}").body
        seen = [one["metadata"]["name"] for part in (first, more) for one in part["items"]]
        assert seen == ["s-0", "s-1", "s-2", "s-3"]
        assert first["metadata"]["resourceVersion"] == more["metadata"]["resourceVersion"]
        assert len(place.port.list(SECRETS, labels="mine=yes").items) == 5

    def test_pods_are_found_by_node_and_phase(self, place: ClusterNamespace) -> None:
        node = place.running("one")["spec"]["nodeName"]
        place.port.create(PODS, pod("two", nodeSelector={"deskarena.dev/none": "here"}))
        for fields, expected in (
            (f"spec.nodeName={node}", ["one"]),
            ("status.phase=Pending", ["two"]),
            ("status.phase!=Pending,metadata.name!=x", ["one"]),
        ):
            found = place.port.list(PODS, fields=fields)
            assert [one["metadata"]["name"] for one in found.items] == expected

    def test_a_field_that_is_none_is_refused(self, place: ClusterNamespace) -> None:
        with raises_fields(RequestRefused, reason="BadRequest", mentions="field label not supported"):
            place.port.list(PODS, fields="spec.colour=red")


def names(place: ClusterNamespace, labels: str) -> set[str]:
    return {str(one["metadata"]["name"]) for one in place.port.list(SECRETS, labels=labels).items}
