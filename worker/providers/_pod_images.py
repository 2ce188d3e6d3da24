"""Machine images of a pod's volume, as reported by its supervisor."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import ValidationError

from backend.domain.errors import ClusterLost
from backend.domain.machines.image_offers import ImageOffer
from backend.domain.machines.machine_image import DEFAULT, MachineImage
from backend.domain.model.validation_words import problem_words
from worker.providers._images import offer_of


@dataclass(frozen=True)
class PodImage:
    """An image in a pod.

    Attributes:
        folder: in the pod.
        image: its manifest; None if it is not complete.
        built_in: secret of its guest server; empty = none.
        reason: why no machine of it can be created; empty if one can.
    """

    folder: Path
    image: MachineImage | None
    built_in: str = ""
    reason: str = ""


class KnownImages:
    """Images as last read: of the volume of all pods, or of each node. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._read: dict[str, tuple[PodImage, ...]] = {}

    def note(self, node: str, images: tuple[PodImage, ...]) -> None:
        """Records a pod's images. Args: node: empty if all pods share the same."""
        with self._lock:
            self._read[node] = images

    def keep(self, nodes: Collection[str]) -> None:
        """Forgets the images of other nodes."""
        with self._lock:
            self._read = {node: images for node, images in self._read.items() if node in nodes}

    def on_node(self, node: str = "") -> tuple[PodImage, ...]:
        """All images by name; if several nodes have one, that of the given node is preferred if complete."""
        with self._lock:
            read = sorted(self._read.items(), key=lambda item: (item[0] != node, item[0]))
        by_name: dict[str, PodImage] = {}
        for _, images in read:
            for image in images:
                if image.folder.name not in by_name or (
                    by_name[image.folder.name].image is None and image.image is not None
                ):
                    by_name[image.folder.name] = image
        return tuple(by_name[name] for name in sorted(by_name))


def read_images(entries: Sequence[Mapping[str, Any]]) -> tuple[PodImage, ...]:
    """Parses the supervisor's `images`, validated like an image of this machine."""
    return tuple(_read(entry) for entry in entries)


def _read(entry: Mapping[str, Any]) -> PodImage:
    folder = Path(str(entry["folder"]))
    try:
        image = MachineImage.model_validate_json(str(entry["about"]))
    except ValidationError as error:
        return PodImage(folder, None, reason=f"image.json: {problem_words(error.errors()[0])}")
    if image.name != folder.name:
        return PodImage(folder, None, reason=(f"its name is {image.name!r}, but its folder is called {folder.name!r}"))
    sizes = entry["sizes"]
    wrong = [file.file for file in image.files() if sizes.get(file.file) != file.size]
    if wrong:
        return PodImage(folder, None, reason=f"{wrong[0]} is missing or its size differs from image.json")
    return PodImage(folder, image, built_in=str(entry["secret"]))


def select_image(images: Sequence[PodImage], name: str, default: str) -> PodImage:
    """The image for a `DesktopSpec`.

    Args:
        images: existing ones.
        name: an image's, or `default`.
        default: name in the settings; empty = the only one.

    Raises:
        ClusterLost: there is none, or `default` is ambiguous.
    """
    image_name = default_of(images, default) if name == DEFAULT else name
    names = ", ".join(image.folder.name for image in images) or "none"
    if not image_name:
        raise ClusterLost(
            f"the run names no image, and there are several: {names}",
            code="image_not_available",
            hint="Set DESKARENA_DEFAULT_IMAGE.",
        )
    choice = next((image for image in images if image.folder.name == image_name), None)
    if choice is None or choice.image is None:
        problem = f"cannot be used: {choice.reason}" if choice is not None else (f"does not exist; available: {names}")
        raise ClusterLost(
            f"the image {image_name} {problem}",
            code="image_not_available",
            hint="See docs/deploy-kubernetes.md, section Machine images.",
        )
    return choice


def default_of(images: Sequence[PodImage], default: str) -> str:
    """Name of the image for runs that name none; empty if ambiguous."""
    return default or (images[0].folder.name if len(images) == 1 else "")


def offers(images: Sequence[PodImage], default: str) -> tuple[ImageOffer, ...]:
    """One offer for each."""
    default_name = default_of(images, default)
    return tuple(
        offer_of(
            image.image, default=image.folder.name == default_name, prepared=None
        )  # Each node or pod has templates of its own.
        if image.image is not None
        else ImageOffer(name=image.folder.name, default=image.folder.name == default_name, reason=image.reason)
        for image in images
    )
