"""Calls of the metrics of browsers."""

import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.factories.chrome_profile import bookmark_roots, folder, page
from tests.factories.metric_cases import Call, MetricCase
from tests.factories.pdf import drawing, long_text, pdf_bytes, write_pdf


def of_value(right: Any, wrong: Any, rules: Any, **options: Any) -> MetricCase:
    """A metric of a value and rules."""
    return MetricCase(
        passing=lambda _: Call((right, rules), options),
        near_miss=lambda _: Call((wrong, rules), options),
        of_file=False,
    )


def tabs(*urls: str) -> list[dict[str, str]]:
    return [{"title": "", "url": url} for url in urls]


def _pdfs(first: Callable[[Path], str], second: Callable[[Path], str]) -> Callable[[Path], Call]:
    return lambda place: Call((first(place / "result.pdf"), second(place / "gold.pdf")))


def _sized_pdf(place: Path, size: int) -> Call:
    # A quarter text, as much as fonts and pictures leave.
    pages = long_text(size // 4)
    rest = size * 3 // 4
    gold = write_pdf(place / "gold.pdf", [*pages[1:], "Another end"], padding=rest)
    return Call((write_pdf(place / "result.pdf", pages, padding=rest), gold))


def _sized_pictures(place: Path, size: int) -> Call:
    pictures = [drawing(seed, (600, 400)) for seed in range(max(1, size // 60_000))]
    return Call(
        (write_pdf(place / "result.pdf", [], pictures, quality=95), write_pdf(place / "gold.pdf", [], pictures))
    )


def _pictures(*pictures: Any, quality: int = 90) -> Callable[[Path], str]:
    return lambda path: write_pdf(path, ["Receipt"], pictures, quality=quality)


def html(rows: int, *, last: str = "end", format_of: str = "") -> str:
    """A table as LibreOffice exports it."""
    number = f' sdnum="{format_of}"' if format_of else ""
    cells = "".join(
        f'<tr><td class="a  b" sdval="{row}"{number}>{row}</td><td>text {row}</td></tr>' for row in range(rows)
    )
    return (
        f"<!DOCTYPE html><html><head><title>Table</title></head><body><table>{cells}</table><p>{last}</p></body></html>"
    )


def write_html(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def _htmls(actual: str, expected: str, **options: Any) -> Callable[[Path], Call]:
    return lambda place: Call((write_html(place / "a.html", actual), write_html(place / "b.html", expected)), options)


def _sized_html(place: Path, size: int) -> Call:
    text = html(min(size, 15 * 10**6) // 68)
    return _htmls(text, text)(place)


def zipped(path: Path, files: Mapping[str, bytes]) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return str(path)


def taped(path: Path, files: Mapping[str, bytes]) -> str:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return str(path)


FILES = {"book/1.pdf": pdf_bytes(["One"]), "book/2.pdf": pdf_bytes(["Two"])}


def _archives(result: Mapping[str, bytes], **options: Any) -> Callable[[Path], Call]:
    options = {"file_path": "book", "file_type": "pdf"} | options
    return lambda place: Call((zipped(place / "a.zip", result), zipped(place / "b.zip", FILES)), options)


def _sized_archive(place: Path, size: int) -> Call:
    files = {f"{number}.txt": ("\n".join(long_text(size // 10, number))).encode() for number in range(10)}
    return Call((taped(place / "a.tar.gz", files), taped(place / "b.tar.gz", files)), {"file_type": "text"})


LNK = json.dumps({"header": {}, "data": {"description": "Play Puzzle Game 2048. Use your arrow keys."}})
DESKTOP = "[Desktop Entry]\nName=Play Puzzle Game 2048\nExec=/opt/google/chrome --app-id=abc\n"
BAR = bookmark_roots(folder("Favorites"), page("https://example.org/a"))
LIKED = bookmark_roots(folder("Liked Authors", page("https://one.example/"), page("https://two.example/x")))
MORE = bookmark_roots(folder("Favorites"), page("https://example.org/a"), page("https://example.org/b"))

CASES = {
    "check_enabled_experiments": of_value(
        ["show-performance-metrics-hud@1"],
        ["show-performance-metrics@1"],
        {"type": "names", "names": ["show-performance-metrics-hud"]},
    ),
    "check_font_size": of_value(
        {"default_font_size": 17}, {"default_font_size": 16}, {"type": "range", "min": 16, "max": 99999}
    ),
    "check_edge_font_size": of_value(
        {"default_font_size": 24}, {"default_font_size": 23}, {"type": "range", "min": 24, "max": 99999}
    ),
    "check_history_deleted": of_value(
        [("https://www.nytimes.com/", "News", 1)],
        [("https://www.nytimes.com/", "News", 1), ("https://www.youtube.com/watch?v=1", "", 2)],
        {"type": "keywords", "keywords": ["youtube"]},
    ),
    "check_pdf_pages": MetricCase(
        passing=lambda place: Call((write_pdf(place / "a.pdf", ["1", "2"]), {"relation": "eq", "ref_value": 2})),
        near_miss=lambda place: Call((write_pdf(place / "a.pdf", ["1"]), {"relation": "eq", "ref_value": 2})),
        sized=lambda place, size: Call((_sized_pdf(place, size).args[0], {"relation": "ge", "ref_value": 1})),
        kinds=("pdf",),
    ),
    "compare_archive": MetricCase(
        passing=_archives(FILES),
        near_miss=_archives({**FILES, "book/2.pdf": pdf_bytes(["Too"])}),
        sized=_sized_archive,
        kinds=("zip",),
    ),
    "compare_htmls": MetricCase(
        passing=_htmls(html(3, format_of="1;0"), html(3), ignore_sdnum=True),
        near_miss=_htmls(html(3, last="End"), html(3)),
        sized=_sized_html,
        kinds=("html",),
    ),
    "compare_pdf_images": MetricCase(
        passing=_pdfs(_pictures(drawing(1), drawing(2), quality=75), _pictures(drawing(1), drawing(2))),
        near_miss=_pdfs(_pictures(drawing(1), drawing(5)), _pictures(drawing(1), drawing(2))),
        sized=_sized_pictures,
        kinds=("pdf",),
    ),
    "compare_pdf_images@waa": MetricCase(
        passing=_pdfs(_pictures(drawing(1)), _pictures(drawing(1))),
        near_miss=_pdfs(_pictures(drawing(1), quality=60), _pictures(drawing(1))),
        sized=_sized_pictures,
        kinds=("pdf",),
    ),
    "compare_pdfs": MetricCase(
        passing=_pdfs(lambda path: write_pdf(path, ["One", "Two"]), lambda path: write_pdf(path, ["One", "Two"])),
        near_miss=_pdfs(lambda path: write_pdf(path, ["One", "Tow"]), lambda path: write_pdf(path, ["One", "Two"])),
        sized=_sized_pdf,
        kinds=("pdf",),
    ),
    "is_added_to_steam_cart": of_value(
        {"title": "Cart", "content": "<p>The Dota 2 Official Soundtrack</p>"},
        {"title": "Cart", "content": "<p>Dota 2</p>"},
        {"items": ["The Dota 2 Official Soundtrack"]},
    ),
    "is_cookie_deleted": of_value(
        [(1, ".amazon.de", "")],
        [(1, ".amazon.de", ""), (2, "www.amazon.com", "")],
        {"type": "domains", "domains": [".amazon.com"]},
    ),
    "is_cookie_deleted@waa": of_value(
        [(1, ".amazon.de", "")], [(2, ".amazon.com", "")], {"type": "domains", "domains": [".amazon.com"]}
    ),
    "is_expected_active_tab": of_value(
        {"url": "https://www.nfl.com/scores/2019/post4"},
        "https://www.nfl.com/scores/2019/post3",
        {"type": "url", "url": "https://nfl.com/scores/2019/post4"},
    ),
    "is_expected_active_tab@waa": of_value(
        {"url": "https://example.org"}, "https://example.com/", {"type": "url", "url": "https://www.example.org/"}
    ),
    "is_expected_active_tab_approximate": of_value(
        "chrome://password-manager/passwords?url=x",
        "chrome://password-manager/settings",
        {"type": "url", "url": "chrome://password-manager/passwords"},
    ),
    "is_expected_bookmarks": of_value(
        BAR, MORE, {"type": "bookmark_bar_websites_urls", "urls": ["https://example.org/a"]}
    ),
    "is_expected_bookmarks@waa": of_value(
        MORE, BAR, {"type": "bookmark_bar_websites_urls", "urls": ["https://example.org/b"]}
    ),
    "is_expected_installed_extensions": of_value(
        ["Momentum", "Zoom Chrome Extension"], ["Momentum"], {"expected": ["Zoom for Google Chrome"]}
    ),
    "is_expected_search_query": of_value(
        {"url": "https://www.google.com/search?q=nereida&hl=en"},
        {"url": "https://www.google.com/search?q=nereide"},
        {"expect": {"pattern": r"google\.com/search\?q=nereida(&|$)"}},
    ),
    "is_expected_tabs": of_value(
        tabs("https://airbnb.com/", "https://www.tripadvisor.com"),
        tabs("https://www.tripadvisor.com"),
        {"type": "url", "urls": ["https://www.tripadvisor.com", "https://www.airbnb.com"]},
    ),
    "is_expected_tabs@waa": of_value(
        tabs("https://airbnb.com/"),
        tabs("https://airbnb.com/rooms"),
        {"type": "url", "urls": ["https://www.airbnb.com"]},
    ),
    "is_expected_url_pattern_match": of_value(
        "https://www.x.org/licenses/a",
        {"url": "https://www.x.org/license"},
        {"expected": [r"^https://(www\.)?x\.org", "licenses"]},
    ),
    "is_shortcut_on_desktop": of_value(
        {"a.desktop": DESKTOP},
        {"a.desktop": DESKTOP.replace("2048", "2049")},
        {"type": "name", "name": "Play Puzzle Game 2048"},
    ),
    "is_shortcut_on_desktop@waa": of_value(
        {"a.lnk": LNK},
        {"a.lnk": LNK.replace("2048", "2049")},
        {"type": "description", "description": "Puzzle Game 2048."},
    ),
    "is_url_shortcut_on_desktop": of_value(
        {"a.url": "[InternetShortcut]\r\nURL=https://www.mathsisfun.com/games/2048.html\r\n"},
        {"a.url": "[InternetShortcut]\r\nURL=https://www.mathsisfun.com/games/2049.html\r\n"},
        {"type": "url", "url_content": "https://www.mathsisfun.com/games/2048.html"},
    ),
}
