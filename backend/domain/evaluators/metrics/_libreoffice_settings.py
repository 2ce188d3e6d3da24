"""Reads LibreOffice's `registrymodifications.xcu`, which holds changed settings."""

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_BYTES = 16 * 2**20
_OOR = "{http://openoffice.org/2001/registry}"


def read_settings(file: str | None) -> tuple["Element | None", str]:
    """The root of a settings file, or None and why it cannot be read."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    if file is None or not Path(file).is_file():
        return None, "the settings file does not exist"
    if Path(file).stat().st_size > MAX_BYTES:
        return None, f"the settings file is larger than {MAX_BYTES // 2**20} MiB"
    try:
        return fromstring(Path(file).read_bytes()), ""
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        return None, f"the settings file is damaged: {type(error).__name__}"


def values(root: "Element", path: str, name: str) -> list[str]:
    """Values of a property in items whose path ends with `path`, as `/org.openoffice.Office.Common/Save/Document`."""
    return [
        prop.findtext("value") or ""
        for item in root.iter("item")
        if item.get(f"{_OOR}path", "").endswith(path)
        for prop in item.iter("prop")
        if prop.get(f"{_OOR}name") == name
    ]


def is_off(value: str) -> bool:
    """Whether a truth value is false: `false` or `0`, as LibreOffice's `valueparser.cxx` reads it."""
    return value.lower() in {"false", "0"}


def read_setting(file: str | None, path: str, name: str) -> tuple[str | None, str]:
    """The last value of a property, or None and why there is none."""
    root, reason = read_settings(file)
    if root is None:
        return None, reason
    changes = values(root, path, name)
    return (changes[-1].strip(), "") if changes else (None, f"{name} has its default")
