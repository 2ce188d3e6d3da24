"""Rules for every overlay, asked of the objects that are built: rights, walls, probes, references."""

import re

import pytest
import yaml

from backend.config import Settings
from backend.web.serve import FINISH_SECONDS
from tests.unit.deploy.built import OVERLAYS, containers, fits, kind, labels, objects, references, workloads
from tools.manifests import K8S

EACH = pytest.mark.parametrize("overlay", OVERLAYS)
PRIVILEGED = {("single-node", "local-worker")}
"""The one exception: desktops that are made of namespaces inside the worker's own container."""
WITH_ACCOUNT = {"k8s-worker"}
FORBIDDEN = ("hostNetwork", "hostPID", "hostIPC")
STOPPING = 6


class TestRights:
    @EACH
    def test_no_pod_uses_host_namespaces_or_paths(self, overlay: str) -> None:
        for found, spec in workloads(overlay):
            name = found["metadata"]["name"]
            assert not [word for word in FORBIDDEN if spec.get(word)], name
            assert not [volume for volume in spec.get("volumes", []) if "hostPath" in volume], name
            assert not [port for each in containers(spec) for port in each.get("ports", []) if "hostPort" in port], name

    @EACH
    def test_all_but_one_run_without_any_right(self, overlay: str) -> None:
        exceptions = set()
        for found, spec in workloads(overlay):
            name = found["metadata"]["name"]
            if any(each["securityContext"].get("privileged") for each in containers(spec)):
                exceptions.add((overlay, name))
                continue
            assert spec["securityContext"]["runAsNonRoot"] is True, name
            assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
            for each in containers(spec):
                assert each["securityContext"] == {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                }, name
        assert exceptions == {each for each in PRIVILEGED if each[0] == overlay}

    @EACH
    def test_only_workers_of_a_cluster_have_its_account(self, overlay: str) -> None:
        for found, spec in workloads(overlay):
            name = found["metadata"]["name"]
            assert spec["automountServiceAccountToken"] is (name in WITH_ACCOUNT), name
            assert ("serviceAccountName" in spec) is (name in WITH_ACCOUNT), name

    @EACH
    def test_namespaces_say_what_their_pods_must_keep(self, overlay: str) -> None:
        for found in kind(overlay, "Namespace"):
            level = found["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
            assert level == ("privileged" if overlay == "single-node" else "restricted")

    @EACH
    def test_rights_in_the_cluster_are_of_one_namespace(self, overlay: str) -> None:
        rights = {(found["kind"], found["metadata"].get("namespace")) for found in kind(overlay, "Role", "RoleBinding")}
        assert rights <= {("Role", "deskarena-vms"), ("RoleBinding", "deskarena-vms")}
        for found in kind(overlay, "ClusterRole"):
            assert found["rules"] == [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]}]
        for found in kind(overlay, "Role"):
            assert "*" not in str(found["rules"])

    @EACH
    def test_every_object_says_where_it_lies(self, overlay: str) -> None:
        for found in objects(overlay):
            if found["kind"] not in {"Namespace", "ClusterRole", "ClusterRoleBinding"}:
                assert found["metadata"]["namespace"] in {"deskarena", "deskarena-vms"}


class TestPods:
    @EACH
    def test_each_says_what_it_needs_and_at_most_gets(self, overlay: str) -> None:
        for found, spec in workloads(overlay):
            for each in containers(spec):
                resources = each["resources"]
                assert {"cpu", "memory"} <= set(resources["requests"]), found["metadata"]["name"]
                assert "memory" in resources["limits"], found["metadata"]["name"]

    @EACH
    def test_long_running_containers_have_probes(self, overlay: str) -> None:
        for found, spec in workloads(overlay):
            if found["kind"] == "Job":
                continue
            for each in containers(spec):
                assert {"startupProbe", "livenessProbe"} <= set(each), found["metadata"]["name"]
                waited_for = each.get("ports") or found["spec"].get("strategy", {}).get("type") == "RollingUpdate"
                assert not waited_for or "readinessProbe" in each, found["metadata"]["name"]

    @EACH
    def test_a_liveness_probe_never_asks_for_the_database(self, overlay: str) -> None:
        """A restart does not bring a database back and only makes the service unavailable for longer."""
        probes = [each["livenessProbe"] for _, spec in workloads(overlay) for each in containers(spec)
                  if "livenessProbe" in each]  # fmt: skip
        assert "/healthz" not in str(probes)
        assert "/readyz" not in str(probes)

    @EACH
    def test_folders_that_take_writes_have_an_end(self, overlay: str) -> None:
        for found, spec in workloads(overlay):
            for volume in spec.get("volumes", []):
                assert "emptyDir" not in volume or "sizeLimit" in volume["emptyDir"], found["metadata"]["name"]

    @EACH
    def test_the_end_is_given_the_time_that_it_takes(self, overlay: str) -> None:
        for found, spec in workloads(overlay):
            (container, *_) = spec["containers"]
            given = {one["name"]: one.get("value") for one in container.get("env", [])}
            allowed = spec.get("terminationGracePeriodSeconds", 30)
            if grace := given.get("DESKARENA_SHUTDOWN_GRACE_SECONDS"):
                assert allowed > float(grace) + STOPPING + 10, found["metadata"]["name"]
            if found["metadata"]["name"] == "api":
                before = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
                assert allowed > before + FINISH_SECONDS + 5

    @EACH
    def test_no_upgrade_takes_the_last_one_away(self, overlay: str) -> None:
        for found in kind(overlay, "Deployment"):
            if found["metadata"]["name"] in {"api", "k8s-worker", "local-worker"}:
                assert found["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}


class TestReferences:
    @EACH
    def test_every_service_has_pods_and_a_port_of_theirs(self, overlay: str) -> None:
        pods = [(labels(found), spec) for found, spec in workloads(overlay)]
        for found in kind(overlay, "Service"):
            chosen = [spec for given, spec in pods if fits({"matchLabels": found["spec"]["selector"]}, given)]
            assert len(chosen) == 1, found["metadata"]["name"]
            ports = {port["name"] for each in containers(chosen[0]) for port in each.get("ports", [])}
            assert {port["targetPort"] for port in found["spec"]["ports"]} <= ports

    @EACH
    def test_every_policy_and_budget_takes_some_pods(self, overlay: str) -> None:
        made = [{"app.kubernetes.io/name": "deskarena-vm"}] if kind(overlay, "Role") else []
        pods = [dict(labels(found)) for found, _ in workloads(overlay)] + made
        for found in kind(overlay, "NetworkPolicy", "PodDisruptionBudget"):
            chosen = found["spec"].get("podSelector", found["spec"].get("selector"))
            assert any(fits(chosen, given) for given in pods), found["metadata"]["name"]

    @EACH
    def test_selectors_take_the_pods_that_they_make_and_no_others(self, overlay: str) -> None:
        every = workloads(overlay)
        for found, _ in every:
            if "selector" in found["spec"]:
                chosen = found["spec"]["selector"]
                taken = [other["metadata"]["name"] for other, _ in every if fits(chosen, labels(other))]
                assert taken == [found["metadata"]["name"]]

    @EACH
    def test_all_that_is_read_is_there_or_documented(self, overlay: str) -> None:
        config = {found["metadata"]["name"]: found["data"] for found in kind(overlay, "ConfigMap")}
        where = overlay if overlay == "single-node" else "production"
        example = (K8S / "overlays" / where / "secret.example.env").read_text()
        documented = set(re.findall(r"^([A-Z0-9_]+)=", example, re.MULTILINE))
        for found, spec in workloads(overlay):
            for what, name, key, optional in references(spec):
                if what == "ConfigMap":
                    assert not key or key in config[name], found["metadata"]["name"]
                    assert name in config, found["metadata"]["name"]
                elif not optional:
                    assert name == "deskarena", found["metadata"]["name"]
                    assert key in documented, key

    @EACH
    def test_every_variable_is_a_setting(self, overlay: str) -> None:
        known = {f"DESKARENA_{name.upper()}" for name in Settings.model_fields}
        told = {key for found in kind(overlay, "ConfigMap") for key in found["data"]}
        every = [each for _, spec in workloads(overlay) for each in containers(spec)]
        told |= {one["name"] for each in every for one in each.get("env", [])}
        assert {name for name in told if name.startswith("DESKARENA_")} - known == set()

    @EACH
    def test_every_claim_is_there(self, overlay: str) -> None:
        claims = {found["metadata"]["name"] for found in kind(overlay, "PersistentVolumeClaim")}
        named = [volume["persistentVolumeClaim"]["claimName"] for _, spec in workloads(overlay)
                 for volume in spec.get("volumes", []) if "persistentVolumeClaim" in volume]  # fmt: skip
        assert set(named) <= claims


class TestWalls:
    @EACH
    def test_every_namespace_denies_what_is_not_allowed(self, overlay: str) -> None:
        denied = {
            found["metadata"]["namespace"]
            for found in kind(overlay, "NetworkPolicy")
            if found["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
        }
        assert denied == {found["metadata"]["name"] for found in kind(overlay, "Namespace")}

    @EACH
    def test_machines_reach_nothing_and_only_their_workers_reach_them(self, overlay: str) -> None:
        every = kind(overlay, "NetworkPolicy")
        policies = [found for found in every if found["metadata"]["namespace"] == "deskarena-vms"]
        assert bool(policies) is (overlay != "single-node")
        assert not [found for found in policies if "egress" in found["spec"]]
        for found in policies:
            for rule in found["spec"].get("ingress", []):
                sources = [source["podSelector"]["matchLabels"] for source in rule["from"]]
                assert [each["deskarena.dev/provider"] for each in sources] == ["k8s"]
                assert [port["port"] for port in rule["ports"]] == [7070, 32768]

    @EACH
    def test_no_rule_is_open_to_all(self, overlay: str) -> None:
        for found in kind(overlay, "NetworkPolicy"):
            for way, side in (("ingress", "from"), ("egress", "to")):
                for rule in found["spec"].get(way, []):
                    assert rule.get(side), found["metadata"]["name"]
                    assert rule.get("ports"), found["metadata"]["name"]

    def test_web_egress_excludes_private_addresses(self) -> None:
        for path in K8S.rglob("polic*.yaml"):
            for found in yaml.safe_load_all(path.read_text()):
                for rule in found["spec"].get("egress", []):
                    ports = {port["port"] for port in rule["ports"]}
                    blocks = [one["ipBlock"] for one in rule["to"] if "ipBlock" in one]
                    if 80 in ports:
                        assert all(len(block["except"]) == 6 for block in blocks), path
