"""LibreOffice's `registrymodifications.xcu`."""

from pathlib import Path
from xml.sax.saxutils import escape

SAVE = "/org.openoffice.Office.Common/Save/Document"
START = "/org.openoffice.Office.Impress/Misc/Start"


def settings(path: Path, *values: tuple[str, str, str], size: int = 0) -> str:
    """A settings file with (place, name, value); filled up to about `size` bytes. Returns its path."""
    items = [
        f'<item oor:path="{escape(place)}"><prop oor:name="{escape(name)}" oor:op="fuse"><value>{escape(value)}</value>'
        "</prop></item>"
        for place, name, value in values
    ]
    filler = '<item oor:path="/org.openoffice.Setup"><prop oor:name="P{}" oor:op="fuse"><value>x</value></prop></item>'
    items += [filler.format(number) for number in range(size // len(filler))]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<oor:items xmlns:oor="http://openoffice.org/2001/registry">'
        + "\n".join(items)
        + "</oor:items>",
        encoding="utf-8",
    )
    return str(path)
