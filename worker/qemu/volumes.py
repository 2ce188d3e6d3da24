"""Volumes of a pod, as its supervisor reports them: images, their files, templates."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from worker.qemu.templates import Templates

ABOUT = "image.json"
SECRET = "secret"  # noqa: S105 - a file's name.
"""File of an image whose guest server has a built-in secret."""
_MOST_ABOUT = 2**20


class Volumes:
    """Reads images, reads and creates templates. Raises OSError or ValueError on failure."""

    def __init__(self, images: Path, templates: Path) -> None:
        self._images, self._templates = images, Templates(templates)
        self._making: dict[str, ExitStack] = {}
        self.accelerator_notes = templates / ".accelerator"
        """Folder of measurements of nodes, each of which only its own pods read."""

    def images(self) -> list[dict[str, Any]]:
        """Of each complete image: `folder`, `about` (image.json as text), `secret` (built in, or empty), `sizes`."""
        return [self._image(file.parent) for file in sorted(self._images.glob(f"*/{ABOUT}"))]

    def _image(self, folder: Path) -> dict[str, Any]:
        description, secret = folder / ABOUT, folder / SECRET
        text = description.read_text() if description.stat().st_size <= _MOST_ABOUT else ""
        sizes = {file.name: file.stat().st_size for file in folder.iterdir() if file.is_file()}
        built_in = secret.read_text().strip() if secret.is_file() else ""
        return {"folder": str(folder), "about": text, "secret": built_in, "sizes": sizes}

    def files(self, folder: str, names: list[str]) -> list[Path]:
        """Paths of an image's files, whether they exist or not."""
        return [self._images / Path(folder).name / Path(name).name for name in names]

    def find(self, key: str) -> dict[str, Any] | None:
        """The template with that key as JSON; None if there is none."""
        template = self._templates.find(key)
        return None if template is None else template.to_json()

    def all(self) -> list[dict[str, Any]]:
        return [template.to_json() for template in self._templates.all()]

    def make(self, key: str) -> str:
        """An empty folder to create a template in; empty text while somebody else creates it."""
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(self._templates.making(key, wait=False))
            except BlockingIOError:
                return ""
            self._making[key] = stack.pop_all()
        return str(folder)

    def release(self, key: str) -> None:
        """Ends the creation; an unfinished template is removed. Safe to call twice."""
        stack = self._making.pop(key, None)
        if stack is not None:
            stack.close()

    def keep(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Stores the finished template, and removes those that it replaces; as in `Templates.keep`."""
        if fields["key"] not in self._making:
            raise ValueError("that template is not being created here")
        width, height = fields.pop("screen")
        template = self._templates.keep(Path(fields.pop("place")), screen=(int(width), int(height)), **fields)
        self._templates.replace(template)
        return template.to_json()

    def close(self) -> None:
        for key in list(self._making):
            self.release(key)
