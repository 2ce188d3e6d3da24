"""Cases of the metrics of the desktop itself and of LibreOffice as a whole."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.factories.metric_cases import Call, MetricCase


def of(*args: Any) -> Callable[[Path], Call]:
    return lambda _: Call(args)


def tree(*names: str) -> dict[str, Any]:
    return {"type": "directory", "name": "cpjpg", "children": [{"type": "file", "name": name} for name in names]}


def registry(language: str, *, name: str = "ooSetupSystemLocale", filler: int = 0) -> str:
    """LibreOffice's `registrymodifications.xcu`."""
    item = '<item oor:path="/org.openoffice.{}"><prop oor:name="{}" oor:op="fuse"><value>{}</value></prop></item>\n'
    items = item.format("Setup/L10N", name, language) + item.format("Office/Other", "x", "y") * (filler // 98)
    return f'<?xml version="1.0"?>\n<oor:items xmlns:oor="http://openoffice.org/2001/registry">\n{items}</oor:items>\n'


def locale(language: str, size: int = 0) -> Callable[[Path], Call]:
    def made(folder: Path) -> Call:
        path = folder / "registrymodifications.xcu"
        path.write_text(registry(language, filler=size))
        return Call((str(path), {"locale_set": ["en-*", "de-DE"]}))

    return made


APPS = {"expected": ["thunderbird.desktop", "google-chrome.desktop"]}
JPGS = {"expected": ["a.jpg", "b.jpg"]}

CASES = {
    "check_gnome_favorite_apps": MetricCase(
        passing=of("['google-chrome.desktop', 'thunderbird.desktop']\n", APPS),
        near_miss=of("['google-chrome.desktop', 'thunderbird.desktop', 'vim.desktop']\n", APPS),
        of_file=False,
    ),
    "is_utc_0": MetricCase(
        passing=of("   Local time: x\n   Time zone: Atlantic/Faroe (WET, +0000)\n"),
        near_miss=of("   Local time: x\n   Time zone: Europe/Zurich (CET, +0100)\n"),
        of_file=False,
    ),
    "check_text_enlarged": MetricCase(passing=of("1.25\n"), near_miss=of("1.0\n"), of_file=False),
    "check_moved_jpgs": MetricCase(
        passing=of(tree("b.jpg", "a.jpg"), JPGS), near_miss=of(tree("b.jpg", "a.jpg", "c.txt"), JPGS), of_file=False
    ),
    "is_in_vm_clickboard": MetricCase(
        passing=of({"expected": "/home/user/secret.docx"}, "/home/user/secret.docx\n"),
        near_miss=of({"expected": "/home/user/secret.docx"}, "/home/user/secret.doc\n"),
        of_file=False,
    ),
    "check_libre_locale": MetricCase(
        passing=locale("en-GB"),
        near_miss=locale("de-AT"),
        sized=lambda folder, size: locale("en-GB", size)(folder),
        kinds=("xml",),
    ),
}
