"""The programs of ProSoftArena's tasks, their pinned versions and licences. Source: its paper, table 6."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backend.domain.benchmarks._files import short
from backend.domain.machines.applications import command_of, with_version
from backend.domain.model.task import JSON, Frozen

COMMERCIAL = "commercial"
FREE = "free"


class Software(Frozen):
    """A program that a task is done in.

    Attributes:
        licence: `commercial`, `free`, or the licence's own name.
        seats: seats that an attempt uses of the program's licence; 0 = none needed.
    """

    name: str
    version: str = ""
    licence: str = ""
    seats: int = 0


_FIXED: Mapping[str, Software] = {
    key: Software(name=name, version=version, licence=licence, seats=int(licence == COMMERCIAL))
    for key, name, version, licence in (
        ("photoshop", "Photoshop", "26.7", COMMERCIAL),
        ("illustrator", "Illustrator", "29.5.1", COMMERCIAL),
        ("excel", "Excel", "2024", COMMERCIAL),
        ("r", "R", "4.5.0", FREE),
        ("imagej", "ImageJ", "15.4", FREE),
        ("chemdraw", "ChemDraw", "20.0", COMMERCIAL),
        ("arcgis", "ArcGIS", "10.2", COMMERCIAL),
        ("ansys", "ANSYS", "2024 R1", COMMERCIAL),
        ("multisim", "Multisim", "14.3", COMMERCIAL),
        ("nvivo", "NVivo", "20", COMMERCIAL),
        ("vs_code", "VSCode", "1.99.3", FREE),
        ("autocad", "AutoCAD", "2026", COMMERCIAL),
        ("solidworks", "SolidWorks", "2025 SP1.2", COMMERCIAL),
    )
}
_SYNONYMS = {"ps": "photoshop", "ai": "illustrator", "vscode": "vs_code", "visual_studio_code": "vs_code"}
_MAKERS = re.compile(r"^(adobe|microsoft|autodesk|esri|dassault)_")
_AS_MADE = {"15.4": "1.54"}
"""Versions that the paper writes in another way than their makers: ImageJ's."""
_MAX_NAME = 100
_MAX_SEATS = 1000


def key_of(name: str) -> str:
    """Normalises a program's name: `Adobe Photoshop`, `PS` and `photoshop` are the same program."""
    plain = _MAKERS.sub("", re.sub(r"[^a-z0-9]+", "_", name.strip().lower()).strip("_"))
    return _SYNONYMS.get(plain, plain)


def software_of(raw: JSON, apps: tuple[str, ...], tell: Callable[[str], None]) -> tuple[Software, ...]:
    """The programs in the metadata, completed from the paper's table; without metadata, those of the task file.

    Args:
        raw: a list of names or of `{name, version, licence, seats}`; or one of them.
        apps: applications of the task file; only those in the paper's table are used.
        tell: called with a warning for unreadable entries and for versions that differ from the paper's.
    """
    if raw is None:
        return tuple(_FIXED[key] for key in dict.fromkeys(map(key_of, apps)) if key in _FIXED)
    software = []
    for item in (raw if isinstance(raw, list) else [raw])[:50]:
        read = _read_software(item)
        if read is None:
            tell(
                f"metadata software: expected a name or {{name, version, licence, seats}}, got {short(item)}; left out"
            )
            continue
        fixed = _FIXED.get(key_of(read.name))
        if fixed is not None and read.version != fixed.version:
            tell(f"metadata software: {fixed.name} {read.version}, the paper's version is {fixed.version}")
        software.append(read)
    return tuple(software)


def versions_of(software: Sequence[Software], system: str) -> tuple[str, ...]:
    """Versions of the paper's programs that a task requires besides the commands: its results depend on them."""
    pinned = [(program, _FIXED.get(key_of(program.name))) for program in software]
    return tuple(
        with_version(command, _AS_MADE.get(program.version, program.version))
        for program, fixed in pinned
        if fixed is not None and program.version and (command := command_of(key_of(program.name), system))
    )


def _read_software(item: Any) -> Software | None:
    fields = {"name": item} if isinstance(item, str) else item
    if not isinstance(fields, Mapping) or not isinstance(fields.get("name"), str):
        return None
    name = fields["name"].strip()
    fixed = _FIXED.get(key_of(name))
    version = fields.get("version", fixed.version if fixed else "")
    licence = fields.get("licence", fields.get("license", fixed.licence if fixed else ""))
    if not 0 < len(name) <= _MAX_NAME or not all(_is_short_text(text) for text in (version, licence)):
        return None
    seats = fields.get("seats", int(str(licence).strip().lower() == COMMERCIAL))
    if isinstance(seats, bool) or not isinstance(seats, int) or not 0 <= seats <= _MAX_SEATS:
        return None
    return Software(
        name=fixed.name if fixed else name, version=str(version).strip(), licence=str(licence).strip(), seats=seats
    )


def _is_short_text(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and len(str(value)) <= _MAX_NAME
