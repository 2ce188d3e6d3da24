"""The accessibility helper: `python3 -m guest_server.linux.a11y_helper`.

Reads requests as JSON lines from stdin and answers on stdout. It is a separate process so that the server can kill it
when an application hangs.
"""

import json
import sys
import time
from typing import Any

from guest_server.linux.a11y_ask import prepare
from guest_server.linux.a11y_walk import AtspiWalk, find_terminal
from guest_server.linux.text_cursor import text_cursor


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    if question["what"] == "terminal":
        return {"text": find_terminal()}
    if question["what"] == "cursor":
        return text_cursor()
    walk = AtspiWalk(
        nodes=question["nodes"],
        depth=question["depth"],
        children=question["children"],
        deadline=time.monotonic() + question["seconds"],
    )
    return {"xml": walk.desktop(), "nodes": walk.count, "cut": walk.cut}


def main() -> None:
    """Answers requests until stdin ends."""
    problem = prepare()
    for line in sys.stdin:
        answer = {"problem": problem} if problem else _answer(json.loads(line))
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
