"""Reads LibreOffice's `registrymodifications.xcu`, which holds changed settings."""

from pathlib import Path
from xml.etree.ElementTree import ParseError

MAX_BYTES = 16 * 2**20
_OOR = "{http://openoffice.org/2001/registry}"


def read_setting(file: str | None, path: str, name: str) -> tuple[str | None, str]:
    """The last value of a setting.

    Args:
        file: path of the settings file.
        path: the setting's path, for example `/org.openoffice.Office.Common/Save/Document`.
        name: name of the property.

    Returns:
        (value, "") or (None, reason).
    """
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    if file is None or not Path(file).is_file():
        return None, "the settings file does not exist"
    if Path(file).stat().st_size > MAX_BYTES:
        return None, f"the settings file is larger than {MAX_BYTES // 2**20} MiB"
    try:
        root = fromstring(Path(file).read_bytes())
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        return None, f"the settings file is damaged: {type(error).__name__}"
    values = [
        prop.findtext("value") or ""
        for item in root.iter("item")
        if item.get(f"{_OOR}path") == path
        for prop in item.iter("prop")
        if prop.get(f"{_OOR}name") == name
    ]
    return (values[-1].strip(), "") if values else (None, f"{name} has its default")
