"""Generates text files from their description: CSV, JSON, logs, notes, programs, lists of numbers."""

import csv
import io
import json
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from random import Random
from typing import Any

from backend.domain.file_generators.prompt import MAX_ROWS, Column, number_of_rows, table_of
from backend.domain.file_generators.prose import Prose
from backend.domain.file_generators.tables import SheetContent

_LEVELS = ("ERROR", "WARNING", "INFO", "DEBUG")
_LOG_MESSAGES = {
    "ERROR": ("Connection to database lost", "Request failed with status 500", "Cannot open configuration file"),
    "WARNING": ("Disk usage above 80 percent", "Slow response from upstream", "Retrying request"),
    "INFO": ("Service started", "User signed in", "Job finished", "Cache refreshed"),
    "DEBUG": ("enter load_config(path='/etc/app.conf')", "value of retries = 3", "call fetch(user_id=42) -> 200"),
}
_STACK = ('Traceback (most recent call last):\n  File "app/main.py", line 42, in run\n    self.load()\n'
          '  File "app/store.py", line 17, in load\n    raise KeyError(name)\nKeyError: \'settings\'')  # fmt: skip

_MOST_STARTS = 200
"""Brackets of a description at which JSON may begin."""


def comma_separated(sheet: SheetContent) -> bytes:
    """UTF-8 with a byte-order mark, as spreadsheets expect."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(sheet.headings)
    writer.writerows([value.isoformat() if isinstance(value, date) else value for value in row] for row in sheet.rows)
    return ("\ufeff" + out.getvalue()).encode()


def json_text(prompt: str, seed: str) -> bytes:
    """The JSON in the description, else a list of records with the described fields."""
    for start in islice(re.finditer(r"[{\[]", prompt), _MOST_STARTS):
        try:
            value, _ = json.JSONDecoder().raw_decode(prompt, start.start())
        except (ValueError, RecursionError):
            continue
        if value:
            # "Not formatted" is the initial state of some tasks.
            compact = "未格式化" in prompt
            return json.dumps(
                value, ensure_ascii=False, indent=None if compact else 2, separators=(",", ":") if compact else None
            ).encode()
    return json.dumps(_records(prompt, seed), ensure_ascii=False, indent=2).encode()


def _records(prompt: str, seed: str) -> list[dict[str, Any]]:
    random, table = Random(seed), table_of(prompt)

    def value(column: Column, row: int) -> Any:
        if column.name == "id":
            return row + 1
        return random.choice(column.choices) if column.choices else f"{column.name} {row + 1}"

    rows = range(number_of_rows(prompt) or table.rows)
    return [{column.name: value(column, row) for column in table.columns} for row in rows]


def log(prompt: str, seed: str) -> bytes:
    """A log with the described numbers of lines and `ERROR` lines, and the described levels. May be empty."""
    if prompt.startswith("空"):
        return b""
    random = Random(seed)
    rows = min(MAX_ROWS, number_of_rows(prompt) or 40)
    errors = re.search(r"约?\s*(\d{1,4})\s*行(?:含|包含)", prompt.split("行", 1)[-1])
    named = [level for level in _LEVELS if level in prompt] or (["DEBUG"] if "调试" in prompt else ["INFO"])
    others = [level for level in named if level != "ERROR"] or ["INFO"]
    if "错误堆栈" in prompt:
        named = ["ERROR"]
    marked = set(random.sample(range(rows), min(rows, int(errors.group(1))))) if errors else set[int]()
    at, lines = datetime(2024, 6, 17, 8, 0, 0, tzinfo=UTC), []
    for row in range(rows):
        at += timedelta(seconds=random.randint(1, 90))
        level = ("ERROR" if row in marked else random.choice(others)) if errors else random.choice(named)
        lines.append(f"{at:%Y-%m-%d %H:%M:%S} {level} {random.choice(_LOG_MESSAGES[level])}")
        if "堆栈" in prompt and row % 8 == 0:
            lines.append(_STACK)
    return ("\n".join(lines) + "\n").encode()


def markdown(prose: Prose) -> bytes:
    """Title, sections and lists in Markdown."""
    lines = [f"# {prose.title}", ""]
    for heading, paragraphs in prose.sections:
        lines += [*([f"## {heading}", ""] if heading else []), *(f"{paragraph}\n" for paragraph in paragraphs)]
    return "\n".join([*lines, *(f"- {name}: {value}" for name, value in prose.fields), *prose.items, ""]).encode()


def program(prompt: str) -> bytes:
    """A Python program that counts a field of a JSON file and writes the most frequent values, if described."""
    files = re.findall(r"[A-Za-z0-9_.-]+\.(?:json|csv|txt)", prompt)
    source = next((name for name in files if name.endswith(".json")), "data.json")
    target = next((name for name in files if name.endswith(".csv")), "output.csv")
    counted = re.search(r"每个([A-Za-z_]\w*?)的", prompt)
    top = re.search(r"(?i)top\s*(\d+)", prompt)
    return (
        "import csv\nimport json\nfrom collections import Counter\n\n"
        f'with open("{source}", encoding="utf-8") as file:\n    rows = json.load(file)\n\n'
        f'counts = Counter(row["{counted.group(1) if counted else "category"}"] for row in rows)\n\n'
        f'with open("{target}", "w", newline="", encoding="utf-8") as file:\n    writer = csv.writer(file)\n'
        f'    writer.writerow(["value", "count"])\n'
        f"    writer.writerows(counts.most_common({top.group(1) if top else 5}))\n"
    ).encode()


def plain(prompt: str, prose: Prose, seed: str) -> bytes:
    """A text, with valid and invalid phone numbers if described."""
    return "\n".join(_numbers(prompt, seed) or prose.lines()).encode() + b"\n"


def _numbers(prompt: str, seed: str) -> Sequence[str]:
    match = re.search(r"(\d{1,3})个中文?手机号(?:（([\d/]+)开头）)?", prompt)
    if match is None:
        return ()
    random = Random(seed)
    begin = (match.group(2) or "138").split("/")
    good = [f"{begin[n % len(begin)]}{random.randrange(10**8):08d}" for n in range(min(200, int(match.group(1))))]
    wrong = ["12345", "138-0000", "0000000000", "9991234567x"] if "无效" in prompt else []
    lines = [f"联系人{n + 1}: {number}" for n, number in enumerate([*good, *wrong])]
    random.shuffle(lines)
    return lines
