"""Cases of our own metrics: goals about files, values and widgets."""

import hashlib
import json
from pathlib import Path
from typing import Any

from docx import Document
from openpyxl import Workbook  # type: ignore[import-untyped]
from PIL import Image

from tests.factories.docx import large
from tests.factories.metric_cases import Call, MetricCase
from tests.factories.metric_cases.general import json_text, of_text, of_value, write
from tests.factories.metric_cases.vlc import picture, sized_picture

SHA = hashlib.sha256(b"hello").hexdigest()
FOLDER = {"goals": [{"present": "a/x.txt", "content": "hello"}, {"absent": "b.txt"}]}
WIDGET = {"app": "calc", "role": "text", "number": 42}
BOOKMARK = {"url": "/report", "name": "Report", "folder": "Work"}
PIXELS = {"size": [8, 6], "format": "PNG", "pixels": [[1, 1, [255, 0, 0]]]}


def widget(text: str) -> str:
    """A desktop with one text field."""
    state = "https://accessibility.ubuntu.example.org/ns/state"
    field = f'<text name="" st:showing="true">{text}</text>'
    return f'<d xmlns:st="{state}"><application name="calc">{field}</application></d>'


def bookmarks(name: str, more: int = 0) -> str:
    """Chromium's file of bookmarks."""
    urls = [{"type": "url", "name": name, "url": "http://site.test/report"}]
    urls += [{"type": "url", "name": f"n{number}", "url": f"http://site.test/{number}"} for number in range(more)]
    folder = {"type": "folder", "name": "Work", "children": urls}
    return json.dumps({"roots": {"bookmark_bar": {"type": "folder", "name": "Bar", "children": [folder]}}})


def workbook(folder: Path, value: Any, rows: int = 0) -> Call:
    """A workbook with one cell that counts, and the rules for it."""
    book = Workbook()
    sheet = book.active
    sheet.title, sheet["B2"] = "Data", value
    for number in range(rows):
        sheet.append([number, f"text {number}", number * 1.5])
    book.save(folder / "a.xlsx")
    return Call((str(folder / "a.xlsx"), {"cells": {"Data!B2": {"value": 42}}}))


def document(folder: Path, *paragraphs: str) -> Call:
    """A document, and the rule that it has a paragraph."""
    docx = Document()
    for paragraph in paragraphs:
        docx.add_paragraph(paragraph)
    docx.save(str(folder / "a.docx"))
    return Call((str(folder / "a.docx"), {"paragraphs": ["Quarterly report"]}))


def large_document(folder: Path, size: int) -> Call:
    """A document of about that size without such a paragraph."""
    return Call((large(folder / "a.docx", size), {"paragraphs": ["Quarterly report"]}))


def plain(folder: Path, colour: str) -> Call:
    """A picture of one colour."""
    Image.new("RGB", (8, 6), colour).save(folder / "a.png")
    return Call((str(folder / "a.png"), PIXELS))


def rich_text(folder: Path, bold: str, filler: int = 0) -> Call:
    """A rich-text file with one bold word and about this many bytes of other text, and a rule that requires it."""
    more = "A line of no interest.\\par " * (filler // 28)
    text = f"{{\\rtf1\\ansi {{\\b {bold}}}\\par {more}}}"
    return Call((write(folder, "a.rtf", text), {"bold": ["Summer"]}))


CASES: dict[str, MetricCase] = {
    "bookmark_saved": MetricCase(
        passing=lambda folder: Call((write(folder, "Bookmarks", bookmarks("Report")), BOOKMARK)),
        near_miss=lambda folder: Call((write(folder, "Bookmarks", bookmarks("report")), BOOKMARK)),
        sized=lambda folder, size: Call((write(folder, "Bookmarks", bookmarks("Report", size // 65)), BOOKMARK)),
        kinds=("json",),
    ),
    "document_goals": MetricCase(
        passing=lambda folder: document(folder, "Quarterly report"),
        near_miss=lambda folder: document(folder, "Quarterly reports"),
        sized=large_document,
        kinds=("docx",),
    ),
    "folder_goals": of_value(
        {"a/": {"mode": "0o755"}, "a/x.txt": {"mode": "0o644", "sha256": SHA}},
        {"a/x.txt": {"mode": "0o644", "sha256": SHA}, "b.txt": {"mode": "0o644", "sha256": SHA}},
        FOLDER,
    ),
    "json_fields": MetricCase(
        passing=lambda folder: Call((write(folder, "a.json", '{"a": {"b": 1}}'), {"expected": {"a.b": 1}})),
        near_miss=lambda folder: Call((write(folder, "a.json", '{"a": {"b": 2}}'), {"expected": {"a.b": 1}})),
        sized=lambda folder, size: Call(
            (write(folder, "a.json", json_text(size, a={"b": 1})), {"expected": {"a.b": 1}})
        ),
        kinds=("json",),
    ),
    "number_in_text": of_value("it is 1,234.5", "it is 1,234.6", {"expected": 1234.5}),
    "picture_goals": MetricCase(
        passing=lambda folder: plain(folder, "red"),
        near_miss=lambda folder: plain(folder, "blue"),
        sized=lambda folder, size: Call((sized_picture(folder, size).args[0], PIXELS)),
        kinds=("png",),
    ),
    "rtf_goals": MetricCase(
        passing=lambda folder: rich_text(folder, "Summer"),
        near_miss=lambda folder: rich_text(folder, "Summe"),
        sized=lambda folder, size: rich_text(folder, "Summer", size),
    ),
    "same_picture": MetricCase(
        passing=lambda folder: Call((picture(folder / "a.png"), picture(folder / "b.png"))),
        near_miss=lambda folder: Call((picture(folder / "a.png", stain=20), picture(folder / "b.png"))),
        sized=sized_picture,
        kinds=("png",),
    ),
    "settings_match": of_value(
        "dim=false\nidle=0", "dim=false\nidle=5", {"expected": {"dim": "false", "idle": {"max": 0}}}
    ),
    "sheet_goals": MetricCase(
        passing=lambda folder: workbook(folder, 42),
        near_miss=lambda folder: workbook(folder, 43),
        sized=lambda folder, size: workbook(folder, 42, size // 30),
        kinds=("xlsx",),
    ),
    "text_goals": of_text("a.txt", "alpha\nbeta\n", "alpha\nBeta\n", {"lines": ["alpha", "beta"]}),
    "widget_value": of_value(widget("42"), widget("43"), WIDGET),
}
