"""Our table of program names: in tasks, in window titles and as processes."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple


class ProgramName(NamedTuple):
    """One program, all in lower case.

    Attributes:
        processes: names of its processes, without `.exe`.
        titles: text in its windows' titles.
        classes: classes of its windows.
    """

    processes: tuple[str, ...]
    titles: tuple[str, ...]
    classes: tuple[str, ...] = ()


PROGRAMS: Mapping[str, ProgramName] = {
    "acrobat": ProgramName(("acrobat", "acrord32"), ("adobe acrobat",), ("acrobatsdiwindow",)),
    "calculator": ProgramName(
        ("calculatorapp", "calculator", "galculator", "gnome-calculator"), ("calculator", "galculator")
    ),
    "chrome": ProgramName(("chrome", "google-chrome", "chromium"), ("google chrome", "chromium")),
    "control panel": ProgramName(("control",), ("control panel",)),
    "excel": ProgramName(("excel", "soffice.bin"), ("- excel", "libreoffice calc"), ("xlmain",)),
    "file explorer": ProgramName(("explorer", "thunar"), ("file explorer", "thunar"), ("cabinetwclass",)),
    "gimp": ProgramName(("gimp", "gimp-2.10", "gimp-3", "gimp-3.0"), ("gimp",)),
    "outlook": ProgramName(("outlook", "olk"), ("- outlook", "outlook"), ("rctrl_renwnd32",)),
    "paint": ProgramName(("mspaint", "drawing"), ("- paint", "drawing")),
    "photos": ProgramName(("photos", "microsoft.photos", "photosapp", "ristretto"), ("photos", "ristretto")),
    "powerpoint": ProgramName(("powerpnt", "soffice.bin"), ("- powerpoint", "libreoffice impress"), ("pptframeclass",)),
    "task manager": ProgramName(("taskmgr",), ("task manager",), ("taskmanagerwindow",)),
    "terminal": ProgramName(
        ("windowsterminal", "xfce4-terminal"), ("terminal", "command prompt", "powershell"),
        ("cascadia_hosting_window_class", "consolewindowclass"),
    ),
    "vs code": ProgramName(("code",), ("visual studio code",)),
    "word": ProgramName(("winword", "soffice.bin"), ("- word", "libreoffice writer"), ("opusapp",)),
}  # fmt: skip
_ALSO = {
    "adobe acrobat": "acrobat", "google chrome": "chrome", "microsoft edge": "edge", "mspaint": "paint",
    "visual studio code": "vs code", "vscode": "vs code", "code": "vs code", "windows terminal": "terminal",
    "winword": "word", "powerpnt": "powerpoint", "explorer": "file explorer", "control": "control panel",
}  # fmt: skip


def program(name: str) -> ProgramName | None:
    """The program with that name in any spelling of tasks; None if it is not in the table."""
    plain = _bare(name)
    return PROGRAMS.get(_ALSO.get(plain, plain))


def runs(name: str, processes: Collection[str]) -> bool:
    """Whether a program of that name is among the process names (with or without `.exe`)."""
    known = program(name)
    names = {_bare(name), *(known.processes if known else ())}
    return bool(names & {_bare(process) for process in processes})


def shows(name: str, title: str, classes: Sequence[str] = ()) -> bool:
    """Whether a window matches: a program's name, a title, or both joined by ` - ` in any order."""
    plain, folded_classes = title.lower(), {class_name.lower() for class_name in classes}
    for part in (piece.strip() for piece in name.split(" - ")):
        known = program(part)
        by_program = known is not None and (
            any(title in plain for title in known.titles) or bool(folded_classes & set(known.classes))
        )
        if part.lower() not in plain and not by_program:
            return False
    return bool(name.strip())


def _bare(name: str) -> str:
    return name.strip().lower().removesuffix(".exe")
