"""Catalogue of programs for a Windows image: `vm_images/windows/programs.yaml` and the user's own list."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import Field, StringConstraints, ValidationError, model_validator

from backend.domain.errors import Invalid
from backend.domain.machines.applications import with_version
from backend.domain.machines.machine_image import Line, Sha256
from backend.domain.model.task import Frozen
from backend.domain.model.validation_words import problem_words
from worker.images.checks import ProgramCheck
from worker.images.windows.settings import SOURCES, RegistryEntry

FILE = SOURCES / "windows" / "programs.yaml"
WindowsPath = Annotated[str, StringConstraints(pattern=r"^[A-Z]:\\[^\x00-\x1f\"<>|?]{1,250}$")]
Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")]
_KINDS = {".exe": "exe", ".msi": "msi", ".zip": "zip", ".ps1": "ps1"}


class TextFile(Frozen):
    """A small file that is written after the installation, for example a program's settings."""

    path: WindowsPath
    text: str = Field(max_length=100_000)


class Shortcut(Frozen):
    """An entry of the start menu, for programs without an installer."""

    name: str = Field(pattern=r"^[A-Za-z0-9 ._-]{1,60}$")
    target: WindowsPath


class CatalogEntry(Frozen):
    """Fields of every entry.

    Attributes:
        sets: benchmarks whose tasks need it.
        commands: commands that tasks can start, for `MachineImage.programs`.
    """

    id: Id
    name: Line = Field(min_length=1)
    sets: tuple[Id, ...] = Field(min_length=1)
    commands: tuple[Line, ...] = ()

    def provides(self) -> tuple[str, ...]:
        """Names that tasks can require."""
        return self.commands


class Program(CatalogEntry):
    """A program to install.

    Attributes:
        version: as its vendor writes it.
        licence: its name, and what a user must know before using it.
        url: where the vendor offers exactly this file; empty = the user provides it.
        file: its name in the user's folder of installers. Not needed with a `url`.
        medium: label of the user's CD image (`iso`) on which `file` is a path; empty = the file goes on our medium.
        iso: name of that CD image in the user's folder.
        sha256: of the file, or of the CD image. Required with a `url`.
        kind: type of installation, by the file's extension.
        arguments: for silent installation.
        minutes: time limit of the installation.
        to: folder into which a `zip` is unpacked.
        there: a file that exists after the installation; `*` is a wildcard.
        path: folders to add to the machine's PATH.
        registry, files, shortcuts: created after the installation.
        check: None = it shows no window.
    """

    version: Line = Field(min_length=1)
    licence: Line = Field(min_length=1)
    url: str = Field(default="", pattern=r"^(https://\S+)?$")
    file: str = Field(default="", max_length=200)
    medium: str = Field(default="", pattern=r"^[A-Za-z0-9 ._-]{0,32}$")
    iso: str = Field(default="", max_length=200)
    sha256: Sha256 | Literal[""] = ""
    arguments: Line = ""
    minutes: int = Field(default=15, ge=1, le=240)
    to: WindowsPath | Literal[""] = ""
    there: WindowsPath
    path: tuple[WindowsPath, ...] = ()
    registry: tuple[RegistryEntry, ...] = ()
    files: tuple[TextFile, ...] = ()
    shortcuts: tuple[Shortcut, ...] = ()
    check: ProgramCheck | None = None

    @model_validator(mode="after")
    def _source(self) -> Self:
        if self.url and not self.sha256:
            raise ValueError(f"{self.id}: a url requires a sha256")
        if bool(self.url) == bool(self.file):
            raise ValueError(f"{self.id}: exactly one of url and file is required")
        if bool(self.medium) != bool(self.iso) or (self.medium and self.url):
            raise ValueError(f"{self.id}: medium, iso and file belong together")
        if not self.medium and re.search(r"[/\\]", self.file):
            raise ValueError(f"{self.id}: file must be a name in the folder of installers, not a path")
        if (self.kind == "zip") != bool(self.to):
            raise ValueError(f"{self.id}: `to` is required for a zip, and only there")
        return self

    @property
    def kind(self) -> str:
        """Type of installation: `exe`, `msi`, `zip` or `ps1`."""
        ending = Path((self.url or self.file).replace("\\", "/")).suffix.lower()
        if ending not in _KINDS:
            raise ValueError(f"{self.id}: expected a file with the extension {', '.join(_KINDS)}")
        return _KINDS[ending]

    def provides(self) -> tuple[str, ...]:
        """Its commands, and each in its version."""
        return (*self.commands, *(with_version(command, self.version) for command in self.commands))

    @property
    def installer(self) -> str:
        """The file's name on our medium."""
        return f"{self.id}.{self.kind}"

    @property
    def brought(self) -> bool:
        """Whether the user has to provide it."""
        return not self.url


class Inbox(CatalogEntry):
    """A program that is part of Windows.

    Attributes:
        client: missing in Server editions.
    """

    client: bool = False
    check: ProgramCheck


class Catalog(Frozen):
    """Programs in the order of installation, and programs of Windows."""

    programs: tuple[Program, ...]
    inbox: tuple[Inbox, ...] = ()

    @model_validator(mode="after")
    def _once(self) -> Self:
        ids = [program.id for program in self.all()]
        twice = sorted({program_id for program_id in ids if ids.count(program_id) > 1})
        if twice:
            raise ValueError(f"listed twice: {', '.join(twice)}")
        return self

    def all(self) -> tuple[CatalogEntry, ...]:
        """Programs to install, then programs of Windows."""
        return (*self.programs, *self.inbox)


def read_catalog(files: Sequence[Path] = (FILE,)) -> Catalog:
    """Merges several lists; a later list replaces programs of the same id and appends new ones.

    Raises:
        Invalid: a list cannot be read or is invalid; `path` says where.
    """
    programs: dict[str, Program] = {}
    inbox: dict[str, Inbox] = {}
    for file in files:
        try:
            read = Catalog.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise Invalid(f"cannot be read: {error}", code="invalid_image_plan", path=str(file)) from error
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise Invalid(problem_words(first), code="invalid_image_plan", path=f"{file}: {where}") from error
        programs |= {program.id: program for program in read.programs}
        inbox |= {program.id: program for program in read.inbox}
    return Catalog(programs=tuple(programs.values()), inbox=tuple(inbox.values()))


def programs_in_sets(catalog: Catalog, sets: Iterable[str]) -> Catalog:
    """Programs of some sets, in the catalogue's order.

    Raises:
        Invalid: A set has no programs.
    """
    names = set(sets)
    set_names = {name for program in catalog.all() for name in program.sets}
    if unknown := sorted(names - set_names):
        hint = f"known: {', '.join(sorted(set_names))}"
        raise Invalid(
            f"no programs for the set {', '.join(unknown)}", code="invalid_image_plan", path="sets", hint=hint
        )
    return Catalog(
        programs=tuple(program for program in catalog.programs if names & set(program.sets)),
        inbox=tuple(program for program in catalog.inbox if names & set(program.sets)),
    )
