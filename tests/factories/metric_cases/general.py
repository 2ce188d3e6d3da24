"""Cases of the metrics of text, values and rules."""

import json
from pathlib import Path
from typing import Any

from docx import Document

from tests.factories.accessibility import long_tree, mail_window
from tests.factories.metric_cases import Call, MetricCase
from tests.factories.pdf_text import pdf
from tests.factories.sqlite import starred

LINES = "alpha\nbeta\ngamma\n"
SQL = {
    "sql": "SELECT (SELECT COUNT(*) FROM messageAttributes WHERE attributeID = 58) = (SELECT COUNT(*) FROM messages)"
}


def write(folder: Path, name: str, text: str) -> str:
    """A text file; returns its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def filled(head: str, size: int, line: str = "one more line of text, number {}\n") -> str:
    """A text of about this many bytes that starts with `head`."""
    return head + "".join(line.format(number) for number in range(size // len(line)))


def of_value(right: Any, near: Any, *rest: Any, **options: Any) -> MetricCase:
    """A case of a metric whose result is a plain value."""
    return MetricCase(
        passing=lambda _: Call((right, *rest), options),
        near_miss=lambda _: Call((near, *rest), options),
        of_file=False,
    )


def of_text(
    name: str, right: str, near: str, *rest: Any, line: str = "one more line of text, number {}\n", **options: Any
) -> MetricCase:
    """A case of a metric whose result is a text file."""
    return MetricCase(
        passing=lambda folder: Call((write(folder, name, right), *rest), options),
        near_miss=lambda folder: Call((write(folder, name, near), *rest), options),
        sized=lambda folder, size: Call((write(folder, name, filled(right, size, line)), *rest), options),
    )


def of_two_texts(name: str, right: str, near: str) -> MetricCase:
    """A case of a metric that compares a text file with another one."""

    def call(folder: Path, text: str, wanted: str = right) -> Call:
        return Call((write(folder, name, text), write(folder, f"wanted-{name}", wanted)))

    return MetricCase(
        passing=lambda folder: call(folder, right),
        near_miss=lambda folder: call(folder, near),
        sized=lambda folder, size: call(folder, filled(near, size), filled(right, size)),
    )


def places(folder: Path, words: str, *, filler: int = 0) -> str:
    """A document with the words, one a paragraph."""
    document = Document()
    for word in [*words.split(), *(["word " * 100] * (filler // 500))]:
        document.add_paragraph(word)
    document.save(str(folder / "places.docx"))
    return str(folder / "places.docx")


def json_text(size: int, **values: Any) -> str:
    """A JSON object of about this many bytes."""
    return json.dumps({**values, "filler": [f"value {number}" for number in range(size // 16)]})


PYTHON = "import os\n\n\ndef main():\n    return os.name\n"
JSON_RULES = {
    "expect": [
        {"key": ["name"], "method": "eq", "ref": "happy"},
        {"key": ["folderTree", "mode"], "method": "re", "ref": r"\bsmart\b"},
    ],
    "unexpect": [{"key": ["gone"], "method": "re", "ref": "."}],
}
GOLD = {"title": "Quarterly report", "sum": "1,234.50"}
SPEED = "TEST_ID,DATE,PING\n1,2026-03-01 10:20,12\n"
PLACES = {"expected": ["Alpenweg5", "Birkenallee7", "Cafe9"]}


def pdf_call(folder: Path, *lines: str, size: int = 0) -> Call:
    """A PDF with lines of text, and the file with its expected text."""
    return Call((pdf(folder / "report.pdf", lines, filler=size), write(folder, "gold.json", json.dumps(GOLD))))


CASES: dict[str, MetricCase] = {
    "exact_match": of_value("true", "True", {"expected": "true"}),
    "exact_match@waa": of_value(True, False, {"expected": 1.0}),
    "check_include_exclude": MetricCase(
        passing=lambda _: Call(("Zoom enabled", {"include": ["enabled"], "exclude": ["error"]})),
        near_miss=lambda _: Call(("Zoom enabled, error", {"include": ["enabled"], "exclude": ["error"]})),
        sized=lambda _, size: Call((filled("Zoom enabled", size), {"include": ["enabled"], "exclude": ["error"]})),
        of_file=False,
    ),
    "match_in_list": of_value("light", "dark", {"expected": ["light", "system"]}),
    "is_in_list": of_value(["/a", "/b"], ["/a"], {"expected": "/b"}),
    "literal_match": of_value(["Jim Fan", 1234], ["Jim Fan", 1235], ["jim fan", "1234"], type="list", ignore_case=True),
    "diff_text_file": of_two_texts("a.txt", LINES, LINES.replace("beta", "Beta")),
    "fuzzy_match": MetricCase(
        passing=lambda _: Call(("same", {"expected": "same"})),
        near_miss=lambda _: Call(("some", {"expected": "same"})),
        sized=lambda _, size: Call((filled("same", size), {"expected": "same" * 200})),
        of_file=False,
    ),
    "fuzzy_place_math": MetricCase(
        passing=lambda folder: Call((places(folder, "Alpenweg5 Cafe9 Birkenallee7"), PLACES)),
        near_miss=lambda folder: Call((places(folder, "Alpenweg5 Cafe9 Birkenallee8"), PLACES)),
        sized=lambda folder, size: Call((places(folder, "Alpenweg5 Cafe9 Birkenallee7", filler=size), PLACES)),
        kinds=("docx",),
    ),
    "check_csv": of_text(
        "a.csv",
        "url,user\nimap://a,me\nimap://b,you\n",
        "url,user\nimap://b,you\nimap://c,me\n",
        {"expect": [{"url": "imap://b", "user": "you"}, {"url": "imap://a"}], "unexpect": [{"url": "imap://c"}]},
        line="imap://host{},user\n",
    ),
    "check_list": of_text(
        "a.ls",
        "COMPANY.msf\nUNIVERSITY.msf\n",
        "COMPANY.msf\nUNIVERSITY\n",
        {"expect": [r"\bCOMPANY\.msf\b", r"\bUNIVERSITY\.msf\b"], "unexpect": ["ERROR"]},
    ),
    "check_accessibility_tree": MetricCase(
        passing=lambda _: Call((mail_window(), [{"xpath": "//label[contains(@name, 'fox@')]"}])),
        near_miss=lambda _: Call((mail_window(addresses=("wolf@x",)), [{"xpath": "//label[contains(@name, 'fox@')]"}])),
        sized=lambda _, size: Call(
            (long_tree(size), [{"selectors": ["tool-bar[attr|id=MsgHeadersToolbar] label[name=To]"]}])
        ),
        of_file=False,
    ),
    "run_sqlite3": MetricCase(
        passing=lambda folder: Call((starred(folder / "a.sqlite", stars=3), SQL)),
        near_miss=lambda folder: Call((starred(folder / "a.sqlite", stars=2), SQL)),
        sized=lambda folder, size: Call(
            (starred(folder / "a.sqlite", stars=3, messages=size // 1000, body="x" * 950), SQL)
        ),
        kinds=("sqlite",),
    ),
    "check_json": MetricCase(
        passing=lambda folder: Call(
            (write(folder, "a.json", '{"name": "happy", "folderTree": {"mode": "all,smart"}}'), JSON_RULES)
        ),
        near_miss=lambda folder: Call(
            (write(folder, "a.json", '{"name": "happy", "folderTree": {"mode": "all,smarter"}}'), JSON_RULES)
        ),
        sized=lambda folder, size: Call(
            (write(folder, "a.json", json_text(size, name="happy", folderTree={"mode": "smart"})), JSON_RULES)
        ),
        kinds=("json",),
    ),
    "check_direct_json_object": of_value(
        {"from": "BOM", "to": "ARN"},
        {"from": "BOM"},
        {"expected": {"from": ["BOM"], "to": ["STO", "ARN"]}, "expect_in_result": True},
    ),
    "check_direct_json_object@waa": of_value("{'a': 'x'}", "{'a': 'y'}", {"expected": {"a": "x"}}),
    "compare_time_in_speedtest_results": of_text(
        "a.csv",
        SPEED,
        SPEED.replace("10:20", "09:19"),
        {"minutes": "60", "now": "10:19"},
        line="2,2026-03-01 10:20,{}\n",
    ),
    "is_included_all_json_objects": MetricCase(
        passing=lambda folder: Call((write(folder, "a.json", '{"a": 1, "b": 2}'), write(folder, "w.json", '{"a": 1}'))),
        near_miss=lambda folder: Call((write(folder, "a.json", '{"a": 2}'), write(folder, "w.json", '{"a": 1}'))),
        sized=lambda folder, size: Call(
            (write(folder, "a.json", json_text(size, a=1)), write(folder, "w.json", '{"a": 1}'))
        ),
        kinds=("json",),
    ),
    "is_gold_text_included_in_pdf": MetricCase(
        passing=lambda folder: pdf_call(folder, "Quarterly report", "The sum is 1,234.50 EUR"),
        near_miss=lambda folder: pdf_call(folder, "Quarterly report", "The sum is 1,234.05 EUR"),
        sized=lambda folder, size: pdf_call(folder, "Quarterly report", "The sum is 1,234.50 EUR", size=size),
        kinds=("pdf",),
    ),
    "file_contains": of_text(
        "a.txt", "Ping Download Upload\n", "Ping Download upload\n", {"expected": ["Ping", "Upload"]}
    ),
    "check_line_number": of_text(
        "a.txt", "10:00:01 all\nno time\n23:59:60 all\n", "10:00:01 all\nno time\n24:00:00 all\n", {"expected": "2"}
    ),
    "compare_terminal_and_txt": of_text("a.txt", LINES, LINES + "x", LINES),
    "compare_python_pure_text": of_two_texts("a.py", PYTHON, PYTHON.replace("    return", "  return")),
    "compare_python_pure_text@waa": of_two_texts("a.py", PYTHON, PYTHON.replace("name", "names")),
}
