"""Large applications: their accessibility trees, and typing into them."""

import shutil
from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.guest_server.session import RunningSession, wait

pytestmark = [pytest.mark.desktop, pytest.mark.long]

TYPED = "é中😀<1>"


def tree_with(session: RunningSession, words: str) -> Callable[[], Any]:
    return lambda: words in session.desktop.accessibility_tree()


class TestLibreOffice:
    def test_the_cells_that_show_are_in_the_tree(self, clean: RunningSession) -> None:
        """A sheet has 17 thousand million cells; listing them all would never end."""
        if shutil.which("localc") is None:
            pytest.skip("needs LibreOffice Calc: make setup APPS=full")
        clean.desktop.launch(["localc", "--norestore", "--nologo"])
        wait(lambda: [w for w in clean.desktop.windows() if "Calc" in w.title], "the window", 60)
        wait(tree_with(clean, 'name="A1"'), "the cells", 60)
        clean.input({"type": "type", "text": f"{TYPED}\n42\n"})
        wait(tree_with(clean, TYPED.replace("<", "&lt;").replace(">", "&gt;")), "the text in its cell", 30)
        reply = clean.get("/accessibility").json()
        assert reply["cut"] == "of a large table, what shows"
        assert 'name="A1"' in reply["AT"]
        assert 'name="A1000"' not in reply["AT"]


class TestChromium:
    def test_a_page_is_in_the_tree(self, clean: RunningSession) -> None:
        if shutil.which("chromium") is None:
            pytest.skip("needs Chromium: make setup APPS=full")
        page = clean.write("page.html", "<title>Page</title><button>Press me</button><input autofocus id=i>")
        clean.desktop.launch(["google-chrome", "--no-sandbox", "--no-first-run", f"file://{page}"])
        wait(lambda: [w for w in clean.desktop.windows() if "Page" in w.title], "the window", 60)
        wait(tree_with(clean, 'name="Press me"'), "the page's button", 30)
        clean.input({"type": "type", "text": TYPED})
        wait(tree_with(clean, TYPED.replace("<", "&lt;").replace(">", "&gt;")), "the text in its field", 30)
