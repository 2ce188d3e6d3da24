"""Settings of Sphinx for the documentation site; `tools/docs_site.py` runs it."""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent.parent
SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)
ERROR_CODE = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
PAGE = re.compile(r"\[([^]]+)\]\(([\w/-]+)\.md\)")

project = "Deskarena"
extensions = ["myst_parser"]
root_doc = "README"
exclude_patterns = ["site"]
html_theme = "basic"
templates_path = ["."]
html_title = "Deskarena"
html_copy_source = False
html_show_sphinx = False
html_use_index = False
html_search_scorer = str(DOCS / "site" / "scorer.js")
html_permalinks_icon = "#"
highlight_language = "none"
myst_heading_anchors = 6
# The side bar follows docs/README.md, so no page holds a `toctree`. Links to files of the checkout that are no pages
# (a manifest, the licence) are for readers of the repository; tests/architecture/test_docs.py checks that they exist.
suppress_warnings = ["toc.not_included", "myst.xref_missing"]


def sections() -> list[tuple[str, list[tuple[str, str]]]]:
    """Headings of docs/README.md, each with the title and name of every page below it."""
    parts = SECTION.split((DOCS / "README.md").read_text())[1:]
    pages = [[(_capital(title), name) for title, name in PAGE.findall(text)] for text in parts[1::2]]
    return list(zip(parts[::2], pages, strict=True))


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]


def add_side_bar(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: object) -> None:
    """Gives every page's template the side bar."""
    context["sections"] = sections()


def add_anchors(_app: Sphinx, page: str, source: list[str]) -> None:
    """Gives each error code an anchor, to which the `type` of a problem leads."""
    if page == "errors":
        source[0] = ERROR_CODE.sub(r'| <a id="\1"></a>`\1` |', source[0])


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_anchors)
    app.connect("html-page-context", add_side_bar)
