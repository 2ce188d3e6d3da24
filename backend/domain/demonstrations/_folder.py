"""The folder of a set: its files, read within bounds."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from backend.domain.errors import Invalid

MOST_FILE = 512 * 2**20
PICTURES = (".png", ".jpg", ".jpeg")


class SetFolder:
    """Files below a folder; symbolic links are not followed."""

    def __init__(self, root: Path) -> None:
        """Args: root: the folder."""
        self.root = root

    @cached_property
    def paths(self) -> Sequence[Path]:
        """All files, in order of their paths."""
        return sorted(path for path in self.root.rglob("*") if path.is_file() and not path.is_symlink())

    @cached_property
    def _pictures(self) -> dict[str, Path]:
        return {path.stem: path for path in self.paths if path.suffix.lower() in PICTURES}

    def picture(self, stem: str) -> str | None:
        """Path of the picture whose file has this name without suffix, wherever it lies."""
        path = self._pictures.get(stem)
        return path.relative_to(self.root).as_posix() if path else None

    def file(self, name: str) -> Path:
        """A file by its path in the set.

        Raises:
            Invalid: it is not there, or outside.
        """
        path = self.root / name
        if ".." in Path(name).parts or Path(name).is_absolute() or path.is_symlink() or not path.is_file():
            raise Invalid("the set has no such file", code="demonstrations_invalid", path=name[:300])
        if path.stat().st_size > MOST_FILE:
            raise Invalid(f"it is larger than {MOST_FILE >> 20} MiB", code="demonstrations_invalid", path=name[:300])
        return path

    def text(self, name: str) -> str:
        """A text file. Raises Invalid."""
        try:
            return self.file(name).read_text()
        except UnicodeDecodeError as error:
            raise Invalid(f"it is not UTF-8 text: {error}", code="demonstrations_invalid", path=name[:300]) from None

    def json(self, name: str) -> Any:
        """A JSON file. Raises Invalid."""
        return parse_json(self.text(name), name)

    def json_objects(self, suffixes: Iterable[str] = (".json", ".jsonl")) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every object with its file's name: of `.json` files, of lists in them, of lines of `.jsonl` files."""
        for path in self.paths:
            name = path.relative_to(self.root).as_posix()
            if path.suffix not in suffixes:
                continue
            if path.suffix == ".jsonl":
                lines = enumerate(self.text(name).splitlines(), 1)
                values = [parse_json(line, f"{name}:{number}") for number, line in lines if line.strip()]
            else:
                value = self.json(name)
                values = value if isinstance(value, list) else [value]
            yield from ((name, value) for value in values if isinstance(value, dict))


def parse_json(text: str, name: str) -> Any:
    """JSON. Raises Invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"it cannot be read as JSON: {error}", code="demonstrations_invalid", path=name[:300]) from None
