"""Templates of a data folder: found by key, created once, complete or not there.

`DATA/templates/KEY/` has one. Its creator holds the lock `KEY.lock` beside it, so that two workers of a host do not
both boot the machine; an incomplete one of a dead creator is removed by the next.
"""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from worker.qemu.template import ABOUT, DISK, MEMORY, STATE

_UNDONE = ".making-"


@dataclass(frozen=True, kw_only=True)
class Template:
    """A machine that can be cloned.

    Attributes:
        place: its folder.
        image: name of the image.
        screen: width and height in pixels.
        secret: of its guest's server; every clone gets another one.
        seconds: duration of its creation, by phase.
        sizes: sizes of its files in bytes.
        why_emulated: why it runs without KVM on a host that has it: the image does not boot with it; else empty.
    """

    place: Path
    key: str
    image: str
    screen: tuple[int, int]
    secret: str
    seconds: Mapping[str, float]
    sizes: Mapping[str, int]
    why_emulated: str = ""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "place": str(self.place)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """Reverse of `to_json`. Raises TypeError, ValueError or KeyError for invalid data."""
        width, height = fields["screen"]
        return cls(**{**fields, "place": Path(fields["place"]), "screen": (int(width), int(height))})


class Templates:
    """All templates of a data folder. Thread-safe and process-safe."""

    def __init__(self, folder: Path) -> None:
        """Args: folder: such as `DATA/templates`."""
        self._folder = folder

    def find(self, key: str) -> Template | None:
        """The template with that key; None if there is none, or it is damaged."""
        folder = self._folder / key
        try:
            fields = json.loads((folder / ABOUT).read_text())
            template = Template.from_json({**fields, "place": folder})
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return template if template.key == key and _sizes(folder) == dict(template.sizes) else None

    def all(self) -> list[Template]:
        if not self._folder.is_dir():
            return []
        templates = (self.find(folder.name) for folder in sorted(self._folder.iterdir()) if (folder / ABOUT).is_file())
        return [template for template in templates if template is not None]

    @contextlib.contextmanager
    def making(self, key: str, *, wait: bool = True) -> Iterator[Path]:
        """Waits until nobody else creates it, and yields an empty folder, which is removed at the end.

        Somebody else may have created it meanwhile: search again first.

        Raises:
            BlockingIOError: somebody else creates it, and waiting is not allowed.
            OSError: There is no room.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._folder / f"{key}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            folder = self._folder / f"{_UNDONE}{key}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def keep(self, folder: Path, *, key: str, image: str, screen: tuple[int, int], **fields: Any) -> Template:
        """Stores the finished template under its name. Must be called within `making`.

        Args:
            folder: folder where it was created.
            key: as in Template, like the others.
            image: name of the image.
            screen: width and height in pixels.
            **fields: other fields of Template, except `sizes`.

        Raises:
            OSError: It cannot be written.
        """
        template = Template(place=folder, key=key, image=image, screen=screen, sizes=_sizes(folder), **fields)
        about = folder / ABOUT
        about.touch(mode=0o600)
        about.write_text(json.dumps({**template.to_json(), "place": ""}, indent=2) + "\n")
        with about.open("rb") as written:
            os.fsync(written.fileno())
        final = self._folder / key
        shutil.rmtree(final, ignore_errors=True)
        folder.rename(final)
        return Template(**{**asdict(template), "place": final})

    def remove(self, template: Template) -> None:
        """Removes one; running clones continue, since they have its files open."""
        shutil.rmtree(template.place, ignore_errors=True)
        (self._folder / f"{template.key}.lock").unlink(missing_ok=True)

    def replace(self, template: Template) -> None:
        """Removes those of the same image and screen that this one replaces."""
        for stored in self.all():
            if stored.key != template.key and (stored.image, stored.screen) == (template.image, template.screen):
                self.remove(stored)


def _sizes(folder: Path) -> dict[str, int]:
    return {name: (folder / name).stat().st_size for name in (MEMORY, STATE, DISK)}
