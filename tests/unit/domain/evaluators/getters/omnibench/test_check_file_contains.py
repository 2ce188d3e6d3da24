from pathlib import Path
from typing import Any

import pytest

from backend.domain.evaluators.getters.omnibench.check_file_contains import CheckFileContains
from backend.domain.model.score import Blob
from tests.factories.workbooks import workbook


def content(name: str, data: bytes, folder: Path) -> Any:
    parameters = {"file_path": f"/home/user/{name}", "text": "x"}
    return CheckFileContains().read([Blob(name=name, data=data)], parameters, folder)["content"]


class TestRead:
    def test_workbook_content_is_its_cells_values(self, tmp_path: Path) -> None:
        """Neither places in its list of texts, nor who wrote it and when."""
        assert content("a.xlsx", workbook([["milk", 2], ["=1+1", "tea"]]), tmp_path) == "milk\n2\ntea"

    @pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pptx", "a.ods", "a.pdf"])
    def test_a_damaged_file_has_no_content(self, name: str, tmp_path: Path) -> None:
        assert content(name, b"PK\x03\x04 and no more", tmp_path) is None

    def test_text_file_of_any_extension_is_read(self, tmp_path: Path) -> None:
        assert content("a.py", "Größe\r\nzwei".encode(), tmp_path) == "Größe\nzwei"
