"""The accessibility helper: `python -m guest_server.windows.a11y_helper`.

Reads requests as JSON lines from stdin and answers on stdout. It is a separate process so that the server can kill it
when an application hangs.
"""

import json
import sys
from typing import Any

from guest_server.protocol.machine import TreeRequest
from guest_server.windows.a11y_tree import ControlWalk
from guest_server.windows.com import ComError
from guest_server.windows.dpi_awareness import see_real_pixels
from guest_server.windows.text_cursor import terminal_text, text_cursor
from guest_server.windows.uia import Automation
from guest_server.windows.win32_controls import Win32Source


class A11yHelper:
    """Answers requests, with UI Automation if this Windows has it."""

    def __init__(self) -> None:
        self._automation: Automation | None = None
        self._problem = ""
        try:
            self._automation = Automation()
        except ComError as error:
            self._problem = f"this Windows has no UI Automation ({error}); use the backend win32"

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer as a JSON value."""
        what = question.pop("what")
        if what == "terminal":
            return {"text": None if self._automation is None else terminal_text(self._automation)}
        if what == "cursor":
            return text_cursor(self._automation)
        return self._tree(TreeRequest(**question))

    def _tree(self, options: TreeRequest) -> dict[str, Any]:
        if options.backend == "uia" and self._automation is None:
            return {"problem": self._problem}
        if options.backend == "win32" or self._automation is None:
            tree = ControlWalk(Win32Source(), options).desktop()
        else:
            tree = ControlWalk(self._automation, options).desktop()
        return {"xml": tree.xml, "nodes": tree.nodes, "cut": tree.cut}


def main() -> None:
    """Answers requests until standard input ends."""
    see_real_pixels()
    helper = A11yHelper()
    for line in sys.stdin.buffer:
        # ASCII, independent of this Windows' encoding of pipes.
        sys.stdout.write(json.dumps(helper.answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
