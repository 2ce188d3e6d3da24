"""The table of applications, against the suites that name them and the catalogue of Windows images."""

import pytest

from backend.domain.machines.applications import (
    ApplicationNeeds,
    command_of,
    licence_of,
    missing,
    needs_of,
    provided_names,
    table,
)
from backend.domain.omnibench.categories import PUBLISHED
from worker.images.windows.catalog import read_catalog

WINDOWS_SUITES = {"waa", "windowsworld", "prosoftarena"}
PROSOFT = ("photoshop", "illustrator", "excel", "r", "imagej", "chemdraw", "arcgis", "ansys", "multisim", "nvivo",
           "vs_code", "autocad", "solidworks")  # fmt: skip


class TestNeeds:
    def test_commands_and_licences_once_and_what_is_unknown(self) -> None:
        needs = needs_of(["Excel", "word", "os", "Excel", "Quux"], "windows")
        assert needs == ApplicationNeeds(("excel", "winword"), {"Microsoft Office": 1}, ("Quux",))

    @pytest.mark.parametrize(
        ("app", "system", "command"),
        [
            ("LibreOffice Calc", "linux", "soffice"),
            ("libreoffice-calc", "windows", "soffice"),
            ("excel", "linux", "soffice"),
            ("vscode", "linux", "code"),
            ("pdf", "linux", ""),
            ("outlook", "linux", None),
            ("7-Zip", "windows", "7z"),
            ("Paint.NET", "windows", "paintdotnet"),
        ],
    )
    def test_spellings_and_systems(self, app: str, system: str, command: str | None) -> None:
        assert command_of(app, system) == command

    def test_programs_that_are_run_and_what_every_desktop_has(self) -> None:
        needs = needs_of(["chrome"], "linux", ["/usr/bin/nautilus", "google-chrome", "libreoffice", "mkdir", ""])
        assert needs.commands == ("chrome", "nautilus", "soffice")
        needs = needs_of([], "windows", [r"C:\Program Files\7-Zip\7z.exe", "EXCEL.EXE", "cmd", "explorer.exe"])
        assert needs == ApplicationNeeds(("7z", "excel"), {"Microsoft Office": 1})

    def test_commercial_programs_have_the_licence_that_seats_are_set_for(self) -> None:
        assert [licence_of(app) for app in ("outlook", "ANSYS", "vlc", "quux")] == ["Microsoft Office", "ANSYS", "", ""]

    def test_every_application_that_omnibench_publishes_is_known(self) -> None:
        apps = [app for names in PUBLISHED.values() for app in names.split(", ")]
        assert needs_of(apps, "windows").unknown == ()

    def test_every_program_of_prosoftarena_is_known(self) -> None:
        assert needs_of(PROSOFT, "windows").unknown == ()
        assert len(needs_of(PROSOFT, "windows").commands) == len(PROSOFT)


class TestImages:
    def test_a_windows_image_with_every_program_has_what_the_suites_applications_need(self) -> None:
        catalog = read_catalog()
        there = {name for each in catalog.all() if WINDOWS_SUITES & set(each.sets) for name in each.provides()}
        apps = [each.name.removeprefix("Microsoft ").removeprefix("Google ") for each in catalog.inbox]
        needed = [*needs_of(apps, "windows").commands, *needs_of(PROSOFT, "windows").commands, "outlook", "acrobat"]
        assert missing(needed, there) == []


class TestProvided:
    def test_any_browser_is_a_browser(self) -> None:
        assert provided_names(["chromium", "ls"]) == {"chromium", "ls", "chrome"}
        assert missing(["chrome", "terminal"], ["google-chrome", "xterm"]) == []
        assert missing(["chrome", "gimp"], ["firefox"]) == ["chrome", "gimp"]

    def test_a_command_of_another_version_is_another(self) -> None:
        assert missing(["photoshop", "photoshop 26.7"], ["photoshop", "photoshop 26.8"]) == ["photoshop 26.7"]


def test_the_table_names_each_application_once_per_system() -> None:
    names = [(system, name) for system, _, apps, _ in table() for name in apps.split(", ")]
    assert len(names) == len(set(names))
