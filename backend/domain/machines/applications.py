"""Which command an application needs on a desktop, by system, and whose licence it takes.

The only such table: importers of every benchmark derive a task's `requires` and `licences` from it, images' builders
list the same commands, and workers' programs are compared through `provided_names`.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

LINUX, WINDOWS = "linux", "windows"

_SYSTEM = "os, image, pdf, picard"
"""Nothing beyond the system: kinds of files; Picard, which OSWorld's task only suggests among others."""
_LIBREOFFICE = (
    "libreoffice, libreoffice calc, libreoffice draw, libreoffice impress, libreoffice writer, calc, writer, impress"
)
_LINUX: Mapping[str, str] = {
    "chrome": "chrome, chromium, google chrome, browser",
    "code": "vs code, vscode, visual studio code",
    "drawing": "drawing",
    "evince": "evince",
    "firefox": "firefox",
    "galculator": "galculator",
    "gedit": "gedit",
    "gimp": "gimp",
    "inkscape": "inkscape",
    "mousepad": "mousepad",
    "nautilus": "nautilus, files",
    "ristretto": "ristretto",
    "soffice": f"{_LIBREOFFICE}, excel, word, powerpoint",
    "terminal": "terminal, gnome terminal, xfce4 terminal",
    "thunar": "thunar, file manager",
    "thunderbird": "thunderbird",
    "totem": "ubuntu media player, totem",
    "vlc": "vlc, vlc player",
    "xarchiver": "xarchiver",
    "xfce4-settings-manager": "xfce settings, xfce4 settings",
}
_WINDOWS: Mapping[str, str] = {
    "7z": "7 zip",
    "ImageJ": "imagej",
    "Rgui": "r",
    "acad": "autocad",
    "acrobat": "acrobat, adobe acrobat, adobe reader",
    "arcmap": "arcgis",
    "bingmaps": "maps",
    "breezip": "breezip",
    "calc": "calculator, windows calc",
    "chemdraw": "chemdraw",
    "chrome": "chrome, google chrome, browser, json formatter, jsonformatter",
    "cmd": "cmd, command prompt",
    "code": "vs code, vscode, visual studio code",
    "control": "control panel",
    "cursor": "cursor",
    "deepl": "deepl",
    "evernote": "evernote",
    "excel": "excel, microsoft excel",
    "explorer": "file explorer",
    "gimp": "gimp",
    "handbrake": "handbrake",
    "illustrator": "illustrator, adobe illustrator",
    "ms-clipchamp": "microsoft clipchamp",
    "ms-clock": "clock",
    "ms-people": "people",
    "ms-photos": "photos",
    "ms-powerautomate": "power automate",
    "ms-settings": "settings",
    "ms-stickynotes": "sticky notes, sticky notes new",
    "ms-todo": "microsoft to do",
    "ms-windows-store": "microsoft store",
    "mspaint": "paint, microsoft paint",
    "mswindowsmusic": "media player",
    "msedge": "edge, msedge, microsoft edge",
    "multisim": "multisim",
    "notepad": "notepad",
    "notion": "notion",
    "nvivo": "nvivo",
    "obs64": "obs studio",
    "onenote": "onenote",
    "openshot-qt": "openshot",
    "outlook": "outlook, microsoft outlook",
    "outlookcal": "calendar",
    "outlookmail": "mail",
    "paintdotnet": "paint net",
    "paisa": "paisa",
    "pdf24": "pdf24",
    "photoshop": "photoshop, adobe photoshop",
    "photoshopexpress": "adobe photoshop express",
    "powerpnt": "powerpoint, ppt, microsoft powerpoint",
    "powershell": "powershell",
    "powershell_ise": "windows powershell ise",
    "recipekeeper": "recipe keeper",
    "runwb2": "ansys",
    "sharex": "sharex",
    "skype": "skype",
    "sldworks": "solidworks",
    "snippingtool": "snipping tool, record screen",
    "soffice": _LIBREOFFICE,
    "spotify": "spotify",
    "taskmgr": "task manager",
    "thunderbird": "thunderbird",
    "todoist": "todoist",
    "tunein": "tunein",
    "vlc": "vlc, vlc player",
    "wikipedia": "wikipedia",
    "winword": "word, microsoft word",
    "wt": "terminal, windows terminal",
    "zoom": "zoom workplace, zoom",
    "zotero": "zotero",
}
_LICENCES: Mapping[str, str] = {
    "Microsoft Office": "excel, winword, powerpnt, outlook",
    "Photoshop": "photoshop",
    "Illustrator": "illustrator",
    "ChemDraw": "chemdraw",
    "ArcGIS": "arcmap",
    "ANSYS": "runwb2",
    "Multisim": "multisim",
    "NVivo": "nvivo",
    "AutoCAD": "acad",
    "SolidWorks": "sldworks",
}
"""Commercial licences, by the names that `deskarena licence set` uses: one seat per attempt, for all its programs."""
_STAND_INS: Mapping[str, tuple[str, ...]] = {
    "chrome": ("google-chrome", "google-chrome-stable", "chromium", "chromium-browser"),
    "terminal": ("gnome-terminal", "xfce4-terminal", "konsole", "mate-terminal", "lxterminal", "xterm"),
}
"""Commands of which any will do, under the name that tasks require: distributions name them differently."""


_PARTS_OF_WINDOWS = frozenset({"cmd", "control", "explorer", "powershell"})
"""Commands that every Windows has: a step that calls them is none of a program that may be missing."""


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _by_name(table: Mapping[str, str]) -> dict[str, str]:
    return {_key(name): command for command, names in table.items() for name in names.split(", ")}


_NOTHING = frozenset(map(_key, _SYSTEM.split(", ")))
_COMMANDS = {LINUX: _by_name(_LINUX), WINDOWS: _by_name(_WINDOWS)}
_RUN = {
    LINUX: {name: name for name in _LINUX}
    | {name: command for command, names in _STAND_INS.items() for name in names}
    | {"libreoffice": "soffice"},
    WINDOWS: {name.lower(): name for name in _WINDOWS if name not in _PARTS_OF_WINDOWS},
}
_LICENCE_OF = {command: licence for licence, commands in _LICENCES.items() for command in commands.split(", ")}


@dataclass(frozen=True)
class ApplicationNeeds:
    """Requirements of applications on a desktop.

    Attributes:
        commands: that must exist there, each once, in the order of the applications.
        licences: seats by licence.
        unknown: applications that the table does not have.
    """

    commands: tuple[str, ...] = ()
    licences: Mapping[str, int] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()


def needs_of(apps: Iterable[str], system: str, run: Iterable[str] = ()) -> ApplicationNeeds:
    """Requirements of applications, and of programs that are run.

    Args:
        apps: names in any spelling.
        system: `linux` or `windows`.
        run: first words of command lines (`/usr/bin/nautilus`); those of which the table has no program need nothing.
    """
    names = list(dict.fromkeys(apps))
    programs = [re.split(r"[\\/]", word)[-1].lower().removesuffix(".exe") for word in run]
    commands = [*(command_of(name, system) for name in names), *(_RUN[system].get(name) for name in programs)]
    nonempty = [command for command in commands if command]
    return ApplicationNeeds(
        tuple(dict.fromkeys(nonempty)),
        {licence: 1 for command in nonempty if (licence := _LICENCE_OF.get(command))},
        tuple(name for name in names if command_of(name, system) is None),
    )


def command_of(app: str, system: str) -> str | None:
    """The command of an application; empty if it needs nothing beyond the system, None if it is unknown."""
    key = _key(app)
    return "" if key in _NOTHING else _COMMANDS[system].get(key)


def licence_of(app: str) -> str:
    """The commercial licence of a Windows application; empty if it has none."""
    return _LICENCE_OF.get(command_of(app, WINDOWS) or "", "")


def table() -> Iterable[tuple[str, str, str, str]]:
    """System, command, names of its applications and its licence (empty = none), for every command."""
    for system, commands in ((LINUX, _LINUX), (WINDOWS, _WINDOWS)):
        for command, names in sorted(commands.items(), key=lambda item: item[0].lower()):
            yield system, command, names, _LICENCE_OF.get(command, "")


def with_version(command: str, version: str) -> str:
    """Name of a program in one version, as tasks require and images list it: `photoshop 26.7`."""
    return f"{command} {version}"


def provided_names(programs: Iterable[str]) -> frozenset[str]:
    """Names that desktops with these programs provide: the programs, and names that several programs may stand for."""
    names = frozenset(programs)
    return names | {name for name, commands in _STAND_INS.items() if not names.isdisjoint(commands)}


def missing(requires: Iterable[str], programs: Collection[str]) -> list[str]:
    """Requirements that desktops with these programs do not meet, in the given order."""
    provided = provided_names(programs)
    return [name for name in requires if name not in provided]
