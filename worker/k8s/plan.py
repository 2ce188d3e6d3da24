"""How pods of virtual machines are made in a cluster: the settings, read and checked once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.config import Settings
from backend.domain.errors import Invalid

_SIZE = re.compile(r"[1-9][0-9]*(Mi|Gi|Ti)")
_UNIT = {"Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_KINDS = {"images": ("claim", "image"), "templates": ("claim", "ephemeral", "empty", "memory")}


@dataclass(frozen=True)
class Volume:
    """Where a volume of a pod comes from.

    Attributes:
        kind: `claim` (a PersistentVolumeClaim), `image` (an image volume), `ephemeral` (a claim that is made and
            removed with the pod), `empty` (a folder on the node's disk), `memory`.
        what: the claim's or image's name, or the size.
        storage: class of an ephemeral volume; empty = the cluster's default.
    """

    kind: str
    what: str
    storage: str = ""

    @property
    def size(self) -> int:
        """Bytes, where it is made for the pod; else 0."""
        return bytes_of(self.what) if self.kind in {"ephemeral", "empty", "memory"} else 0


@dataclass(frozen=True)
class PodPlan:
    """What all pods of this installation have in common.

    Attributes:
        owner: name of the installation.
        image: of the container.
        kvm: name of the device plugin's resource; empty = machines are emulated.
        images, templates: volumes.
        overlays: size of the volume that takes what machines write; they have no names, so few kubelets enforce it.
        labels: further ones.
        tolerations: as in a pod's spec.
        pull_secrets: names of Secrets for the registry.
        idle: seconds that a pod outlives whoever used it last.
        attempts: that a pod may have before another takes its place.
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

    @classmethod
    def of(cls, settings: Settings) -> "PodPlan":
        """Raises Invalid: a setting is wrong; says which."""
        return cls(
            owner=settings.k8s_owner,
            image=settings.k8s_image,
            kvm=settings.k8s_kvm_resource,
            images=volume(settings.k8s_images, "images"),
            templates=volume(settings.k8s_templates, "templates"),
            overlays=_sized(settings.k8s_overlays, "DESKARENA_K8S_OVERLAYS"),
            labels=settings.k8s_labels,
            tolerations=settings.k8s_tolerations,
            pull_secrets=settings.k8s_pull_secrets,
            idle=settings.k8s_idle_seconds,
            attempts=settings.k8s_attempts,
        )


def volume(text: str, which: str) -> Volume:
    """A volume as a setting names it: `KIND:WHAT`, for an ephemeral one also `:CLASS`.

    Args:
        text: such as `claim:machine-images` or `ephemeral:32Gi:fast-local`.
        which: `images` or `templates`.

    Raises:
        Invalid: it is none.
    """
    name, kinds = f"DESKARENA_K8S_{which.upper()}", _KINDS[which]
    kind, _, what = text.partition(":")
    storage = ""
    if kind == "ephemeral":
        what, _, storage = what.partition(":")
    if kind not in kinds or not what:
        raise Invalid(f"{text!r} is no volume: {', '.join(f'{each}:...' for each in kinds)}", path=name)
    if kind in {"ephemeral", "empty", "memory"}:
        _sized(what, name)
    return Volume(kind, what, storage)


def _sized(text: str, name: str) -> str:
    if not _SIZE.fullmatch(text):
        raise Invalid(f"{text!r} is no size: 512Mi, 16Gi and the like", path=name)
    return text


def bytes_of(size: str) -> int:
    """Of a size such as `16Gi`."""
    return int(size[:-2]) * _UNIT[size[-2:]]
