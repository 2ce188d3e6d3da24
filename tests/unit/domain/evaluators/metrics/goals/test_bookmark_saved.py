import json
from pathlib import Path

import pytest

from backend.domain.evaluators.metrics.goals.bookmark_saved import bookmark_saved

FERRY = {"type": "url", "name": "Ferry", "url": "file:///home/user/ferry.html"}


def saved(folder: Path, *bookmarks: object) -> str:
    roots = {"bookmark_bar": {"type": "folder", "name": "Bookmarks bar", "children": list(bookmarks)}, "version": 1}
    (folder / "Bookmarks").write_text(json.dumps({"roots": roots}))
    return str(folder / "Bookmarks")


class TestBookmarkSaved:
    def test_by_the_end_of_its_address(self, tmp_path: Path) -> None:
        assert bookmark_saved(saved(tmp_path, FERRY), {"url": "/ferry.html"}).value == 1.0

    def test_in_a_folder_with_a_name(self, tmp_path: Path) -> None:
        travel = {"type": "folder", "name": "Travel", "children": [FERRY]}
        rules = {"url": "/ferry.html", "name": "Ferry", "folder": "Travel"}
        assert bookmark_saved(saved(tmp_path, travel), rules).value == 1.0

    def test_in_the_wrong_folder(self, tmp_path: Path) -> None:
        assert bookmark_saved(saved(tmp_path, FERRY), {"url": "/ferry.html", "folder": "Travel"}).value == 0.0

    def test_another_page(self, tmp_path: Path) -> None:
        assert bookmark_saved(saved(tmp_path, FERRY), {"url": "/bus.html"}).value == 0.0

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"roots": 5}'])
    def test_a_damaged_file_is_a_verdict(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "Bookmarks").write_text(text)
        assert bookmark_saved(str(tmp_path / "Bookmarks"), {"url": "/a"}).value == 0.0

    def test_an_absent_file(self) -> None:
        assert bookmark_saved(None, {"url": "/a"}).value == 0.0
