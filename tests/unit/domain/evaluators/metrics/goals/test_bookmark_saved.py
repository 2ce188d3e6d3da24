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
    def test_address_may_be_given_by_its_end(self, tmp_path: Path) -> None:
        assert bookmark_saved(saved(tmp_path, FERRY), {"url": "/ferry.html"}).value == 1.0

    def test_name_and_folder_are_matched(self, tmp_path: Path) -> None:
        travel = {"type": "folder", "name": "Travel", "children": [FERRY]}
        rules = {"url": "/ferry.html", "name": "Ferry", "folder": "Travel"}
        assert bookmark_saved(saved(tmp_path, travel), rules).value == 1.0

    def test_bookmark_in_another_folder_scores_0(self, tmp_path: Path) -> None:
        assert bookmark_saved(saved(tmp_path, FERRY), {"url": "/ferry.html", "folder": "Travel"}).value == 0.0

    @pytest.mark.parametrize(
        ("url", "rule", "value"),
        [
            ("https://good.org/", "https://good.org/", 1),
            ("https://good.org/", "good.org/", 1),
            ("https://www.good.org/", "good.org", 1),
            ("https://GOOD.org:443/a", "good.org/a", 1),
            ("https://notgood.org/", "good.org/", 0),
            ("https://evil.test/?next=https://good.org/", "https://good.org/", 0),
            ("https://evil.test/#good.org/", "good.org/", 0),
            ("https://good.org@evil.test/", "good.org/", 0),
            ("https://good.org.evil.test/", "good.org", 0),
            ("https://evil.test/good.org/", "good.org/", 0),
            ("https://good.org/b", "good.org/", 0),
            ("https://good.org/a?x=1", "good.org/a", 0),
            ("file:///home/user/my%20page.html", "/my page.html", 1),
            ("file:///home/user/notmy.html", "/my.html", 0),
            ("file:///x?q=/my.html", "/my.html", 0),
            ("https://[bad/my.html", "/my.html", 0),
        ],
    )
    def test_addresses_are_matched_by_scheme_host_and_path(
        self, url: str, rule: str, value: float, tmp_path: Path
    ) -> None:
        path = saved(tmp_path, {"type": "url", "name": "n", "url": url})
        assert bookmark_saved(path, {"url": rule}).value == value

    def test_all_facts_must_be_of_one_bookmark(self, tmp_path: Path) -> None:
        folder = {"type": "folder", "name": "Travel", "children": [{**FERRY, "name": "Other"}]}
        rules = {"url": "/ferry.html", "name": "Ferry", "folder": "Travel"}
        assert bookmark_saved(saved(tmp_path, FERRY, folder), rules).value == 0.0
        assert bookmark_saved(saved(tmp_path, FERRY, folder), {**rules, "partial": True}).value == pytest.approx(2 / 3)

    def test_bookmark_of_another_page_scores_0(self, tmp_path: Path) -> None:
        assert bookmark_saved(saved(tmp_path, FERRY), {"url": "/bus.html"}).value == 0.0

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"roots": 5}'])
    def test_a_damaged_file_is_a_verdict(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "Bookmarks").write_text(text)
        assert bookmark_saved(str(tmp_path / "Bookmarks"), {"url": "/a"}).value == 0.0

    def test_missing_file_scores_0(self) -> None:
        assert bookmark_saved(None, {"url": "/a"}).value == 0.0
