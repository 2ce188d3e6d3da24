"""The desktop's root menu, printed for openbox by `data/bin/deskarena-menu`.

It lists installed graphical applications from their desktop entries.
"""

import configparser
import shlex
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

_FOLDERS = (Path("/usr/share/applications"), Path.home() / ".local/share/applications")
_NAMESPACE = "http://openbox.org/3.4/menu"


@dataclass(frozen=True, order=True)
class MenuEntry:
    """An application of the menu."""

    name: str
    command: str


def read_entry(path: Path) -> MenuEntry | None:
    """The application of a desktop entry file, None if it is not for the menu or not installed."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read(path, encoding="utf-8")
        values = parser["Desktop Entry"]
        words = [word for word in shlex.split(values.get("Exec", "")) if not word.startswith("%")]
    except (configparser.Error, KeyError, ValueError, OSError):
        return None
    hidden = any(values.get(key, "false") == "true" for key in ("NoDisplay", "Hidden", "Terminal"))
    if hidden or values.get("Type") != "Application" or not words or not shutil.which(words[0]):
        return None
    return MenuEntry(values.get("Name", path.stem), shlex.join(words))


def menu(entries: Iterable[MenuEntry]) -> str:
    """The openbox pipe menu."""
    root = Element("openbox_pipe_menu", {"xmlns": _NAMESPACE})
    for entry in sorted(set(entries)):
        item = SubElement(root, "item", {"label": entry.name.replace("_", "__")})
        SubElement(SubElement(item, "action", {"name": "Execute"}), "command").text = entry.command
    return tostring(root, encoding="unicode")


def installed_applications() -> list[MenuEntry]:
    """Every application that the menu shows."""
    files = [file for folder in _FOLDERS for file in sorted(folder.glob("*.desktop"))]
    return [entry for file in files if (entry := read_entry(file))]


def main() -> None:
    """Prints the menu of all installed applications."""
    print(menu(installed_applications()))


if __name__ == "__main__":
    main()
