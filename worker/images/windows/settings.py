"""Settings of Windows after its installation: `vm_images/windows/settings.yaml`."""

from pathlib import Path
from typing import Literal, Self

import yaml
from pydantic import Field, model_validator

from backend.domain.model.task import Frozen

SOURCES = Path(__file__).resolve().parents[3] / "vm_images"
FILE = SOURCES / "windows" / "settings.yaml"
Source = Field(pattern=r"^https://learn\.microsoft\.com/\S+$")
_HIVES = r"^HKEY_(LOCAL_MACHINE|CURRENT_USER)\\(SOFTWARE|Software|SYSTEM)\\[^\x00-\x1f]{1,200}$"
_DWORDS = range(2**32)


class RegistryEntry(Frozen):
    """A registry value.

    Attributes:
        name: of the value; empty = the key's default value, which creates the key.
        why: what would happen without it.
    """

    key: str = Field(pattern=_HIVES)
    name: str = Field(max_length=255, pattern=r"^[^\x00-\x1f\\]*$")
    type: Literal["DWord", "String"]
    value: int | str
    why: str = Field(min_length=1)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.type == "DWord" and (not isinstance(self.value, int) or self.value not in _DWORDS):
            raise ValueError(f"{self.name}: a DWord must be a 32-bit integer")
        if self.type == "String" and not isinstance(self.value, str):
            raise ValueError(f"{self.name}: a String must be text; put it in quotes")
        return self


class DocumentedEntry(RegistryEntry):
    """A setting with Microsoft's page about it."""

    source: str = Source


class SetupCommand(Frozen):
    """A Windows program and its arguments."""

    run: tuple[str, ...] = Field(min_length=1)
    why: str = Field(min_length=1)
    source: str = Source


class DisabledService(Frozen):
    """A service that is stopped and no longer starts."""

    name: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,80}$")
    why: str = Field(min_length=1)
    source: str = Source


class WindowsSettings(Frozen):
    """All settings."""

    registry: tuple[DocumentedEntry, ...]
    commands: tuple[SetupCommand, ...]
    services: tuple[DisabledService, ...]

    @model_validator(mode="after")
    def _once(self) -> Self:
        values = [f"{entry.key}\\{entry.name}".lower() for entry in self.registry]
        twice = sorted({value for value in values if values.count(value) > 1})
        if twice:
            raise ValueError(f"set twice: {', '.join(twice)}")
        return self


def read_settings(file: Path = FILE) -> WindowsSettings:
    """The settings. Raises OSError, or ValueError that says what is wrong."""
    return WindowsSettings.model_validate(yaml.safe_load(file.read_text()))
