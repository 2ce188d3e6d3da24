"""The rights that deploy/k8s grants are enough for a worker, asked as a worker: by the token of its service account."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.contract.clusters import SECONDS, ClusterNamespace, lease, place, pod, secret
from tests.error_codes import raises_fields
from tests.fakes.kubernetes.cluster import fake_cluster
from tests.unit.deploy.built import kind
from tests.waiting import until
from worker.k8s.client import connect
from worker.k8s.cluster import EVENTS, LEASES, NODES, PODS, SECRETS, Cluster, Object, RequestRefused, ResourceKind

__all__ = ["place"]
RIGHTS = "rbac.authorization.k8s.io"
WORKER = "k8s-worker"


def role() -> Object:
    """The workers' own."""
    (found,) = kind("production", "Role")
    return found


def of_an_account(place: ClusterNamespace) -> str:
    """Grants the Role to a service account of the test's namespace, and asks for its token."""
    port, space = place.port, place.port.namespace
    port.create(ResourceKind("serviceaccounts"), named(None, "v1", "ServiceAccount"))
    port.create(ResourceKind("roles", RIGHTS), named({"rules": role()["rules"]}, f"{RIGHTS}/v1", "Role"))
    subject = {"kind": "ServiceAccount", "name": WORKER, "namespace": space}
    binding = {"roleRef": {"apiGroup": RIGHTS, "kind": "Role", "name": WORKER}, "subjects": [subject]}
    port.create(ResourceKind("rolebindings", RIGHTS), named(binding, f"{RIGHTS}/v1", "RoleBinding"))
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    said = place.ask("POST", place.path(ResourceKind("serviceaccounts"), WORKER, "token"), asked)
    assert said.status == 201, said.text
    return str(said.body["status"]["token"])


def named(body: Any, version: str, what: str) -> Object:
    """An object that is called as the worker's are."""
    return {"apiVersion": version, "kind": what, "metadata": {"name": WORKER}, **(body or {})}


def token(place: ClusterNamespace) -> str:
    """Of somebody with the workers' Role and nothing else."""
    if place.fake is None:
        return of_an_account(place)
    place.fake.add_token(WORKER, WORKER, role(), namespace=place.port.namespace)
    return WORKER


@pytest.fixture
def worker(place: ClusterNamespace, tmp_path: Path) -> Iterator[Cluster]:
    """The product's port with the rights of a worker."""
    config = yaml.safe_load(place.file.read_text())
    config["users"] = [{"name": each["name"], "user": {"token": token(place)}} for each in config["users"]]
    file = tmp_path / "worker"
    file.write_text(json.dumps(config))
    found = connect(str(file), place.port.namespace)
    yield found
    found.close()


def may(worker: Cluster, **wanted: str) -> bool:
    """The server's answer about a right in the worker's namespace."""
    reviews = ResourceKind("selfsubjectaccessreviews", "authorization.k8s.io", namespaced=False)
    spec = {"resourceAttributes": {"namespace": worker.namespace, **wanted}}
    said = worker.create(
        reviews, {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": spec}
    )
    return bool(said["status"]["allowed"])


class TestRole:
    def test_is_enough_for_a_pod_s_life(self, worker: Cluster) -> None:
        made = worker.create(PODS, pod("one"))
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "one", "uid": made["metadata"]["uid"]}
        worker.create(SECRETS, secret("one", ownerReferences=[owner]))
        assert worker.get(SECRETS, "one")["data"]
        until(lambda: worker.get(PODS, "one")["status"].get("phase") == "Running", SECONDS)
        worker.patch(PODS, "one", {"metadata": {"annotations": {"deskarena.dev/worker": "1"}}})
        for resource in (PODS, EVENTS):
            version = worker.list(resource).version
            with worker.watch(resource, version, seconds=1) as watch:
                assert {change.type for change in watch} <= {"BOOKMARK", "ADDED", "MODIFIED"}
        assert worker.delete(PODS, "one", uid=made["metadata"]["uid"])

    def test_is_enough_for_leases(self, worker: Cluster) -> None:
        made = worker.create(LEASES, lease("hold", "a"))
        worker.replace(LEASES, {**made, "spec": {**made["spec"], "holderIdentity": "b"}})
        assert [one["spec"]["holderIdentity"] for one in worker.list(LEASES).items] == ["b"]
        assert worker.delete(LEASES, "hold")

    def test_access_review_answers_for_the_role(self, worker: Cluster) -> None:
        assert may(worker, verb="get", resource="pods")
        assert not may(worker, verb="get", resource="pods", subresource="log")
        assert not may(worker, verb="list", resource="secrets")
        assert not may(worker, verb="list", resource="nodes")

    def test_is_not_enough_for_what_workers_do_not_do(self, worker: Cluster) -> None:
        for ask in (
            lambda: worker.list(SECRETS),
            lambda: worker.delete(SECRETS, "one"),
            lambda: worker.logs("one"),
            lambda: worker.list(NODES),
            lambda: worker.list(ResourceKind("configmaps")),
        ):
            with raises_fields(RequestRefused, code=403, reason="Forbidden"):
                ask()


class TestRotation:
    """The token of a kubeconfig's `tokenFile` lasts an hour in many clusters."""

    def test_a_token_that_the_server_no_longer_accepts_is_read_again(self, tmp_path: Path) -> None:
        with fake_cluster() as fake:
            file = fake.kubeconfig(tmp_path / "kubeconfig")
            document = json.loads(file.read_text())
            document["users"] = [{"name": "fake", "user": {"tokenFile": str(tmp_path / "token")}}]
            file.write_text(json.dumps(document))
            fake.add_admin("first")
            (tmp_path / "token").write_text("first\n")
            port = connect(str(file), "default")
            port.list(NODES)
            fake.remove_token("first")
            with raises_fields(RequestRefused, code=401):
                port.list(NODES)
            fake.add_admin("second")
            (tmp_path / "token").write_text("second\n")
            with ThreadPoolExecutor(4) as pool:
                assert len(list(pool.map(lambda _: port.list(NODES), range(8)))) == 8
            port.create(SECRETS, {"metadata": {"name": "one"}, "data": {}})
            assert port.get(SECRETS, "one")["metadata"]["name"] == "one"
            port.close()
