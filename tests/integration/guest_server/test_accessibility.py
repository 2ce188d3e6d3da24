"""The accessibility tree of real applications."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from xml.etree.ElementTree import Element, fromstring

import pytest

from guest_server.protocol.a11y_xml import NAMESPACES
from tests.integration.guest_server.session import RunningSession, wait

pytestmark = pytest.mark.desktop


def tree(session: RunningSession) -> Element:
    return fromstring(session.desktop.accessibility_tree())  # noqa: S314 - of our own guest


def state(node: Element, name: str) -> bool:
    return node.get(f"{{{NAMESPACES['st']}}}{name}") == "true"


def pair(node: Element, name: str) -> tuple[int, int]:
    x, y = node.get(f"{{{NAMESPACES['cp']}}}{name}", "").strip("()").split(",")
    return int(x), int(y)


@pytest.mark.sampled(4)
class TestAccessibility:
    def test_the_editor_s_tree(self, clean: RunningSession) -> None:
        clean.edit("tree.txt", "some text é中")
        root = tree(clean)
        assert root.tag == "desktop-frame"
        application = next(node for node in root if node.get("name") == "mousepad")
        assert application.tag == "application"
        frame = next(node for node in application if node.tag == "frame")
        assert "tree.txt" in frame.get("name", "")
        assert state(frame, "active")
        menu = next(node for node in root.iter("menu") if node.get("name") == "File")
        assert menu.get(f"{{{NAMESPACES['act']}}}click_desc") is not None
        text = next(node for node in root.iter("text") if node.text == "some text é中")
        assert state(text, "multi-line")
        assert state(text, "editable")

    def test_coordinates_are_those_of_the_screen(self, clean: RunningSession) -> None:
        """A click in the middle of the menu that the tree names opens it."""
        clean.edit("click.txt")
        menu = next(node for node in tree(clean).iter("menu") if node.get("name") == "Search")
        (x, y), (width, height) = pair(menu, "screencoord"), pair(menu, "size")
        clean.input({"type": "click", "x": x + width // 2, "y": y + height // 2})
        wait(lambda: any(state(node, "selected") for node in tree(clean).iter("menu")), "the menu opens")
        items = [node for node in tree(clean).iter("menu-item") if state(node, "showing")]
        assert any("Find" in node.get("name", "") for node in items)
        clean.input({"type": "press", "key": "esc"})

    def test_shows_what_is_now(self, clean: RunningSession) -> None:
        clean.edit("now.txt")
        for text in ("first", "first second"):
            clean.input({"type": "hotkey", "keys": ["ctrl", "a"]}, {"type": "type", "text": text})
            wait(lambda: [n for n in tree(clean).iter("text") if n.text == text], text)  # noqa: B023

    def test_an_empty_desktop(self, clean: RunningSession) -> None:
        assert [node.get("name") for node in tree(clean) if node.get("name") in {"mousepad", "galculator"}] == []

    def test_is_cut_at_the_bounds(self, clean: RunningSession) -> None:
        clean.edit("cut.txt")
        whole = clean.get("/accessibility").json()
        assert whole["cut"] == ""
        assert whole["nodes"] == sum(1 for _ in fromstring(whole["AT"]).iter())  # noqa: S314
        few = clean.get("/accessibility", max_nodes=20).json()
        assert (few["nodes"], few["cut"]) == (20, "more than 20 nodes")
        shallow = clean.get("/accessibility", max_depth=3).json()
        assert shallow["cut"] == "deeper than 3 levels"
        assert shallow["nodes"] < whole["nodes"]

    def test_a_hung_application_blocks_neither_the_tree_nor_the_server(self, clean: RunningSession) -> None:
        clean.edit("hang.txt")
        clean.desktop.launch("galculator")
        wait(lambda: len(clean.desktop.windows()) == 2, "two applications")
        wait(lambda: [n for n in tree(clean) if n.get("name") == "galculator"], "both in the tree")
        clean.signal_own(signal.SIGSTOP, "mousepad")
        try:
            with ThreadPoolExecutor() as pool, clean.client(clean.http.headers) as other:
                asked = pool.submit(lambda: (other.get("/accessibility").json(), time.monotonic()))
                assert clean.desktop.frame().width == 1280
                seen = time.monotonic()
                answer, told = asked.result(60)
        finally:
            clean.signal_own(signal.SIGCONT, "mousepad")
        assert seen < told, "the picture did not wait for the tree"
        assert answer["cut"] == "an application did not answer"
        assert 'name="galculator"' in answer["AT"]

    def test_a_killed_helper_is_replaced(self, session: RunningSession) -> None:
        assert tree(session).tag == "desktop-frame"
        assert session.signal_own(signal.SIGKILL, "linux.a11y_helper")
        assert tree(session).tag == "desktop-frame"


class TestTerminal:
    def test_a_terminal_without_accessible_text(self, clean: RunningSession) -> None:
        clean.desktop.launch(["xterm", "-e", "cat"])
        wait(clean.desktop.windows, "the terminal")
        assert clean.get("/terminal").json() == {"output": None, "status": "success"}

    def test_the_text_of_a_terminal(self, clean: RunningSession) -> None:
        if clean.desktop.execute("command -v xfce4-terminal", shell=True).returncode:  # noqa: S604
            pytest.skip("needs xfce4-terminal (or another terminal with accessible text): apt install xfce4-terminal")
        clean.desktop.launch(["xfce4-terminal", "-e", "sh -c 'echo terminal says é中; cat'"])
        wait(lambda: "terminal says é中" in (clean.get("/terminal").json()["output"] or ""), "the text", 20)
