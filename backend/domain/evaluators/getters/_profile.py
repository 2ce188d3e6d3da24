"""Shared parts of getters of a browser's profile: its folder, settings and databases.

Agents can write all of these files. One that no browser could read is none: its value is None, never an error.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import field_validator

from backend.domain.browser.profiles import CHROME, Product
from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter, fetch_file
from backend.domain.formats.browser_tables import rows
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext

STATE = "Local State"
PREFERENCES = ("Default/Preferences", "Default/Secure Preferences")
"""The second holds settings that Chrome protects against other programs: search engine, home page, extensions."""

_COPIES = 3
"""How often a database that changes meanwhile is copied again."""


class ProfileParameters(Parameters):
    """`user_data_dir`: a user data folder other than the default."""

    user_data_dir: str = ""

    @field_validator("user_data_dir")
    @classmethod
    def _plain(cls, value: str) -> str:
        if "\\" in value or "'" in value:
            raise ValueError("has a backslash or a quote; write / and $VARIABLES")
        return value.rstrip("/")


class DatabaseParameters(ProfileParameters):
    """`dest`: upstream's name of the copy, unused here."""

    dest: str = ""


def collect_files(context: SetupContext, product: Product, names: Sequence[str], other: str = "") -> list[Blob]:
    """Files of the profile that the browser uses, one blob each.

    Args:
        context: the attempt's context.
        product: which browser.
        names: files below its user data folder.
        other: a user data folder named by the task; empty = the default ones. Of these, the first in which the browser
            has run (it has a `Local State`) is used, else the first that has the first file.
    """
    folders = (other,) if other else product.folders(context.desktop.probe().platform)
    used = [
        folder for folder in folders if len(folders) > 1 and fetch_file(context, f"{folder}/{STATE}").data is not None
    ]
    blobs = [fetch_file(context, f"{folder}/{names[0]}") for folder in (used or folders)]
    index = next((position for position, blob in enumerate(blobs) if blob.data is not None), 0)
    folder = (used or folders)[index]
    return [blobs[index], *(fetch_file(context, f"{folder}/{name}") for name in names[1:])]


def settings(blobs: Sequence[Blob]) -> dict[str, Any] | None:
    """The merged settings of one or several files, later ones taking precedence.

    Returns:
        None if the first does not exist, or if one of them is not a JSON object.
    """
    if not blobs:
        raise EvaluatorFailed("the browser's settings were not collected", code="evidence_missing")
    if blobs[0].data is None:
        return None
    result: dict[str, Any] = {}
    for blob in blobs:
        try:
            value = json.loads(blob.data) if blob.data is not None else {}
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict):
            return None
        result = _merge(result, value)
    return result


def at(values: Any, path: str, default: Any = None) -> Any:
    """The setting at a dotted path; the default if a part of it is missing."""
    for key in path.split("."):
        if not isinstance(values, Mapping) or key not in values:
            return default
        values = values[key]
    return values


def yes(value: object) -> str:
    """`true` or `false`, as metrics of Chrome's switches expect."""
    return "true" if value else "false"


def _merge(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Merges both recursively; a value that is not an object is replaced by the other's."""
    result = dict(first)
    for key, value in second.items():
        actual = result.get(key)
        result[key] = _merge(actual, value) if isinstance(actual, Mapping) and isinstance(value, Mapping) else value
    return result


class ProfileSetting(ParameterGetter, ABC):
    """Base of a getter of one setting: `value` extracts it from the profile's settings.

    Without readable settings the value is None. Each getter returns the browser's documented default for a missing
    key.
    """

    Params: ClassVar[type[Parameters]] = ProfileParameters
    product: ClassVar[Product] = CHROME
    files: ClassVar[tuple[str, ...]] = PREFERENCES

    @abstractmethod
    def value(self, settings: Mapping[str, Any]) -> Any:
        """The setting's value."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        profile = ProfileParameters.parse(parameters).user_data_dir
        return collect_files(context, self.product, self.files, profile)

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        values = settings(blobs)
        return None if values is None else self.value(values)


class ProfileDatabase(ParameterGetter):
    """Base of a getter of one table. The value is a list of rows (tuples), None if the file is missing or damaged.

    Attributes:
        names: its possible places below the user data folder, newest first.
        query: the query.
    """

    Params: ClassVar[type[Parameters]] = DatabaseParameters
    product: ClassVar[Product] = CHROME
    names: ClassVar[tuple[str, ...]]
    query: ClassVar[str]

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        """Collects the file and its write-ahead log. See the port."""
        profile = DatabaseParameters.parse(parameters).user_data_dir
        blobs: list[Blob] = []
        for name in self.names:
            blobs = self._settled_files(context, (name, f"{name}-wal", f"{name}-journal"), profile)
            if blobs[0].data is not None:
                break
        return blobs

    def _settled_files(self, context: SetupContext, names: tuple[str, ...], other: str) -> list[Blob]:
        """The files as they are while the browser writes nothing: a copy of two states would look like damage."""
        blobs = collect_files(context, self.product, names, other)
        for _ in range(_COPIES):
            if blobs[0].data is None or fetch_file(context, blobs[0].name).data == blobs[0].data:
                break
            blobs = collect_files(context, self.product, names, other)
        return blobs

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        if not blobs:
            raise EvaluatorFailed("the browser's database was not collected", code="evidence_missing")
        if blobs[0].data is None:
            return None
        for blob, suffix in zip(blobs, ("", "-wal", "-journal"), strict=False):
            if blob.data:
                (folder / f"database{suffix}").write_bytes(blob.data)
        records, _ = rows(folder / "database", self.query)
        return records
