import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tools import docs_site

INDEX = "# Documentation\n\n## Guides\n\n[Start](start.md)\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of two pages, with the templates of the real one."""
    docs = tmp_path_factory.mktemp("checkout") / "docs"
    (docs / "site").mkdir(parents=True)
    for path in (docs_site.DOCS / "site").iterdir():
        if path.is_file():
            (docs / "site" / path.name).write_bytes(path.read_bytes())
    (docs / "README.md").write_text(INDEX)
    (docs / "start.md").write_text("# Start\n\n## Install\n\nSay `make run`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    built = docs.parent / "site"
    docs_site.build(built, docs)
    return built


class Inline(HTMLParser):
    """Collects what the service's content policy forbids."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        inline = (tag == "script" and "src" not in names) or tag == "style" or "style" in names
        handler = any(name.startswith("on") for name in names)
        source = names.get("src") or (names.get("href") if tag == "link" else None) or ""
        if inline or handler or "//" in source:
            self.found.append(self.get_starttag_text() or tag)


class TestBuild:
    def test_the_index_is_what_a_folder_shows(self, site: Path) -> None:
        assert (site / "index.html").read_text() == (site / "README.html").read_text()

    def test_the_side_bar_follows_the_index(self, site: Path) -> None:
        assert re.search(r'<a href="start.html">Start</a>', (site / "index.html").read_text())

    def test_pages_hold_nothing_inline_and_nothing_from_elsewhere(self, site: Path) -> None:
        pages = list(site.rglob("*.html"))
        assert {"index.html", "start.html", "search.html"} <= {path.name for path in pages}
        inline = Inline()
        for path in pages:
            inline.feed(path.read_text())
        assert inline.found == []

    def test_every_file_that_a_page_asks_for_is_there(self, site: Path) -> None:
        asked = set(re.findall(r'(?:src|href)="(_static/[^"?]+)', (site / "search.html").read_text()))
        assert {"_static/docs.css", "_static/css/tokens.css", "_static/searchtools.js"} <= asked
        assert [name for name in asked if not (site / name).is_file()] == []

    def test_a_mistake_leaves_the_old_site(self, site: Path, tmp_path: Path) -> None:
        (tmp_path / "README.md").write_text("# A\n\n```{nothing}\n```\n")
        (tmp_path / "site").symlink_to(docs_site.DOCS / "site")
        with pytest.raises(docs_site.NotBuiltError):
            docs_site.build(site, tmp_path)
        assert (site / "start.html").is_file()
