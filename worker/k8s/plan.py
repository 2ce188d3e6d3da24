"""Settings of pods with virtual machines, validated once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.config import Settings
from backend.domain.errors import Invalid

_SIZE = re.compile(r"[1-9][0-9]*(Mi|Gi|Ti)")
_UNIT = {"Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_SETTINGS = {"images": "DESKARENA_K8S_IMAGE_VOLUME", "templates": "DESKARENA_K8S_TEMPLATE_VOLUME"}
_KINDS = {"images": ("claim", "clone", "image"), "templates": ("claim", "ephemeral", "empty", "memory")}
NODE = "{node}"
"""Placeholder in a claim's name for the pod's node. Both are DNS-1123 subdomains."""
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_CLAIM = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_LONGEST = 253


@dataclass(frozen=True)
class Volume:
    """Source of a pod's volume.

    Attributes:
        kind: `claim` (a PersistentVolumeClaim), `clone` (a copy of one, created and removed with the pod), `image` (an
            image volume), `ephemeral` (a claim created and removed with the pod), `empty` (a folder on the node's
            disk), `memory`.
        what: name of the claim or image, or the size.
        storage: storage class of what is created with the pod; empty = the cluster's default.
        room: size of a clone, at least that of its claim.
    """

    kind: str
    what: str
    storage: str = ""
    room: str = ""

    @property
    def size(self) -> int:
        """Bytes if it is created empty for the pod; else 0."""
        return bytes_of(self.what) if self.kind in {"ephemeral", "empty", "memory"} else 0

    @property
    def by_node(self) -> bool:
        """Whether each node's pods have their own claim."""
        return self.kind in {"claim", "clone"} and NODE in self.what

    def claim(self, node: str) -> str:
        """Name of the claim for pods of a node; without a node, as in the setting."""
        return self.what.replace(NODE, node) if node else self.what


@dataclass(frozen=True)
class PodPlan:
    """Settings that all pods of this installation share.

    Attributes:
        owner: name of the installation.
        image: of the container.
        kvm: resource name of the device plugin; empty = machines are emulated.
        images, templates: volumes.
        overlays: size of the volume for machines' writes; their files are unlinked, so few kubelets enforce it.
        labels: additional labels.
        tolerations: as in a pod's spec.
        pull_secrets: names of Secrets for the registry.
        idle: seconds that a pod is kept after its last use.
        attempts: maximum attempts in a pod.
        nodes: label selector of usable nodes; empty = slots have no node.
    """

    owner: str
    image: str
    kvm: str
    images: Volume
    templates: Volume
    overlays: str
    labels: Mapping[str, str] = field(default_factory=dict)
    tolerations: Sequence[Mapping[str, Any]] = ()
    pull_secrets: Sequence[str] = ()
    idle: float = 900.0
    attempts: int = 50
    nodes: str = ""

    @property
    def by_node(self) -> bool:
        """Whether a pod needs a node's name."""
        return self.images.by_node or self.templates.by_node

    @property
    def makes_claims(self) -> bool:
        """Whether the cluster creates a claim for each pod, which waits for it."""
        return self.images.kind == "clone" or self.templates.kind == "ephemeral"

    @classmethod
    def from_settings(cls, settings: Settings) -> "PodPlan":
        """Raises Invalid, with the name of the setting."""
        return cls(
            owner=settings.k8s_instance_label,
            image=settings.k8s_pod_image,
            kvm=settings.k8s_kvm_resource,
            images=_check_placement(volume(settings.k8s_image_volume, "images"), "images", settings.k8s_nodes),
            templates=_check_placement(
                volume(settings.k8s_template_volume, "templates"), "templates", settings.k8s_nodes
            ),
            overlays=_check_size(settings.k8s_scratch_size, "DESKARENA_K8S_SCRATCH_SIZE"),
            labels=settings.k8s_labels,
            tolerations=settings.k8s_tolerations,
            pull_secrets=settings.k8s_pull_secrets,
            idle=settings.k8s_idle_seconds,
            attempts=settings.k8s_max_attempts_per_pod,
            nodes=settings.k8s_nodes,
        )


def volume(text: str, which: str) -> Volume:
    """Parses a volume: `KIND:WHAT`, for an ephemeral one also `:CLASS`, for a clone `:SIZE[:CLASS]`.

    Args:
        text: such as `claim:machine-images`, `clone:machine-images:100Gi` or `ephemeral:32Gi:fast-local`.
        which: `images` or `templates`.

    Raises:
        Invalid: It is not valid.
    """
    name, kinds = _SETTINGS[which], _KINDS[which]
    kind, _, value = text.partition(":")
    storage = room = ""
    if kind == "clone":
        value, _, room = value.partition(":")
        room, _, storage = room.partition(":")
    if kind == "ephemeral":
        value, _, storage = value.partition(":")
    if kind not in kinds or not value:
        raise Invalid(
            f"{text!r} is not a valid volume, expected {', '.join(f'{image_kind}:...' for image_kind in kinds)}",
            code="invalid_setting",
            path=name,
        )
    if kind in {"claim", "clone"}:
        _check_claim_name(value, name)
    if kind == "clone":
        _check_size(room, name)
    if kind in {"ephemeral", "empty", "memory"}:
        _check_size(value, name)
    return Volume(kind, value, storage, room)


def _check_placement(claim: Volume, which: str, nodes: str) -> Volume:
    """Checks that slots determine a node if each node has its own claim. Raises Invalid."""
    if claim.by_node and not nodes:
        name = _SETTINGS[which]
        do = "set DESKARENA_K8S_NODES, or name one claim that all pods can use"
        raise Invalid(f"{NODE} needs slots with a node; {do}", code="invalid_setting", path=name)
    return claim


def _check_claim_name(text: str, name: str) -> None:
    tried = text.replace(NODE, "n")
    if not _CLAIM.fullmatch(tried) or len(tried) > _LONGEST:
        raise Invalid(
            f"{text!r} is not a valid claim name: lower case letters, digits, '-', '.' and {NODE}",
            code="invalid_setting",
            path=name,
        )


def _check_size(text: str, name: str) -> str:
    if not _SIZE.fullmatch(text):
        raise Invalid(f"{text!r} is not a valid size, such as 512Mi or 16Gi", code="invalid_setting", path=name)
    return text


def bytes_of(size: str) -> int:
    """Bytes of a size such as `16Gi`."""
    return int(size[:-2]) * _UNIT[size[-2:]]
