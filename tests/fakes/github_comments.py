"""The comments of issues in GitHub's REST API, in memory on loopback: GitHub itself cannot be reached by tests.

As documented for "List, create and update issue comments", version 2022-11-28: pages of `per_page`, 201 for a new one,
401 without the token, 404 for an unknown one.
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "ghs_example"


@dataclass
class GitHubComments:
    """Comments by number of the issue, in their order.

    Attributes:
        author: whom new comments are by.
        allowed: whether the token may write.
    """

    url: str = ""
    author: str = "github-actions[bot]"
    allowed: bool = True
    issues: dict[int, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, issue: int, body: str, author: str | None = None) -> dict[str, Any]:
        """A new comment."""
        comments = self.issues.setdefault(issue, [])
        number = sum(map(len, self.issues.values())) + 1
        comments.append({"id": number, "body": body, "user": {"login": author or self.author}})
        return comments[-1]

    def answer(self, method: str, address: str, token: str, body: Any) -> tuple[int, Any]:
        """Status and JSON."""
        parts = urlsplit(address)
        if token != f"Bearer {TOKEN}":
            return 401, {"message": "Bad credentials"}
        if method != "GET" and not self.allowed:
            return 403, {"message": "Resource not accessible by integration"}
        if match := re.fullmatch(r"/repos/[\w.-]+/[\w.-]+/issues/(\d+)/comments", parts.path):
            issue = int(match[1])
            if method == "POST":
                return 201, self.add(issue, body["body"])
            query = parse_qs(parts.query)
            size, page = int(query.get("per_page", ["30"])[0]), int(query.get("page", ["1"])[0])
            return 200, self.issues.get(issue, [])[(page - 1) * size : page * size]
        if method == "PATCH" and (match := re.fullmatch(r"/repos/[\w.-]+/[\w.-]+/issues/comments/(\d+)", parts.path)):
            every = {comment["id"]: comment for comments in self.issues.values() for comment in comments}
            if comment := every.get(int(match[1])):
                comment["body"] = body["body"]
                return 200, comment
        return 404, {"message": "Not Found"}


@contextmanager
def github_comments() -> Iterator[GitHubComments]:
    """The API at a free port of loopback."""
    comments = GitHubComments()

    class CommentsHandler(BaseHTTPRequestHandler):
        def respond(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = json.loads(data) if data else None
            status, value = comments.answer(self.command, self.path, self.headers.get("Authorization", ""), body)
            answer = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PATCH = respond  # noqa: N815 - names that http.server looks for

        def log_message(self, *words: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), CommentsHandler)
    comments.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield comments
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
