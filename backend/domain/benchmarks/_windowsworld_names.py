"""Corrects WindowsWorld's spellings in visible tables: personas, applications, paths.

The tables are ours. The original text stays in the task's `raw`, and every correction is a warning of the import.
"""

import re
from collections.abc import Mapping, Sequence

from backend.domain.machines.applications import ApplicationNeeds, command_of, needs_of

PERSONAS = {"IT Useristrator": "IT Administrator", "Useristrative Assistant": "Administrative Assistant"}
"""Two names damaged upstream by replacing `Admin` with `User`. Protocols reference, section 7."""

APPS: Mapping[str, str] = {
    "Adobe Acrobat": "acrobat",
    "Adobe Reader (or default PDF viewer)": "acrobat",
    "Calculator": "calculator",
    "Chrome": "chrome",
    "Control Panel": "control_panel",
    "Excel": "excel",
    "File Explorer": "file_explorer",
    "GIMP": "gimp",
    "JSONFormatter": "json_formatter",
    "Outlook": "outlook",
    "Paint": "paint",
    "Photos": "photos",
    "PowerPoint": "powerpoint",
    "PowerShell": "terminal",
    "Snipping Tool": "snipping_tool",
    "Task Manager": "task_manager",
    "VLC Player": "vlc",
    "VS Code": "vs_code",
    "WinZip/Windows内置解压工具": "file_explorer",
    "Windows Terminal": "terminal",
    "Word": "word",
    "cmd": "terminal",
}
"""The 22 spellings. Archives are opened by Windows' file explorer; its shells run in its terminal."""

HOME = "%USERPROFILE%"
LOGS = f"{HOME}\\AppData\\Logs"
"""Replaces `C:\\AppData`, which does not exist on Windows, by a folder for the task's own files."""
_IN_TEXT = re.compile(r"C:\\(?:Users\\(?:User|Admin)|(AppData))(?![A-Za-z0-9_])", re.IGNORECASE)
_HOMES = re.compile(
    r"^(?:C:\\Users\\(?:User|Admin|%USERNAME%)|\$\{USERPROFILE\}|%USERPROFILE%|~)(?=[\\/]|$)", re.IGNORECASE
)
_FOLDERS = {
    "${DESKTOP}": f"{HOME}\\Desktop",
    "${USER_DESKTOP}": f"{HOME}\\Desktop",
    "${USER_DOCUMENTS}": f"{HOME}\\Documents",
    "${DOWNLOADS}": f"{HOME}\\Downloads",
    "${DOWNLOADS_DIR}": f"{HOME}\\Downloads",
    "${DEFAULT_DOWNLOAD_DIR}": f"{HOME}\\Downloads",
    "C:\\AppData": LOGS,
}
_ABSOLUTE = re.compile(r"^(?:[A-Za-z]:[\\/]|%[A-Z]+%|/)")
_KNOWN = frozenset({"%USERPROFILE%", "%APPDATA%", "%LOCALAPPDATA%", "%PUBLIC%"})


def persona_of(name: str) -> str:
    """The persona's intended name."""
    return PERSONAS.get(name, name)


def slug(name: str) -> str:
    """A name for use in keys: lower case, words joined by `_`."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def app_of(name: str) -> str:
    """The canonical name of an application; an unknown one keeps its own."""
    return APPS.get(name) or slug(name) or "unknown"


def apps_of(names: Sequence[str]) -> tuple[str, ...]:
    """Each application once, in the task's order."""
    return tuple(dict.fromkeys(map(app_of, names)))


def needs_by_app(names: Sequence[str], system: str) -> ApplicationNeeds:
    """Needs of the applications: by their own spelling, which distinguishes shells, else by their canonical name."""
    return needs_of([name if command_of(name, system) is not None else app_of(name) for name in names], system)


def text_of(text: str) -> str:
    """An instruction or criterion with its paths corrected."""
    return _IN_TEXT.sub(lambda match: LOGS if match.group(1) else HOME, text)


def path_of(path: str) -> str:
    """A corrected path: one home folder, Windows' separators, relative paths on the desktop.

    A path of another system (`/home/...`) is left unchanged.
    """
    if path.startswith("/"):
        return path
    plain = re.sub(r"[\\/]+", r"\\", path)
    for short, folder in _FOLDERS.items():
        if plain.lower() == short.lower() or plain.lower().startswith(f"{short.lower()}\\"):
            return folder + plain[len(short) :]
    plain = _HOMES.sub(lambda _: HOME, plain)
    if _ABSOLUTE.match(plain) or "${" in plain:
        return plain
    return f"{HOME}\\{plain}" if plain.lower().startswith("desktop\\") else f"{HOME}\\Desktop\\{plain}"


def unknown_place(path: str) -> str:
    """A variable or scratch folder in a corrected path that desktops do not have; empty if there is none."""
    match = re.search(r"%[^%\\]+%|\$\{[^}]*\}", path)
    return match.group() if match and match.group().upper() not in _KNOWN else ""


def file_name(path: str) -> str:
    """The last part of a path of either system."""
    return re.split(r"[\\/]", path)[-1]
