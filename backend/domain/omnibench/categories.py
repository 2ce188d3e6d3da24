"""Categories of applications, which OmniBench's knowledge complexity counts, and its scenarios.

The twelve categories and the applications of Windows are OmniBench's (protocols reference, section 6); applications of
other systems are mapped to the nearest one by us. The paper has twenty scenarios, one per category, seven combinations
and a remainder, and does not name the combinations: those here are ours.
"""

from collections.abc import Collection, Mapping

PUBLISHED: Mapping[str, str] = {
    "Social Communication": "zoom workplace, skype, people, mail",
    "Multimedia Playback": "media player, spotify, photos, tunein",
    "Multimedia Editing": "adobe photoshop express, microsoft clipchamp, paint.net, openshot, handbrake, paint",
    "Office": "word, powerpoint, excel",
    "Utility Tools": "calculator, 7-zip, pdf24, power automate, wikipedia, breezip, maps, calendar, zotero, deepl",
    "Programming": "visual studio code, cursor, windows powershell ise",
    "System Management": "file explorer, settings, control panel, microsoft store",
    "Web Browsing": "google chrome, microsoft edge",
    "Screen Capture": "record screen, snipping tool, obs studio, sharex",
    "Task Management": "microsoft to do, todoist, notion",
    "Note Management": "evernote, onenote, sticky notes, sticky notes (new)",
    "Lifestyle": "recipe keeper, paisa",
}
_OURS: Mapping[str, str] = {
    "Social Communication": "thunderbird, outlook, teams, slack, discord, evolution, hexchat, pidgin",
    "Multimedia Playback": "vlc, parole, ristretto, mpv, rhythmbox, eog, gpicview, image viewer, totem",
    "Multimedia Editing": "microsoft paint, gimp, drawing, inkscape, krita, audacity, blender, pinta, kolourpaint",
    "Office": "libreoffice, libreoffice calc, libreoffice writer, libreoffice impress, libreoffice draw, calc, writer, "
    "impress, localc, lowriter, loimpress, abiword, gnumeric, evince, atril",
    "Utility Tools": "galculator, xarchiver, clock, windows calc, character map, gucharmap, orage",
    "Programming": "vs code, code, geany, rstudio, r, jupyter, emacs, vim, terminal, xfce4 terminal, xterm, "
    "windows terminal",
    "System Management": "thunar, files, nautilus, pcmanfm, file manager, xfce settings, xfce4 settings, "
    "keyboard settings, appearance settings, mouse settings, xfce4 keyboard settings, xfce4 appearance settings, "
    "xfce4 mouse settings, os, task manager, xfce4 taskmanager",
    "Web Browsing": "chrome, msedge, edge, chromium, firefox, epiphany",
    "Screen Capture": "xfce4 screenshooter, scrot, flameshot, screenshot",
    "Task Management": "gnome todo, planner, osmo",
    "Note Management": "mousepad, notepad, gedit, leafpad, xfce4 notes, zim, text editor, gnote",
    "Lifestyle": "gourmet, homebank, gnucash",
}
CATEGORIES = tuple(PUBLISHED)
_KNOWN = {app: category for table in (PUBLISHED, _OURS) for category, apps in table.items() for app in apps.split(", ")}
_TOGETHER: Mapping[frozenset[str], str] = {
    frozenset({"Office", "Web Browsing"}): "Research and Writing",
    frozenset({"Office", "System Management"}): "Documents and Files",
    frozenset({"Multimedia Editing", "System Management"}): "Media Workshop",
    frozenset({"Screen Capture", "Multimedia Editing"}): "Capture and Editing",
    frozenset({"Programming", "System Management"}): "Development",
    frozenset({"Task Management", "Note Management"}): "Planning and Notes",
    frozenset({"Social Communication", "Office"}): "Correspondence",
}
REMAINDER = "Mixed"


def category_of(application: str) -> str | None:
    """The category of an application; None if it has none."""
    plain = application.strip().lower().replace("_", " ")
    return _KNOWN.get(plain) or _KNOWN.get(plain.replace("-", " "))


def categories_of(applications: Collection[str]) -> tuple[str, ...]:
    """The distinct categories, sorted; an application without one is its own category."""
    return tuple(sorted({category_of(app) or app for app in applications}))


def scenario_of(categories: Collection[str]) -> str:
    """The scenario of a task that uses these categories: its only category, a combination, or the remainder."""
    unique = set(categories)
    if len(unique) == 1:
        return unique.pop()
    return _TOGETHER.get(frozenset(unique), REMAINDER)
