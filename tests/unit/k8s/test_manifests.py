"""The objects created in a cluster, as whole literals."""

import base64
import dataclasses
from typing import Any

import pytest

from backend.config import Settings
from backend.domain.errors import Invalid
from backend.domain.machines.slots import SlotRef
from tests.error_codes import raises_code
from worker.k8s import manifests
from worker.k8s.manifests import PodResources
from worker.k8s.plan import PodPlan, Volume, bytes_of, volume

PLAN = PodPlan(
    owner="lab",
    image="registry.example/vm:1",
    kvm="devices.kubevirt.io/kvm",
    images=Volume("claim", "machine-images"),
    templates=Volume("empty", "16Gi"),
    overlays="8Gi",
    labels={"team": "agents"},
    tolerations=({"key": "kvm", "operator": "Exists"},),
    pull_secrets=("registry",),
)
SLOT = SlotRef(2, "node-1", "0192", 7)
ROOM = PodResources(4096, 1.5, "win11 1920x1080")
PROBE = {"exec": {"command": ["python3", "-I", "/opt/deskarena/health.py"]}, "timeoutSeconds": 5}
CONTAINER = {
    "name": "vm",
    "image": "registry.example/vm:1",
    "terminationMessagePolicy": "FallbackToLogsOnError",
    "env": [
        {"name": "DESKARENA_SUPERVISOR_TOKEN_FILE", "value": "/run/secrets/deskarena/token"},
        {"name": "DESKARENA_POD_FENCE", "value": "7"},
        {"name": "DESKARENA_POD_OVERLAY_BYTES", "value": "8589934592"},
        {"name": "DESKARENA_POD_ALONE_SECONDS", "value": "1860"},
    ],
    "ports": [{"name": "supervisor", "containerPort": 7070}],
    "resources": {
        "requests": {
            "cpu": "1500m",
            "memory": "4608Mi",
            "ephemeral-storage": "24576Mi",
            "devices.kubevirt.io/kvm": "1",
        },
        "limits": {
            "memory": "4608Mi",
            "ephemeral-storage": "24832Mi",
            "devices.kubevirt.io/kvm": "1",
        },
    },
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    },
    "startupProbe": {**PROBE, "periodSeconds": 1, "failureThreshold": 120},
    "readinessProbe": {**PROBE, "periodSeconds": 10, "failureThreshold": 2},
    "livenessProbe": {**PROBE, "periodSeconds": 30, "failureThreshold": 4},
    "volumeMounts": [
        {"name": "images", "mountPath": "/images", "readOnly": True},
        {"name": "templates", "mountPath": "/templates"},
        {"name": "overlays", "mountPath": "/overlays"},
        {"name": "run", "mountPath": "/run/deskarena"},
        {"name": "token", "mountPath": "/run/secrets/deskarena", "readOnly": True},
    ],
}
VOLUMES = [
    {"name": "images", "persistentVolumeClaim": {"claimName": "machine-images", "readOnly": True}},
    {"name": "templates", "emptyDir": {"sizeLimit": "16Gi"}},
    {"name": "overlays", "emptyDir": {"sizeLimit": "8Gi"}},
    {"name": "run", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}},
    {"name": "token", "secret": {"secretName": "s-1", "defaultMode": 0o440}},
]


def made(plan: PodPlan = PLAN, slot: SlotRef = SLOT, **changed: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"secret": "s-1", "worker": "host-1", "deadline": 1_800_000_000.0, **changed}
    return manifests.pod(plan, slot, ROOM, **told)


class TestPod:
    def test_pod_manifest_is_complete(self) -> None:
        assert made() == {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": manifests.pod_name(PLAN, SLOT),
                "labels": {
                    "team": "agents",
                    "app.kubernetes.io/name": "deskarena-vm",
                    "deskarena.dev/owner": "lab",
                    "deskarena.dev/slot": "0192",
                },
                "annotations": {
                    "deskarena.dev/key": manifests.spec_key(PLAN),
                    "deskarena.dev/worker": "host-1",
                    "deskarena.dev/deadline": "2027-01-15T08:00:00Z",
                    "deskarena.dev/fence": "7",
                    "deskarena.dev/memory-mib": "4096",
                    "deskarena.dev/desktop": "win11 1920x1080",
                    "deskarena.dev/attempts": "1",
                },
            },
            "spec": {
                "restartPolicy": "Never",
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                "terminationGracePeriodSeconds": 5,
                "securityContext": {
                    "runAsNonRoot": True,
                    "runAsUser": 1000,
                    "runAsGroup": 1000,
                    "fsGroup": 1000,
                    "fsGroupChangePolicy": "OnRootMismatch",
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [CONTAINER],
                "volumes": VOLUMES,
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}
                            ]
                        }
                    }
                },
                "tolerations": [{"key": "kvm", "operator": "Exists"}],
                "imagePullSecrets": [{"name": "registry"}],
            },
        }

    def test_without_a_node_the_cluster_chooses(self) -> None:
        assert "affinity" not in made(slot=SlotRef(0))["spec"]

    def test_without_kvm_it_asks_for_no_device(self) -> None:
        resources = made(dataclasses.replace(PLAN, kvm=""))["spec"]["containers"][0]["resources"]
        assert set(resources["limits"]) == {"memory", "ephemeral-storage"}

    @pytest.mark.parametrize("templates", [Volume("empty", "48Gi"), Volume("memory", "4Gi"), Volume("claim", "t")])
    def test_image_probe_pod_is_small(self, templates: Volume) -> None:
        plan = dataclasses.replace(PLAN, templates=templates)
        result = manifests.pod(
            plan, SLOT, PodResources(64, 0.05), secret="s-1", worker="host-1", deadline=1_800_000_000.0, kvm=False
        )
        container = result["spec"]["containers"][0]
        assert container["resources"] == {
            "requests": {"cpu": "50m", "memory": "256Mi", "ephemeral-storage": "128Mi"},
            "limits": {"memory": "256Mi", "ephemeral-storage": "384Mi"},
        }
        assert container["env"][2] == {"name": "DESKARENA_POD_OVERLAY_BYTES", "value": "67108864"}
        assert result["spec"]["volumes"] == [
            {"name": "images", "persistentVolumeClaim": {"claimName": "machine-images", "readOnly": True}},
            {"name": "templates", "emptyDir": {"sizeLimit": "64Mi"}},
            {"name": "overlays", "emptyDir": {"sizeLimit": "64Mi"}},
            {"name": "run", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}},
            {"name": "token", "secret": {"secretName": "s-1", "defaultMode": 0o440}},
        ]
        assert result["metadata"]["annotations"]["deskarena.dev/key"] == manifests.spec_key(plan)

    def test_templates_in_memory_count_as_memory(self) -> None:
        pod = made(dataclasses.replace(PLAN, templates=Volume("memory", "4Gi")))
        assert pod["spec"]["containers"][0]["resources"]["limits"]["memory"] == "8704Mi"
        assert pod["spec"]["volumes"][1]["emptyDir"] == {"medium": "Memory", "sizeLimit": "4Gi"}

    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            (Volume("claim", "t"), {"persistentVolumeClaim": {"claimName": "t"}}),
            (
                Volume("ephemeral", "16Gi", "fast"),
                {
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "resources": {"requests": {"storage": "16Gi"}},
                                "storageClassName": "fast",
                            }
                        }
                    }
                },
            ),
        ],
    )
    def test_template_volume_follows_the_setting(self, source: Volume, expected: dict[str, Any]) -> None:
        pod = made(dataclasses.replace(PLAN, templates=source))
        assert pod["spec"]["volumes"][1] == {"name": "templates", **expected}

    def test_images_from_an_image_volume(self) -> None:
        pod = made(dataclasses.replace(PLAN, images=Volume("image", "registry.example/images:3")))
        wanted = {"reference": "registry.example/images:3", "pullPolicy": "IfNotPresent"}
        assert pod["spec"]["volumes"][0] == {"name": "images", "image": wanted}

    def test_claims_of_the_slot_s_node(self) -> None:
        plan = dataclasses.replace(
            PLAN, images=Volume("claim", "images-{node}"), templates=Volume("claim", "{node}-templates")
        )
        assert made(plan, SlotRef(0, "ip-10-0-0-7.ec2.internal"))["spec"]["volumes"][:2] == [
            {
                "name": "images",
                "persistentVolumeClaim": {"claimName": "images-ip-10-0-0-7.ec2.internal", "readOnly": True},
            },
            {"name": "templates", "persistentVolumeClaim": {"claimName": "ip-10-0-0-7.ec2.internal-templates"}},
        ]

    @pytest.mark.parametrize(
        ("source", "origin", "storage"),
        [
            (Volume("clone", "golden", room="100Gi"), "golden", {}),
            (Volume("clone", "golden-{node}", "fast", "100Gi"), "golden-node-1", {"storageClassName": "fast"}),
        ],
    )
    def test_images_from_a_clone_of_its_own(self, source: Volume, origin: str, storage: dict[str, str]) -> None:
        pod = made(dataclasses.replace(PLAN, images=source))
        assert pod["spec"]["volumes"][0] == {
            "name": "images",
            "ephemeral": {
                "volumeClaimTemplate": {
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "100Gi"}},
                        **storage,
                        "dataSource": {"kind": "PersistentVolumeClaim", "name": origin},
                    }
                }
            },
        }
        assert pod["spec"]["containers"][0]["volumeMounts"][0] == {
            "name": "images",
            "mountPath": "/images",
            "readOnly": True,
        }
        asked = made()["spec"]["containers"][0]["resources"]
        assert pod["spec"]["containers"][0]["resources"] == asked, "a clone takes nothing of the node's disk"


class TestTrial:
    def test_is_a_whole_pod_of_no_slot(self) -> None:
        result = manifests.trial(PLAN, ROOM, -7, worker="host-1", now=1_800_000_000.0)
        assert result == made(slot=SlotRef(-7), secret="none")
        assert "affinity" not in result["spec"]

    def test_has_whole_names_where_claims_are_a_node_s(self) -> None:
        plan = dataclasses.replace(PLAN, images=Volume("claim", "images-{node}"))
        result = manifests.trial(plan, ROOM, -7, worker="host-1", now=1_800_000_000.0)
        assert result["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] == "images-node"


class TestPodName:
    def test_pod_name_depends_on_the_slot_only(self) -> None:
        assert manifests.pod_name(PLAN, SLOT) == manifests.pod_name(PLAN, SlotRef(2, "node-1", "other", 9))
        others = [SlotRef(2, "node-2"), SlotRef(3, "node-1"), SlotRef(2)]
        names = {manifests.pod_name(PLAN, each) for each in (SLOT, *others)}
        assert len(names) == 4

    def test_is_another_one_for_another_installation(self) -> None:
        assert manifests.pod_name(dataclasses.replace(PLAN, owner="b"), SLOT) != manifests.pod_name(PLAN, SLOT)


class TestSpecKey:
    def test_changes_with_what_the_pod_is_made_of_and_not_with_its_slot(self) -> None:
        key = manifests.spec_key(PLAN)
        assert made(slot=SlotRef(0, "x", "y", 1))["metadata"]["annotations"]["deskarena.dev/key"] == key
        for changed in (
            {"image": "vm:2"},
            {"overlays": "9Gi"},
            {"kvm": "smarter-devices/kvm"},
            {"images": Volume("claim", "machine-images-{node}")},
            {"images": Volume("clone", "machine-images", room="9Gi")},
        ):
            assert manifests.spec_key(dataclasses.replace(PLAN, **changed)) != key


class TestSecret:
    def test_secret_manifest_is_complete(self) -> None:
        pod = made()
        pod["metadata"]["uid"] = "u-1"
        assert manifests.secret(PLAN, pod, "s-1", "the token") == {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "Opaque",
            "immutable": True,
            "metadata": {
                "name": "s-1",
                "labels": pod["metadata"]["labels"],
                "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": "u-1"}],
            },
            "data": {"token": base64.b64encode(b"the token").decode()},
        }
        assert manifests.secret_of(pod) == "s-1"


class TestSecondsOf:
    def test_is_the_way_back(self) -> None:
        assert manifests.seconds_of(manifests.moment(1_800_000_000.0)) == 1_800_000_000.0
        assert manifests.seconds_of("soon") is None


class TestVolume:
    def test_volume_settings_are_parsed(self) -> None:
        assert volume("ephemeral:32Gi:fast", "templates") == Volume("ephemeral", "32Gi", "fast")
        assert volume("image:registry.example/a:1", "images") == Volume("image", "registry.example/a:1")
        assert volume("claim:images-{node}", "images") == Volume("claim", "images-{node}")
        assert volume("clone:golden:100Gi", "images") == Volume("clone", "golden", "", "100Gi")
        assert volume("clone:golden-{node}:1Ti:fast", "images") == Volume("clone", "golden-{node}", "fast", "1Ti")
        assert bytes_of("2Mi") == 2**21

    @pytest.mark.parametrize(
        ("text", "which"),
        [
            ("host:/var", "images"),
            ("claim:", "images"),
            ("memory:1Gi", "images"),
            ("empty:much", "templates"),
            ("claim:Images", "images"),
            ("claim:images-{zone}", "images"),
            (f"claim:{'i' * 254}", "images"),
            ("clone:golden", "images"),
            ("clone:golden:much", "images"),
            ("clone::1Gi", "images"),
            ("clone:golden:1Gi", "templates"),
        ],
    )
    def test_invalid_volume_settings_are_rejected(self, text: str, which: str) -> None:
        with pytest.raises(Invalid):
            volume(text, which)


class TestPlanOf:
    def test_takes_the_settings(self) -> None:
        plan = PodPlan.from_settings(
            Settings(k8s_pod_image="i", k8s_instance_label="lab", k8s_template_volume="memory:8Gi")
        )
        assert (plan.owner, plan.image, plan.templates) == ("lab", "i", Volume("memory", "8Gi"))

    def test_says_which_is_wrong(self) -> None:
        with pytest.raises(Invalid) as raised:
            PodPlan.from_settings(Settings(k8s_scratch_size="lots"))
        assert raised.value.path == "DESKARENA_K8S_SCRATCH_SIZE"

    @pytest.mark.parametrize("text", ["claim:its-{node}", "clone:its-{node}:1Gi"])
    def test_claims_of_nodes_need_slots_that_have_one(self, text: str) -> None:
        assert PodPlan.from_settings(Settings(k8s_image_volume=text, k8s_nodes="vm=yes")).by_node
        with raises_code(Invalid, "invalid_setting", mentions="DESKARENA_K8S_IMAGE_VOLUME") as raised:
            PodPlan.from_settings(Settings(k8s_image_volume=text, k8s_slots=8))
        assert raised.value.path == "DESKARENA_K8S_IMAGE_VOLUME"

    def test_node_placeholder_of_templates_needs_nodes(self) -> None:
        with pytest.raises(Invalid) as raised:
            PodPlan.from_settings(Settings(k8s_template_volume="claim:its-{node}", k8s_slots=8))
        assert raised.value.path == "DESKARENA_K8S_TEMPLATE_VOLUME"
