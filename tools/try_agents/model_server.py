"""Model server with fixed replies, in the forms of OpenAI's chat completions and responses."""

import json
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Reply = Callable[[Mapping[str, Any]], str | list[dict[str, Any]]]
"""The reply to a request: text, or the items of a response's output."""


def in_turn(replies: Sequence[str | list[dict[str, Any]]]) -> Reply:
    """The replies one after the other; the last one again and again."""
    replies_left = list(replies)
    return lambda _: replies_left.pop(0) if len(replies_left) > 1 else replies_left[0]


class ReplyServer:
    """Serves the newest trial's replies at `url`, whatever model is named."""

    def __init__(self) -> None:
        self.reply: Reply = in_turn(["DONE"])
        self.requests = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.requests += 1
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                payload = _answer(self.path, body, server.reply(body))
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(payload).encode())

            def log_message(self, *_: Any) -> None:
                """Prints nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()


def _answer(path: str, body: Mapping[str, Any], reply: str | list[dict[str, Any]]) -> dict[str, Any]:
    model = body.get("model", "fixed")
    if path.endswith("/responses"):
        items = reply if isinstance(reply, list) else [message_item(reply)]
        usage = {
            "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        }  # fmt: skip
        return {
            "id": "resp_1", "object": "response", "created_at": 0, "model": model, "status": "completed",
            "output": items, "usage": usage, "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
        }  # fmt: skip
    message = {"role": "assistant", "content": reply}
    return {
        "id": "chat_1", "object": "chat.completion", "created": 0, "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }  # fmt: skip


def message_item(text: str) -> dict[str, Any]:
    """A message as an item of a response's output."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}
