"""Content that no program writes is damage of the file, never an error of the metric: huge numbers, endless members."""

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.registry import PluginKind
from tests.factories.metric_cases import all_cases
from tests.factories.pptx import deck
from tests.factories.xlsx import book, packed, replaced

registry.load()
HUGE = ("1" + "0" * 400, "9" * 5_000)
"""No float, and no integer that Python reads from text."""


def value(name: str, *arguments: Any, **options: Any) -> float:
    result = registry.lookup(PluginKind.METRIC, name, "osworld")(*arguments, **options)
    return float(result.value)


@pytest.mark.parametrize("number", HUGE)
class TestHugeNumbers:
    def test_huge_cell_value_scores_0(self, tmp_path: Path, number: str) -> None:
        def change(sheet: bytes) -> bytes:
            return sheet.replace(b"<v>7</v>", f"<v>{number}</v>".encode())

        path = str(replaced(book(tmp_path / "a.xlsx", [[7]]), {"xl/worksheets/sheet1.xml": change}))
        assert value("sheet_goals", path, {"cells": {"Sheet1!A1": {"value": 5.5}}}) == 0

    def test_huge_setting_value_scores_0(self, tmp_path: Path, number: str) -> None:
        item = '<item oor:path="/org.openoffice.Office.Common/Save/Document"><prop oor:name="AutoSaveTimeIntervall">'
        (tmp_path / "a.xcu").write_text(
            f'<oor:items xmlns:oor="http://openoffice.org/2001/registry">{item}<value>{number}</value></prop></item>'
            "</oor:items>"
        )
        assert value("check_auto_saving_time", str(tmp_path / "a.xcu"), {"minutes": 3}) == 0

    @pytest.mark.parametrize("part", ["presentation.xml", "slides/slide2.xml"])
    def test_lengths_of_slides(self, tmp_path: Path, number: str, part: str) -> None:
        gold = deck(tmp_path / "gold.pptx")
        with zipfile.ZipFile(gold) as package:
            parts = {name: package.read(name) for name in package.namelist()}
        parts[f"ppt/{part}"] = re.sub(rb' cx="\d+"', f' cx="{number}"'.encode(), parts[f"ppt/{part}"])
        path = str(packed(tmp_path / "a.pptx", parts))
        assert value("compare_pptx_files", path, gold) == 0
        assert value("check_slide_orientation_Portrait", path) == 0


@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/styles.xml"])
def test_damaged_archive_member_scores_0(tmp_path: Path, part: str) -> None:
    path = book(tmp_path / "a.xlsx", [[number, f"{number * 7919 % 1009}"] for number in range(3_000)])
    path.write_bytes(broken(path.read_bytes(), part))
    assert value("sheet_goals", str(path), {"cells": {"Sheet1!A1": {"value": 0.5}}}) == 0
    rules = [{"type": "sheet_data", "sheet_idx0": 0, "sheet_idx1": "EI0"}]
    assert value("compare_table", str(path), str(book(tmp_path / "b.xlsx", [[1]])), rules=rules) == 0


def test_epub_with_a_damaged_page_scores_0(tmp_path: Path) -> None:
    result, gold = all_cases()["waa", "compare_epub"].passing(tmp_path).args
    with zipfile.ZipFile(result) as package:
        names = [name for name in package.namelist() if name.endswith("html")]
    Path(result).write_bytes(broken(Path(result).read_bytes(), names[0]))
    assert value("compare_epub", result, gold) == 0


def broken(data: bytes, part: str) -> bytes:
    """The archive with the second half of a packed member overwritten."""
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        entry = package.getinfo(part)
    end = entry.header_offset + 30 + len(entry.filename) + entry.compress_size
    half = entry.compress_size // 2
    return data[: end - half] + b"\xff" * half + data[end:]
